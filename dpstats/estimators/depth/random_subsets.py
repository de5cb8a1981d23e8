"""Fit least squares on every part of a partition of the rows, all parts at once."""

import numpy as np

# A column whose variation within a part, relative to its size, is below the first number counts
# as constant there; one whose variation around the columns before it, relative to its own, is
# below the second counts as a combination of them (squares of 1e-10 and 1e-5).
_CONSTANT = 1e-20
_COLLINEAR = 1e-10


@np.errstate(all="ignore")
def fit_subsets(X, y, labels, parts: int, intercept: int | None, center) -> np.ndarray:
    """Fit ordinary least squares on each part; coefficients have shape (parts, S).

    Row j of the result is a function of the rows labelled j, in their order, and of nothing
    else, bit by bit: sums run over a part's rows one after another, and what follows is
    arithmetic entry by entry. It is finite for any rows: a column that is constant or
    collinear with earlier ones within a part gets the coefficient 0, and so does every
    column of a part without rows.

    Parameters
    ----------
    X, y : numpy.ndarray, shapes (n, S) and (n,)
    labels : numpy.ndarray of int, shape (n,)
        The part of each row, in 0..parts-1.
    intercept : int or None
        Index of the constant column. Its coefficient is the prediction at ``center``, so
        that it does not inherit the errors of the others far from the data.
    center : numpy.ndarray, shape (S,)
    """

    def totals(values):
        return np.bincount(labels, values, minlength=parts)

    others = [j for j in range(X.shape[1]) if j != intercept]
    columns = [*(X[:, j] - center[j] for j in others), y]
    size = np.maximum(np.bincount(labels, minlength=parts), 1)
    raw = np.array([totals(column * column) for column in columns]).T
    means = np.zeros((parts, len(columns)))
    if intercept is not None:
        means = np.array([totals(column) for column in columns]).T / size[:, None]
        columns = [column - mean[labels] for column, mean in zip(columns, means.T, strict=True)]
    slopes = _solve(_cross_products(columns, totals), raw[:, :-1])
    result = np.empty((parts, X.shape[1]))
    result[:, others] = slopes
    if intercept is not None:
        result[:, intercept] = means[:, -1] - np.sum(means[:, :-1] * slopes, axis=1)
    return np.nan_to_num(result, nan=0.0)


def _cross_products(columns, totals) -> np.ndarray:
    """Sum the Gram matrix and cross-products with the last column, shape (parts, S, S + 1)."""
    width = len(columns) - 1
    cross = np.empty((len(totals(columns[-1])), width, width + 1))
    for j in range(width):
        for k in range(j, width + 1):
            cross[:, j, k] = totals(columns[j] * columns[k])
            if k < width:
                cross[:, k, j] = cross[:, j, k]
    return cross


def _solve(cross: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """Solve all normal equations by Gauss-Jordan sweeps, skipping dependent columns."""
    width = cross.shape[1]
    spread = np.einsum("mjj->mj", cross[:, :, :width])
    scale = np.where(spread > _CONSTANT * raw, np.sqrt(spread), np.inf)
    cross = cross / scale[:, :, None]
    cross[:, :, :width] /= scale[:, None, :]
    for j in range(width):
        pivot = cross[:, j, j]
        row = np.where((pivot > _COLLINEAR)[:, None], cross[:, j] / pivot[:, None], 0.0)
        rest = cross[:, :, j].copy()
        rest[:, j] = 0.0
        cross -= rest[:, :, None] * row[:, None, :]
        cross[:, j] = row
    return cross[:, :, width] / scale
