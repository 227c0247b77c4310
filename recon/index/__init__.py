"""Source trees as records: the one door to libcst, tree-sitter and networkx."""
