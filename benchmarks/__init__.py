"""Measurements of speed and accuracy, printed as plain tables: ``python -m benchmarks``."""
