"""Estimate from a noisy histogram by how much values exceed a limit, hidden rows included."""

from dataclasses import dataclass

import numpy as np

from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.reach import SCALES, SHAPES, posterior


@dataclass(frozen=True)
class Tail:
    """Hold what is believed of one side of a column: densities exp(-(distance / scale)^shape).

    Parameters
    ----------
    start : float
        Where distances begin.
    share : float
        Share of the column's rows on this side.
    scales : numpy.ndarray, shape (q,)
    shapes : numpy.ndarray, shape (p,)
    chance : numpy.ndarray, shape (p, q)
        Posterior of shapes and scales, which adds up to 1.
    farthest : float
        Declared distance beyond which there is nothing, or infinity.
    """

    start: float
    share: float
    scales: np.ndarray
    shapes: np.ndarray
    chance: np.ndarray
    farthest: float

    def excess(self, distances: np.ndarray, power: int) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance over the posterior of E max(d - distance, 0)^power, each (k,).

        Values beyond the declared distance count as lying there.
        """
        beyond = self._expected(distances, power)
        if np.isfinite(self.farthest):
            last = self._expected(np.full(1, self.farthest), power)
            gap = np.maximum(self.farthest - distances, 0.0)
            rest = self._expected(np.full(1, self.farthest), 1)
            more = last if power == 1 else last + 2 * gap[:, None, None] * rest
            beyond = np.maximum(beyond - more, 0.0)
        mean = np.einsum("kpq,pq->k", beyond, self.chance)
        square = np.einsum("kpq,pq->k", beyond**2, self.chance)
        return mean, np.maximum(square - mean**2, 0.0)

    def _expected(self, distances: np.ndarray, power: int) -> np.ndarray:
        """Return share E max(d - distance, 0)^power for each shape and scale, (k, p, q).

        With u = (distance / scale)^shape the partial moment of order j of a density is
        scale^j Gamma((j + 1) / shape, u) / Gamma(1 / shape).
        """
        from scipy.special import gammaincc, gammaln

        shape, scale = self.shapes[:, None], self.scales[None]
        u = (np.maximum(distances, 0.0)[:, None, None] / scale) ** shape

        def partial(j: int) -> np.ndarray:
            constant = np.exp(gammaln((j + 1) / shape) - gammaln(1 / shape))
            return scale**j * constant * gammaincc((j + 1) / shape, u)

        t = np.maximum(distances, 0.0)[:, None, None]
        if power == 1:
            found = partial(1) - t * partial(0)
        else:
            found = partial(2) - 2 * t * partial(1) + t**2 * partial(0)
        return self.share * np.maximum(found, 0.0)


def tails(histogram: Histogram, low: float, high: float, limit: tuple[float, float]):
    """Return the lower and the upper tail of a column that is seen between ``low`` and ``high``.

    ``limit`` has its declared bounds, infinite where there are none. A function of released counts,
    so it costs nothing.
    """
    edges, counts, deviation = histogram.edges, histogram.counts, histogram.event.deviation
    first, last = np.searchsorted(edges, [low, high]).tolist()
    rows = np.cumsum(counts[first:last])
    middle = first + int(np.argmax(rows >= rows[-1] / 2))
    width = edges[middle + 1] - edges[middle]
    up = _tail(
        (edges[middle:] - edges[middle]) / width, counts[middle:], last - middle, deviation
    )
    down = _tail(
        (edges[middle + 1] - edges[: middle + 2][::-1]) / width,
        counts[: middle + 1][::-1],
        middle + 1 - first,
        deviation,
    )
    everyone = max(float(counts.sum()), 1.0)
    return tuple(
        Tail(start, rows / everyone, SCALES * width, SHAPES, chance, farthest)
        for start, (rows, chance), farthest in (
            (float(edges[middle + 1]), down, float(edges[middle + 1]) - limit[0]),
            (float(edges[middle]), up, limit[1] - float(edges[middle])),
        )
    )


def _tail(edges: np.ndarray, counts: np.ndarray, seen: int, deviation: float):
    """Return the rows seen on one side and the posterior of its shape and scale."""
    rows = max(float(counts[:seen].sum()), deviation)
    return rows, posterior(edges, counts, rows, deviation)
