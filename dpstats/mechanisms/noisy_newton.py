"""Estimate by noisy Newton steps: rough sums, whitening, rounds of clipped scores (this package).

The ideas are those of noisy optimisation for M-estimators (Avella-Medina, Bradshaw and Loh 2023),
of boosting on residuals (Tang et al. 2023, Algorithm 1) and of private preconditioning (Biswas et
al. 2020); the indicator basis, the limits read off histograms and the combination of the rounds
are this package's.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.mechanisms.shared import (
    IndicatorBasis,
    Method,
    NewtonState,
    Problem,
    Release,
    Whitening,
)
from dpstats.mechanisms.shared.indicator_basis import release_products
from dpstats.mechanisms.shared.newton_goodness import Squares
from dpstats.mechanisms.shared.newton_release import prior_variance, release_of
from dpstats.mechanisms.shared.newton_sums import (
    leverage_counts,
    rough_products,
    score_counts,
    score_products,
    score_sums,
    whitened_products,
)
from dpstats.mechanisms.shared.response_scale import with_response_scale
from dpstats.mechanisms.shared.score_tails import (
    Tail,
    is_wild,
    leverage_limit,
    leverage_tail,
    mean_leverage,
    score_limit,
    score_tail,
)
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Fractions of mu^2, set by simulation and measured by benchmarks/econ.py: the distributions of the
# columns; then the number of rows, the response's mean and mean square, X'X (half of it for the
# second one where that pays), leverages, the start, a histogram for the first round and one for the
# others, and the scores of each of three. They add up to 1.
_MARGINALS = 0.185
# The response takes so many times the budget of a regressor for its distribution: its scale enters
# every coefficient.
RESPONSE_WEIGHT = 2.0
_COUNT, _RESPONSE, _GRAM, _LEVERAGE, _START, *_LATER = (
    part / (1 - _MARGINALS)
    for part in (0.005, 0.02, 0.25, 0.015, 0.045, 0.02, 0.08, 0.07, 0.14, 0.17)
)
_TAILS, _ROUNDS = (*_LATER[:2], 0.0), _LATER[2:]
# Squared norm of a row's numeric part in the rough sums, for each numeric column.
_NUMERIC_NORM = 3.0
# The second X'X pays where its noise, at this limit of leverage, is below the number of rows.
_TYPICAL_LEVERAGE = 3.0
# The first limit on scores, in units of the response's standard deviation; the share of the
# score's slope that is left by it, and its relative error.
_START_LIMIT, _START_SLOPE, _START_ERROR = 2.0, 0.9, 0.15
# Weight of the sum of squared scores beside the scores.
_WEIGHT = 0.3
# A score is at most so many times as long as the farthest response, of a row of ordinary leverage,
# or as the root of the largest leverage, of a row with an ordinary response.
_FAR_RESPONSE, _FAR_ROW = 2.0, 3.0
# A tail is taken for heavy with this chance where the noise on a bin hides so large a share of the
# rows.
_HIDDEN_HEAVY, _HIDDEN_SHARE = 0.4, 0.005
# The mean square of residuals that the evidence asks for is off by this part of it, as rows count
# by leverage, and at least by so much. It is hardly above the response's own, and may be the farther
# above it the more likely a heavy tail is.
_LEVERAGE_ERROR, _LEAST_ERROR, _MOST_SQUARE, _ABOVE, _ABOVE_HEAVY = 0.15, 0.05, 1.5, 0.5, 10.0
# X'X stands for at least this part of the rows, inverted.
_MOST_SCALED = 4.0
# Scales are usable from so many times the noise on a count of a column's rows, for one regressor
# and for several: the scale of one alone cancels in its regression unless values are clipped, while
# scales of several decide how X'X looks beside its noise.
_ROWS_PER_NOISE = 20.0, 30.0
# Products of levels are held for all pairs of them.
_MOST_LEVELS = 1000
# Fraction of mu^2 for the products of the scores of units, of which standard errors are made.
_SCORE_PRODUCTS = 0.08
# Relative error of a Hessian: so many times the share of the rows whose scores were cut, between
# these; benchmarks/cases.py prints how wide intervals are then.
_HESSIAN_PER_CUT, _LEAST_HESSIAN_ERROR, _MOST_HESSIAN_ERROR = 4.0, 0.05, 0.4


def release(rows: int, total: Callable, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Fit least squares by noisy Newton steps on clipped scores, with coefficient intervals.

    In the whitened directions a the score of a row is s = a (v - a'eta), v the response about
    its released mean in units of its released standard deviation. A step adds the noisy sum
    of clipped scores over the number of rows; three steps, each at a limit that a noisy histogram
    of |s| names, and the start are combined by their variances as a Kalman filter would. Where X'X
    was of rows scaled down alone, and their released mean leverage is above 1, a is divided by its
    root.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand).
    All that is used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number: 1 under add/remove; public under replace-one;
    - mean and mean square of the response
      (:func:`~dpstats.mechanisms.shared.response_scale.with_response_scale`);
    - X'X in two coordinates, with rows scaled to a squared norm of at most B, which is public or
      released: sensitivity B or sqrt 2 B
      (:func:`~dpstats.mechanisms.shared.indicator_basis.release_products`);
    - histograms of |a|^2 and |s|: one row is in one bin, so 1 or sqrt 2;
    - sums of (s', w |s'|^2 / C) with s' = s min(1, C / |s|) and w = 0.3. Add/remove: at most
      C sqrt(1 + w^2). Replace-one: rows of lengths a, b <= C differ by at most
      (a + b) sqrt(1 + w^2 (a - b)^2 / C^2), which grows in a and b for w <= 1: 2 C.
    Scores are cut toward zero to a grid of 2^-20 C, which moves the last coordinate by less than
    one unit of the grid more. Responses are not clipped otherwise: one far out has a score of
    length C. Variables are clipped far out (:attr:`~dpstats.range_estimation.Marginal.clipping`).

    With privacy units the rows of a unit count for parts that add up to at most 1, and each bound
    above holds for all of them together: norms of sums are at most the sums of norms times parts,
    inner products of sums of u u' are not negative, a histogram's counts move by a vector of L1
    norm at most 1, and scores are added up by unit before they are clipped, so that a unit has one.
    The number of rows is then the sum of the parts, which both relations hide. Last, the products
    s' s'' of the clipped scores of units are released
    (:func:`~dpstats.mechanisms.shared.indicator_basis.release_products`, B = C^2).

    What it estimates: least squares of the response on the design of the variables so clipped, of
    all rows. What is cut off the scores would bias it; its size is read off the histograms and is
    part of the intervals.
    """
    basis, whole_cost = IndicatorBasis.of(problem), cost
    if problem.by_unit:
        cost = cost.part(1 - _SCORE_PRODUCTS)
    elif problem.neighbors == REPLACE_ONE:
        cost = cost.part(1 / (1 - _COUNT))  # no number of rows is bought
    counted = _rows(rows, problem, cost, noise)
    count, part = max(counted[0], 2 * counted[1]), cost.part(_RESPONSE)
    problem = with_response_scale(problem, basis.has_constant, total, count, part, noise)
    first, pays = _rough(basis, total, problem, cost, noise, count)
    tail, wild, mean = _leverages(basis, first, total, problem, cost, noise, count)
    if pays:
        whitening, lost = _refined(basis, first, tail, total, problem, cost, noise, count)
    else:
        whitening, lost = first.divided(mean), 0.0
    # steps divide by the number of rows, which is as unsure as X'X
    whitening = replace(whitening, unsure=np.hypot(whitening.unsure, counted[1] / count))
    state = _start(basis, whitening, total, problem, cost, noise, count)
    assert problem.reference is not None, "the method says needs_marginals"
    extremes = problem.reference.extremes
    most = max(_FAR_RESPONSE * extremes.y_reach, _FAR_ROW * math.sqrt(tail.sizes.max()))
    scores = None
    for share, tail_share in zip(_ROUNDS, _TAILS, strict=True):
        if scores is None or tail_share:
            part = cost.part(tail_share)
            scores = _tail(state, basis, whitening, most, total, problem, part, noise, count)
        state = _round(
            state, share, scores, basis, whitening, lost, total, problem, cost, noise, count
        )
    # the noise on the number of rows alone is not to show an interval
    few = counted[0] - counted[1] < _rows_for_scales(len(basis.center), problem, cost)
    few = few or extremes.y_unseen
    if problem.by_unit:
        part = whole_cost.part(_SCORE_PRODUCTS)
        state = _with_score_products(state, basis, whitening, total, problem, part, noise)
    return release_of(state, basis, whitening, wild, problem, count, counted, few)


