"""Read histograms off the cumulative counts that a description releases, at no cost."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.describe.column_parts import NumberPart
from dpstats.describe.cumulative import deviation, prefix_sums
from dpstats.describe.figures import Counted

# Bins lie between these quantiles, and the outer ones hold all beyond. They are as many as have, on
# average, so many times the deviation of the noise on one, within limits.
_BETWEEN, _CLEAR, _BINS = (0.01, 0.99), 4.0, (5, 20)


@dataclass(frozen=True)
class Bar:
    """Hold the count of values in [left, right) with an interval that holds the noise."""

    left: float
    right: float
    estimate: float
    std_error: float
    lower: float
    upper: float


def bars(
    part: NumberPart,
    places: Sequence[np.ndarray],
    s: float,
    z: float,
    each: float,
    ends: tuple[float, float],
) -> Iterator[tuple[int, Bar]]:
    """Yield the bars of each group, by its number, from its places with noise ``s``.

    Bins have a width of 1, 2 or 5 times a power of ten, and are the same for all groups. They
    follow from the cumulative counts of all groups, which are released, and so does everything
    else: it costs nothing. A count is the difference of two cumulative ones, cut at 0; its interval
    is that of the difference before it is cut. ``ends`` are declared bounds, else infinite; each
    that was counted stands for ``each`` rows, or for such a sum of weights.
    """
    limits = part.limits
    sums = [prefix_sums(own[3:], part.weights) for own in places]
    cuts = _cuts(part, sums, s)
    edges = (limits.first + np.array(cuts) - 0.5) * limits.width
    edges = np.clip(edges, *ends)
    edges[[0, -1]] = ends
    spans = zip(cuts[:-1], cuts[1:], strict=True)
    deviations = [s * deviation(part.weights, i, j) for i, j in spans]
    for group, own in enumerate(sums):
        counts = np.diff(np.append(0.0, own)[cuts])
        for k, (count, sd) in enumerate(zip(counts.tolist(), deviations, strict=True)):
            found = Counted(count, sd**2).interval(z, each)
            yield group, Bar(float(edges[k]), float(edges[k + 1]), *found)


def _cuts(part: NumberPart, sums: Sequence[np.ndarray], s: float) -> list[int]:
    """Return at which bins of the grid those of the histogram begin, with the end of the last."""
    from scipy.optimize import isotonic_regression

    limits, half = part.limits, part.limits.size // 2
    increasing = isotonic_regression(np.sum(sums, axis=0)).x
    rows = max(float(increasing[-1]), 0.0)
    low, high = (int(np.argmax(increasing >= q * rows)) for q in _BETWEEN)
    clear = rows / len(sums) / (_CLEAR * s * deviation(part.weights, half, limits.size))
    most = min(max(int(clear), _BINS[0]), _BINS[1])
    step = _step(high - low + 1, limits.width, most)
    first, last = (limits.first + low) // step, (limits.first + high) // step
    inner = [k * step - limits.first for k in range(first + 1, last + 1)]
    return [0, *(cut for cut in inner if 0 < cut < limits.size), limits.size]


def _step(bins: int, width: float, most: int) -> int:
    """Return how many bins of the grid, whose width starts with 1 or 5, are one."""
    starts_with_1 = round(width / 10 ** math.floor(math.log10(width))) == 1
    steps = (1, 2, 5, 10) if starts_with_1 else (1, 2, 4, 10)
    power = 10 ** max(math.floor(math.log10(bins / most)), 0)
    return next(step * power for step in steps if bins <= step * power * most)
