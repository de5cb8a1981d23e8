"""Derive the scale of a design, and what is known of far values, from released distributions."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from dpstats.estimators.contract import Extremes, Reference
from dpstats.formula import Design
from dpstats.numerics import Rows
from dpstats.range_estimation import LEAST_SD, LongTails, Marginal
from dpstats.schema import Categorical, Numeric

# Rows of the synthetic table that the scale of the design is read from, and the part of them
# that is uniform on the range, so that no shape of a histogram makes a column constant.
_ROWS, _UNIFORM = 2048, 0.1
# Rows, at most, of one whose tails go on as far as those of the table may.
_MOST_ROWS = 1 << 14
# Added to correlations, so that columns which are multiples of one another keep a scale.
_JITTER = 1e-10
# Rows may lie so many times as far out as two quantiles are.
_BEYOND_QUANTILES = 4.0
# From these kurtoses, numbers of standard deviations and skewness of the response on a tail is more
# and more likely heavy, surely so many units farther.
_KURTOSIS, _FARTHEST, _SKEWNESS, _SURELY = 4.0, 4.5, 1.0, (4.0, 4.0, 1.0)
# Where noise on a bin hides this share of the rows what it hides may add so many times the variance
# that is seen, and less with the square of the share. Set by simulation (benchmarks/goodness.py).
_HIDING, _UNSEEN_SQUARE = 0.01, 1.2
# Two quantiles do not show how peaked a column is, so this is added to its kurtosis.
_UNSEEN_KURTOSIS = 2.0
# A kurtosis exceeds the squared skewness by 1 at least, and of two values, of which noise in bins
# makes more, by no more than this or this part of it. A twentieth of the rows, spread evenly beside
# zeros, make it a tenth.
_TWO_VALUES, _PART_OF_KURTOSIS = 1.3, 0.03


def reference_of(
    design: Design, marginals: Mapping[str, Marginal], response: str, limit: Numeric | None,
    grouped: bool = False, lognormal: bool = False,
) -> Reference:  # fmt: skip
    """Return center, scale and extremes of a design as if its variables were independent.

    They are those of a synthetic table with the released distributions, which is the same in
    every call, so this uses nothing but what was released and public facts. ``limit`` are the
    declared bounds of the response. Where fits are ``grouped`` each is of a part of the rows, and
    ``lognormal`` tells how tails go on where noise hides them
    (:class:`~dpstats.estimators.contract.Ranges`).
    """
    tested = design.tested  # rows of a histogram lie in the middle of bins, and equal no number
    marginals = {name: own.with_points(tested.get(name, ())) for name, own in marginals.items()}
    center, sd, U = _standardised(_synthetic(design, marginals, _UNIFORM).numbers)
    correlation = U.T @ U / _ROWS + _JITTER * np.eye(len(sd))
    np.fill_diagonal(correlation, np.maximum(np.diag(correlation), 1.0) + _JITTER)
    root = np.linalg.cholesky(correlation) * sd[:, None]
    y = marginals[response]
    scale = max(y.sd, LEAST_SD)
    extremes = _extremes(design, marginals, center, root, y, limit, lognormal)
    extremes = extremes.of_groups() if grouped else extremes
    columns = [m for name, m in marginals.items() if name in {*design.schema, response}]
    hidden = max(1.0 if marginal.is_rough else marginal.hidden for marginal in columns)
    return Reference(center, root, y.mean, scale, extremes, hidden=hidden)


def _extremes(
    design: Design, marginals: Mapping[str, Marginal], center, root, y: Marginal, limit, lognormal
) -> Extremes:
    """Return what the distributions tell of far values."""
    rows = _synthetic(design, marginals, 0.0)
    Z = rows.numbers
    is_rough = any(m.is_rough for name, m in marginals.items() if name in design.schema)
    farther = _BEYOND_QUANTILES if is_rough else Extremes.BEYOND_SEEN
    squares = (np.linalg.solve(root, (Z - center).T) ** 2).sum(axis=0)
    codes = sum(len(block.coding) for block in design.layout.blocks)
    heavy, columns = _heavy(marginals, y), _standardised(Z)[2]
    kurtosis, skewness = ((columns**power).mean(axis=0) for power in (4, 3))
    units, within = _units(rows, design)
    long = {name: LongTails.of(own) for name, own in marginals.items() if own is not y}
    far, distances = _continued(design, marginals, long)
    # logits and counts tell by its skewness which column may have a tail that is not seen
    has_tail = _tails(units) > 0 if lognormal else _has_tails(units)
    if has_tail.any() and not lognormal:
        longer = _continued(design, marginals, long, power=True)
        far = np.where(has_tail, longer[0], far)
        distances = np.where(has_tail[:, None], longer[1], distances)
    tails = np.where(has_tail, np.maximum(far, _tails(units)), 0.0)
    # how a function of a variable goes on, a histogram of the variable does not tell
    names = [design.names[j] for j in design.layout.numeric]
    variables = [marginals.get(name) for name in names]  # None of an expression
    unseen = Extremes.UNSEEN_TAIL * far * [name in design.schema for name in names]
    for j, name in enumerate(names):
        if name in marginals and marginals[name].tail_unknown and not (has_tail[j] or lognormal):
            unseen[j], distances[j] = _of_unknown_tail(marginals[name])
    ends = _ends(y, limit)
    reach = float(np.abs(ends).max()) * (1.0 if limit is not None or y.is_rough else 1 + heavy)
    return Extremes(
        heavy=heavy,
        heavy_seen=_seen_heavy(marginals, y),
        leverage=float(squares.max() * farther**2) + max(codes, 1) * Extremes.CODE_LEVERAGE,
        kurtosis=kurtosis + _UNSEEN_KURTOSIS * is_rough,
        skewness=skewness,
        squared_gaps=_squared_gaps(units) * (within == 0),
        tails=tails,
        far_tails=np.where(has_tail, tails, unseen),
        distances=distances,
        within=within,
        mode_shares=np.array([0.0 if m is None else m.weights.max() for m in variables]),
        unseen_widths=np.array([0.0 if m is None else m.unseen_width for m in variables]),
        moves=_moves(Z, within, design),
        far_squares=_far_squares(design, marginals, long, has_tail),
        y_ends=ends,
        y_reach=reach,
        y_most=reach if limit is not None else Extremes.BEYOND_ALL * reach,
        y_far_square=_far_square(y),
        y_error=min(y.square_error, Extremes.LARGEST_ERROR),
        y_points=y.standardised,
        y_weights=y.weights,
        y_unseen=y.is_unseen,
        y_heavy=_heavy_response(y),
    )


def _far_squares(
    design: Design, marginals: Mapping[str, Marginal], long: Mapping[str, LongTails],
    has_tail: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the variances of variables if their tails go on, over those that are seen, (d,).

    Two quantiles without bounds tell nothing of it. Declared bounds limit it: of a mean m between
    low and high it is at most (high - m) (m - low) (Bhatia and Davis 2000).
    """
    squares = np.ones(len(has_tail))
    for j, name in enumerate(design.names[place] for place in design.layout.numeric):
        own, kind = marginals.get(name), design.schema.get(name)
        if own is None or own.is_unseen or not isinstance(kind, Numeric):
            continue
        hiding = 1.0 if own.is_rough else min(own.hidden / _HIDING, 1.0)
        far = max(_far_square(own, long.get(name), has_tail[j]), 1 + _UNSEEN_SQUARE * hiding**2)
        if own.clipping == (kind.low, kind.high):
            below, above = (abs(end - own.mean) / max(own.sd, LEAST_SD) for end in own.clipping)
            squares[j] = min(far, max(below * above, 1.0))
        else:
            squares[j] = math.inf if own.is_rough else far
    return squares