def _rows_for_scales(columns: int, problem: Problem, cost: GDP) -> float:
    """Return from how many rows on the distributions of so many columns give usable scales.

    Below it intervals that are shown cover as little as 67% where regressors are correlated or
    most rows share a value (benchmarks/grid.py, 500 rows and six regressors at epsilon 1).
    """
    times = math.sqrt(2) if problem.neighbors == REPLACE_ONE else 1.0
    share = _MARGINALS / (1 - _MARGINALS) / (columns + RESPONSE_WEIGHT)
    return _ROWS_PER_NOISE[columns > 1] * times / (cost.mu * math.sqrt(share))


def _rows(rows: int, problem: Problem, cost: GDP, noise: Noise) -> tuple[float, float]:
    """Return the number of rows, noisy where it is private, and the noise on it.

    With units it is the sum of the parts of all rows, which is not public under replace-one either.
    """
    if problem.neighbors == REPLACE_ONE and not problem.by_unit:
        return float(max(rows, 1)), 0.0
    one = _one(problem)
    query = Query(f"number of {problem.counted}", [rows], l1=one, l2=one, unit=1 / one)
    noisy = noise.add(query, cost.part(_COUNT))
    return max(float(noisy.values[0]), 1.0), noisy.deviation


def _rough(basis: IndicatorBasis, total, problem: Problem, cost: GDP, noise: Noise, rows: float):
    """Release X'X in the indicator basis, whiten by it, and tell whether a second one pays."""
    p = basis.span.shape[1]
    times = math.sqrt(2) if problem.neighbors == REPLACE_ONE else 1.0
    half = cost.part(_GRAM / 2)
    pays = _TYPICAL_LEVERAGE * p * math.sqrt(2 * p) * times / half.mu < rows
    bound = basis.ones + _NUMERIC_NORM * len(basis.center)
    sums = total(partial(rough_products, basis, bound))
    part = half if pays else cost.part(_GRAM)
    gram, deviation = release_products(
        "X'X", sums, bound, basis.free, part, noise, problem.neighbors
    )
    span, weighted = basis.span, _weighted_rows(basis, gram, rows)
    values, vectors, weights, kept, unsure = _eigen(span.T @ gram @ span, deviation, weighted)
    map_ = span @ vectors * weights

    def error(squares: np.ndarray) -> np.ndarray:
        moved = (map_**2) @ squares
        free = basis.free @ moved + np.diag(basis.free) * moved
        return (map_**2).T @ (deviation**2 * free)

    return Whitening(map_, kept, unsure, values, error), pays


