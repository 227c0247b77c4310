"""One file a question to a GPU; asking needs no torch."""
