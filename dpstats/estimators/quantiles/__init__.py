"""Release medians and quantiles of numbers, and choose ranks that bound a median.

What the numbers are, such as slopes of pairs of rows, is the caller's.
"""