def _weighted_rows(basis: IndicatorBasis, gram: np.ndarray, rows: float) -> float:
    """Read off X'X how many rows it stands for, as rows scaled down count for less.

    Directions are whitened to that number, while sums of scores, of rows not scaled down, stand
    for all ``rows``: a step from one to the other would overshoot.
    """
    diagonal, ends = np.diag(gram), [*basis.offsets, basis.indicators]
    weighted = rows
    if basis.sizes:
        blocks = [diagonal[i:j].sum() for i, j in zip(ends[:-1], ends[1:], strict=True)]
        weighted = float(np.average(blocks, weights=1 / np.array(basis.sizes)))
    elif basis.indicators:
        weighted = float(diagonal[0])
    return min(max(weighted, rows / _MOST_SCALED), rows)


def _eigen(gram: np.ndarray, deviation: float, rows: float):
    """Return eigenvalues and vectors, weights that whiten, and what is known of each direction.

    Eigenvalues are taken as no smaller than half the norm of the noise. Of a direction are known
    the part above that, and the relative error of its eigenvalue: a'(noise)a has a standard
    deviation of sqrt 2 times ``deviation`` for a unit vector a.
    """
    values, vectors = np.linalg.eigh(gram)
    raised = np.maximum(values, deviation * math.sqrt(len(values)))
    kept = np.maximum(values, 0.0) / raised
    unsure = np.maximum(1 - kept, np.minimum(math.sqrt(2) * deviation / raised, 1.0))
    return values, vectors, np.sqrt(rows / raised), kept, unsure


def _leverages(basis, whitening: Whitening, total, problem, cost: GDP, noise: Noise, rows):
    """Release a histogram of squared leverages, with whether ranges have failed and the mean."""
    counts = total(partial(leverage_counts, basis, whitening.map, whitening.dimension))
    one = _one(problem)
    noisy = _histogram("leverages", counts, problem, cost.part(_LEVERAGE), noise, one)
    extremes = problem.reference.extremes
    most = extremes.leverage / whitening.dimension
    tail = leverage_tail(noisy.values, noisy.deviation, extremes.heavy, most)
    return tail, is_wild(tail, noisy.deviation, rows), mean_leverage(tail)


def _one(problem: Problem) -> int:
    """Return what a row counts for, or at most all rows of a unit."""
    return 1 << ENTRY_BITS if problem.by_unit else 1


