"""Choose a deep point among models of parts of the rows.

Quantiles of single numbers are in ``quantiles``.
"""
