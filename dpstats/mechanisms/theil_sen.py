"""Differentially private Theil-Sen regression (Alabi et al. 2022, Algorithms 2 to 5)."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.mechanisms.shared import (
    Line,
    LineRows,
    Listed,
    Method,
    Problem,
    Ranked,
    Release,
    Releases,
)
from dpstats.mechanisms.shared.pairwise import all_pairs_imbalance, pairs_imbalance, pairs_of
from dpstats.mechanisms.shared.rank_margins import CI_SHARE, ENDS_ONLY, rank_margin
from dpstats.mechanisms.shared.simple_regression import (
    at_each_point,
    line_through,
    point_values,
    too_few,
)
from dpstats.mechanisms.shared.smooth_sensitivity import middle, reach, smooth_bound
from dpstats.noise import Noise, RankQuery, RankTable, SmoothQuery
from dpstats.privacy import REPLACE_ONE, PureDP

# x, y and the output live on multiples of 2^-24 of their range. With |u| <= 2^25 and
# |y - r| <= 2^26 in these units two different quotients (y - r) / u differ by a factor
# of at least 1 + 2^-51, so double division never confuses or swaps them.
_BITS = 24
_ONE = 1 << _BITS
# Up to so many rows all pairs are listed, which is then faster than selecting by rank.
_LISTED_ROWS = 512
# Ranks of all pairs that ss_theil_sen has in memory at most, else pairs of matchings.
_MOST_RANKS, _SORTED_PAIRS = 1 << 26, 1 << 21


def summarise(X: np.ndarray, y: np.ndarray, problem: Problem) -> LineRows:
    """The rows themselves: Theil-Sen has no smaller summary."""
    return LineRows(*Line.of(problem).integers(X, y, _BITS))


def release_exponential(
    rows: LineRows,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
    *,
    k="all",
    output_range=(-0.5, 1.5),
    theta=0.0,
    ci=None,
) -> Release:
    """Predictions at x_new by the (widened) exponential mechanism (Algorithms 2, 3 and 4).

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

    Parameters
    ----------
    k : int or "all"
        Matchings drawn from a decomposition of the complete graph, or all pairs.
    output_range : tuple of float
        Where predictions may lie, in multiples of the response's range, in [-2, 3].
    theta : float
        Half-width within which all outputs count as the median, in multiples of the
        response's range: a floor under the error, worth it when points lie near a line.
    ci : bool or float
        True, or a level: spend half the budget on intervals that hold together with the level,
        95% for True: two quantiles of the z at each x_new, as far from the median as
        :func:`~dpstats.mechanisms.shared.rank_margins.rank_margin` says. They take errors as
        symmetric. Where n is too small for any such quantile nothing is spent on them.

    Notes
    -----
    The coefficients are the line through the released predictions (least squares when
    there are more than two), which costs nothing more. Algorithm 4 takes the least |I|
    within theta of r; it differs where I jumps across zero, which here also counts as a
    median.
    """
    if failure := too_few(problem, len(rows.x)):
        return failure
    matchings, pairs = _pairs(len(rows.x), k, noise)
    first, last = (round(bound * _ONE) for bound in output_range)
    reach = round(theta * _ONE)

    def quantile(step: str, x_new: int, share: PureDP, reach: int = 0, excess: int = 0) -> int:
        widened = _widened(_imbalance(rows, x_new, pairs), reach)
        size = last - first + 1
        query = RankQuery(step, lambda i: widened(first + i) - excess, size, 2 * matchings)
        return first + noise.choose(query, share)

    n = len(rows.x)
    count = n * (n - 1) // 2 if pairs is None else len(pairs)
    margin = _margin(ci, cost, problem, n)
    kept = cost if margin is None else cost.part(1 - CI_SHARE)
    fitted = at_each_point(problem, kept, partial(quantile, reach=reach), _BITS, _UNPAID)
    if ci is None:
        return fitted
    excess = None if margin is None else math.ceil(2 * margin * count)
    return _with_ends(fitted, problem, cost.part(CI_SHARE), quantile, excess, ci)


def _margin(ci: float | None, cost: PureDP, problem: Problem, n: int) -> float | None:
    """How far in ranks the ends are from the median; None where none are bought."""
    points = len(problem.x_new)
    each = cost.part(CI_SHARE / (2 * points)).epsilon
    return None if ci is None else rank_margin(ci, points, n // 2, each)


def _with_ends(fitted: Release, problem: Problem, cost: PureDP, quantile, excess, ci) -> Release:
    """The release with the ends of its intervals, None for an end at infinity."""
    line = Line.of(problem)
    each = cost.part(1 / (2 * len(problem.x_new)))
    ends = []
    for i, position in enumerate(line.positions(problem.x_new)):
        at = round(position * _ONE)
        sides = (("lower", excess), ("upper", excess and -excess))
        units = [
            None if shift is None
            else quantile(f"{side} end at x_new[{i}]", at, each, excess=shift) / _ONE
            for side, shift in sides
        ]  # fmt: skip
        ends.append([None if unit is None else float(line.values(unit)) for unit in units])
    ends = [end if None in end else sorted(end) for end in ends]
    statistics = {"level": ci, "points": problem.x_new.tolist(), "ends": ends}
    return replace(fitted, statistics=statistics, reasons={**fitted.reasons, "bse": ENDS_ONLY})


def release_each(
    X: np.ndarray,
    y: np.ndarray,
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
    """:func:`release_exponential` of every group, the choices of all groups in one go.

    Guarantee. That of :func:`release_exponential` for each group: a choice with the same
    imbalances and the same sensitivity among the same grid points. No intervals are bought.
    """
    rows = summarise(X, y, problem)
    matchings, tables = _tables(rows, edges, k, noise)
    first, last = (round(bound * _ONE) for bound in output_range)
    grid = first, last - first + 1, round(theta * _ONE)

    def medians(step: str, x_new: int, share: PureDP) -> np.ndarray:
        query = RankTable(step, *tables(x_new), *grid, sensitivities=2 * matchings)
        return first + noise.choose_each(query, share)

    values = point_values(problem, cost, medians, _BITS)
    params, reasons = line_through(problem, values)
    return Releases(
        params,
        Line.of(problem).values(values),
        statuses=["ok"] * len(values),
        reasons=(*reasons.values(), _UNPAID),
        stack={"params": params, "cov": np.full((len(params), 2, 2), np.nan)},
    )


def _tables(rows: LineRows, edges: np.ndarray, k, noise: Noise):
    """For each group how many pairs a row is in at most; all groups' predictions at an x_new."""
    from dpstats.mechanisms.shared.pairwise_table import all_pairs, given_pairs

    x, y = rows.x.astype(float), rows.y.astype(float)
    if k == "all":
        return np.diff(edges) - 1, lambda x_new: all_pairs(x, y, edges, float(x_new))
    sizes = np.diff(edges)
    matchings = np.minimum(int(k), sizes - 1)
    drawn = [
        pairs_of(n, own, noise) for n, own in zip(sizes.tolist(), matchings.tolist(), strict=True)
    ]
    pairs = np.concatenate([own + start for own, start in zip(drawn, edges[:-1], strict=True)])
    ends = np.cumsum([0, *map(len, drawn)])
    return matchings, lambda x_new: given_pairs(x, y, pairs, ends, float(x_new))


