"""Reach: where trees and shells are, on this machine and elsewhere."""
