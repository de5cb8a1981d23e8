"""Estimate from a noisy histogram how far a column reaches, hidden rows included."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dpstats.range_estimation.far_rows import far_rows
from dpstats.range_estimation.histogram import Histogram

# Densities exp(-(distance / scale)^shape) are compared: a shape of 1 is exponential, 2 normal, 8
# nearly uniform; the tails of a lognormal, or a t with three degrees of freedom, are below 1.
SHAPES = 2.0 ** np.arange(-2, 3.01, 0.25)
# Their scales, in bins, and logarithms of distances, in scales, at which they are worked out.
SCALES = 2.0 ** np.arange(-1, 8, 0.125)
_LOGS = np.linspace(-20.0, 20.0, 2001)
# A density may be off by this part of the rows that it expects in a bin.
_MISFIT = 0.1
# A side ends where so many rows are expected beyond, at least and in deviations of the noise on a
# bin, at this quantile of the posterior. With fewer rows than so many deviations it has no tail.
_EXPECTED, _EXPECTED_NOISE, _QUANTILE, _SIDE = 0.5, 0.1, 0.7, 6.0
# Tails are heavy where the shape is below this one, and light where at most so much of the
# posterior is of such shapes.
_HEAVY, LIGHT = 0.8, 0.05
# Rows apart from the others are seen from so many deviations of noise on, and so many more for
# each octave farther out.
_CLEAR, _CLEAR_OCTAVE = 3.5, 0.1
# What is seen leaves out what noise hides, at most this share of the rows on a side.
_TAILS = 0.25


@dataclass(frozen=True)
class Reach:
    """Hold the ends of a column and the posterior chance that a tail is heavy.

    Where it is at most ``LIGHT``, hardly a row is likely beyond the ends.
    """

    low: float
    high: float
    heavy: float


def reach(histogram: Histogram, low: float, high: float) -> Reach:
    """Extend the range of the rows that are seen by the tails that noise hides.

    ``low`` and ``high`` are the ends of the 64 equal bins of the histogram, which wider ones
    follow on both sides. On either side of the median, densities of several shapes and scales are
    compared with all counts. Rows far from the others are within the ends wherever they are seen.
    A function of released counts, so it costs nothing.
    """
    edges, counts, deviation = histogram.edges, histogram.counts, histogram.event.deviation
    first, last = np.searchsorted(edges, [low, high]).tolist()
    width = (high - low) / (last - first)
    inner = replace(histogram, edges=edges[first : last + 1], counts=counts[first:last])
    low, high = inner.without_tails(_TAILS)
    first, last = np.searchsorted(edges, [low, high]).tolist()
    far = _far_ends(histogram, first, last)
    rows = np.cumsum(counts[first:last])
    middle = first + int(np.argmax(rows >= rows[-1] / 2))
    above = (edges[middle + 1 :] - edges[middle + 1]) / width
    below = (edges[middle] - edges[: middle + 1][::-1]) / width
    up, heavy_up = _side(above, counts[middle + 1 :], last - middle - 1, deviation)
    down, heavy_down = _side(below, counts[:middle][::-1], middle - first, deviation)
    return Reach(
        min(low, float(edges[middle] - down * width), *far),
        max(high, float(edges[middle + 1] + up * width), *far),
        max(heavy_up, heavy_down),
    )


def _far_ends(histogram: Histogram, first: int, last: int) -> list[float]:
    """Return the finite ends of bins apart from those from ``first`` to ``last`` with rows."""
    edges = histogram.edges
    octaves = np.log2(np.maximum(np.diff(edges) / (edges[last] - edges[first]), 1.0))
    clear = _CLEAR + _CLEAR_OCTAVE * octaves
    seen = far_rows(histogram, first, last - 1, clear) > 0
    ends = np.concatenate([edges[:-1][seen], edges[1:][seen]])
    return ends[np.isfinite(ends)].tolist()


def _side(
    edges: np.ndarray, counts: np.ndarray, seen: int, deviation: float
) -> tuple[float, float]:
    """Return how far one side of a column reaches, in bins, and the chance of a heavy tail.

    ``edges`` are those of its bins (k+1,), in bins from its first; rows are seen in ``seen`` bins.
    """
    rows = float(counts[:seen].sum())
    if rows < _SIDE * deviation:
        return 0.0, 0.0
    chance = _posterior(edges, counts, rows, deviation)
    expected = max(_EXPECTED, _EXPECTED_NOISE * deviation)
    ends = (SCALES * _quantiles(expected / rows)[:, None]).ravel()
    order = np.argsort(ends)
    place = np.searchsorted(np.cumsum(chance.ravel()[order]), _QUANTILE)
    heavy = float(chance[SHAPES < _HEAVY].sum())
    return float(ends[order[min(place, len(order) - 1)]]), heavy


def _posterior(edges: np.ndarray, counts: np.ndarray, rows: float, deviation: float) -> np.ndarray:
    """Return the posterior of shapes and scales given noisy counts, all as likely before."""
    expected = rows * shares(edges)
    variance = deviation**2 + expected + (_MISFIT * expected) ** 2
    fit = -0.5 * ((counts - expected) ** 2 / variance + np.log(variance)).sum(axis=-1)
    chance = np.exp(fit - fit.max())
    return chance / chance.sum()


def shares(edges: np.ndarray) -> np.ndarray:
    """Return what part of each density lies in each of k bins with these edges, (p, q, k)."""
    with np.errstate(divide="ignore"):
        logs = np.log(edges)[None] - np.log(SCALES)[:, None]
    beyond = np.array([np.interp(logs, _LOGS, tail) for tail in _tails()])
    return beyond[..., :-1] - beyond[..., 1:]


@cache
def _tails() -> np.ndarray:
    """Return what part of each density lies beyond the distances of ``_LOGS``."""
    from scipy.special import gammaincc

    shapes = SHAPES[:, None]
    return gammaincc(1 / shapes, np.exp(np.minimum(shapes * _LOGS, 600.0)))


def _quantiles(share: float) -> np.ndarray:
    """Return the distance, in scales, beyond which a share of each density lies."""
    from scipy.special import gammainccinv

    return gammainccinv(1 / SHAPES, min(share, 1.0)) ** (1 / SHAPES)
