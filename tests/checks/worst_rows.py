"""Build neighbouring tables that reach the stated sensitivity of each query."""

import math

import numpy as np
from scipy.linalg import null_space

from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.replay import (
    line_rows,
    row,
    table,
    with_row,
)


def _pair(problem, rows, old, new):
    """Neighbours: the rows with ``old`` replaced by ``new``, or with ``new`` added."""
    X, y = table(rows, problem)
    if problem.neighbors == ADD_REMOVE:
        return (X, y), with_row(X, y, new, len(y))
    return with_row(X, y, old, 0), with_row(X, y, new, 0)


# Per kind of box and number of regressors: a scaled row that moves the upper triangle of
# u'u most when it is added, and the share of the stated bound it reaches.
#
# The bound supposes R^2 entries of size one. Where the norm R is not the root of a whole
# number it is loose by at most 3% (one regressor, R^2 = 1.6); in a ball whose design has
# an intercept by as much as the intercept's entry, 1 / row_norm, takes away.
_REST = math.sqrt(15) / 4
ADDED = {
    (1, "box", True): ([1, 1], 0.999),
    (3, "box", True): ([1, 1, 1, 1], 0.999),
    (1, "box", False): ([1], 0.999),
    (3, "box", False): ([1, 1, 1], 0.999),
    (1, "ball", False): ([1], 0.999),
    (3, "ball", False): ([1, 0, 0], 0.999),
    (1, "ball", True): ([0.25, _REST], 0.96),
    (3, "ball", True): ([0.25, _REST, 0, 0], 0.96),
    (1, "estimated", True): ([1, math.sqrt(0.6)], 0.97),
    (3, "estimated", True): ([1, 1, math.sqrt(0.8), 0], 0.99),
    (1, "clipped", True): ([1, math.sqrt(1 / 3)], 0.96),
    (3, "clipped", True): ([1, 1, 0, 0], 0.99),
}
# The same for a row replaced by another. The bound adds two squared norms as if the
# triangles of u u' and w w' were orthogonal. They are when no entry is nonzero in both
# rows, which a ball allows from two columns on. Elsewhere it is not attained: the pairs
# below are the best that a numerical search found. In the box they differ in the sign of
# half their entries, at distance 2 sqrt(h (S - h)), h = S // 2, against sqrt(S (S + 1)); a
# single entry moves by 1 against sqrt 2.
REPLACED = {
    (1, "box", True): ([1, 1], [1, -1], 0.816),
    (3, "box", True): ([1, 1, 1, 1], [1, 1, -1, -1], 0.894),
    (1, "box", False): ([1], [0], 0.707),
    (3, "box", False): ([1, 1, 1], [1, 1, -1], 0.816),
    (1, "ball", False): ([1], [0], 0.707),
    (3, "ball", False): ([1, 0, 0], [0, 1, 0], 0.999),
    (1, "ball", True): ([0.25, _REST], [0.25, 0], 0.68),
    (3, "ball", True): ([0.25, _REST, 0, 0], [0.25, 0, _REST, 0], 0.95),
    (1, "estimated", True): ([1, 1], [1, -1], 0.784),
    (3, "estimated", True): ([1, 0.892, 1, 0.067], [1, -0.892, -0.067, -1], 0.91),
    (1, "clipped", True): ([1, math.sqrt(1 / 3)], [1, -math.sqrt(1 / 3)], 0.65),
    (3, "clipped", True): ([1, 1, 0, 0], [1, -1, 0, 0], 0.81),
}


def gram_worst(case, cross="X'y"):
    """The worst cases of X'X, X'y and y'y: (step, table, neighbour, share of the bound).

    A round of boosting moves as X'y does: theta is 0 at first, and no tau exceeds 1.
    """
    p = case.problem
    clipped = case.method.name.startswith("shrunken")
    kind = "ball" if p.row_norm is not None else "box"
    if p.estimated and p.row_norm is None and case.method.name not in ("adassp", "ssp"):
        kind = "clipped" if clipped else "estimated"
    intercept = p.intercept is not None
    key = len(p.low) - intercept, kind, intercept
    u, share = ADDED[key]
    old, new, least = (u, u, share) if p.neighbors == ADD_REMOVE else REPLACED[key]
    changes = (
        ("X'X", (old, 1), (new, 1), least),
        (cross, (u, -1), (u, 1), 0.99),
        ("y'y", (u, 0), (u, 1), 0.99),
    )
    if kind == "box" and p.estimated:
        changes += (("number of clipped rows", (u, 0), (u, 3), 0.999),)
    return [
        (step, *_scaled_pair(p, before, after), share)
        for step, before, after, share in changes
        if step != "y'y" or cross == "X'y"
    ]


