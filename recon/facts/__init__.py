"""One file a fact: a command and a pure parser of its reply."""
