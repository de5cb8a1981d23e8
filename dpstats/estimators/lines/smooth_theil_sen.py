"""Fit Theil-Sen regression with noise scaled to a smooth sensitivity (Alabi et al. 2022)."""

from functools import partial

import numpy as np

from dpstats.estimators.contract import Passes, Problem, Release
from dpstats.estimators.lines.simple_regression import LineRows, at_each_point, too_few
from dpstats.estimators.lines.smooth_sensitivity import (
    Listed,
    Ranked,
    median_rank,
    reach,
    smooth_bound,
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
from dpstats.noise import Noise, SmoothQuery
from dpstats.privacy import PureDP

# Up to this many rows all pairs are listed, which is then faster than selecting by rank.
_LISTED_ROWS = 512
# The most ranks of all pairs held in memory, and the number of pairs of matchings taken otherwise.
_MOST_RANKS, _SORTED_PAIRS = 1 << 26, 1 << 21


def release(
    passes: Passes,
    problem: Problem,
    cost: PureDP,
    noise: Noise,
    *,
    k="all",
    output_range=(-0.5, 1.5),
) -> Release:
    """Release medians at x_new with Student-t noise on their smooth sensitivity (Algorithm 5).

    Guarantee. epsilon-DP under replace-one, n public. Every pair stands for two entries
    of a list: its value at x_new rounded up to the grid and the next grid point above it,
    clamped to ``output_range``, or both ends of the range where x_j = x_l. So the list has the
    same public length for all data, replacing one row changes at most 2 k of its
    entries, and a pair without a line leaves the median of the others alone.
    :func:`~dpstats.estimators.lines.smooth_sensitivity.smooth_bound` bounds the median's
    sensitivity smoothly, :meth:`~dpstats.noise.Noise.smooth` adds noise for it and clamps to the
    range, which cannot take it further from the median.

    Parameters
    ----------
    k : int or "all"
        Matchings drawn from a decomposition of the complete graph. "all" takes all pairs as
        long as the ranks that can matter are at most 2^26 (about 400 MB): up to n = 5,792, and
        beyond that to about n = 1.6 * 10^5 times epsilon over the number of x_new. For more rows
        it takes as many matchings as make 2^21 pairs. A number is taken as it is, at about 100
        bytes of memory per pair.
    output_range : tuple of float
        Where predictions may lie, in multiples of the response's range, in [-2, 3].

    Notes
    -----
    All pairs are not listed: the entries near the median are selected by rank
    (:class:`~dpstats.estimators.lines.pairwise_ranks.PairRanks`), as many on each side as n,
    epsilon and the range say, so that how much memory it takes is public. Only the time depends on
    the data.

    Where it differs from Algorithm 5. The paper drops pairs with x_j = x_l; then the
    length of the list depends on the data and its proof, for lists of one length, does not
    apply. With t = epsilon / 6 instead of epsilon / 8 the bound is smaller at the same
    guarantee, because rescaling a t distribution by e^t costs 3 t, not 4 t.
    """
    rows: LineRows = passes.sum(partial(summarise, problem=problem))
    n = len(rows.x)
    if failure := too_few(problem, n):
        return failure
    first, last = (round(bound * ONE) for bound in output_range)
    if k == "all" and not _affordable(n, last - first, cost.epsilon / len(problem.x_new)):
        k = max(2 * _SORTED_PAIRS // n, 1)
    matchings, pairs = chosen_pairs(n, k, noise)

    def median(step: str, x_new: int, share: PureDP) -> int:
        entries = _entries(rows, x_new, pairs, first, last)
        bound = partial(smooth_bound, entries, 2 * matchings)
        index = entries.entry(median_rank(entries.size))
        query = SmoothQuery(step, index, last - first + 1, bound, unit=1 / ONE)
        return first + noise.smooth(query, share)

    return at_each_point(problem, cost, median, BITS, NO_ERRORS)


def _affordable(n: int, top: int, epsilon: float) -> bool:
    """Return whether the entries of all pairs that can matter fit into memory."""
    return 2 * reach(n * (n - 1), 2 * (n - 1), top, epsilon / 6) <= _MOST_RANKS


def _entries(rows: LineRows, x_new: int, pairs: np.ndarray | None, first: int, last: int) -> Ranked:
    """List two entries per pair, in grid steps from the lower end of the range."""
    from dpstats.estimators.lines.pairwise_ranks import PairRanks
    from dpstats.estimators.lines.pairwise_table import all_pairs, entries, given_pairs

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


METHOD = theil_sen_method(
    "ss_theil_sen",
    "Alabi et al. 2022, Algorithms 2 and 5",
    release=release,
    options=OPTIONS,
)
