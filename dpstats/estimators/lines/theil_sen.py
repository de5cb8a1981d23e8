"""Fit Theil-Sen regression by the exponential mechanism (Alabi et al. 2022, Algorithms 2-4)."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Each, Passes, Problem, Release, Releases
from dpstats.estimators.lines.pairwise import all_pairs_imbalance, pairs_imbalance, pairs_of
from dpstats.estimators.lines.simple_regression import (
    Line,
    LineRows,
    at_each_point,
    line_through,
    point_values,
    too_few,
)
from dpstats.estimators.lines.theil_sen_rows import (
    BITS,
    NO_ERRORS,
    ONE,
    OPTIONS,
    chosen_pairs,
    summarise,
    theil_sen_method,
)
from dpstats.estimators.quantiles.rank_margins import CI_FRACTION, ENDS_ONLY, rank_margin
from dpstats.evidence import EndsEvidence, Evidence, Stack
from dpstats.noise import Noise, RankQuery, RankTable
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP


def release_exponential(
    passes: Passes,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
    *,
    k="all",
    output_range=(-0.5, 1.5),
    theta=0.0,
    ci=None,
) -> Release:
    """Release predictions at x_new by the (widened) exponential mechanism (Algorithms 2, 3, 4).

    For every pair (j, l) with x_j != x_l let z be the value at x_new of the line through
    both points, and I(r) = #above - #below the number of z above r less that below. The
    release is a grid point r with probability proportional to exp(-epsilon' |J(r)| / (4 k)):
    J(r) = I(r) for theta = 0, else the number between I(r + theta) and I(r - theta)
    that is nearest to zero. Several x_new share the budget equally.

    Guarantee. epsilon-DP under replace-one, n public. Each row is in at most k pairs
    (k matchings; n - 1 for all pairs). A pair contributes +1, 0 or -1 to I (0 where
    z = r or x_j = x_l), so replacing one row moves I by at most 2 k at every r. J is the
    middle one of I(r + theta), 0 and I(r - theta); the middle of three numbers moves by
    no more than the one that moves most, and is nonincreasing in r as they are. The
    matchings are drawn independently of the data, and every grid point of
    ``output_range`` is a possible output whatever the data. An end of an interval is drawn
    in the same way from I less a public number, which moves no further than I.

    epsilon-DP under add/remove, n private: all pairs, and probabilities proportional to
    exp(-epsilon' |J(r)| / (3 m)) with m the larger of n - 1 and 1. A row added to n > 1 rows
    adds n pairs, whose part S of I is at most n in magnitude, to pairs with
    |I| <= n (n - 1) / 2. So at every r I / m moves by
    |(I + S) / n - I / (n - 1)| <= |S| / n + |I| / (n (n - 1)) <= 1 + 1/2, and for n < 2,
    where I = 0, by at most 1. Hence J / m does, as before. A row exchanged moves it by up to 2,
    so the same epsilon gives smaller errors here. Numbers of matchings and intervals are not
    offered: they would need n.

    Parameters
    ----------
    k : int or "all"
        Matchings drawn from a decomposition of the complete graph, or all pairs. A number needs
        replace-one.
    output_range : tuple of float
        Where predictions may lie, in multiples of the response's range, in [-2, 3].
    theta : float
        Half-width within which all outputs count as the median, in multiples of the
        response's range: a floor under the error, worth it when points lie near a line.
    ci : bool or float
        True, or a level: spend half the budget on intervals that hold together with the level,
        95% for True: two quantiles of the z at each x_new, as far from the median as
        :func:`~dpstats.estimators.quantiles.rank_margins.rank_margin` says. They take errors as
        symmetric. Where n is too small for any such quantile nothing is spent on them. Needs
        replace-one.

    Notes
    -----
    The coefficients are the line through the released predictions (least squares when
    there are more than two), which costs nothing more. Algorithm 4 takes the least |I|
    within theta of r; it differs where I jumps across zero, which here also counts as a
    median.
    """
    rows: LineRows = passes.sum(partial(summarise, problem=problem))
    if failure := too_few(problem, len(rows.x)):
        return failure
    matchings, pairs = chosen_pairs(len(rows.x), k, noise)
    first, last = (round(bound * ONE) for bound in output_range)
    reach = round(theta * ONE)

    moved, divisor = sensitivity(problem.neighbors, matchings)

    def quantile(step: str, x_new: int, share: PureDP, reach: int = 0, excess: int = 0) -> int:
        widened = _widened(_imbalance(rows, x_new, pairs), reach)
        size = last - first + 1
        query = RankQuery(step, lambda i: widened(first + i) - excess, size, moved, int(divisor))
        return first + noise.choose(query, share)

    n = len(rows.x)
    count = n * (n - 1) // 2 if pairs is None else len(pairs)
    margin = _margin(ci, cost, problem, n)
    kept = cost if margin is None else cost.part(1 - CI_FRACTION)
    fitted = at_each_point(problem, kept, partial(quantile, reach=reach), BITS, _UNPAID)
    if ci is None:
        return fitted
    excess = None if margin is None else math.ceil(2 * margin * count)
    return _with_ends(fitted, problem, cost.part(CI_FRACTION), quantile, excess, ci)


def _margin(ci: float | None, cost: PureDP, problem: Problem, n: int) -> float | None:
    """Return the distance in ranks of the ends from the median; None where none are bought."""
    points = len(problem.x_new)
    end_cost = cost.part(CI_FRACTION / (2 * points)).epsilon
    return None if ci is None else rank_margin(ci, points, n // 2, end_cost)


def _with_ends(fitted: Release, problem: Problem, cost: PureDP, quantile, excess, ci) -> Release:
    """Add the ends of intervals to the release, None for an end at infinity."""
    line = Line.of(problem)
    end_cost = cost.part(1 / (2 * len(problem.x_new)))
    ends = []
    for i, position in enumerate(line.positions(problem.x_new)):
        at = round(position * ONE)
        sides = (("lower", excess), ("upper", excess and -excess))
        units = [
            None if shift is None
            else quantile(f"{side} end at x_new[{i}]", at, end_cost, excess=shift) / ONE
            for side, shift in sides
        ]  # fmt: skip
        ends.append([None if unit is None else float(line.values(unit)) for unit in units])
    ends = [end if None in end else sorted(end) for end in ends]
    evidence = EndsEvidence(level=ci, points=problem.x_new, ends=ends)
    return replace(fitted, evidence=evidence, reasons={**fitted.reasons, "bse": ENDS_ONLY})


def release_each(
    rows: Rows,
    edges: np.ndarray,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
    *,
    k="all",
    output_range=(-0.5, 1.5),
    theta=0.0,
    ci=None,
) -> Releases:
    """Release every group as :func:`release_exponential` does, all choices in one call.

    Guarantee. That of :func:`release_exponential` for each group: a choice with the same
    imbalances and the same sensitivity among the same grid points. No intervals are bought.
    """
    matchings, tables = _tables(summarise(rows, problem), edges, k, noise)
    first, last = (round(bound * ONE) for bound in output_range)
    grid = first, last - first + 1, round(theta * ONE)

    moved, divisors = sensitivity(problem.neighbors, matchings)

    def medians(step: str, x_new: int, share: PureDP) -> np.ndarray:
        table = *tables(x_new), *grid
        query = RankTable(step, *table, sensitivities=moved, divisors=divisors)
        return first + noise.choose_each(query, share)

    values = point_values(problem, cost, medians, BITS)
    params, reasons = line_through(problem, values)
    return Releases(
        params,
        Line.of(problem).values(values),
        statuses=["ok"] * len(values),
        reasons=(*reasons.values(), _UNPAID),
        stack=Stack(params, np.full((len(params), 2, 2), np.nan), Evidence()),
    )


def sensitivity(neighbors: str, matchings) -> tuple[Any, Any]:
    """Return how far a row moves I / divisor, and the divisor: see :func:`release_exponential`.

    ``matchings`` is the largest number of pairs that share a row, n - 1 under add/remove: of one
    table, or an array of several tables'.
    """
    if neighbors == REPLACE_ONE:
        return 2 * matchings, 1
    moved = np.full_like(matchings, 1.5, dtype=float)[()]  # a number for one table
    return moved, np.maximum(matchings, 1)


def _tables(rows: LineRows, edges: np.ndarray, k, noise: Noise):
    """Return each group's largest number of pairs per row, and a table of predictions at x_new."""
    from dpstats.estimators.lines.pairwise_table import all_pairs, given_pairs

    x, y = rows.x.astype(float), rows.y.astype(float)
    if k == "all":
        return np.diff(edges) - 1, lambda x_new: all_pairs(x, y, edges, float(x_new))
    sizes = np.diff(edges)
    matchings = np.minimum(int(k), sizes - 1)
    drawn = [
        pairs_of(n, count, noise)
        for n, count in zip(sizes.tolist(), matchings.tolist(), strict=True)
    ]
    starts = zip(drawn, edges[:-1], strict=True)
    pairs = np.concatenate([group_pairs + start for group_pairs, start in starts])
    ends = np.cumsum([0, *map(len, drawn)])
    return matchings, lambda x_new: given_pairs(x, y, pairs, ends, float(x_new))


def _imbalance(rows: LineRows, x_new: int, pairs: np.ndarray | None) -> Callable[[int], int]:
    """Return #above - #below of the pairs' predictions at x_new, as a function of r."""
    if pairs is None:
        return all_pairs_imbalance(rows.x, rows.y, x_new)
    return pairs_imbalance(rows.x, rows.y, x_new, pairs)


def _widened(imbalance: Callable[[int], int], reach: int) -> Callable[[int], int]:
    """Return the number nearest to zero between the imbalances at r + reach and r - reach."""
    if not reach:
        return imbalance
    return lambda r: min(max(imbalance(r + reach), 0), imbalance(r - reach))


_UNPAID = f"{NO_ERRORS}; ci=True buys intervals"
_CI = {"ci": (False, option_checks.level("ci"))}
# Up to this many rows in a group, counting all pairs is no slower than sorting.
_BOTH_RELATIONS = {
    "neighbors": (REPLACE_ONE, ADD_REMOVE),
    "each": Each(release_each, sizes=(2, 512), without=("ci",)),
}
METHODS = (
    theil_sen_method(
        "exp_theil_sen",
        "Alabi et al. 2022, Algorithms 2 and 3",
        standard_errors=_UNPAID,
        release=release_exponential,
        options={**OPTIONS, **_CI},
        **_BOTH_RELATIONS,
    ),
    theil_sen_method(
        "wide_theil_sen",
        "Alabi et al. 2022, Algorithms 2 and 4",
        standard_errors=_UNPAID,
        release=release_exponential,
        options={**OPTIONS, "theta": (0.01, option_checks.number("theta", 1e-6, 1)), **_CI},
        **_BOTH_RELATIONS,
    ),
)