def _scaled_pair(p, before, after):
    """Neighbours that differ by a row, given in scaled coordinates (u, v).

    Ranges have the same scale for methods that shorten rows beyond estimated ones.
    """
    box = box_of(p)

    def unscaled(u, v):
        return box.center + box.scale * np.asarray(u, float), box.y_center + box.y_scale * v

    others = line_rows(np.random.default_rng(3), p, 20)[0]
    return _pair(p, others, unscaled(*before), unscaled(*after))


def pure_worst(case):
    """The worst cases of X'X, X'y and y'y for Laplace noise."""
    p = case.problem
    intercept, ball = p.intercept is not None, p.row_norm is not None
    d = len(p.low) - intercept
    corner = np.full(len(p.low), 1 / math.sqrt(d) if ball else 1.0)
    # The longest row that keeps its response whole.
    longest = np.r_[1, [math.sqrt(1 / 3)] * d] if p.estimated and not ball else corner
    if ball and intercept:
        corner = longest = np.r_[0.25, [_REST / math.sqrt(d)] * d]
    none = np.r_[corner[0], [0] * d] if intercept else [0] * d
    gram = 0.99 if not (ball and intercept) else 0.82
    changes = (
        ("X'X", (corner, 1), (corner, 1), gram)
        if p.neighbors == ADD_REMOVE
        else ("X'X", (none, 1), (corner, 1), 0.33),
        ("X'y", (longest, -1), (longest, 1), 0.99 if longest is corner and gram > 0.9 else 0.86),
        ("y'y", (corner, 0), (longest, 1), 0.99),
    )
    return [(step, *_scaled_pair(p, old, new), share) for step, old, new, share in changes]


def _share(p, x, y):
    """The row at the given shares of the ranges of x and y."""
    where = np.arange(len(p.low)) != p.intercept
    low, high = p.low[where][0], p.high[where][0]
    return row(p, low + x * (high - low), p.y_low + y * (p.y_high - p.y_low))


# The other rows, the row before and the row after, as shares of the ranges. The sign of
# the released slope decides which diagonal of the square moves the mean residual most.
NOISY_STATS = (
    ("ncov(x, y)", (0, 0), (0, 0), (1, 1)),
    ("ncov(x, y)", (1, 0), (1, 0), (0, 1)),
    ("nvar(x)", (0, 0), (0, 0), (1, 0)),
    ("nvar(x)", (1, 1), (1, 0), (0, 1)),
    ("mean(y - a x)", (0.5, 0.5), (0, 1), (1, 0)),
    ("mean(y - a x)", (0.5, 0.5), (0, 0), (1, 1)),
)


def noisy_stats_worst(case):
    """The worst cases of each of the three releases, for two rows and for seven."""
    p = case.problem
    return [
        (step, *_pair(p, [_share(p, *others)] * (n - 1), _share(p, *old), _share(p, *new)), 0.99)
        for n in (2, 7)
        for step, others, old, new in NOISY_STATS
    ]


def _at(steps, level, others, old, new, count=7):
    """One change that is the worst case of all these queries; see _share for the rows."""

    def worst(case):
        p = case.problem
        pair = _pair(p, [_share(p, *others)] * count, _share(p, *old), _share(p, *new))
        return [(step, *pair, level) for step in steps]

    return worst


def moments_worst(case):
    """A corner; under replace-one it moves to one sixth of both ranges."""
    sixth = (1 / 6, 1 / 6) if case.problem.neighbors == REPLACE_ONE else (1, 1)
    return _at(["sums of u, v and products"], 0.9999, (0.3, 0.6), (1, 1), sixth)(case)


def descent_worst(case):
    """A row in the middle of x, far above and far below, where tau clips its gradient.

    With tau = 1 no response is far enough at the start; noise may take the fit there.
    """
    level = 0.99 if case.options else 0.2
    return _at(["gradient"], level, (0.3, 0.6), (0.5, 0), (0.5, 1))(case)


def boosted_worst(case):
    """Every round is named X'g; one of them, the first, reaches its bound."""
    return gram_worst(case, "X'g")


