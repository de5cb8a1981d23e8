"""Compare methods over several public data sets."""

from collections.abc import Mapping

import pandas as pd

from dpstats.errors import ArgumentError, typed
from dpstats.evaluate.error_bounds import error_bounds


def compare(data_sets: Mapping[str, Mapping], **common) -> pd.DataFrame:
    """Compute error bounds of the same methods on several data sets.

    Not private: see :func:`error_bounds`.

    Parameters
    ----------
    data_sets : mapping
        ``{name: {"formula": ..., "data": ..., "bounds": ..., ...}}``: the arguments of
        :func:`error_bounds` that belong to one data set.
    **common
        Arguments of :func:`error_bounds` for all of them, such as ``methods``, ``epsilon``
        and ``public=True``.

    Returns
    -------
    pandas.DataFrame
        The tables of :func:`error_bounds` one below the other, with the name in ``data``.

    Raises
    ------
    ArgumentError
        As :func:`error_bounds`.

    Examples
    --------
    >>> import dpstats as dp
    >>> square = {"x": (0, 1), "y": (0, 1)}
    >>> sets = {f"n = {n}": {"formula": "y ~ x", "data": dp.simulate.line(n, seed=1)}
    ...         for n in (50, 500)}
    >>> table = compare(sets, methods=["exp_theil_sen"], bounds=square, epsilon=2, seed=1,
    ...                 public=True)
    >>> small, large = table.groupby("data", sort=False)["c_hat"].median()
    >>> bool(small > large)
    True
    """
    if not isinstance(data_sets, Mapping) or not data_sets:
        raise ArgumentError(f"expected data_sets {{name: arguments}}, got {data_sets!r}")
    tables = [
        error_bounds(**{**common, **call}).assign(data=name) for name, call in data_sets.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    table.insert(0, "data", table.pop("data"))
    return table


def overview(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise a table of error bounds over the groups, in a row per method and point.

    Not private, as the table it summarises.

    Parameters
    ----------
    table : pandas.DataFrame
        From :func:`error_bounds` or :func:`compare`.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``data`` where there is one, ``method`` and ``point``; columns:
        ``groups``, ``median_ratio``, ``within``: the proportion at most 1 among the
        groups with a ratio, where privacy costs less than sampling, and ``failed``: the
        proportion of trials without a prediction.

    Raises
    ------
    ArgumentError
        For anything else than such a table.

    Examples
    --------
    >>> import dpstats as dp
    >>> table = error_bounds("y ~ x", dp.simulate.line(60, seed=1), methods=["mean"], epsilon=1,
    ...                      bounds={"x": (0, 1), "y": (0, 1)}, public=True)
    >>> overview(table)["groups"].tolist()
    [1, 1]
    """
    if not isinstance(table, pd.DataFrame) or not {"method", "point", "ratio"} <= set(table):
        raise ArgumentError(
            "expected table to be what error_bounds() or compare() of dpstats.evaluate returned, "
            f"got {typed(table)}"
        )
    keys = [key for key in ("data", "method", "point") if key in table]
    within = (table["ratio"] <= 1).astype(float).where(table["ratio"].notna())
    return (
        table.assign(within=within)
        .groupby(keys, sort=False)
        .agg(
            groups=("group", "size"),
            median_ratio=("ratio", "median"),
            within=("within", "mean"),
            failed=("failed", "mean"),
        )
    )
