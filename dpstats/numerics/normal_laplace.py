"""Compute the distribution of a normal plus independent Laplace variables by inversion."""

import math

import numba
import numpy as np

# The sum of k >= 0 below runs over t = (k + 1/2) STEP; it equals the probability up to that of
# |W| > 2 pi / STEP - g = 38 standard deviations, below 1e-22 for Laplace tails.
_STEP = 2 * math.pi / 50
_TERMS = 1200
_FARTHEST = 12.0


@numba.njit(cache=True)
def tail(g: float, normal: float, laplace: np.ndarray) -> float:
    """Return P(|W| >= g), W = normal Z + sum of laplace_i L_i, Z standard normal, L_i Laplace(1).

    W is symmetric with characteristic function
    phi(t) = exp(-normal^2 t^2 / 2) / prod(1 + laplace_i^2 t^2), so by Fourier inversion
    P(|W| < g) = (2 / pi) * integral of sin(t g) phi(t) / t, here by the midpoint rule. What is
    left out beyond the last term is below 1e-6, for a single Laplace variable, and far less
    for several. Beyond 12 standard deviations the answer is 0.

    >>> round(tail(1.959964, 1.0, np.zeros(1)), 6)
    0.05
    >>> round(tail(1.0, 0.0, np.ones(1)) * math.e, 5)
    1.0
    """
    deviation = math.sqrt(normal**2 + 2 * np.sum(laplace**2))
    if deviation == 0 or g > _FARTHEST * deviation:
        return 1.0 if g <= 0 else 0.0
    g, normal, squares = g / deviation, normal / deviation, (laplace / deviation) ** 2
    total = 0.0
    for k in range(_TERMS):
        t = (k + 0.5) * _STEP
        phi = math.exp(-((normal * t) ** 2) / 2)
        for square in squares:
            phi /= 1 + square * t * t
        if phi < 1e-10:
            break
        total += math.sin(t * g) * phi / (k + 0.5)
    return min(max(1 - 2 / math.pi * total, 0.0), 1.0)


def critical_value(alpha: float, normal: float, laplace: np.ndarray) -> float:
    """Return the g with P(|W| >= g) = alpha.

    >>> round(critical_value(0.05, 1.0, np.zeros(1)), 4)
    1.96
    """
    low, high = 0.0, _FARTHEST * math.sqrt(normal**2 + 2 * np.sum(laplace**2))
    for _ in range(60):
        midpoint = (low + high) / 2
        low, high = (midpoint, high) if tail(midpoint, normal, laplace) > alpha else (low, midpoint)
    return high
