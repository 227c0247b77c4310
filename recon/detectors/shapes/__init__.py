"""Shapes in code that several detectors need."""
