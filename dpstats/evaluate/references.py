"""Compute non-private references on data declared public; nothing here is a release."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Problem
from dpstats.estimators.lines import Line
from dpstats.estimators.lines.pairwise import all_pairs_imbalance
from dpstats.evaluate.public_rows import Cells

# Theil-Sen is computed on multiples of 2^-24 of the ranges, as exp_theil_sen is.
_BITS = 24
# Rows of a decomposition, few enough for one thread.
_BLOCK = 1000


def ols_reference(
    formula: str, data, *, by=None, bounds, levels=None, x_new=None, public=False
) -> pd.DataFrame:
    """Fit ordinary least squares without privacy, for comparison on public data.

    Nothing here is differentially private: the numbers are computed from the rows as
    they are, and must not be published when the rows are confidential. Columns, clipping
    and prediction points are those of :func:`dpstats.dp_ols` with the same arguments.

    Parameters
    ----------
    formula, data, by, levels, x_new
        As in :func:`dpstats.dp_ols`.
    bounds : mapping
        ``{column: (low, high)}`` for every numeric column; rows are clipped to them.
    public : bool
        Must be True: the declaration that the rows are public or synthetic.

    Returns
    -------
    pandas.DataFrame
        Tidy, a row per group and term; columns: the name in ``by``, ``term`` (coefficients,
        then prediction points), ``estimate``, ``std_error`` and ``method``, which says that
        it is not private. The standard error of a prediction is that of the mean at the
        point, equation (3) of the reference for one regressor. NaN where the rows of a group
        do not determine the number.

    Raises
    ------
    ArgumentError
        Without ``public=True``, and for arguments that dp_ols would refuse.

    References
    ----------
    Alabi, McMillan, Sarathy, Smith and Vadhan (2022), Differentially private simple linear
    regression, equation (3).

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.datasets.oi_microdata()
    >>> ols = ols_reference("kid_rank ~ parent_rank", people, by="cell", public=True,
    ...                     bounds={"kid_rank": (0, 1), "parent_rank": (0, 1)})
    >>> float(ols.query("term == 'p25'")["std_error"].median().round(3))
    0.015
    """
    call = {"bounds": bounds, "levels": levels, "x_new": x_new}
    cells = Cells.read("ols_reference", formula, data, by, public, **call)
    return _table(cells, by, "ols", ols)


def theil_sen_reference(
    formula: str, data, *, by=None, bounds, x_new=None, public=False
) -> pd.DataFrame:
    """Fit Theil-Sen without privacy: the limit of exp_theil_sen as epsilon grows.

    Not private: see :func:`ols_reference`, whose parameters, table and errors it shares.
    A prediction is the median, over all pairs of rows with different x, of the value at
    the point of the line through both, to within 2^-24 of the response's range; the
    coefficients are the line through the predictions. There are no standard errors.

    Raises
    ------
    ArgumentError
        Without ``public=True``, and unless the formula has one numeric regressor.

    References
    ----------
    Alabi et al. (2022), section 2.2.

    Examples
    --------
    >>> import dpstats as dp
    >>> points = {"x": [0, 0.2, 0.4, 1], "y": [0.1, 0.2, 0.3, 0]}
    >>> fit = theil_sen_reference("y ~ x", points, bounds={"x": (0, 1), "y": (0, 1)}, public=True)
    >>> fit.set_index("term")["estimate"].round(3).to_dict()["p25"]
    0.225
    """
    call = {"bounds": bounds, "x_new": x_new}
    cells = Cells.read("theil_sen_reference", formula, data, by, public, **call)
    check_line(cells, "theil_sen_reference")
    return _table(cells, by, "theil_sen", theil_sen)


def mean_reference(
    formula: str, data, *, by=None, bounds, levels=None, x_new=None, public=False
) -> pd.DataFrame:
    """Predict the mean response everywhere, without privacy: the trivial fit.

    Not private: see :func:`ols_reference`, whose parameters, table and errors it shares.
    A private method with a larger error is not worth its budget. A coefficient other than
    the intercept is 0; the standard error is that of the mean.

    Examples
    --------
    >>> import dpstats as dp
    >>> points = dp.simulate.line(100, seed=1)
    >>> fit = mean_reference("y ~ x", points, bounds={"x": (0, 1), "y": (0, 1)}, public=True)
    >>> bool(abs(fit["estimate"].iloc[-1] - points["y"].mean()) < 1e-12)
    True
    """
    call = {"bounds": bounds, "levels": levels, "x_new": x_new}
    cells = Cells.read("mean_reference", formula, data, by, public, **call)
    return _table(cells, by, "mean", mean)


def not_private(name: str) -> str:
    """Label a reference wherever it prints."""
    return f"{name} (not private)"


def check_line(cells: Cells, name: str) -> None:
    """Raise ArgumentError unless the design is an intercept and one column."""
    if cells.problem.intercept is None or len(cells.names) != 2:
        raise ArgumentError(
            f"{name} fits an intercept and one numeric column, got the columns "
            f"{', '.join(cells.names)}"
        )


def _table(cells: Cells, by, name: str, estimator: Callable) -> pd.DataFrame:
    """Tabulate estimates and standard errors of an estimator, a row per group and term."""
    fits = np.array([estimator(X, y, cells.problem) for X, y in cells.rows])
    columns = {"estimate": fits[..., 0], "std_error": fits[..., 1]}
    frame = cells.tidy(by, "term", (*cells.names, *cells.points), columns)
    return frame.assign(method=not_private(name))


def ols(X: np.ndarray, y: np.ndarray, problem: Problem) -> np.ndarray:
    """Estimate coefficients and predictions with standard errors (S + q, 2) by OLS."""
    points = np.vstack([np.eye(X.shape[1]), problem.x_new])
    n, columns = X.shape
    result = np.full((len(points), 2), np.nan)
    if n < columns:
        return result
    triangle = _triangle(np.column_stack([X, y]))
    left, singular, right = np.linalg.svd(triangle[:columns, :columns])
    if singular[-1] <= singular[0] * n * np.finfo(float).eps:
        return result
    # points (X'X)^-1 points' = loads loads', so no cross-product loses digits
    loads = points @ right.T / singular
    result[:, 0] = loads @ (left.T @ triangle[:columns, -1])
    if n > columns:
        variance = triangle[-1, -1] ** 2 / (n - columns)
        result[:, 1] = np.sqrt(variance * np.sum(loads**2, axis=1))
    return result


def _triangle(rows: np.ndarray) -> np.ndarray:
    """Return the triangle R (min(n, k), k) of the QR decomposition of rows (n, k).

    R of some rows stands for them, so that no Q is formed, and blocks are too small for several
    threads, which take eight times the processor time for many rows.
    """
    starts = range(0, len(rows), _BLOCK)
    blocks = [np.linalg.qr(rows[start : start + _BLOCK], mode="r") for start in starts]
    return np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"))  # numpy types it as a pair


def theil_sen(X: np.ndarray, y: np.ndarray, problem: Problem) -> np.ndarray:
    """Estimate (S + q, 2) by Theil-Sen over all pairs; the second column is NaN."""
    result = np.full((2 + len(problem.x_new), 2), np.nan)
    line = Line.of(problem)
    u, v = line.integers(X, y, _BITS)
    if len(np.unique(u)) < 2:
        return result
    positions = line.positions(problem.x_new)
    grid = [_median(all_pairs_imbalance(u, v, round(p * 2**_BITS))) for p in positions]
    values = np.array(grid) / 2**_BITS
    result[2:, 0] = line.values(values)
    if len(np.unique(positions)) > 1:
        slope, intercept = np.polyfit(positions, values, 1)
        result[:2, 0] = line.params(intercept, slope)
    return result


def _median(imbalance: Callable[[int], int]) -> float:
    """Find the median, given #above - #below as a nonincreasing function of an integer r."""
    ends = [_first(imbalance, lambda value: value <= 0), _first(imbalance, lambda value: value < 0)]
    # the median lies from the first r that is not below it to the last that is not above it
    return (ends[0] + ends[1] - 1) / 2


def _first(imbalance: Callable[[int], int], low_enough: Callable[[int], bool]) -> int:
    """Find the minimum r within 16 ranges of the response with a low enough imbalance."""
    below, above = -(16 << _BITS), 16 << _BITS
    while above - below > 1:
        r = (below + above) // 2
        below, above = (below, r) if low_enough(imbalance(r)) else (r, above)
    return above


def mean(X: np.ndarray, y: np.ndarray, problem: Problem) -> np.ndarray:
    """Estimate every prediction by the mean response, with its standard error, (S + q, 2)."""
    result = np.full((X.shape[1] + len(problem.x_new), 2), np.nan)
    n, start = len(y), X.shape[1]
    if not n:
        return result
    error = np.std(y, ddof=1) / np.sqrt(n) if n > 1 else np.nan
    result[start:] = y.mean(), error
    result[:start] = 0.0
    if problem.intercept is not None:
        result[problem.intercept] = y.mean(), error
    return result
