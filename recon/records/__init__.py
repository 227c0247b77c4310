"""Nouns: the frozen records that every stage reads or returns, and the public schema of a run file.

Standard library only. A record holds plain values, so it can be pickled, cached, encoded and compared.
"""
