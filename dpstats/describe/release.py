"""Release the figures of a description in two rounds: where columns lie, then all their sums."""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpstats.describe.column_parts import FactorPart
from dpstats.describe.figures import Counted, Figure, of_factor, of_number, of_presence
from dpstats.describe.histogram import Bar, bars
from dpstats.describe.joint import Joint, noise_on_sums
from dpstats.describe.limits import Limits, limits
from dpstats.describe.request import DescribeRequest
from dpstats.engines.units import PARTS
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.schema import Batch, Categorical, Numeric

# Share of the cost for where numeric columns lie.
_FIRST = 0.35
_PRESENT = Categorical((True,))


@dataclass(frozen=True)
class Described:
    """Hold figures and bars of each group and column, and the columns whose shape was not seen.

    ``hidden`` is the share of rows that noise could hide far out in some column.
    """

    figures: tuple[tuple[object, str, Figure], ...]
    unseen: tuple[str, ...]
    hidden: float
    bars: tuple[tuple[object, str, Bar], ...] = ()


def describe(request: DescribeRequest, noise: Noise) -> Described:
    """Release counts, means, deviations, quantiles and shares of all columns.

    Guarantee. The request's cost, under add/remove of one row, or with a unit of all rows of one.
    What a row counts for depends on the rows of its unit alone
    (:class:`~dpstats.describe.counting.Counting`), so neighbours differ by rows whose parts add up
    to at most ``one`` in each of ``in_groups`` groups. 1. Distributions of numeric columns take a
    part of it (:func:`~dpstats.range_estimation.marginals.estimate_marginals`), where all groups
    are counted together, so a unit has ``in_groups`` times ``one``; a missing value is in no bin.
    2. All sums and counts are one query of L2 sensitivity
    :attr:`~dpstats.describe.joint.Joint.l2`, given what was released; numbers of values alone are
    one such query of the whole cost. Of groups that share no unit each has the whole of it
    (parallel composition; McSherry 2009, Theorem 4), and where a unit is in several groups the
    sensitivity is that of all of them together. The two compose, though the second follows from the
    first, as their costs are fixed beforehand (Dong, Roth and Su 2022). All else is computed from
    what was released.
    """
    assert isinstance(request.cost, GDP), "the request is for Gaussian noise"
    request = request.in_whole_units()
    if request.only_counts:
        return _counts(request, noise)
    numbers = _numbers(request)
    share = _FIRST if numbers else 0.0
    rest = request.cost.after(share)
    found = _limits(request, numbers, request.cost.part(share), rest, noise)
    counting, columns = request.counting, {**request.columns, **found}
    joint = Joint.of(columns, len(request.labels), counting.one, counting.in_groups)
    total = request.total(partial(_totals, joint, request.by))
    noisy = noise.add(joint.query(total), rest)
    s = noisy.scale * joint.scale
    figures = _figures(request, joint, noisy.values, s)
    unseen = tuple(name for name, limit in found.items() if not limit.is_known)
    drawn = _bars(request, joint, noisy.values, s) if request.histogram else ()
    hidden = max((limit.hidden_share for limit in found.values()), default=0.0)
    return Described(tuple(figures), unseen, hidden, tuple(drawn))


def _numbers(request: DescribeRequest) -> dict[str, Numeric | None]:
    """Return the bounds of the columns that are numbers, None where they have none."""
    return {n: kind for n, kind in request.columns.items() if not isinstance(kind, Categorical)}


def _counts(request: DescribeRequest, noise: Noise) -> Described:
    """Release numbers of values and of missing ones alone, by all of the cost.

    Each column is a factor of one level in the joint query, so that a row counts once in it, as a
    value or as missing.
    """
    counting, columns = request.counting, dict.fromkeys(request.columns, _PRESENT)
    joint = Joint.of(columns, len(request.labels), counting.one, counting.in_groups)
    total = request.total(partial(_present_totals, joint, _numbers(request), request.by))
    noisy = noise.add(joint.query(total), request.cost)
    s, z, each = noisy.scale * joint.scale, request.z, counting.stands_for
    _, places = joint.split(noisy.values)
    figures = tuple(
        (label, name, figure)
        for g, label in enumerate(request.labels)
        for name, part in joint.parts.items()
        if isinstance(part, FactorPart)
        for figure in of_presence(part, places[name][g], s, z, each)
    )
    return Described(figures, (), 0.0)


def _limits(
    request: DescribeRequest, numbers: Mapping, cost: GDP, rest: GDP, noise: Noise
) -> dict[str, Limits]:
    """Release the distributions of numeric columns, and choose limits by them."""
    if not numbers:
        return {}
    weights = dict.fromkeys(numbers, 1.0)
    counting, many = request.counting, request.counting.in_groups
    found = estimate_marginals(
        request.total, numbers, weights, cost, noise, ADD_REMOVE, (), many * counting.one
    )
    chosen = {}
    for name, marginal in found.items():
        rows = max(many * _rows_seen(marginal), 1.0)
        error = math.sqrt(many) * noise_on_sums(len(request.columns)) / rest.mu / rows
        chosen[name] = limits(marginal, numbers[name], name in request.whole, error)
    return chosen


def _rows_seen(marginal) -> float:
    """Return the number of rows in the last histogram of a column, 1 where there is none."""
    return 1.0 if marginal.seen is None else float(marginal.seen.counts.sum())


def _totals(joint: Joint, by: str | None, batch: Batch) -> np.ndarray:
    rows = len(next(iter(batch.values())))
    codes = np.zeros(rows, np.int64) if by is None else batch[by]
    return joint.total(batch, codes, batch.get(PARTS))


def _present_totals(joint: Joint, numbers: Container, by: str | None, batch: Batch) -> np.ndarray:
    """Add up which values are there: numbers that are no NaN, and codes of levels."""
    there = {n: ~np.isnan(batch[n]) if n in numbers else batch[n] >= 0 for n in joint.parts}
    codes = {name: values.astype(np.int64) - 1 for name, values in there.items()}
    return _totals(joint, by, {**batch, **codes})


def _figures(request: DescribeRequest, joint: Joint, noisy: np.ndarray, s: float):
    """Yield the figures of each group and column with the label and the name."""
    rows, places = joint.split(noisy)
    everyone = max(float(rows.sum()), 1.0)
    z, stands_for = request.z, request.counting.stands_for
    for g, label in enumerate(request.labels):
        counted = Counted(float(rows[g]), (s / joint.rows) ** 2)
        of_all = max(everyone / max(float(rows[g]), 1.0), 1.0)
        for name, part in joint.parts.items():
            own = places[name][g]
            if isinstance(part, FactorPart):
                found = of_factor(part, own, counted, s, z, stands_for)
            else:
                kind = request.columns[name]
                ends = (kind.low, kind.high) if isinstance(kind, Numeric) else None
                found = of_number(
                    part, own, counted, s, z, request.quantiles, of_all, ends,
                    name in request.whole, stands_for,
                )  # fmt: skip
            yield from ((label, name, figure) for figure in found)


def _bars(request: DescribeRequest, joint: Joint, noisy: np.ndarray, s: float):
    """Yield the bars of each group and number with the label and the name."""
    _, places = joint.split(noisy)
    for name, part in joint.parts.items():
        if isinstance(part, FactorPart):
            continue
        kind = request.columns[name]
        ends = (kind.low, kind.high) if isinstance(kind, Numeric) else (-math.inf, math.inf)
        found = bars(part, [*places[name]], s, request.z, request.counting.stands_for, ends)
        yield from ((request.labels[group], name, bar) for group, bar in found)
