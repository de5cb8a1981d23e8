"""Compute empirical error bounds of private predictions, on data declared public."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown
from dpstats.evaluate.predictions import released_predictions
from dpstats.evaluate.public_rows import Cells, declared_public
from dpstats.evaluate.references import ols
from dpstats.results.one.error_bounds import checked_q, percentile


def error_bounds(
    formula: str,
    data,
    *,
    methods,
    epsilon: float,
    delta: float | None = None,
    by: str | Sequence[str] | None = None,
    bounds,
    levels=None,
    x_new=None,
    q: float = 68,
    trials: int = 100,
    truth=None,
    seed: int | None = None,
    progress: bool | None = None,
    public: bool = False,
) -> pd.DataFrame:
    """Compute error bounds C-hat(q) of private predictions against OLS on the same rows.

    Not private, and not a release: the bounds are computed from the rows, so they are for
    data that are public or synthetic. Each method is run ``trials`` times on every group. A
    group's rows are summarised once and only the release is repeated, with NumPy noise from
    a seed, which is fast and repeatable; a real release draws from the operating system.

    Parameters
    ----------
    formula, data, epsilon, by, levels, x_new
        As in :func:`dpstats.dp_ols`; there must be at least one prediction point.
    methods : sequence of str or mapping
        Names in ``dpstats.METHODS``, or ``{label: {"method": name, **options}}``. The
        baselines "ols", "theil_sen", "mean" and "mos" are labelled as not private.
    delta : float, optional
        For the methods that need one; by default 1e-6.
    bounds : mapping
        ``{column: (low, high)}`` for every numeric column.
    q : float
        Percentile of the error, in (0, 100]; at 68 the bound compares with a standard error.
    trials : int
        Releases of each method in each group, at least 1.
    truth : array, shape (p,) or (G, p), optional
        True values at the p prediction points, in all groups or by group.
    seed : int, optional
        Of the noise; fresh by default.
    progress : bool, optional
        Progress bar over groups; by default on a terminal, for runs over a second.
    public : bool
        Must be True: the declaration that the rows are public or synthetic.

    Returns
    -------
    pandas.DataFrame
        Tidy, a row per method, group and point; columns: ``method``, ``group`` ("all"
        without ``by``), ``point``, ``c_hat``: the minimum c such that at least q% of trials
        are within c of the OLS prediction, ``standard_error`` of the OLS prediction,
        ``ratio`` of the two, and ``failed``: the proportion of trials that released no
        prediction, which count as infinite errors. With ``truth`` also ``c_true``, the same
        against the true value, and ``ratio_true``. NaN where OLS is not determined.

    Raises
    ------
    ArgumentError
        Without ``public=True``, and for arguments that dp_ols would refuse.

    References
    ----------
    Alabi et al. (2022), section 1.1.4.

    Examples
    --------
    >>> import dpstats as dp
    >>> points = dp.simulate.line(400, x_sd=0.15, seed=1)
    >>> table = error_bounds("y ~ x", points, methods=["exp_theil_sen", "mean"], epsilon=4,
    ...                      bounds={"x": (0, 1), "y": (0, 1)}, seed=1, public=True)
    >>> c_hat = table[table["point"] == "p25"].set_index("method")["c_hat"]
    >>> bool(c_hat["exp_theil_sen"] < c_hat["mean (not private)"])
    True
    """
    declared_public(public, "error_bounds")
    q = checked_q(q)
    cells, released = released_predictions(
        formula, data, methods=methods, epsilon=epsilon, delta=delta, by=by, bounds=bounds,
        levels=levels, x_new=x_new, trials=trials, seed=seed, progress=progress,
    )  # fmt: skip
    targets = _targets(cells, truth)
    tables = [_table(label, values, cells, targets, q) for label, values in released.items()]
    return pd.concat(tables, ignore_index=True)


def _targets(cells: Cells, truth) -> dict[str, np.ndarray]:
    """Compute OLS predictions, their standard errors and the true values, (G, p) each."""
    fits = np.array([ols(X, y, cells.problem)[len(cells.names) :] for X, y in cells.rows])
    targets = {"ols": fits[..., 0], "standard_error": fits[..., 1]}
    if truth is None:
        return targets
    try:
        return targets | {"truth": np.broadcast_to(np.asarray(truth, float), fits.shape[:2])}
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected truth of shape ({len(cells.points)},) or {fits.shape[:2]}, got "
            f"{shown(truth)}"
        ) from None


def _table(label: str, predictions: np.ndarray, cells: Cells, targets, q: float) -> pd.DataFrame:
    """Tabulate error bounds of one method from its predictions (G, trials, p)."""
    bound, error = percentile_error(predictions, targets["ols"], q), targets["standard_error"]
    failed = np.isnan(predictions).mean(axis=1)
    ratio = _ratio(bound, error)
    columns = {"c_hat": bound, "standard_error": error, "ratio": ratio, "failed": failed}
    if "truth" in targets:
        bound = percentile_error(predictions, targets["truth"], q)
        columns |= {"c_true": bound, "ratio_true": _ratio(bound, error)}
    # the labels of several group columns are tuples in one column
    frame = cells.tidy("group", "point", cells.points, columns)
    frame.insert(0, "method", label)
    return frame


@np.errstate(divide="ignore", invalid="ignore")
def _ratio(bound: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Divide bounds by standard errors; infinite or NaN where the rows lie on a line."""
    return bound / error


def percentile_error(predictions: np.ndarray, target: np.ndarray, q: float) -> np.ndarray:
    """Return the minimum c (G, p) with q% of |predictions - target| <= c; NaN is infinite.

    Parameters
    ----------
    predictions : numpy.ndarray, shape (G, trials, p)
    target : numpy.ndarray, shape (G, p)
        NaN gives NaN.
    q : float
        Percentile in (0, 100].
    """
    bounds = percentile(np.moveaxis(predictions - target[:, None], 1, 0), q)
    return np.where(np.isnan(target), np.nan, bounds)
