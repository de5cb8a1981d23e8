"""Public ranges of design columns: scaling to the unit box, and private estimates of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from dpstats.noise import Noise
from dpstats.noise.queries import Query
from dpstats.privacy import REPLACE_ONE, Cost
from dpstats.schema import Batch, Numeric

# Entries of scaled rows are cut toward zero to multiples of 2^-20, so that products
# and their sums are exact integers and no row's norm can grow.
ENTRY_BITS = 20
UNIT = 2.0**-ENTRY_BITS
# A row is scaled to slightly less than its bound, by more than floating point can add.
_NORM_MARGIN = 1 - 2.0**-30
# Far enough out to leave the direction of any real row alone, and finite.
_FAR = 2.0**40


@dataclass(frozen=True)
class Box:
    """Public bounds of a design row (x, y) and the map to scaled coordinates.

    Scaled coordinates are u = (x - center) / scale and v = (y - y_center) / y_scale,
    clipped to [-limit, limit] and [-1, 1]; rows with ||u|| > norm are then multiplied,
    together with v, by norm / ||u||, which keeps a linear relation between them. So
    every |u_j| and |v| is at most 1.

    Parameters
    ----------
    center, scale : numpy.ndarray, shape (S,)
    y_center, y_scale : float
    limit : float
        Bound on each |u_j| before rows are shortened.
    norm : float
        Bound on the Euclidean norm of u.
    intercept : int or None
        Index of the constant column, where u = 1 before rows are shortened.
    """

    center: np.ndarray
    scale: np.ndarray
    y_center: float
    y_scale: float
    limit: float
    norm: float
    intercept: int | None

    @classmethod
    def symmetric(cls, low, high, y_low, y_high, intercept, norm=None) -> "Box":
        """The box [-1, 1]^S x [-1, 1], centred where an intercept can absorb the shift."""
        if intercept is None:
            center, y_center = np.zeros(len(low)), 0.0
        else:
            center, y_center = (low + high) / 2, (y_low + y_high) / 2
            center[intercept] = 0.0
        half = np.maximum(np.abs(low - center), np.abs(high - center))
        y_half = max(abs(y_low - y_center), abs(y_high - y_center))
        scale = np.where(half > 0, half, 1.0)
        norm = math.sqrt(len(low)) if norm is None else min(norm, math.sqrt(len(low)))
        return cls(center, scale, y_center, y_half or 1.0, 1.0, norm, intercept)

    @classmethod
    def ball(cls, columns: int, row_norm: float, y_low, y_high) -> "Box":
        """Rows of Euclidean norm at most ``row_norm``, in the design's own units."""
        y_scale = max(abs(y_low), abs(y_high)) or 1.0
        return cls(np.zeros(columns), np.full(columns, row_norm), 0.0, y_scale, _FAR, 1.0, None)

    def integers(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Scaled, clipped rows (u, v) in units of 2^-20, shape (m, S + 1), float64 integers.

        Row-local: row i of the result depends on row i of (X, y) only.
        """
        rows = np.empty((len(y), len(self.center) + 1))
        np.subtract(X, self.center, out=rows[:, :-1])
        rows[:, :-1] /= self.scale
        rows[:, -1] = (y - self.y_center) / self.y_scale
        np.clip(rows[:, :-1], -self.limit, self.limit, out=rows[:, :-1])
        np.clip(rows[:, -1], -1.0, 1.0, out=rows[:, -1])
        if self.norm < self.limit * math.sqrt(len(self.center)):
            bound = self.norm * _NORM_MARGIN
            length = np.sqrt(np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1]))
            rows *= (bound / np.maximum(length, bound))[:, None]
        rows *= 2.0**ENTRY_BITS
        return np.trunc(rows, out=rows)

    def linear_map(self) -> tuple[np.ndarray, np.ndarray]:
        """(T, t) with beta = T theta + t for coefficients theta of v on u."""
        transform = np.diag(self.y_scale / self.scale)
        shift = np.zeros(len(self.center))
        if self.intercept is not None:
            transform[self.intercept] -= self.y_scale * self.center / self.scale
            shift[self.intercept] = self.y_center
        return transform, shift


# Dyadic bins +-[2^j, 2^(j+1)) cover 1e-12 to 1e15 whatever the unit of measurement.
_EXPONENTS = np.arange(-40, 51)
_COARSE_EDGES = np.concatenate([-(2.0 ** _EXPONENTS[::-1]), [0.0], 2.0**_EXPONENTS])
_FINE_BINS = 64
# Chance that an empty bin of a histogram is taken for an occupied one.
_FALSE_RANGE = 1e-3


def estimate_ranges(
    batches: Callable[[], Iterable[Batch]],
    columns: tuple[str, ...],
    cost: Cost,
    noise: Noise,
    neighbors: str,
) -> dict[str, Numeric] | None:
    """Private ranges of the columns from three noisy histograms each.

    A histogram over fixed dyadic bins gives the order of magnitude, a second one over 64
    equal bins inside it a range, and a third one inside that the range to use: a column
    whose spread is small beside its distance from zero needs the third. Each pass takes a
    third of the cost, in equal parts for the columns.

    Sensitivity. One person falls into one bin of each histogram. Under add/remove one
    count changes by 1, so L1 = L2 = 1; under replace-one two counts change by 1, so
    L1 = 2 and L2 = sqrt 2.

    Returns
    -------
    dict or None
        A :class:`~dpstats.schema.Numeric` a column; None when some histogram shows no
        count above the noise, which is a released fact.
    """
    each = cost.part(1 / (3 * len(columns)))

    def histograms(edges: dict[str, np.ndarray], what: str) -> dict[str, np.ndarray]:
        return _histograms(batches, edges, what, each, noise, neighbors)

    coarse = histograms(dict.fromkeys(columns, _COARSE_EDGES), "order of magnitude")
    ranges = {name: _magnitude(noisy, noise.events[-1]) for name, noisy in coarse.items()}
    if None in ranges.values():
        return None
    for what in ("range", "range within it"):
        edges = {name: np.linspace(*ranges[name], _FINE_BINS + 1) for name in columns}
        fine = histograms(edges, what)
        event = noise.events[-1]
        ranges = {name: _inner(noisy, edges[name], event) for name, noisy in fine.items()}
    return {name: Numeric(*ranges[name]) for name in columns}


def _histograms(batches, edges, what, cost, noise, neighbors) -> dict[str, np.ndarray]:
    """One pass over the data: a noisy histogram a column."""
    counts = {name: np.zeros(len(edge) - 1, dtype=np.int64) for name, edge in edges.items()}
    for batch in batches():
        for name, edge in edges.items():
            counts[name] += _bin(batch[name], edge)
    moved = 2 if neighbors == REPLACE_ONE else 1
    queries = (
        Query(f"{what} of {name}", count.tolist(), l1=moved, l2=math.sqrt(moved))
        for name, count in counts.items()
    )
    return {name: noise.add(query, cost) for name, query in zip(counts, queries, strict=True)}


def _bin(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Counts per bin; values beyond the outer edges fall into the outer bins."""
    index = np.searchsorted(edges, values, side="right") - 1
    return np.bincount(np.clip(index, 0, len(edges) - 2), minlength=len(edges) - 1)


def _magnitude(noisy: np.ndarray, event) -> tuple[float, float] | None:
    """The dyadic range that leaves out a tail no larger than the noise, at most 3% a side.

    Post-processing. Counts below a threshold that noise alone passes in one histogram of a
    thousand are taken as zero; the tail left out on each side is the larger of that
    threshold and 0.1% of the counts kept, but at most 3%. Where only the bins beside zero
    are left, the few other values could be anywhere: the widest range makes the column
    harmless, while a tiny one would make its coefficient huge.
    """
    chance = _FALSE_RANGE / len(noisy)
    laplace = event.mechanism == "laplace"
    threshold = event.scale * (-math.log(2 * chance) if laplace else norm.isf(chance))
    kept = np.where(noisy > threshold, noisy, 0.0)
    if kept.sum() == 0:
        return None
    low, high = _trimmed(kept, _COARSE_EDGES, max(threshold, 0.001 * kept.sum()))
    if max(-low, high) <= _COARSE_EDGES[_COARSE_EDGES > 0][0]:
        return float(_COARSE_EDGES[0]), float(_COARSE_EDGES[-1])
    return low, high


def _inner(noisy: np.ndarray, edges: np.ndarray, event) -> tuple[float, float]:
    """The part of a range that leaves out a tail no larger than the noise, at most 3% a side.

    Post-processing. Noisy counts are added up as they are, because a threshold would drop
    rows that are spread over many bins; the tail is the larger of 0.1% and 2.5 standard
    deviations of the sum over all bins, which empty bins rarely reach together. What noise
    does, it does by making the range too wide.
    """
    deviation = event.scale * (math.sqrt(2) if event.mechanism == "laplace" else 1.0)
    total = max(noisy.sum(), 0.0)
    return _trimmed(noisy, edges, max(2.5 * deviation * math.sqrt(len(noisy)), 0.001 * total))


def _trimmed(counts: np.ndarray, edges: np.ndarray, tail: float) -> tuple[float, float]:
    """The edges beyond which counts add up to ``tail``, at most 3% of them all, a side."""
    tail = min(tail, 0.03 * counts.sum())
    first = int(np.argmax(np.cumsum(counts) > tail))
    last = len(counts) - 1 - int(np.argmax(np.cumsum(counts[::-1]) > tail))
    return float(edges[min(first, last)]), float(edges[max(first, last) + 1])