def _far_square(own: Marginal, long: LongTails | None = None, power: bool = False) -> float:
    """Return the variance of a variable if its tails go on, over that of what is seen of it."""
    if own.is_unseen:
        return 1.0
    rows, long = _MOST_ROWS, long or LongTails.of(own)
    seen = own.quantiles((np.arange(rows) + 0.5) / rows)
    unit = max(float(np.abs(seen).max()), LEAST_SD)  # squares stay within doubles
    found = [float((values / unit).var()) for values in (long.values(rows, power), seen)]
    return max(found[0] / max(found[1], LEAST_SD), 1.0)


def _continued(
    design: Design,
    marginals: Mapping[str, Marginal],
    long: Mapping[str, LongTails],
    power: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tails (d,) of columns if those of regressors are ``long`` where noise hides them.

    Beside them are the distances (d, k) beyond which ``Extremes.SHARES`` of the rows lie. Tails go
    on as lognormal ones; those of variables that are seen to have one as a ``power`` law.
    """
    seen = [m.seen.counts.sum() for m in marginals.values() if m.seen is not None]
    rows = int(np.clip(max(seen, default=0.0), _ROWS, _MOST_ROWS))

    def values(name: str) -> np.ndarray:
        marginal = marginals[name]
        if name not in long:
            return marginal.quantiles((np.arange(rows) + 0.5) / rows)
        moments = marginal.moment(4), marginal.moment(3)
        return long[name].values(rows, power and _has_tail(*moments, marginal.farthest))

    units, _ = _units(_table(design, marginals, rows, values), design)
    farthest = (np.sort(np.abs(unit))[::-1] for unit in units)
    distances = [_reached(far) for far in farthest]
    return _tails(units), np.reshape(distances, (len(units), len(Extremes.SHARES)))


def _reached(farthest: np.ndarray) -> np.ndarray:
    """Return beyond which of values (m,), largest first, ``Extremes.SHARES`` of them lie."""
    return farthest[(Extremes.SHARES * (len(farthest) - 1)).astype(int)]


def _of_unknown_tail(marginal: Marginal) -> tuple[float, np.ndarray]:
    """Return the tail, and distances (k,), that are allowed for where two quantiles are known.

    They are those of Student's t with four degrees of freedom (Shaw 2006 has its quantiles), cut at
    declared bounds.
    """
    levels = (np.arange(_MOST_ROWS) + 0.5) / _MOST_ROWS
    root = np.sqrt(4 * levels * (1 - levels))
    student = np.sign(levels - 0.5) * np.sqrt(2 * np.cos(np.arccos(root) / 3) / root - 2)
    values = np.clip(marginal.mean + marginal.sd * student, *marginal.clipping)
    unit = _standardised(values[:, None])[2][:, 0]
    return float(_tails([unit])[0]), _reached(np.sort(np.abs(unit))[::-1])


def _units(rows: Rows, design: Design) -> tuple[list[np.ndarray], np.ndarray]:
    """Return standardised columns, and deviations (d,) within codes where these decide, else 0.

    The columns of an interaction are one number, each in the rows of some codes.
    """
    Z, codes = rows.numbers, rows.codes
    numbers, within = dict(enumerate(Z.T)), np.zeros(Z.shape[1])
    for one in design.layout.slopes:
        assert codes is not None, "compact rows have codes"
        has_column = one.owner[codes[:, one.block].astype(int)] >= 0
        held = Z[has_column] if has_column.any() else Z  # of a condition that no row here meets
        numbers |= dict.fromkeys(one.places.tolist(), held[:, one.places].sum(axis=1))
        inside = one.places if one.main is None else np.append(one.places, one.main)
        within[inside] = [_standardised(numbers[j][:, None])[1][0] for j in inside]
    return [_standardised(numbers[j][:, None])[2][:, 0] for j in range(Z.shape[1])], within


def _tails(units: list[np.ndarray]) -> np.ndarray:
    """Return the tails (d,) of standardised columns."""
    moments = [_moments(unit) for unit in units]
    return np.array([Extremes.tail(fourth, _is_long(fourth, third)) for fourth, third in moments])


def _squared_gaps(units: list[np.ndarray]) -> np.ndarray:
    """Return the squared differences (d,) of the values of standardised columns of two, else 0."""
    return np.array([Extremes.squared_gap(*_moments(unit)) for unit in units])


def _has_tails(units: list[np.ndarray]) -> np.ndarray:
    """Tell which standardised columns are seen to have a tail, (d,)."""
    return np.array(
        [_has_tail(*_moments(unit), float(np.abs(unit).max())) for unit in units], dtype=bool
    )


def _has_tail(fourth: float, third: float, farthest: float) -> bool:
    """Tell whether a distribution with such moments, seen up to a distance, has a tail."""
    return Extremes.has_tail(fourth, _is_long(fourth, third), farthest)


def _moments(unit: np.ndarray) -> tuple[float, float]:
    """Return the mean fourth and third power of a column."""
    square = unit * unit
    return float((square * square).mean()), float((square * unit).mean())


def _is_long(fourth: float, third: float) -> bool:
    """Tell whether such moments are of more than two values."""
    return fourth > third**2 + max(_TWO_VALUES, _PART_OF_KURTOSIS * fourth)


def _moves(Z: np.ndarray, within: np.ndarray, design: Design) -> np.ndarray:
    """Return how far columns Z (m, d) move where rows are far out in one of them, (d, d).

    It is the mean by the fourth power of that one, of columns of an interaction of numbers and
    those of its numbers. The others move alone here: what a polynomial does far out one slope does
    not tell, and codes have an interaction each.
    """
    _, sd, U = _standardised(Z)
    together = design.interact() & ~np.logical_or.outer(within > 0, within > 0)
    fourth = np.maximum((U**4).sum(axis=0), LEAST_SD)
    moves = np.where(together, (U**3).T @ U / fourth[:, None] * sd / sd[:, None], 0.0)
    np.fill_diagonal(moves, 1.0)
    return moves


def _heavy(marginals: Mapping[str, Marginal], y: Marginal) -> float:
    """Return how likely the distributions make a heavy tail of scores, from 0 to 1."""
    return max(_seen_heavy(marginals, y), Extremes.HEAVY_UNSEEN * y.is_rough)


def _seen_heavy(marginals: Mapping[str, Marginal], y: Marginal) -> float:
    """Return how clearly the distributions show a heavy tail of scores, from 0 to 1."""
    columns = marginals.values()
    signs = (
        max(marginal.moment(4) for marginal in columns) - _KURTOSIS,
        max(marginal.farthest for marginal in columns) - _FARTHEST,
        abs(y.moment(3)) - _SKEWNESS,
    )
    clear = max(sign / unit for sign, unit in zip(signs, _SURELY, strict=True))
    return min(max(clear, 0.0), 1.0)


def _heavy_response(y: Marginal) -> tuple[float, float] | None:
    """Return how likely a histogram of the response makes a heavy tail of scores of single rows.

    It is so likely at least and at most. How long leverage makes them a histogram of leverages
    tells, and not the regressors' tails.
    """
    if y.is_rough:
        return None
    found = y.far_share
    if found is None:
        seen = _seen_heavy({"": y}, y)
        return seen, seen
    return Extremes.heavy_by_far(*found)


def _ends(y: Marginal, limit: Numeric | None) -> np.ndarray:
    """Return ends (2,) between which most responses lie, in deviations from their mean."""
    ends = [y.points.min(), y.points.max()] if limit is None else [limit.low, limit.high]
    beyond = _BEYOND_QUANTILES if y.is_rough else Extremes.BEYOND_SEEN
    return (np.array(ends) - y.mean) / max(y.sd, LEAST_SD) * (1.0 if limit is not None else beyond)


def _synthetic(design: Design, marginals: Mapping[str, Marginal], uniform: float) -> Rows:
    """Return a synthetic table with the released distributions."""
    return _table(design, marginals, _ROWS, lambda name: _quantiles(marginals[name], uniform))


def _table(
    design: Design, marginals: Mapping[str, Marginal], rows: int,
    values: Callable[[str], np.ndarray],
) -> Rows:  # fmt: skip
    """Return codes and numeric columns of a synthetic table, the same in every call."""
    generator = np.random.default_rng(0)
    batch = {
        name: generator.integers(0, len(kind.levels), rows)
        if isinstance(kind, Categorical)
        else generator.permutation(values(name))
        if name in marginals
        else np.zeros(rows)
        for name, kind in design.schema.items()
    }
    return design.compact_rows(batch)


def _standardised(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns, and the columns in these units."""
    center = (Z / len(Z)).sum(axis=0)
    # squares of what is at most 1 neither overflow nor vanish
    reach = np.maximum(np.abs(Z - center).max(axis=0), LEAST_SD)
    sd = reach * np.sqrt((((Z - center) / reach) ** 2).mean(axis=0))
    sd = np.where(sd > LEAST_SD, sd, 1.0)
    return center, sd, (Z - center) / sd


def _quantiles(marginal: Marginal, uniform: float) -> np.ndarray:
    """Return values (_ROWS,) distributed as a marginal, except for a part uniform on its range."""
    rows = int(uniform * _ROWS)
    points = marginal.quantiles((np.arange(_ROWS - rows) + 0.5) / (_ROWS - rows))
    return np.concatenate([points, np.linspace(marginal.low, marginal.high, rows)])
