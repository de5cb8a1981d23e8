"""Take noisy Newton steps on clipped scores, in whitened coordinates, without bounds.

The methods are here, one a file; what they are made of is in the folders. Methods that solve sums
of products once are in ``least_squares``.
"""
