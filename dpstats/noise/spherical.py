"""Draw noise in m dimensions whose density falls with its length as Laplace noise does.

Guarantee. With a density proportional to exp(-a |x|), moving the values by at most l2 in the
Euclidean norm changes it by a factor of at most e^(a l2), by the triangle inequality: epsilon-DP
with a = epsilon / l2 (Hardt and Talwar 2010, section 4, whose norm is Euclidean here). Each
coordinate has the variance (m + 1) / a^2.

It is a mixture of normal laws. With the variance T of Gamma distribution of shape (m + 1) / 2 and
rate a^2 / 2, x given T normal of covariance T I has the density, in r = |x|, proportional to the
integral of t^((m - 1) / 2) e^(-a^2 t / 2) t^(-m / 2) e^(-r^2 / 2 t) dt, which is that of
t^(-1/2) e^(-a^2 t / 2 - r^2 / 2 t) and equals sqrt(2 pi) e^(-a r) / a. So a discrete Gaussian of
that variance, which OpenDP draws exactly on the grid, makes the mixture. What is not exact is small
(m is from 3 to 2^13, and 1 / a at least 2^33 grid units, as the standard deviation is 2^40):
- Over integers the sum of e^(-k^2 / 2 t) is sqrt(2 pi t) up to a factor 1 + e^-300 where t is 16 or
  more. It is less with the probability that a Gamma variable of shape 2 or more is below
  16 (a^2 / 2) <= 2^-63; at shape s = (m + 1) / 2 and 1 / a = 2^40 / sqrt(2 s) grid units this is
  at most (16 s 2^-80)^s / Gamma(s + 1) < 2^-148.
- T is computed in doubles with a relative error below 2^-45, and uniform numbers have 256 bits. For
  r^2 / t up to L = 2 m + 600, which is exceeded with probability below 2^-200, the density given t
  moves by a factor of at most e^((m + L) 2^-46), below 1 + 2^-31: the epsilon asked for is made
  smaller by 2^-30, twice that.
So it is epsilon-DP up to 2^-147 in total variation, as the samplers of
:mod:`dpstats.noise.multiprecision` are up to 2^-150.
"""

import math
from collections.abc import Callable

_BITS = 256


def standard_deviation(size: int, randbelow: Callable[[int], int]) -> float:
    """Draw the standard deviation of normal noise in ``size`` dimensions; 1 in the mean square.

    That is the root of 2 G / (m + 1), G of Gamma distribution of shape (m + 1) / 2.
    """
    terms = [_exponential(randbelow) for _ in range((size + 1) // 2)]
    if size % 2 == 0:  # half the square of a normal variable (Box and Muller 1958)
        sine = math.sin(math.pi / 2 * _uniform(randbelow))
        terms.append(_exponential(randbelow) * sine**2)
    return math.sqrt(2 * math.fsum(terms) / (size + 1))


def _exponential(randbelow: Callable[[int], int]) -> float:
    """Draw an exponential variable: -log of a uniform number, accurate near 0 and far out."""
    whole = 1 << _BITS
    numerator = randbelow(whole) + 1
    if 2 * numerator > whole:
        return -math.log1p(-((whole - numerator) / whole))
    return -math.log(numerator / whole)


def _uniform(randbelow: Callable[[int], int]) -> float:
    """Draw a number in (0, 1] with 256 bits, accurate however small it is."""
    whole = 1 << _BITS
    return (randbelow(whole) + 1) / whole
