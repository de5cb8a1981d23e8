"""The public tables of a folder with a MANIFEST.csv, as regressions of y on x0, x1, ..."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

# A text column with more values than this is a label of rows, not a factor.
_LEVELS = 30


@dataclass(frozen=True)
class Task:
    """A regression of ``y`` on all other columns; text columns are categories."""

    name: str
    frame: pd.DataFrame

    @property
    def formula(self) -> str:
        """The formula of all columns."""
        return "y ~ " + " + ".join(name for name in self.frame if name != "y")

    def split(self, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Nine tenths of the rows to fit on, and the rest."""
        order = rng.permutation(len(self.frame))
        cut = len(order) * 9 // 10
        return self.frame.iloc[order[:cut]], self.frame.iloc[order[cut:]]


def tasks(folder: str | os.PathLike, least: int = 0, most: int = 10**9) -> Iterator[Task]:
    """Every table of the manifest with ``least`` to ``most`` complete rows, in its order.

    The manifest names a file, a target and the features: ``all``, ``all except a|b``, or
    ``a|b|c``.
    """
    manifest = pd.read_csv(Path(folder) / "MANIFEST.csv")
    for entry in manifest.itertuples():
        raw = pd.read_csv(Path(folder) / entry.file, low_memory=False)
        frame = _renamed(raw, entry.target, _features(raw, entry))
        if least <= len(frame) <= most:
            yield Task(entry.name, frame)


def _features(raw: pd.DataFrame, entry) -> list[str]:
    """The columns that the manifest names."""
    named = entry.check_features
    if not named.startswith("all"):
        return named.split("|")
    left = named.removeprefix("all").removeprefix(" except ").split("|")
    return [name for name in raw if name not in left and name != entry.target]


def _renamed(raw: pd.DataFrame, target: str, features: list[str]) -> pd.DataFrame:
    """Complete rows with the columns x0, x1, ... and y."""
    columns = {f"x{i}": _column(raw[name]) for i, name in enumerate(features)}
    columns = {name: column for name, column in columns.items() if column is not None}
    frame = pd.DataFrame({**columns, "y": raw[target].astype(float)})
    return frame.dropna().reset_index(drop=True)


def _column(values: pd.Series) -> pd.Series | None:
    """Numbers as they are, text as categories; None for text with a value a row."""
    if values.dtype == bool or pd.api.types.is_numeric_dtype(values):
        return values.astype(float)
    found = values.astype("category")
    return found if 2 <= len(found.cat.categories) <= _LEVELS else None
