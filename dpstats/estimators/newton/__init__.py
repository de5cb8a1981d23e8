"""Take noisy Newton steps on clipped scores, in whitened coordinates, without bounds.

Methods that solve sums of products once are in ``least_squares``.
"""
