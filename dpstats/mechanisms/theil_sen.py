"""Differentially private Theil-Sen regression (Alabi et al. 2022, Algorithm 2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.mechanisms.line import Line
from dpstats.mechanisms.spec import Method, Problem, Release
from dpstats.noise import Noise, RankQuery
from dpstats.privacy import REPLACE_ONE, PureDP

# x, y and the output live on multiples of 2^-24 of their range. With |u| <= 2^25 and
# |y - r| <= 2^26 in these units two different quotients (y - r) / u differ by a factor
# of at least 1 + 2^-51, so double division never confuses or swaps them.
_BITS = 24
_ONE = 1 << _BITS


@dataclass(frozen=True)
class Rows:
    """Rows on the unit square in units of 2^-24, int64, shape (n,) each."""

    x: np.ndarray
    y: np.ndarray

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(np.concatenate([self.x, other.x]), np.concatenate([self.y, other.y]))


def summarise(X: np.ndarray, y: np.ndarray, problem: Problem) -> Rows:
    """The rows themselves: Theil-Sen has no smaller summary."""
    return Rows(*Line.of(problem).integers(X, y, _BITS))


def release(
    rows: Rows, problem: Problem, cost: PureDP, noise: Noise, *, k="all", output_range=(-0.5, 1.5)
) -> Release:
    """Predictions at x_new by the exponential mechanism for the median (Algorithms 2, 3).

    For every pair (j, l) with x_j != x_l let z be the value at x_new of the line through
    both points. The release is a grid point r with probability proportional to
    exp(-epsilon' |#above(r) - #below(r)| / (4 k)), the exponential mechanism with
    utility -|#above - #below|. Several x_new share the budget equally.

    Guarantee. epsilon-DP under replace-one, n public. Each row is in at most k pairs
    (k matchings; n - 1 for all pairs). A pair contributes +1, 0 or -1 to
    #above - #below (0 where z = r or x_j = x_l), so replacing one row moves it by at
    most 2 k at every r. The matchings are drawn independently of the data, and every
    grid point of ``output_range`` is a possible output whatever the data.

    Parameters
    ----------
    k : int or "all"
        Matchings drawn from a decomposition of the complete graph, or all pairs.
    output_range : tuple of float
        Where predictions may lie, in multiples of the response's range.

    Notes
    -----
    The coefficients are the line through the released predictions (least squares when
    there are more than two), which costs nothing more.
    """
    line, n = Line.of(problem), len(rows.x)
    if n < 2:
        reason = f"a line needs two rows and there are {n} (n is public)"
        return Release.nothing(problem, "too_few_rows", reason)
    positions = line.positions(problem.x_new)
    matchings = n - 1 if k == "all" else min(int(k), n - 1)
    pairs = None if matchings == n - 1 else _matchings(n, matchings, noise)
    first, last = (round(bound * _ONE) for bound in output_range)
    values = np.empty(len(positions))
    for i, position in enumerate(positions):
        imbalance = _imbalance(rows, round(position * _ONE), pairs)
        query = RankQuery(
            f"median of predictions at x_new[{i}]",
            lambda index, imbalance=imbalance: imbalance(first + index),
            size=last - first + 1,
            sensitivity=2 * matchings,
        )
        values[i] = (first + noise.choose(query, cost.part(1 / len(positions)))) / _ONE
    params, reasons = _line_through(positions, values, line)
    return Release(params, line.values(values), reasons={**reasons, "bse": METHOD.errors})


def _line_through(positions: np.ndarray, values: np.ndarray, line: Line):
    """Coefficients of the line through released predictions, or NaN and the reason."""
    if len(np.unique(positions)) < 2:
        reason = "one prediction does not determine a line; ask for two different x_new"
        return np.full(2, np.nan), {"params": reason}
    slope, intercept = np.polyfit(positions, values, 1)
    return line.params(intercept, slope), {}


def _imbalance(rows: Rows, x_new: int, pairs: np.ndarray | None) -> Callable[[int], int]:
    """#above - #below of the pairs' predictions at x_new, as a function of r."""
    if pairs is None:
        return all_pairs_imbalance(rows.x, rows.y, x_new)
    return pairs_imbalance(rows.x, rows.y, x_new, pairs)


def all_pairs_imbalance(x: np.ndarray, y: np.ndarray, x_new: int) -> Callable[[int], int]:
    """#above - #below over all pairs, each evaluation in O(n log n).

    With u = x - x_new and theta(r) = (y - r) / u, the line through j and l passes above
    r at x_new exactly when theta_j - theta_l and 1/u_j - 1/u_l have the same sign, below
    when they differ. So over rows with u != 0 the imbalance is the number of concordant
    minus discordant pairs of theta(r) and 1/u; a row with u = 0 passes through its own
    y with every row of another x. Rows tied in u form no pair.
    """
    from dpstats.inversions import concordance

    u = x - x_new
    at = y[u == 0]
    away = np.flatnonzero(u)
    inverse = 1.0 / u[away]
    order = away[np.lexsort((y[away] * np.sign(u[away]), inverse))]
    u, y = u[order].astype(float), y[order]
    starts = np.flatnonzero(np.diff(u, prepend=np.nan)).astype(np.int64)
    lengths = np.diff(starts, append=len(u))
    tied_pairs = int(np.sum(lengths * (lengths - 1) // 2))

    def imbalance(r: int) -> int:
        through = int(np.sum(np.sign(at - r))) * len(u)
        return through + int(concordance((y - r) / u, starts, tied_pairs))

    return imbalance


def pairs_imbalance(x, y, x_new: int, pairs: np.ndarray) -> Callable[[int], int]:
    """#above - #below over the given pairs, shape (N, 2), from their sorted predictions."""
    j, l = pairs[:, 0], pairs[:, 1]
    apart = x[j] != x[l]
    j, l = j[apart], l[apart]
    z = np.sort(y[j] + (y[l] - y[j]) * ((x_new - x[j]) / (x[l] - x[j])))

    def imbalance(r: int) -> int:
        below, not_above = np.searchsorted(z, r, "left"), np.searchsorted(z, r, "right")
        return int(len(z) - not_above - below)

    return imbalance


def _matchings(n: int, k: int, noise: Noise) -> np.ndarray:
    """k different matchings of n rows, as row pairs of shape (N, 2).

    Round h of the circle method pairs i and j with i + j = h (mod m), m odd; the row
    that would meet itself meets the last row when n is even and rests when n is odd.
    """
    modulus = n - 1 if n % 2 == 0 else n
    rounds = np.array(noise.sample(modulus, k))
    i = np.arange(modulus)
    partner = (rounds[:, None] - i) % modulus
    alone = partner == i
    if n % 2 == 0:
        partner = np.where(alone, n - 1, partner)
    keep = i < partner
    return np.column_stack([np.broadcast_to(i, partner.shape)[keep], partner[keep]])


def _check_matchings(k):
    """k as "all" or an integer >= 1."""
    whole = isinstance(k, (int, np.integer)) or (isinstance(k, float) and k.is_integer())
    if k == "all" or (whole and not isinstance(k, bool) and k >= 1):
        return k
    raise ArgumentError(f'expected k to be "all" or a whole number >= 1, got {k!r}')


def _check_output_range(bounds):
    """output_range as (low, high) within [-3, 4]."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -3 <= low < high <= 4:
        raise ArgumentError(
            "expected output_range (low, high) with -3 <= low < high <= 4, in multiples of the "
            f"response's range, got {bounds!r}"
        )
    return low, high


def _check_points(problem: Problem) -> None:
    """Predictions are what is released, within one range width of the bounds."""
    if not len(problem.x_new):
        raise ArgumentError("exp_theil_sen releases predictions and needs at least one x_new")
    positions = Line.of(problem).positions(problem.x_new)
    if not np.all((positions >= -1) & (positions <= 2)):
        raise ArgumentError(
            "expected x_new within one range width of the bounds of the regressor; "
            "ask for points inside and extend the line with predict()"
        )


METHOD = Method(
    name="exp_theil_sen",
    paper="Alabi et al. 2022, Algorithms 2 and 3",
    guarantee="pure",
    neighbors=(REPLACE_ONE,),
    simple=True,
    errors="a median by the exponential mechanism has no standard error of its own",
    summarise=summarise,
    release=release,
    options={"k": ("all", _check_matchings), "output_range": ((-0.5, 1.5), _check_output_range)},
    check=_check_points,
)
