"""Turn the arguments that R hands over into those that Python takes."""

from collections.abc import Mapping, Sequence

import pandas as pd

from dpstats.engines.columns.r_vectors import column


def table(columns: Mapping) -> dict:
    """Read columns as R keeps them, each a mapping of its kind, its bytes and its levels."""
    return {name: column(**parts) for name, parts in columns.items()}


def rows(data):
    """Read columns as R keeps them; anything else, such as paths of files, stays as it is."""
    return table(data) if isinstance(data, Mapping) else data


def points(x_new):
    """Make a frame of public points, whose index labels them.

    >>> points({"columns": {"x": [0.25]}, "labels": ["low"]}).loc["low", "x"].item()
    0.25
    """
    if not isinstance(x_new, Mapping):
        return x_new
    return pd.DataFrame(dict(x_new["columns"]), index=x_new["labels"])


def labels(columns: Sequence[Sequence] | None) -> list[tuple] | None:
    """Join the labels of groups by several columns, which come column by column.

    >>> labels([["A", "B"], [1.0, 2.0]])
    [('A', 1.0), ('B', 2.0)]
    """
    return None if columns is None else list(zip(*columns, strict=True))
