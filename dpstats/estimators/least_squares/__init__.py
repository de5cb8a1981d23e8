"""Fit least squares from noisy sums: one file per method.

Sums and solutions stand in the folders, by coordinates: dense, in factors, within groups.
"""
