"""Adaptive sufficient-statistics perturbation (Wang 2018, Algorithm 2)."""

import math

import numpy as np

from dpstats.bounds import Box
from dpstats.mechanisms.spec import Method, Problem, Release
from dpstats.moments import PRODUCT_UNIT, Moments
from dpstats.noise import Noise, Query
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Shares of mu^2 for u'u, u'v and v'v. The first two carry the coefficients, the last
# only the residual variance.
_SHARES = (0.475, 0.475, 0.05)
# Probability that the ridge is too small for the noise (Wang 2018, Algorithm 2).
_FAILURE = 0.05


def box_of(problem: Problem) -> Box:
    """The scaled coordinates of the problem.

    Privately estimated ranges are generous, so most rows are well inside them: there a
    row norm of sqrt(1 + 0.6 d) with d = S - 1 loses few rows and needs less noise.
    """
    columns = len(problem.low)
    if problem.row_norm is not None:
        return Box.ball(columns, problem.row_norm, problem.y_low, problem.y_high)
    norm = math.sqrt(1 + 0.6 * (columns - 1)) if problem.estimated else None
    return Box.symmetric(
        problem.low, problem.high, problem.y_low, problem.y_high, problem.intercept, norm
    )


def sensitivities(norm: float, neighbors: str) -> tuple[float, float, float]:
    """L2 sensitivities of the upper triangle of u'u, of u'v and of v'v.

    Rows satisfy ||u|| <= R (``norm``), |u_j| <= 1 and |v| <= 1.

    Add/remove: the change is the term of one row.
    - Upper triangle of u u': sum_{j<=k} u_j^2 u_k^2 = (||u||^4 + sum_j u_j^4) / 2
      <= (R^4 + min(R^2, R^4)) / 2, since u_j^4 <= u_j^2 and sum_j u_j^4 <= ||u||^4.
    - u v: ||u|| |v| <= R.
    - v^2 <= 1.

    Replace-one: the change is the difference of two such terms.
    - Upper triangles of u u' and w w' have inner product
      ((u.w)^2 + sum_j u_j^2 w_j^2) / 2 >= 0, so the squared norm of the difference is
      at most twice the add/remove bound.
    - u v - w t: at most 2 R (reached at w = u, t = -v).
    - v^2 - t^2 lies in [-1, 1].
    """
    squared = (norm**4 + min(norm**2, norm**4)) / 2
    if neighbors == REPLACE_ONE:
        return math.sqrt(2 * squared), 2 * norm, 1.0
    return math.sqrt(squared), norm, 1.0


def summarise(X: np.ndarray, y: np.ndarray, problem: Problem) -> Moments:
    """Cross-products of the scaled rows."""
    return Moments.of(X, y, box_of(problem))


