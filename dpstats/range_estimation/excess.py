"""Estimate from a noisy histogram by how much values exceed a limit, hidden rows included."""

from dataclasses import dataclass
from math import comb

import numpy as np

from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.reach import SCALES, SHAPES, shares

# A tail has this share of the rows, at least, and as many as so many deviations of their noise. It
# is seen from fewer on.
_TAIL, _OUTER, _CLEAR = 0.1, 6.0, 4.0
# A value that so large a part of the rows, or of a tail, has is no part of a tail.
_ATOM = 0.5
# Scales are compared in parts of the range, as many as there are bins in most histograms.
_BINS = 64
# A density may be off by one of these parts of the rows that it expects in a bin.
_MISFITS = 0.1 * 4.0 ** np.arange(4)
# Tails are at most as heavy as that of exp(-(distance / scale)^shape) with this shape.
_LEAST_SHAPE = 0.35
# Densities so much less likely than the likeliest one are left out.
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True)
class Tail:
    """Hold what is believed of one side of a column: densities exp(-(distance / scale)^shape).

    Parameters
    ----------
    start : float
        Where distances begin.
    share, share_variance : numpy.ndarray, shape (q,)
        Share of the column's rows on this side under each density, and its variance.
    scales, shapes : numpy.ndarray, shape (q,)
    chance : numpy.ndarray, shape (q,)
        Posterior of the densities, which adds up to 1.
    farthest : float
        Declared distance beyond which there is nothing, or infinity.
    """

    start: float
    share: np.ndarray
    share_variance: np.ndarray
    scales: np.ndarray
    shapes: np.ndarray
    chance: np.ndarray
    farthest: float

    @property
    def is_seen(self) -> bool:
        """Tell whether rows are seen on this side."""
        return bool(self.share.any())

    def excess(self, distances: np.ndarray, power: int) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance over the posterior of E max(d - distance, 0)^power, each (k,).

        Values beyond the declared distance f count as lying there. With a gap g = f - distance the
        excess of those is g + (d - f), of whose power all terms but g^power are taken off.
        """
        beyond = self._expected(distances, power)
        if np.isfinite(self.farthest):
            gap = np.maximum(self.farthest - distances, 0.0)[:, None]
            end, terms = np.full(1, self.farthest), range(1, power + 1)
            more = sum(comb(power, j) * gap ** (power - j) * self._expected(end, j) for j in terms)
            beyond = np.clip(beyond - more, 0.0, gap**power)
        mean = beyond @ (self.chance * self.share)
        square = self.chance * (self.share**2 + self.share_variance)
        square = beyond**2 @ square
        return mean, np.maximum(square - mean**2, 0.0)

    def _expected(self, distances: np.ndarray, power: int) -> np.ndarray:
        """Return E max(d - distance, 0)^power under each density, (k, q).

        With u = (distance / scale)^shape the partial moment of order j of a density is
        scale^j Gamma((j + 1) / shape, u) / Gamma(1 / shape).
        """
        from scipy.special import gammaincc, gammaln

        shape, scale = self.shapes, self.scales
        t = np.maximum(distances, 0.0)[:, None]
        u = (t / scale) ** shape

        def partial(j: int) -> np.ndarray:
            constant = np.exp(gammaln((j + 1) / shape) - gammaln(1 / shape))
            return scale**j * constant * gammaincc((j + 1) / shape, u)

        found = sum(comb(power, j) * (-t) ** (power - j) * partial(j) for j in range(power + 1))
        return np.maximum(found, 0.0)


def tails(
    histogram: Histogram, low: float, high: float, sd: float, limit: tuple[float, float]
) -> tuple[Tail, Tail]:
    """Return the lower and the upper tail of a column that is seen between ``low`` and ``high``.

    A tail begins where a tenth of the rows are beyond, of those that have not the value of most, or
    as many as stand clear of the noise, and densities are compared with the counts from there on.
    ``limit`` has the declared bounds, infinite where there are none. A function of released counts,
    so it costs nothing.
    """
    edges, counts, deviation = histogram.edges, histogram.counts, histogram.event.deviation
    first, last = np.searchsorted(edges, [low, high]).tolist()
    everyone = max(float(counts.sum()), 1.0)
    up = last - _length(counts[first:last][::-1], everyone, deviation)
    down = first + _length(counts[first:last], everyone, deviation)
    width = max(high - low, sd) / _BINS
    sides = (
        (edges[down], edges[down] - edges[: down + 1][::-1], counts[:down][::-1], down - first),
        (edges[up], edges[up:] - edges[up], counts[up:], last - up),
    )
    found = []
    for (start, distances, beyond, seen), end in zip(sides, limit, strict=True):
        chance, rows, variance = _fitted(distances / width, beyond, seen, deviation)
        shape, scale = np.nonzero(chance > _NEGLIGIBLE * chance.max())
        kept = chance[shape, scale]
        found.append(
            Tail(
                start=float(start),
                share=rows[shape, scale] / everyone,
                share_variance=variance[shape, scale] / everyone**2,
                scales=SCALES[scale] * width,
                shapes=SHAPES[shape],
                chance=kept / kept.sum(),
                farthest=abs(end - float(start)),
            )
        )
    return found[0], found[1]


def _fitted(edges: np.ndarray, counts: np.ndarray, seen: int, deviation: float):
    """Return the posterior of densities, with the rows of each and their variance, (p, q).

    Rows that do not stand clear of the noise are taken for none. How far off densities may be in a
    bin is the likeliest of several parts: where values are rounded to multiples of more than a bin,
    most bins are empty and one of L bins has L times the rows that any density expects, which tells
    nothing of how heavy the tail is. Then the root of L - 1 is likeliest.
    """
    none = np.zeros((len(SHAPES), len(SCALES)))
    if not len(counts):
        return none + 1 / none.size, none, none
    expected = shares(edges)
    fits = (_fit(expected, counts, seen, deviation, misfit) for misfit in _MISFITS)
    chance, rows, variance = max(fits, key=lambda fit: fit[0].max())
    highest = chance.max()
    chance = np.exp(chance - highest) if np.isfinite(highest) else np.ones_like(chance)
    chance, rows = chance / chance.sum(), np.maximum(rows, 0.0)
    if (chance * rows).sum() < _CLEAR * deviation:
        return chance, none, none
    return chance, rows, variance


def _fit(expected: np.ndarray, counts: np.ndarray, seen: int, deviation: float, misfit: float):
    """Return the log likelihood of densities that are off by ``misfit``, rows and their variance.

    For each shape and scale, (p, q), the number of rows follows by weighted least squares of counts
    on the shares of bins; all numbers are as likely before.
    """
    likely = max(float(counts[:seen].sum()), deviation)
    weights = 1 / (deviation**2 + likely * expected + (misfit * likely * expected) ** 2)
    curvature = (weights * expected**2).sum(axis=-1) + 1e-300
    rows = (weights * expected * counts).sum(axis=-1) / curvature
    left = (weights * (counts - rows[..., None] * expected) ** 2).sum(axis=-1)
    fit = -0.5 * (left - np.log(weights).sum(axis=-1) + np.log(curvature))
    fit[(rows < 0) | (SHAPES < _LEAST_SHAPE)[:, None]] = -np.inf
    return fit, rows, 1 / curvature


def _length(counts: np.ndarray, everyone: float, deviation: float) -> int:
    """Return how many bins, from the outer one on, a tail has.

    A value that most rows of the column have ends it. Of the others a tail has a tenth, or as many
    as stand clear of the noise, without a value that most of these have; where nothing is left, it
    has all up to the value that is most common.
    """
    common = counts > _ATOM * everyone
    most = int(np.argmax(common)) if common.any() else len(counts)
    sums, k = np.cumsum(counts[:most]), np.arange(1, most + 1)
    least = np.maximum(_TAIL * (everyone - counts[common].sum()), _OUTER * deviation * np.sqrt(k))
    clear = sums >= least
    if not clear.any():
        return most
    length = int(np.argmax(clear))
    if counts[length] <= _ATOM * sums[length]:
        return length + 1
    return length or (most if common.any() else 0)
