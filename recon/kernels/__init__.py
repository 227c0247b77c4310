"""The payload: what travels to a GPU host. Standard library, torch and triton alone."""