def sgd_worst(case):
    """The row that moves X'y most, opposite ones under replace-one: no C exceeds its norm."""
    return [worst for worst in gram_worst(case, "gradient") if worst[0] == "gradient"]


def across(problem, u):
    """Scaled rows that are orthogonal to the scaled row u and span what is orthogonal to it.

    The intercept's entry is the same in each, so what they have along the rest of u makes up
    for it; to that comes or goes as much in each direction across both.
    """
    fixed = np.arange(len(u)) == problem.intercept
    rest = np.where(fixed, 0.0, u)
    base = np.where(fixed, u, -rest * (u[fixed] @ u[fixed]) / (rest @ rest))
    ways = null_space(np.vstack([rest, fixed])).T
    return [base, *(base + side * 0.4 * way for way in ways for side in (-1, 1))]


def ball_worst(step, share):
    """The row that moves X'X most, or, at half the bound or more, another in its place.

    A perturbed minimiser pays for a row's volume as if the other rows had none.
    """

    def worst(case):
        (_, one, two, _), *_ = gram_worst(case)
        return [(step, one, two, share if case.problem.neighbors == ADD_REMOVE else 0.49)]

    return worst


def adaops_worst(case):
    """A row along the eigenvector of the smallest eigenvalue, where all rows are across it.

    Then many rows along it, at the end of the response's range, and one that contradicts them.
    """
    p = case.problem
    kind = "ball" if p.row_norm is not None else "estimated" if p.estimated else "box"
    intercept = p.intercept is not None
    u = np.asarray(ADDED[len(p.low) - intercept, kind, intercept][0], float)
    box = box_of(p)

    def unscaled(u, v):
        return box.center + box.scale * u, box.y_center + box.y_scale * v

    others = [unscaled(row, 0.0) for row in across(p, u)] * 800
    along = [unscaled(u, 1.0)] * 60
    return [
        ("smallest eigenvalue of X'X", *_pair(p, others, None, unscaled(u, 1.0)), 0.98),
        ("size of the fit", *_pair(p, others + along, None, unscaled(u, -1.0)), 0.85),
        ("posterior sample", *_pair(p, others + along, None, unscaled(u, -1.0)), 0.8),
    ]


def tukey_worst(case):
    """A row far out among rows that all lie on 0.

    All models but its own are 0, so it moves the depth beside 0, takes one step off the
    distance, and crosses from below to above the median of every column.
    """
    p = case.problem
    where = np.arange(len(p.low)) != p.intercept
    old, new = row(p, -(2.0**50), 0.0), row(p, 2.0**50, 2.0**60)
    pair = _pair(p, [row(p, p.high[where], 0.0)] * 400, old, new)
    steps = ["deep point of the models", "stability of the deep point of the models"]
    if not case.options and p.neighbors == ADD_REMOVE:
        steps.append("number of rows")
    if p.intercept is not None:
        wide = np.flatnonzero(p.high - p.low > 2.0**50)
        steps += [f"median of column {j}" for j in wide]
    return [(step, *pair, 0.99) for step in steps]


# A steep row, above or below all others, turns every pair it is in (8 rows, so no row
# rests). Student-t noise pays half its epsilon for a shift and half for a change of
# scale, and no pair found needs both: two rows use the half for the shift.
POINTS = [f"median of predictions at x_new[{i}]" for i in range(2)]
EXCHANGED = _at(POINTS, 1 - 1e-9, (0, 0.5), (0.1, 1), (0.1, 0))


def ranks_worst(case):
    """A row above all others that comes to lie below; added, one below all lines of the others.

    It stands at the point of prediction, through which all its lines pass.
    """
    p = case.problem
    if p.neighbors == REPLACE_ONE:
        return EXCHANGED(case)
    where = np.arange(len(p.low)) != p.intercept
    others = [_share(p, share, 0.9) for share in np.linspace(0, 0.2, 7)]
    return [
        (step, *_pair(p, others, None, row(p, p.x_new[i][where], p.y_low)), 1 - 1e-9)
        for i, step in enumerate(POINTS)
    ]


def spread_worst(case):
    """A row at the other end of the range of x than all others; then the methods it may take."""
    p, alike, corner = case.problem, [(0, 0.5)] * 7, moments_worst(case)
    if p.neighbors == ADD_REMOVE:
        alike = alike * 300
        apart = [_share(p, i % 2, 0.6) for i in range(7)]
        corner = [(corner[0][0], *_pair(p, apart, None, _share(p, 1, 1)), corner[0][-1])]
    others = [_share(p, *at) for at in alike]
    ends = _pair(p, others, others[0], _share(p, 1, 0.5))
    return [("spread of x", *ends, 0.999), *ranks_worst(case), *corner]