def _histogram(
    step: str, counts: np.ndarray, problem: Problem, cost: GDP, noise: Noise, one: int = 1
):
    """Release counts of rows in bins; one row, which counts for ``one``, is in one bin."""
    moved = 2 if problem.neighbors == REPLACE_ONE else 1
    l1, l2 = moved * one, math.sqrt(moved) * one
    return noise.add(Query(step, counts.tolist(), l1=l1, l2=l2, unit=1 / one), cost)


def _refined(basis, first: Whitening, tail, total, problem, cost: GDP, noise: Noise, rows: float):
    """Release X'X again in whitened coordinates, whiten by it, and return the leverage lost too."""
    p, t, part = first.map.shape[1], first.dimension, cost.part(_GRAM / 2)
    times = math.sqrt(2) if problem.neighbors == REPLACE_ONE else 1.0
    limit = leverage_limit(tail, rows, t, t * times / part.mu * math.sqrt(2 * p))
    sums = total(partial(whitened_products, basis, first.map, limit * t))
    free = np.ones((p, p), dtype=bool)
    gram, deviation = release_products(
        "whitened X'X", sums, limit * t, free, part, noise, problem.neighbors
    )
    values, vectors, weights, kept, unsure = _eigen(gram, deviation, rows)

    def error(squares: np.ndarray) -> np.ndarray:
        moved = weights**2 * squares
        return deviation**2 * weights**2 * (moved.sum() + moved)

    map_ = first.map @ vectors * weights
    return Whitening(map_, kept, unsure, values, error), tail.excess(limit) / rows


def _release_scores(step, basis, whitening, eta, limit, total, problem, cost: GDP, noise: Noise):
    """Release the sum of clipped scores (p,) and of their squares, with the noise of each."""
    work = partial(score_sums, basis, whitening.map, problem.reference, eta, limit, _WEIGHT)
    one = 2.0**ENTRY_BITS
    far = 2 * one + 1 if problem.neighbors == REPLACE_ONE else one * math.sqrt(1 + _WEIGHT**2)
    noisy = noise.add(Query(step, total(work).tolist(), l2=far, unit=limit / one), cost)
    square, scale = noisy.values[-1], limit / _WEIGHT
    return noisy.values[:-1], square * scale, noisy.deviation, noisy.deviation * scale


def _start(
    basis, whitening: Whitening, total, problem, cost: GDP, noise: Noise, rows
) -> NewtonState:
    """Step from zero, and shrink toward it by a prior of variance one in each direction."""
    p, limit = whitening.map.shape[1], _START_LIMIT * math.sqrt(whitening.dimension)
    sums, _, deviation, _ = _release_scores(
        "scores at zero", basis, whitening, np.zeros(p), limit, total, problem,
        cost.part(_START), noise,
    )  # fmt: skip
    slope = _START_SLOPE * rows
    eta = sums / slope
    variance = (deviation / slope) ** 2 + (_START_ERROR * eta) ** 2
    variance += whitening.error(eta**2) / rows**2 + whitening.unsure**2 * prior_variance(p)
    prior = prior_variance(p)
    return NewtonState(eta * prior / (prior + variance), prior * variance / (prior + variance))


def _round(
    state: NewtonState, share: float, tail: Tail, basis, whitening: Whitening, lost: float, total,
    problem, cost: GDP, noise: Noise, rows: float,
) -> NewtonState:  # fmt: skip
    """Choose a limit by the tail of score norms, step, and combine with what was known.

    What a limit cuts off biases a step; an earlier step that cut more is trusted less. Biases of
    steps are of the same rows, so they are added up before they are squared.
    """
    t, p, eta = whitening.dimension, len(state.eta), state.eta
    part = cost.part(share)
    times = 2.0 if problem.neighbors == REPLACE_ONE else math.sqrt(1 + _WEIGHT**2)
    limit, slope = score_limit(tail, state.sigma, p, times / part.mu)
    sums, squares, deviation, square_deviation = _release_scores(
        "scores", basis, whitening, eta, limit * math.sqrt(t), total, problem, part, noise
    )
    step, step_variance = sums / (slope * rows), (deviation / (slope * rows)) ** 2
    bias = t * tail.lost(limit) / p / (slope * rows) ** 2
    known = _inflated(state.variance, step, step_variance)
    relative = _hessian_error(slope) ** 2 + lost**2 + whitening.unsure**2
    relative = np.maximum(relative, state.left_over(step, step_variance))
    variance = step_variance + whitening.error(known) / rows**2 + relative * known
    gain = (known + state.bias) / (known + state.bias + variance + bias)
    clipped = tail.mean_square(limit)
    square = (max(squares, 0.0) + square_deviation) / (rows * t)
    beyond = max(tail.mean_square() - clipped, 0.0)
    return NewtonState(
        eta=eta + gain * step,
        variance=(1 - gain) ** 2 * known + gain**2 * variance,
        sigma=min(math.sqrt(max(clipped, 1e-12)), 1.1 * state.sigma),
        bias=((1 - gain) * np.sqrt(state.bias) + gain * math.sqrt(bias)) ** 2,
        square=max(square, (square + beyond) * slope**2),
        slope=slope,
        limit=limit * math.sqrt(t),
        excess=t * tail.excess(limit, 2) / p,
        moved=float(((gain * step) ** 2).sum()),
        moved_noise=float((gain**2).sum() * step_variance),
        squares=Squares(max(squares, 0.0) / (rows * t), square_deviation / (rows * t), beyond),
    )