def release_smooth(
    rows: LineRows,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
    *,
    k="all",
    output_range=(-0.5, 1.5),
) -> Release:
    """Predictions at x_new: a median and Student-t noise on its smooth sensitivity (Algorithm 5).

    Guarantee. epsilon-DP under replace-one, n public. Every pair stands for two entries
    of a list: its value at x_new rounded up to the grid and the next grid point above it,
    clamped to ``output_range``, or both ends of the range where x_j = x_l. So the list has the
    same public length for all data, replacing one row changes at most 2 k of its
    entries, and a pair without a line leaves the median of the others alone.
    :func:`~dpstats.mechanisms.shared.smooth_sensitivity.smooth_bound` bounds the median's
    sensitivity smoothly, :meth:`~dpstats.noise.Noise.smooth` adds noise for it and clamps to the
    range, which cannot take it further from the median.

    Parameters
    ----------
    k : int or "all"
        Matchings drawn from a decomposition of the complete graph. "all" takes all pairs as
        long as the ranks that can matter are at most 2^26 (about 400 MB): up to n = 5,792, and
        beyond that to about n = 1.6 * 10^5 times epsilon over the number of x_new. For more rows
        it takes as many matchings as make 2^21 pairs. A number is taken as it is, at about 100
        bytes of memory a pair.
    output_range : tuple of float
        Where predictions may lie, in multiples of the response's range, in [-2, 3].

    Notes
    -----
    All pairs are not listed: the entries near the median are selected by rank
    (:class:`~dpstats.mechanisms.shared.pairwise_ranks.PairRanks`), as many on each side as n,
    epsilon and the range say, so that how much memory it takes is public. Only the time depends on
    the data.

    Where it differs from Algorithm 5. The paper drops pairs with x_j = x_l; then the
    length of the list depends on the data and its proof, for lists of one length, does not
    apply. With t = epsilon / 6 instead of epsilon / 8 the bound is smaller at the same
    guarantee, because rescaling a t distribution by e^t costs 3 t, not 4 t.
    """
    n = len(rows.x)
    if failure := too_few(problem, n):
        return failure
    first, last = (round(bound * _ONE) for bound in output_range)
    if k == "all" and not _affordable(n, last - first, cost.epsilon / len(problem.x_new)):
        k = max(2 * _SORTED_PAIRS // n, 1)
    matchings, pairs = _pairs(n, k, noise)

    def median(step: str, x_new: int, share: PureDP) -> int:
        entries = _entries(rows, x_new, pairs, first, last)
        bound = partial(smooth_bound, entries, 2 * matchings)
        index = entries.entry(middle(entries.size))
        query = SmoothQuery(step, index, last - first + 1, bound, unit=1 / _ONE)
        return first + noise.smooth(query, share)

    return at_each_point(problem, cost, median, _BITS, _NO_ERRORS)


def _affordable(n: int, top: int, epsilon: float) -> bool:
    """Whether the entries that can matter among those of all pairs fit into memory."""
    return 2 * reach(n * (n - 1), 2 * (n - 1), top, epsilon / 6) <= _MOST_RANKS


def _entries(rows: LineRows, x_new: int, pairs: np.ndarray | None, first: int, last: int) -> Ranked:
    """Two entries a pair, in grid steps from the lower end of the range."""
    from dpstats.mechanisms.shared.pairwise_ranks import PairRanks
    from dpstats.mechanisms.shared.pairwise_table import all_pairs, entries, given_pairs

    n = len(rows.x)
    if pairs is None and n > _LISTED_ROWS:
        return PairRanks(rows.x, rows.y, x_new, first, last - first)
    x, y, at = rows.x.astype(float), rows.y.astype(float), float(x_new)
    if pairs is None:
        count, (doubled, _) = n * (n - 1) // 2, all_pairs(x, y, np.array([0, n]), at)
    else:
        count, (doubled, _) = len(pairs), given_pairs(x, y, pairs, np.array([0, len(pairs)]), at)
    inside = np.clip(entries(doubled), first, last) - first
    ends = np.repeat([0, last - first], count - len(doubled))
    return Listed(np.sort(np.concatenate([inside, ends]).astype(np.int32)), last - first)


def _pairs(n: int, k, noise: Noise) -> tuple[int, np.ndarray | None]:
    """How many pairs a row is in at most, and the pairs; None stands for all of them."""
    matchings = n - 1 if k == "all" else min(int(k), n - 1)
    return matchings, None if matchings == n - 1 else pairs_of(n, matchings, noise)


def _imbalance(rows: LineRows, x_new: int, pairs: np.ndarray | None) -> Callable[[int], int]:
    """#above - #below of the pairs' predictions at x_new, as a function of r."""
    if pairs is None:
        return all_pairs_imbalance(rows.x, rows.y, x_new)
    return pairs_imbalance(rows.x, rows.y, x_new, pairs)


def _widened(imbalance: Callable[[int], int], reach: int) -> Callable[[int], int]:
    """The number nearest to zero between the imbalances at r + reach and r - reach."""
    if not reach:
        return imbalance
    return lambda r: min(max(imbalance(r + reach), 0), imbalance(r - reach))


def _check_points(problem: Problem) -> None:
    """Predictions are what is released, within one range width of the bounds."""
    if not len(problem.x_new):
        raise ArgumentError("Theil-Sen methods release predictions and need at least one x_new")
    positions = Line.of(problem).positions(problem.x_new)
    if not np.all((positions >= -1) & (positions <= 2)):
        raise ArgumentError(
            "expected x_new within one range width of the bounds of the regressor; "
            "ask for points inside and extend the line with predict()"
        )


_NO_ERRORS = "a private median of pairwise predictions has no standard error of its own"
_UNPAID = f"{_NO_ERRORS}; ci=True buys intervals"
_OPTIONS = {
    "k": ("all", option_checks.whole("k", 1, or_word="all")),
    "output_range": ((-0.5, 1.5), option_checks.interval("output_range", -2, 3, min_width=0.01)),
}
_CI = {"ci": (False, option_checks.level("ci"))}
# Up to this many rows a group, counting all pairs is no slower than sorting.
_each = {"release_each": release_each, "each_rows": (2, 512), "each_without": ("ci",)}
_method = partial(
    Method,
    guarantee="pure",
    neighbors=(REPLACE_ONE,),
    single_regressor=True,
    standard_errors=_NO_ERRORS,
    summarise=summarise,
    check=_check_points,
)
METHODS = (
    _method(
        "exp_theil_sen",
        "Alabi et al. 2022, Algorithms 2 and 3",
        standard_errors=_UNPAID,
        release=release_exponential,
        options={**_OPTIONS, **_CI},
        **_each,
    ),
    _method(
        "wide_theil_sen",
        "Alabi et al. 2022, Algorithms 2 and 4",
        standard_errors=_UNPAID,
        release=release_exponential,
        options={**_OPTIONS, "theta": (0.01, option_checks.number("theta", 1e-6, 1)), **_CI},
        **_each,
    ),
    _method(
        "ss_theil_sen",
        "Alabi et al. 2022, Algorithms 2 and 5",
        release=release_smooth,
        options=_OPTIONS,
    ),
)
