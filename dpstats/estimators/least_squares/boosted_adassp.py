"""Fit boosted AdaSSP: gradient boosting with AdaSSP as base learner (Tang et al. 2023)."""

from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.least_squares.dense.scaled_rows import residual_sums, scaled_rows
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import BLOCK
from dpstats.numerics.cross_products import PRODUCT_UNIT, exact_sum
from dpstats.numerics.ridge import inverse, ridge, symmetric
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Fraction of mu^2 for u'u; the rounds divide the rest equally.
_GRAM_FRACTION = 1 / 3


def release(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, *, rounds=100, tau=1.0
) -> Release:
    r"""Run rounds of AdaSSP on clipped residuals with one noisy Gram matrix (Algorithm 1).

    With (u, v) the scaled row, ||u|| <= C, and Gamma = (u'u + noise + lambda I)^-1, every
    round releases the sum over rows of u g, g the residual v - u'theta clipped to
    [-tau, tau], and adds Gamma times it to theta.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: one Gaussian release
    of the upper triangle of u'u with a third of mu^2 and the sensitivity derived in
    :meth:`~dpstats.numerics.coordinates.Sensitivity.of`, and T more with 2 / (3 T)
    each. Given the rounds before, theta is public and a row's term u g a function of that row
    alone, so one row more or less moves the sum by ||u|| |g| <= C tau (reached by a row of norm C
    with a residual beyond tau), one row exchanged by at most 2 C tau (reached at u and u, g = tau
    and -tau). mu's compose adaptively as the root of the sum of squares. The noise of a round has
    standard deviation C tau sqrt(T) / (mu sqrt(2 / 3)).

    The sums are exact integers, and a residual is the same number whatever rows stand beside
    it (:func:`~dpstats.estimators.least_squares.dense.scaled_rows.residual_sums`).

    Parameters
    ----------
    rounds : int
        Number of rounds T, 1 to 10,000.
    tau : float
        Clip of the residual, in units of half the response's range (with row_norm=, of its
        largest absolute value), 0.001 to 10.

    Notes
    -----
    Where it differs from the paper. (i) It splits mu^2 in three, for lambda_min, u'u and
    the rounds; lambda_min follows from the noisy u'u at no cost
    (:func:`~dpstats.numerics.ridge.ridge`) and its third goes to the rounds, where the
    noise is T-fold. (ii) It clips rows in the design's own units; so does row_norm=C, but
    by default rows are first scaled by declared or privately estimated ranges, without
    which the fixed C = tau = 1 mean nothing. A row that is norm-clipped takes its response
    along. (iii) The average of theta after each of the last T / 2 rounds is released
    rather than the last: each carries fresh noise of the same size, and averages cost
    nothing.

    References
    ----------
    Tang, Aydore, Kearns, Rho, Roth, Wang, Wang and Wu (2023), Improved differentially
    private regression via gradient boosting.
    """
    rows: Rows = passes.sum(partial(scaled_rows, problem=problem))
    columns, box = len(problem.low), box_of(problem)
    l2 = box.sensitivity(problem.neighbors).l2
    gram_l2, cross_l2, _ = (bound / PRODUCT_UNIT for bound in l2)
    query = Query("X'X", _gram(rows.numbers), l2=gram_l2, unit=PRODUCT_UNIT)
    noisy = noise.add(query, cost.part(_GRAM_FRACTION))
    gram = symmetric(noisy.values, columns)
    gamma = inverse(gram, ridge(gram, noisy.scale), noisy.scale)
    gradient, round_cost = residual_sums(rows, tau), cost.part((1 - _GRAM_FRACTION) / rounds)
    theta, late = np.zeros(columns), np.zeros(columns)
    for number in range(rounds):
        query = Query("X'g", gradient(theta), l2=cross_l2, unit=tau * PRODUCT_UNIT)
        theta = theta + gamma @ noise.add(query, round_cost).values
        late += theta if number >= rounds // 2 else 0.0
    params = box.back(late / (rounds - rounds // 2))
    return Release(params, problem.x_new @ params, reasons={"bse": _NO_ERRORS})


def _gram(u: np.ndarray) -> np.ndarray:
    """Sum u u' exactly and return its upper triangle in units of 2^-40."""
    columns = u.shape[1]
    blocks = (u[i : i + BLOCK] for i in range(0, len(u), BLOCK))
    return exact_sum((b.T @ b for b in blocks), (columns, columns))[np.triu_indices(columns)]


_NO_ERRORS = "the fit is an average over rounds with clipped residuals, so it has no standard error"
METHOD = Method(
    name="boosted_adassp",
    paper="Tang et al. 2023, Algorithm 1",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors=_NO_ERRORS,
    release=release,
    options={
        "rounds": (100, option_checks.whole("rounds", 1, 10_000)),
        "tau": (1.0, option_checks.number("tau", 0.001, 10)),
    },
)
