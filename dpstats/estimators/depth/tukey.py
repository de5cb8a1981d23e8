"""Fit by the Tukey mechanism: a deep point among models of parts of rows (Amin et al. 2023)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release
from dpstats.estimators.depth.random_subsets import fit_subsets
from dpstats.estimators.quantiles.private_quantiles import CELLS, private_end, private_median
from dpstats.estimators.quantiles.rank_margins import CI_FRACTION, ENDS_ONLY, cell_margin
from dpstats.evidence import EndsEvidence, Evidence
from dpstats.noise import DepthQuery, Noise, Query
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, ApproxDP, PureDP

# Coefficients live on multiples of 2^-80 in [-2^80, 2^80], whatever the data.
_BITS = 80
_FAR = 1 << (2 * _BITS)
# Fractions of epsilon for the number of rows and for the centre, each spent only where needed.
_COUNT_FRACTION = 0.05
_CENTER_FRACTION = 0.10
# The midpoint of a wider range than this says nothing about where a column is; a private median
# is bought instead.
_WIDE = 2.0**50
# The number of rows is bought as a lower bound that fails with probability 1%.
_COUNT_FAILURE = 0.01


def release(
    passes: Passes, problem: Problem, cost: ApproxDP, noise: Noise, *, m="auto", ci=None
) -> Release:
    """Release a lattice point of large Tukey depth among m least-squares fits (Algorithms 1, 2).

    Every row is put into one of m parts at random, least squares is fitted on each part,
    and the release is a point that is deep among the m coefficient vectors along every
    axis, if a private test finds that any small change of them would leave such a point.

    Guarantee. (epsilon, delta)-DP under add/remove and under replace-one.
    1. Each row draws its part on its own (:meth:`Noise.assign`). So, for any fixed labels of
       the common rows, neighbours differ in the rows of one part, whether a row comes, goes
       or is exchanged; averaging over labels keeps the guarantee. (Parts of equal size, from
       a permutation, would move a second row when n changes.)
    2. A model is a function of the rows of its part, bit by bit (:func:`fit_subsets`), so
       neighbours have equal models but for one, which is exchanged for another.
    3. Let Y_(1) <= ... <= Y_(m) be the sorted models along an axis. A lattice point g is in
       box q <= (m + 1) / 2 when Y_(q) <= g <= Y_(m+1-q) on every axis, that is when at least
       q models lie on either side; exchanging one model moves each of these numbers by at
       most 1, and so the depth, their minimum, by at most 1.
    4. :meth:`Noise.deepest` is (epsilon', delta)-DP for such depths. The number of rows
       (under add/remove, for m="auto") moves by 1 and costs 5% of epsilon; the centre, one
       private median per column without declared bounds, costs 10%; the rest is epsilon'.

    Status ``ptr_failed``: the test did not pass, and nothing was drawn.

    Where it differs from the paper. (i) The draw, with e2 of epsilon', weighs depth q by
    e^(e2 q / 2), not e^(e2 q), because a record exchanges a model (see
    :mod:`dpstats.noise.tukey_depth`); e2 is 60% of epsilon', the test has the rest, which serves
    both better than halves. (ii) The models are rounded to a public lattice and volumes count its
    points, so that no volume is 0 and everything is exact; a neighbour may draw points that this
    table cannot, which delta pays for. The draw is a mixture of uniform draws from boxes, the same
    distribution as a depth and then its region cut up by axes. (iii) Points of depth m/10
    and more are kept rather than m/4, which passes the test with fewer models. (iv) With an
    intercept its axis is the prediction at a centre, the middle of the declared ranges or
    bought medians: the axes of an uncentred model are almost dependent, and a point inside
    the box then predicts badly.

    Parameters
    ----------
    m : int or "auto"
        Number of models, 3 to 10,000. "auto": n / (10 S) of at least
        30 (S + log(1 / delta)) / epsilon', as far as 2 S rows remain for each, at most
        5,000; n is a lower bound bought with 5% of epsilon, or public under replace-one.
    ci : bool or float
        True, or a level: spend half of epsilon on intervals of all coefficients that hold
        together with the level, 95% for True: two quantiles of each column of the models.
        They take errors as symmetric and many rows for each model.

    References
    ----------
    Amin, Joseph, Ribero and Vassilvitskii (2023), Easy differentially private linear
    regression. Gillenwater, Joseph, Munoz and Ribero Diaz (2023), Better private linear
    regression through better private feature selection, Lemma 8.5.
    """
    rows: Rows = passes.sum(_themselves)
    fractions = _fractions(problem, m, ci)
    fit = ApproxDP(cost.epsilon * (1 - sum(fractions.values())), cost.delta)
    bought = {step: PureDP(cost.epsilon * fraction) for step, fraction in fractions.items()}
    parts = _models(rows, problem, m, bought.get("n"), fit, noise)
    center = _center(rows, problem, bought.get("center"), noise)
    labels = noise.assign(len(rows), parts)
    models = fit_subsets(rows.numbers, rows.response, labels, parts, problem.intercept, center)
    point = noise.deepest(_query(models), fit)
    if point is None:
        return Release.nothing(problem, "ptr_failed", _failed(parts, problem))
    deep = np.array([math.ldexp(value, -_BITS) for value in point])
    intervals = _intervals(models, deep, center, problem, bought.get("ends"), noise, ci)
    params = deep.copy()
    if problem.intercept is not None:
        params[problem.intercept] -= center @ params
    reason = _NO_ERRORS if ci is None else ENDS_ONLY
    return Release(params, problem.x_new @ params, reasons={"bse": reason}, evidence=intervals)


def _themselves(rows: Rows) -> Rows:
    """Return the rows: there is no smaller summary."""
    return rows


def _intervals(models, deep, center, problem: Problem, cost: PureDP | None, noise, ci) -> Evidence:
    """Release ends of intervals of the coefficients at the centre, around the released point.

    Guarantee. Pure DP at this cost: 2 S private ends in columns of m numbers, of which one row
    changes one.
    """
    if cost is None:
        return Evidence()
    m, columns = models.shape
    end_cost = cost.part(1 / (2 * columns))
    margin = cell_margin(ci, columns, m, end_cost.epsilon, CELLS)
    ends = []
    for j in range(columns):
        values, pair = models[:, j] - deep[j], [None, None]
        if margin is not None:
            excess, step = math.ceil(2 * margin * m), f"end of coefficient {j}"
            lower = private_end(values, excess, 2, f"lower {step}", end_cost, noise)
            upper = private_end(values, -excess, 2, f"upper {step}", end_cost, noise)
            pair = sorted([deep[j] + lower, deep[j] + upper])
        ends.append([None if end is None else float(end) for end in pair])
    points = np.eye(columns)
    if problem.intercept is not None:
        points[problem.intercept] += center
    return EndsEvidence(level=ci, points=points, ends=ends)


def _fractions(problem: Problem, m, ci) -> dict[str, float]:
    """Return the fractions of epsilon for what is bought beside the fit."""
    fractions = {"ends": CI_FRACTION} if ci is not None else {}
    if m == "auto" and problem.neighbors == ADD_REMOVE:
        fractions["n"] = _COUNT_FRACTION
    if problem.intercept is not None and len(_wide(problem)):
        fractions["center"] = _CENTER_FRACTION
    return fractions


def _models(rows: Rows, problem: Problem, m, cost: PureDP | None, fit: ApproxDP, noise) -> int:
    """Return the number of models: as declared, or from the number of rows."""
    if m != "auto":
        return m
    n, columns = len(rows.numbers), len(problem.low)
    if cost is not None:
        noisy = noise.add(Query("number of rows", [n], l1=1), cost).values[0]
        n = noisy - math.log(1 / (2 * _COUNT_FAILURE)) / cost.epsilon
    needed = 30 * (columns + math.log(1 / fit.delta)) / fit.epsilon
    most = min(n / (2 * columns), 5000)
    return max(3, int(min(max(n / (10 * columns), needed), most)))


def _wide(problem: Problem) -> np.ndarray:
    """Return the indices of columns whose range is too wide to locate them."""
    return np.flatnonzero(problem.high - problem.low > _WIDE)


def _center(rows: Rows, problem: Problem, cost: PureDP | None, noise: Noise) -> np.ndarray:
    """Return the midpoint of each range, or a private median where there is none."""
    center = (problem.low + problem.high) / 2
    if problem.intercept is None:
        return np.zeros_like(center)
    center[problem.intercept] = 0.0
    if cost is None:
        return center
    columns = _wide(problem)
    for j in columns:
        step, part = f"median of column {j}", cost.part(1 / len(columns))
        center[j] = private_median(rows.numbers[:, j], step, part, noise, problem.neighbors)
    return center


@np.errstate(all="ignore")
def _query(models: np.ndarray) -> DepthQuery:
    """Build the boxes between the q-th smallest and the q-th largest model, on the lattice."""
    scaled = np.clip(np.rint(np.ldexp(models, _BITS)), -float(_FAR), float(_FAR))
    ordered = [[int(value) for value in row] for row in np.sort(scaled, axis=0)]
    m, columns = models.shape
    depths = (m + 1) // 2
    return DepthQuery(
        "deep point of the models",
        lower=[[-_FAR] * columns, *ordered[:depths]],
        upper=[[_FAR] * columns, *ordered[: m - 1 - depths : -1]],
        cutoff=max(1, m // 10),
    )


def _failed(parts: int, problem: Problem) -> str:
    """Explain why nothing was drawn, and what to do."""
    return (
        f"{parts} models are too few, or too different, for {len(problem.low)} coefficients at "
        "this epsilon (the stability test did not pass); use fewer columns or a larger epsilon"
    )


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    if problem.row_norm is not None:
        raise ArgumentError("tukey needs no bounds and takes no row_norm; leave row_norm out")


_NO_ERRORS = "a point of large Tukey depth has no standard error of its own; ci=True buys intervals"
METHOD = Method(
    name="tukey",
    paper="Amin et al. 2023, Algorithms 1 and 2",
    guarantee="approx",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors=_NO_ERRORS,
    release=release,
    options={
        "m": ("auto", option_checks.whole("m", 3, 10_000, or_word="auto")),
        "ci": (False, option_checks.level("ci")),
    },
    check=_check,
    ranges=Ranges(needed=False),
)
