"""Fit NoisyIntercept: predict the noisy mean of the response everywhere."""

from functools import partial

from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.lines.simple_regression import Line, centred_moments, too_few
from dpstats.noise import Noise, Query
from dpstats.numerics import Moments
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP


def release(passes: Passes, problem: Problem, cost: PureDP, noise: Noise) -> Release:
    """Release the mean of y with Laplace noise, and slope zero (Alabi et al. 2022, section 2.4).

    Guarantee. epsilon-DP for the given relation, with v in [-1, 1] the centred, scaled
    response, cut toward zero to a multiple of 2^-20.
    - Replace-one, n public: sum v moves by at most 2, so the mean of y gets noise of scale
      (range of y) / (epsilon n), as in the paper.
    - Add/remove: the two sums of 1 + v and of 1 - v move together by
      |1 + v| + |1 - v| = 2; they give n and the mean.

    Status ``failed``: under add/remove the noisy number of rows was not positive.
    """
    moments: Moments = passes.sum(partial(centred_moments, problem=problem))
    one, v, cross = problem.constant, 2, moments.cross
    n, total = cross[one, one], cross[one, v]
    if failure := too_few(problem, int(n * PRODUCT_UNIT), needed=1):
        return failure
    public = problem.neighbors == REPLACE_ONE
    values = [total] if public else [n + total, n - total]
    query = Query("sum of y", values, l1=2 / PRODUCT_UNIT, unit=PRODUCT_UNIT)
    sums = noise.add(query, cost).values
    rows = float(n * PRODUCT_UNIT) if public else sums.sum() / 2
    if rows <= 0:
        return Release.nothing(problem, "failed", "the noisy number of rows was not positive")
    mean = sums[0] / rows if public else sums[0] / rows - 1
    params = Line.of(problem).params((mean + 1) / 2, 0.0)
    return Release(params, problem.x_new @ params, reasons={"bse": METHOD.standard_errors})


METHOD = Method(
    name="noisy_intercept",
    paper="Alabi et al. 2022, section 2.4",
    guarantee="pure",
    neighbors=(REPLACE_ONE, ADD_REMOVE),
    single_regressor=True,
    standard_errors="the variance of the response is not released, so there is no standard error",
    release=release,
    fixed_size_summary=True,
)