def release(moments: Moments, problem: Problem, cost: GDP, noise: Noise) -> Release:
    r"""Ridge regression on noisy cross-products, with the ridge chosen from the noise.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP: three Gaussian
    releases with shares of mu^2 that add up to one and the sensitivities derived in
    :func:`sensitivities`; together they are one Gaussian release of the upper triangle
    of z z' with z = (u, v). The rest is post-processing.

    Where it differs from Algorithm 2. The paper spends (epsilon/3, delta/3) on each of
    lambda_min, X'X and X'y. Composed as Gaussian differential privacy the same
    guarantee needs about half the noise. lambda_min is not released at all: by Weyl's
    inequality lambda_min(X'X) >= lambda_min(A) - ||E|| for A = X'X + E, and ||E|| is
    about 2 sigma sqrt(S), so the released A bounds it at no cost, and no error of an
    eigenvalue routine can enter a sensitivity.

    The ridge is lambda = max(0, sigma sqrt(S log(2 S^2 / 0.05)) - lambda_min~) with
    sigma the standard deviation of the noise on u'u.
    """
    columns = len(problem.low)
    box = box_of(problem)
    upper = np.triu_indices(columns)
    gram_l2, cross_l2, square_l2 = (
        bound / PRODUCT_UNIT for bound in sensitivities(box.norm, problem.neighbors)
    )
    queries = (
        Query("X'X", moments.cross[:columns, :columns][upper], l2=gram_l2, unit=PRODUCT_UNIT),
        Query("X'y", moments.cross[:columns, columns], l2=cross_l2, unit=PRODUCT_UNIT),
        Query("y'y", moments.cross[columns:, columns], l2=square_l2, unit=PRODUCT_UNIT),
    )
    costs = [cost.part(share) for share in _SHARES]
    triangle, cross, square = (noise.add(q, c) for q, c in zip(queries, costs, strict=True))
    sigma = [event.scale for event in noise.events[-3:]]
    gram = np.zeros((columns, columns))
    gram[upper] = triangle
    gram = gram + np.triu(gram, 1).T
    ridge = _ridge(gram, sigma[0])
    theta = _solve(gram, ridge, sigma[0], cross)
    transform, shift = box.linear_map()
    params = transform @ theta + shift
    cov, reason = None, _no_errors(problem, ridge)
    if not reason:
        cov = transform @ _covariance(gram, cross, square[0], theta, sigma, problem) @ transform.T
    return Release(
        params=params,
        predictions=problem.x_new @ params,
        cov=cov,
        reasons={"bse": reason} if reason else {},
    )


def _ridge(gram: np.ndarray, sigma: float) -> float:
    """The ridge of Algorithm 2, from the noisy Gram matrix and its noise level."""
    columns = len(gram)
    needed = sigma * math.sqrt(columns * math.log(2 * columns**2 / _FAILURE))
    certain = np.linalg.eigvalsh(gram)[0] - 2 * sigma * math.sqrt(columns)
    return max(0.0, needed - max(certain, 0.0))


def _solve(gram, ridge: float, sigma: float, cross) -> np.ndarray:
    """(gram + ridge I)^-1 cross, with eigenvalues no smaller than the noise's own."""
    values, vectors = np.linalg.eigh(gram)
    floor = sigma * math.sqrt(len(gram))
    return vectors @ ((vectors.T @ cross) / np.maximum(values + ridge, floor))


def _no_errors(problem: Problem, ridge: float) -> str:
    """Why there are no standard errors, or an empty string."""
    if ridge > 0:
        return "the noise called for a ridge, which biases any interval; raise epsilon or n"
    if problem.estimated:
        return (
            "the privately estimated ranges clip an unknown part of the rows, which biases any "
            "interval; declare bounds= for standard errors"
        )
    if problem.intercept is None:
        return "the number of rows was not released; a model with an intercept releases it"
    return ""


def _covariance(gram, cross, square, theta, sigma, problem: Problem) -> np.ndarray:
    """Covariance of theta from sampling and noise.

    With noise E on u'u and w on u'v, theta - theta_0 is about A^-1 (u'e + w - E theta).
    E is symmetric with independent entries of standard deviation s_A on and above the
    diagonal, so Cov(E b) = s_A^2 (||b||^2 I + b b' - diag(b^2)).
    """
    rows = gram[problem.intercept, problem.intercept]
    residual = (square - 2 * theta @ cross + theta @ gram @ theta) / rows
    noise_part = (sigma[1] ** 2 + sigma[0] ** 2 * theta @ theta) * np.eye(len(theta))
    noise_part += sigma[0] ** 2 * (np.outer(theta, theta) - np.diag(theta**2))
    inverse = np.linalg.inv(gram)
    return inverse @ (max(residual, 0.0) * gram + noise_part) @ inverse


METHOD = Method(
    name="adassp",
    paper="Wang 2018, Algorithm 2",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    simple=False,
    errors="normal approximation with the noise included; none while a ridge is needed",
    summarise=summarise,
    release=release,
)
