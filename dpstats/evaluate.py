"""Non-private references for data declared public; nothing here is a release."""

import numpy as np
import pandas as pd

from dpstats.arguments import make_request
from dpstats.errors import ArgumentError


def ols_reference(
    formula: str, data, *, by: str | None = None, bounds, levels=None, x_new=None, public=False
) -> pd.DataFrame:
    """Ordinary least squares without privacy, for comparison on public data.

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
        Must be True: the declaration that the rows are public or made up.

    Returns
    -------
    pandas.DataFrame
        Tidy, one row a group and term; columns: the name in ``by``, ``term`` (coefficients,
        then prediction points), ``estimate``, ``std_error``. The standard error of a
        prediction is that of the mean at the point, equation (3) of the reference for one
        regressor. NaN where the rows of a group do not determine the number.

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
    if public is not True:
        raise ArgumentError(
            "ols_reference uses the rows without any protection; pass public=True if they are "
            "public or made up, else use dp_ols"
        )
    # The request of a private call gives the same columns, clipping and prediction points;
    # its method and epsilon are never used.
    request = make_request(
        formula, data, method="adassp", epsilon=1, delta=None, bounds=bounds, levels=levels,
        x_new=x_new, neighbors=None, missing="drop", row_norm=None, options={},
    )  # fmt: skip
    if request.unbounded:
        raise ArgumentError(f"expected bounds for {', '.join(request.unbounded)}")
    design = request.design()
    points = np.vstack([np.eye(len(design.names)), request.problem(design).x_new])
    codes, labels = _groups(request.table, by)
    fits = [_fit(X, y, points) for X, y in _by_group(request, design, codes, len(labels))]
    frame = pd.DataFrame(np.concatenate(fits), columns=["estimate", "std_error"])
    frame.insert(0, "term", [*design.names, *request.point_labels()] * len(labels))
    if by is not None:
        frame.insert(0, by, np.repeat(np.array(labels, dtype=object), len(points)))
    return frame.infer_objects()


def _groups(table, by: str | None) -> tuple[np.ndarray, tuple]:
    """Group codes (n,) and labels; a single group without ``by``."""
    if by is None:
        return np.zeros(table.n_rows, dtype=np.int64), ("all",)
    levels = table.levels(by)
    return table.labels(by) if levels is None else (table.codes(by, levels), levels)


def _by_group(request, design, codes: np.ndarray, count: int):
    """(X, y) of the complete rows, group by group."""
    X, y, group = (np.concatenate(part) for part in zip(*request.rows(design, codes), strict=True))
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(count + 1))
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        rows = order[start:stop]
        yield X[rows], y[rows]


def _fit(X: np.ndarray, y: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Estimates and standard errors (q, 2) of points @ beta for rows X (n, S), y (n,)."""
    n, columns = X.shape
    result = np.full((len(points), 2), np.nan)
    if n < columns:
        return result
    left, singular, right = np.linalg.svd(X, full_matrices=False)
    if singular[-1] <= singular[0] * n * np.finfo(float).eps:
        return result
    # points (X'X)^-1 points' = loads loads', so no cross-product loses digits
    loads = points @ right.T / singular
    fitted = left.T @ y
    result[:, 0] = loads @ fitted
    if n > columns:
        variance = np.sum((y - left @ fitted) ** 2) / (n - columns)
        result[:, 1] = np.sqrt(variance * np.sum(loads**2, axis=1))
    return result
