"""Fit least squares over a ball by a posterior sample or objective perturbation (Wang 2018)."""

import math
from functools import partial

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.least_squares.dense.gram import box_of, scaled_moments
from dpstats.noise import BallQuery, Noise, ObjectiveQuery
from dpstats.numerics import Moments
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, ApproxDP, PureDP

# Fraction of epsilon for the change of volume in objective perturbation.
_VOLUME_FRACTION = 0.2
# Smallest ridge in units of R^2, so that H is positive definite at any epsilon.
_LEAST_RIDGE = 2.0**-20


def loss_spread(norm: float, radius: float, neighbors: str) -> float:
    """Bound the range, over the ball, of the change of the loss between neighbours.

    Rows satisfy ||u|| <= R (``norm``) and |v| <= 1; u'theta lies in [-R B, R B]. Add/remove: the
    change is the loss of one row, (v - u'theta)^2 / 2, between max(0, 1 - R B)^2 / 2 and
    (1 + R B)^2 / 2, both reached at ||u|| = R, |v| = 1. Replace-one: it is the difference of two,
    with values at most twice as far apart.
    """
    rows, most = (2 if neighbors == REPLACE_ONE else 1), norm * radius
    return rows * ((1 + most) ** 2 - max(0.0, 1 - most) ** 2) / 2


def release_sample(
    passes: Passes, problem: Problem, cost: PureDP, noise: Noise, *, radius=1.0
) -> Release:
    r"""Draw from the density proportional to exp(-gamma F) on ||theta|| <= B: OPS.

    F(theta) = sum (v - u'theta)^2 / 2 + lambda ||theta||^2 / 2 over scaled rows (u, v), ||u|| <= R.

    Guarantee. epsilon-DP for the given relation, with gamma = epsilon / D and D, the sensitivity of
    the loss, derived in :func:`loss_spread` (Wang et al. 2015, Theorem 1; here by
    :mod:`dpstats.noise.posterior`).

    lambda = 2 S / (gamma B^2) is public and costs no privacy: a normal prior whose E ||theta||^2 is
    half of B^2, which adds about as much to the loss as the noise, S / (2 gamma), does.

    Parameters
    ----------
    radius : float
        Bound B on the Euclidean norm of the coefficients of the scaled columns, 0.01 to 100. A
        linear function that stays within the response's range over all values of the
        regressors has coefficients whose absolute values add up to at most 1.

    Notes
    -----
    Without the ball this is a normal distribution, but the loss of a row is unbounded, and nothing
    is proven. A draw takes longer where least squares lies outside the ball, about as the root of
    gamma n.

    References
    ----------
    Wang (2018), Revisiting differentially private linear regression, section 3.2, item 4. Wang,
    Fienberg and Smola (2015), Privacy for free, *ICML*.
    """
    moments: Moments = passes.sum(partial(scaled_moments, problem=problem))
    spread = loss_spread(box_of(problem).norm, radius, problem.neighbors)
    ridge = 2 * len(problem.low) * spread / (cost.epsilon * radius**2)
    query = BallQuery("posterior sample", moments.cross, PRODUCT_UNIT, ridge, radius, spread)
    return _release(noise.posterior_in_ball(query, cost), problem, _SAMPLE)


def release_minimiser(
    passes: Passes, problem: Problem, cost: ApproxDP, noise: Noise, *, radius=1.0
) -> Release:
    r"""Minimise F(theta) + b'theta over ||theta|| <= B, b normal: objective perturbation.

    F(theta) = sum (v - u'theta)^2 / 2 + Delta ||theta||^2 / 2 over scaled rows (u, v), ||u|| <= R.

    Guarantee. (epsilon, delta)-DP under add/remove, for the exact minimiser, which is computed to
    2^-250: with b ~ N(0, (G / m)^2 I), where m-GDP is (epsilon - J, delta / 2)-DP and a row's
    gradient (u'theta - v) u has norm at most G = (1 + R B) R in the ball (reached at ||u|| = R,
    |v| = 1). J = log(1 + R^2 / Delta) bounds the change of the Jacobian determinant of the map
    from theta to b; Delta = R^2 / (e^(epsilon / 5) - 1) makes it epsilon / 5. Derived in
    :mod:`dpstats.noise.objective_perturbation`.

    Parameters
    ----------
    radius : float
        Bound B on the Euclidean norm of the coefficients of the scaled columns, 0.01 to 100. A
        linear function that stays within the response's range over all values of the
        regressors has coefficients whose absolute values add up to at most 1.

    References
    ----------
    Kifer, Smith and Thakurta (2012), Private convex empirical risk minimization and
    high-dimensional regression, *COLT*, Algorithm 1.
    """
    moments: Moments = passes.sum(partial(scaled_moments, problem=problem))
    norm = box_of(problem).norm
    volume = math.expm1(min(_VOLUME_FRACTION * cost.epsilon, 700.0))
    ridge, gradient = norm**2 * max(1 / volume, _LEAST_RIDGE), (1 + norm * radius) * norm
    query = ObjectiveQuery(
        "minimiser", moments.cross, PRODUCT_UNIT, ridge, radius, gradient, norm**2
    )
    return _release(noise.minimiser(query, cost), problem, _MINIMISER)


def _release(theta, problem: Problem, no_errors: str) -> Release:
    """Release scaled coefficients in the design's units."""
    params = box_of(problem).back(theta)
    return Release(params, problem.x_new @ params, reasons={"bse": no_errors})


def _radius(value) -> float:
    """Check the radius and round it to 2^-20, so that +-B lies inside a cell of the public grid."""
    return round(option_checks.number("radius", 0.01, 100)(value) * 2**20) / 2**20


_SAMPLE = "a posterior sample whose spread is set by privacy has no standard error"
_MINIMISER = (
    "the ridge and the ball bias the fit by an unknown amount, so there is no standard error"
)
_method = partial(
    Method,
    single_regressor=False,
    fixed_size_summary=True,
    options={"radius": (1.0, _radius)},
)
METHODS = (
    _method(
        "ops",
        "Wang 2018, section 3.2; Wang et al. 2015, Theorem 1",
        "pure",
        neighbors=(ADD_REMOVE, REPLACE_ONE),
        standard_errors=_SAMPLE,
        release=release_sample,
    ),
    _method(
        "objpert",
        "Kifer et al. 2012, Algorithm 1",
        "approx",
        neighbors=(ADD_REMOVE,),
        standard_errors=_MINIMISER,
        release=release_minimiser,
    ),
)
