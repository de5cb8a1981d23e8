"""Define public bins of a column's values, fixed before any row is read."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.engines.units import PARTS

# Octaves +-[2^j, 2^(j+1)) cover 1e-12 to 1e15 whatever the unit of measurement.
_LEAST, _LARGEST = -40, 50
_LINEAR_BINS = 64
# Bins beyond those reach so many octaves of their width.
_OCTAVES = 16
# Doubles have so many bits of mantissa, and exponents that are stored with this much added.
_MANTISSA, _BIAS = 52, 1023
_LARGEST_DOUBLE = float(np.finfo(float).max)


@dataclass(frozen=True)
class Dyadic:
    """Define bins 0 and +-[2^j, 2^(j+1)), each cut into ``parts`` of equal width, ascending.

    ``parts`` is a power of 2, so that the bits of a double name its bin.

    >>> Dyadic().of(np.array([-3.0, 0.0, 5.0, np.inf]))
    array([-4.00000000e+00,  0.00000000e+00,  4.00000000e+00,  1.12589991e+15])
    >>> Dyadic(8).of(np.array([-3.0, 2021.0]))
    array([  -3.25, 1920.  ])
    """

    parts: int = 1

    @cached_property
    def edges(self) -> np.ndarray:
        """Return the ends of the bins, one more than there are bins."""
        octaves = 2.0 ** np.arange(_LEAST, _LARGEST + 1)[:, None]
        cut = (octaves * (1 + np.arange(self.parts) / self.parts)).ravel()
        above = np.append(cut, 2.0 ** (_LARGEST + 1))
        return np.concatenate([-above[::-1], [0.0], above])

    @property
    def zero(self) -> tuple[int, int]:
        """Return the two bins that touch zero."""
        below = (_LARGEST - _LEAST + 1) * self.parts
        return below, below + 1

    def index(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value; what lies beyond the outer edges counts as just inside."""
        from dpstats.numerics.kernels import dyadic_places

        digits = self.parts.bit_length() - 1
        lowest = ((_BIAS + _LEAST) << digits) - 1
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        return dyadic_places(numbers, _MANTISSA - digits, lowest, *self.zero)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the lower ends of the bins of values."""
        return self.edges[self.index(values)]


@dataclass(frozen=True)
class Distances:
    """Define dyadic bins, cut into ``parts``, of distances from a center; first [0, 2^-40).

    Distances below ``least`` count in the bin that holds it or ends there.

    >>> kind = Distances(1.0, least=0.25)
    >>> kind.edges[kind.index(np.array([1.0, 0.9, 1.3, 3.5])) + 1]
    array([0.25, 0.25, 0.5 , 4.  ])
    """

    center: float
    parts: int = 1
    least: float = 2.0**_LEAST

    @cached_property
    def edges(self) -> np.ndarray:
        """Return the ends of the bins, one more than there are bins."""
        return self._dyadic.edges[self._dyadic.zero[1] :]

    def index(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of the distance of each value."""
        places = self._dyadic.index(np.abs(values - self.center)) - self._dyadic.zero[1]
        return np.maximum(places, self.first)

    @property
    def first(self) -> int:
        """Return the first bin that may hold rows, in which all shorter distances count."""
        return int(np.searchsorted(self.edges, self.least)) - 1

    @property
    def _dyadic(self) -> Dyadic:
        return Dyadic(self.parts)


@dataclass(frozen=True)
class Linear:
    """Define 64 bins of equal width."""

    low: float
    high: float

    @cached_property
    def edges(self) -> np.ndarray:
        """Return the ends of the bins, shape (65,)."""
        return np.linspace(self.low, self.high, _LINEAR_BINS + 1)

    def index(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value; what lies beyond the outer edges counts as just inside."""
        # finite for the narrowest range too, so that no place is 0 times infinity
        scale = min(_LINEAR_BINS / (self.high - self.low), _LARGEST_DOUBLE)
        with np.errstate(over="ignore"):  # infinite places are beyond the last bin
            place = (values - self.low) * scale
        return np.clip(place, 0, _LINEAR_BINS - 1).astype(np.int64)


@dataclass(frozen=True)
class Overflowing:
    """Define 64 bins of equal width, and on each side wider ones that reach far beyond them.

    Those end an eighth, a quarter and half of the width of the 64 farther out, then at it times
    each power of 2 up to 2^15, and at ``least`` and ``most``. Bins beyond these are empty.
    """

    low: float
    high: float
    least: float = -math.inf
    most: float = math.inf

    @cached_property
    def edges(self) -> np.ndarray:
        """Return the ends of the bins, shape (103,)."""
        with np.errstate(over="ignore"):  # infinite ones are cut to the outer ends
            far = (self.high - self.low) * 2.0 ** np.arange(-3, _OCTAVES)
        inner = np.linspace(self.low, self.high, _LINEAR_BINS + 1)
        edges = np.concatenate([(self.low - far)[::-1], inner, self.high + far])
        ends = min(self.least, self.low), max(self.most, self.high)
        edges = np.clip(edges, *ends)
        edges[[0, -1]] = np.where(np.isfinite(ends), ends, edges[[0, -1]])
        return edges

    def index(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value; what lies beyond the outer edges counts as just inside."""
        from dpstats.numerics.kernels import places

        first = np.searchsorted(self.edges, self.edges[0], "right") - 1
        last = np.searchsorted(self.edges, self.edges[-1]) - 1
        inner = (len(self.edges) - 1 - _LINEAR_BINS) // 2
        found = places(np.asarray(values, np.float64), self.edges, inner)
        return np.clip(found, first, last, out=found)


def counts(bins, batch) -> np.ndarray:
    """Count the rows of a batch in each bin, one row of counts per column; equally many bins each.

    A row is in one bin of each column, whatever its values are, or in none where one is missing.
    Where rows count in parts, these are added up, as whole numbers.
    """
    rows = [_counts(kind, batch[name], batch.get(PARTS)) for name, kind in bins.items()]
    return np.array(rows).astype(np.int64, copy=False)


def _counts(kind, values: np.ndarray, parts: np.ndarray | None) -> np.ndarray:
    present = ~np.isnan(values)
    if not present.all():
        values, parts = values[present], None if parts is None else parts[present]
    return np.bincount(kind.index(values), parts, len(kind.edges) - 1)
