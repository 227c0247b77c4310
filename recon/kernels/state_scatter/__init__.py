"""Commit of a step form: the accepted node's state, copied from where the states of all nodes were kept."""
