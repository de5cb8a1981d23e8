"""What the methods on a noisy Gram matrix share: coordinates, sensitivities, the ridge."""

import math

import numpy as np

from dpstats.bounds import Box
from dpstats.mechanisms.spec import Problem
from dpstats.moments import Moments
from dpstats.privacy import REPLACE_ONE

# Probability that the ridge is too small for the noise (Wang 2018, Algorithm 2).
_FAILURE = 0.05


def box_of(problem: Problem) -> Box:
    """The scaled coordinates of the problem.

    Privately estimated ranges are generous, so most rows are well inside them: there a
    row norm of sqrt(1 + 0.6 d) with d = S - 1 loses few rows and needs less noise. Rows
    beyond them are shortened as a whole, so that they bend a linear relation less.
    """
    columns = len(problem.low)
    if problem.row_norm is not None:
        return Box.ball(columns, problem.row_norm, problem.y_low, problem.y_high)
    norm = math.sqrt(1 + 0.6 * (columns - 1)) if problem.estimated else None
    low, high, y_low, y_high = problem.low, problem.high, problem.y_low, problem.y_high
    return Box.symmetric(low, high, y_low, y_high, problem.intercept, norm, problem.estimated)


def scaled_moments(X: np.ndarray, y: np.ndarray, problem: Problem) -> Moments:
    """Cross-products of the scaled rows."""
    return Moments.of(X, y, box_of(problem))


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


def symmetric(triangle: np.ndarray, columns: int) -> np.ndarray:
    """The symmetric matrix with this upper triangle, in the order of ``numpy.triu_indices``.

    Here and below, arrays may have leading axes, for many matrices at once.
    """
    gram = np.zeros((*triangle.shape[:-1], columns, columns))
    rows, others = np.triu_indices(columns)
    gram[..., rows, others] = gram[..., others, rows] = triangle
    return gram


def least_eigenvalue(gram: np.ndarray, sigma: float) -> float:
    """What the smallest eigenvalue of X'X most likely exceeds, given X'X + E.

    By Weyl's inequality lambda_min(X'X) >= lambda_min(X'X + E) - ||E||, and ||E|| is about
    2 sigma sqrt(S) for noise of standard deviation sigma. A function of released values, so it
    costs nothing, and no error of an eigenvalue routine can enter a sensitivity.
    """
    return np.linalg.eigvalsh(gram)[..., 0] - 2 * sigma * math.sqrt(gram.shape[-1])


def ridge(gram: np.ndarray, sigma: float) -> float:
    """The ridge of Wang (2018), Algorithm 2, from a noisy Gram matrix and its noise level.

    lambda = max(0, sigma sqrt(S log(2 S^2 / 0.05)) - lambda_min~) with sigma the standard
    deviation of the noise on u'u. lambda_min is not released but bounded as in
    :func:`least_eigenvalue`.
    """
    columns = gram.shape[-1]
    needed = sigma * math.sqrt(columns * math.log(2 * columns**2 / _FAILURE))
    return np.maximum(0.0, needed - np.maximum(least_eigenvalue(gram, sigma), 0.0))


def inverse(gram: np.ndarray, penalty: float, sigma: float) -> np.ndarray:
    """(gram + penalty I)^-1, with eigenvalues taken as no smaller than the noise's own."""
    values, vectors = np.linalg.eigh(gram)
    floor = sigma * math.sqrt(gram.shape[-1])
    raised = np.maximum(values + np.asarray(penalty)[..., None], floor)
    return (vectors / raised[..., None, :]) @ np.swapaxes(vectors, -1, -2)