def _tail(
    state: NewtonState, basis, whitening: Whitening, most: float, total, problem, cost: GDP,
    noise: Noise, rows: float,
) -> Tail:  # fmt: skip
    """Release a histogram of score norms, and read it with what else is known of their tail.

    What X'X and the position do not explain of the response's variance is that of the residuals, so
    a tail without it is too short. This and the rest of the evidence are released numbers.
    """
    extremes = problem.reference.extremes
    unit = state.sigma * math.sqrt(whitening.dimension)
    work = partial(score_counts, basis, whitening.map, problem.reference, state.eta, unit)
    counts = _histogram("score norms", total(work), problem, cost, noise)
    unknown = _HIDDEN_HEAVY * min(counts.deviation / (_HIDDEN_SHARE * rows), 1.0)
    heavy = max(extremes.heavy, unknown)
    tail = score_tail(counts.values, counts.deviation, state.sigma, heavy, most)
    left = 1 - float(whitening.kept @ np.maximum(state.eta**2 - state.variance, 0.0))
    error = max(math.hypot(extremes.y_error, _LEVERAGE_ERROR * left), _LEAST_ERROR)
    above = _ABOVE + _ABOVE_HEAVY * heavy / max(1 - heavy, 1e-3)
    return tail.given_mean_square((left, error), (_MOST_SQUARE, above))


def _hessian_error(slope: float) -> float:
    """Bound the relative error of the Hessian that is taken to be ``slope`` times X'X.

    A row whose score is cut keeps a part of its slope, and may have a large leverage.
    """
    return min(_LEAST_HESSIAN_ERROR + _HESSIAN_PER_CUT * (1 - slope), _MOST_HESSIAN_ERROR)


def _with_score_products(
    state: NewtonState, basis, whitening: Whitening, total, problem, cost: GDP, noise: Noise
) -> NewtonState:
    """Release the products of clipped scores of units, whose covariance clusters decide."""
    p = len(state.eta)
    work = partial(score_products, basis, whitening.map, problem.reference, state.eta, state.limit)
    free = np.ones((p, p), dtype=bool)
    products, deviation = release_products(
        "score products", total(work), state.limit**2, free, cost, noise, problem.neighbors
    )
    return replace(state, products=products, products_deviation=deviation)


def _inflated(variance: np.ndarray, step: np.ndarray, step_variance: float) -> np.ndarray:
    """Raise variances that a step shows to be too small, as it is as long as the error was."""
    surprise = step**2 - step_variance
    variance = variance * max(1.0, surprise.sum() / variance.sum())
    far = step**2 > 4 * (variance + step_variance)
    return np.where(far, np.maximum(variance, surprise), variance)


def _check_levels(problem: Problem) -> None:
    """Raise ArgumentError for more levels than the squares of can be held."""
    levels = sum(len(block.coding) for block in problem.layout.blocks) if problem.layout else 0
    if levels > _MOST_LEVELS:
        raise ArgumentError(
            f"noisy_newton takes at most {_MOST_LEVELS:,} levels of factors, got {levels:,}; "
            'absorb the factor, as in y ~ x | county, or take method="adassp"'
        )


def _number(X: np.ndarray, y: np.ndarray, problem: Problem) -> int:
    """Return the number of rows, with units the sum of their parts in units of 2^-20."""
    return int(whole_weights(X[:, -2]).sum()) if problem.by_unit else len(y)


METHOD = Method(
    "noisy_newton",
    "this package; noisy M-estimation as in Avella-Medina, Bradshaw and Loh 2023, section 3",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="normal approximation with the noise and the clipped excess included",
    summarise=_number,
    release=release,
    fixed_size_summary=True,
    bounds_share=_MARGINALS,
    needs_marginals=True,
    rereads_rows=True,
    takes_units=True,
    check=_check_levels,
)