def newton_worst(case):
    """A row that is long in both coordinates of X'X, with a response far out on either side.

    Replaced, a long row makes way for one at the centre, or for one at right angles where there
    are three regressors; a residual changes its sign.
    """
    p = case.problem
    d = len(p.low) - (p.intercept is not None)
    center = np.array(p.reference.center)
    first, second = 1e5 * IndicatorBasis.of(p).root.T[[0, -1]]  # at right angles in coordinates
    y, others = p.reference.y_center, line_rows(np.random.default_rng(3), p, 200)[0]
    start = center if p.intercept is not None else 0 * center

    def pair(step, old, new, share):
        return step, *_pair(p, others, row(p, *old), row(p, *new)), share

    long = first, 1e300
    up = long if p.intercept is None else (start, 1e300)
    if p.neighbors == ADD_REMOVE:
        steps = ("number of rows", "mean and mean square of y", "X'X", "leverages")
        # that of three weighted columns leaves a second one with delta = 0 too little to pay
        steps += ("whitened X'X",) * (
            not (case.method.guarantee == "pure" and p.weighted and d > 1)
        )
        steps += ("scores at zero", "score norms", "scores")
        steps += ("score products",) * ("cov_type" in case.options)
        steps += ("distances of y", *["center of y"] * (p.intercept is not None)) * p.grouped
        return [pair(step, long, long, 0.999) for step in steps]
    other, share = ((start, y), 0.7) if d == 1 else ((second, y), 0.9)
    # without an intercept the row at zero has no score
    pure = case.method.guarantee == "pure"
    # one score has Laplace noise, where the square beside it counts for more
    alone = pure and p.intercept is None
    near = 0.97 if alone else 0.995
    across = ((start, y), 0.7) if p.intercept is None else ((center, -1e300), 0.99)
    robust = ("score products",) * ("cov_type" in case.options)
    centers = ("center of y",) * (p.grouped and p.intercept is not None)
    distances = ("distances of y",) * p.grouped
    # the products of weighted scores leave a second X'X of three columns too little to pay
    products = ("X'X", "whitened X'X")[: 1 if p.weighted and d > 1 else 2]
    # where rows count for parts squares are those of scores, which are longest on both sides
    ends = () if p.weighted else (-1e300, 1e300)
    return [
        *(pair(step, long, other, share) for step in products),
        *(pair(step, long, *across) for step in robust),
        pair("leverages", long, (start, y), 0.999),
        pair("score norms", long, (start, y), 0.999),
        # in L1 the farthest pair is halfway, where the response has no name for it
        pair("mean and mean square of y", up, (up[0], -1e300), 0.88 if pure else 0.999),
        *(pair(step, up, (up[0], -1e300), 0.999) for step in centers),
        *(pair(step, long, (first, y), 0.999) for step in distances),
        # squares of these two are equal
        pair("scores", up, (up[0], -1e300), 0.86 if alone else 0.988),
        # scores point against each other, and one residual is near zero
        *(pair("scores at zero", (first, end), (first, y), near) for end in ends),
    ]


WORST = {
    "noisy_newton": newton_worst,
    "noisy_newton_pure": newton_worst,
    "adassp": gram_worst,
    "ssp": gram_worst,
    "shrunken": gram_worst,
    "shrunken_pure": pure_worst,
    "boosted_adassp": boosted_worst,
    "adaops": adaops_worst,
    "ops": ball_worst("posterior sample", 0.999),
    "objpert": ball_worst("minimiser", 0.8),
    "noisy_sgd": sgd_worst,
    "tukey": tukey_worst,
    "noisy_stats": noisy_stats_worst,
    "noisy_moments": moments_worst,
    "noisy_intercept": _at(["sum of y"], 0.999, (0.3, 0.6), (0.3, 0), (0.3, 1)),
    "exp_theil_sen": ranks_worst,
    "wide_theil_sen": ranks_worst,
    "by_spread": spread_worst,
    "ss_theil_sen": _at(POINTS, 0.45, (0.4, 0.3), (0.35, 0), (0.35, 1), count=1),
    "gd_pure": descent_worst,
    "gd_approx": descent_worst,
    "gd_zcdp": descent_worst,
}
