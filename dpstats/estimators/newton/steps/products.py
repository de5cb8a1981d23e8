"""Choose where scores are clipped for their squares, and read released products as a covariance.

The covariance of least squares with errors of different variances is H^-1 S H^-1 (White 1980), H
the number of rows in whitened directions and S the sum of s s' over the scores s of rows, or of
privacy units.
"""

import math

import numpy as np

from dpstats.estimators.newton.row_sums.sums import SCORE_EDGES
from dpstats.estimators.newton.steps.score_tails import Tail

# Limits that are tried, from so many root mean squares of scores on.
_LEAST, _STEPS, _SMALLEST = 1.5, np.linspace(0, 1, 200), 1e-12


def square_limit(tail: Tail, noise: float) -> float:
    """Choose the limit of sizes with the least error in the sum of their squares.

    ``noise`` is its standard deviation for a limit of 1; the other part is what is cut off.
    """
    least = _LEAST * math.sqrt(max(tail.mean_square(), _SMALLEST))
    limits = least * (2 * SCORE_EDGES[-1] / least) ** _STEPS
    errors = np.hypot(noise * limits**2, squares_cut(tail, limits))
    return float(limits[int(np.argmin(errors))])


def squares_cut(tail: Tail, limit: np.ndarray | float) -> np.ndarray:
    """Return the expected sum of size^2 - limit^2 over the rows beyond each limit."""
    from dpstats.numerics.tail_loops import squares_beyond

    found = squares_beyond(tail.mean_counts, tail.sizes, np.atleast_1d(limit))
    return found.reshape(np.shape(limit))


def scatter(products: np.ndarray, deviation: float, even: float, cut: float) -> np.ndarray:
    """Estimate S (p, p) conservatively from noisy ``products`` of clipped scores.

    For a unit vector a the noise on a'(products)a has a standard deviation of at most sqrt 2 times
    ``deviation``. So much is added to each eigenvalue; then the larger the noise is beside the mean
    eigenvalue, the closer each is drawn to it. For errors of one variance all are equal, and that
    is ``even``; the released ones count where they are more. The trace of what was ``cut`` off is
    spread over directions as the rest is, since long scores point where scores are long.
    """
    values, vectors = np.linalg.eigh(products)
    noise, p = math.sqrt(2) * deviation, len(values)
    even = max(even, float(values.mean()) + noise / math.sqrt(p))
    seen = even**2 / (even**2 + noise**2)
    values = seen * np.maximum(values + noise, 0.0) + (1 - seen) * even
    values *= 1 + cut / values.sum()
    return (vectors * values) @ vectors.T
