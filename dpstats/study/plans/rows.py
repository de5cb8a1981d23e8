"""Draw the rows that a plan runs a study on: of a public stand-in, or from guesses."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dpstats.engines import Table
from dpstats.engines.columns import UNTYPED
from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError
from dpstats.planning.assumptions import checked_rows
from dpstats.study.models import Model
from dpstats.study.plans.guesses import NAMES, Guesses
from dpstats.study.plans.responses import RESPONSES
from dpstats.study.study_file import Study
from dpstats.study.synthetic import synthetic_rows


class Drawn(Protocol):
    """Represent rows for each entry and repetition."""

    @property
    def n(self) -> int: ...

    def call(self, model: Model, seed: list[int]) -> dict[str, Any]:
        """Return the arguments of a model's call that bring its rows."""
        ...

    def sentences(self) -> tuple[str, ...]:
        """Say in words where the rows come from."""
        ...


@dataclass(frozen=True)
class StandIn:
    """Draw n rows of a public table: all of them as they are, or a sample with replacement."""

    table: Table
    n: int
    said: str
    clustered: bool = False

    @classmethod
    def of(cls, study: Study, data, given: Mapping) -> "StandIn":
        """Open a public table; ArgumentError for the study's own data."""
        _check_public(study, data)
        if guessed := [name for name in NAMES[1:] if given.get(name) is not None]:
            raise ArgumentError(
                f"{guessed[0]} is for plans from guesses, and data tells it; give one of them"
            )
        opened = open_table(data)
        types = {k: v for each in study.models for k, v in each.arguments.get("types", {}).items()}
        untyped = [name for name in opened.columns if opened.kind(name) in UNTYPED]
        known = {name: kind for name, kind in types.items() if name in untyped}
        table = opened.typed(known).gathered(opened.columns)
        if not table.n_rows:
            raise ArgumentError("expected data to have rows; the stand-in is empty")
        asked = given.get("n") if given.get("n") is not None else study.guesses.get("n")
        n = table.n_rows if asked is None else checked_rows(asked)
        if n != table.n_rows and any(each.arguments.get("unit") for each in study.models):
            raise ArgumentError(
                f"a sample would tear the rows of persons apart, got n={n} and a stand-in of "
                f"{table.n_rows} rows; leave n out"
            )
        said = os.fspath(data) if isinstance(data, str | os.PathLike) else "a table"
        clustered = any(each.arguments.get("cov_type") == "cluster" for each in study.models)
        return cls(table, n, said, clustered)

    def call(self, model: Model, seed: list[int]) -> dict[str, Any]:
        """Return the rows, which have types of their own; the model is not looked at."""
        if self.n == self.table.n_rows:
            return {"data": self.table, "types": None}
        rows = np.random.default_rng(seed).integers(self.table.n_rows, size=self.n)
        return {"data": self.table.take(rows), "types": None}

    def sentences(self) -> tuple[str, ...]:
        """Say whose rows they are, and what drawing them does to clustered errors.

        What the stand-in's own rows of a cluster sum to by chance, a draw repeats n / rows times:
        without correlation in clusters the variance of a sum is n + n^2 / rows of a row's, not n.
        """
        whose = f"rows of {self.said}, taken as public: {self.table.n_rows:,}"
        if self.n == self.table.n_rows:
            return (whose,)
        drawn = (f"{whose}, {self.n:,} drawn with replacement",)
        if not self.clustered:
            return drawn
        widened = (1 + self.n / self.table.n_rows) ** 0.5
        return (
            *drawn,
            f"clustered errors of rows that are drawn are up to {widened:.3g} times too wide, "
            f"with and without privacy; give a stand-in of {self.n:,} rows",
        )


@dataclass(frozen=True)
class Guessed:
    """Draw n rows of an entry's columns from guesses: regressors first, then what they explain."""

    study: Study
    guesses: Guesses

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.guesses.n

    def call(self, model: Model, seed: list[int]) -> dict[str, Any]:
        """Draw rows, whose columns have types of their own.

        Those of a regression follow from its own guesses; those of a description from all
        regressions of the study, the first of each response.
        """
        draw = np.random.default_rng(seed)
        models = (model,) if model.formulas else self.study.models
        rows = synthetic_rows(replace(self.study, models=models, rows=self.n), draw)
        for name, bounds in {k: v for own in models for k, v in _bounds(own).items()}.items():
            values = self.guesses.column(name, bounds, draw) if name in rows else None
            rows = rows if values is None else rows.assign(**{name: values})
        explained: set[str] = set()
        for result, formula, own in _regressions(models):
            respond = RESPONSES.get(own.kind)
            if respond is not None:
                drawn = respond(self.guesses.assumed(own, result, formula), rows, draw)
                rows = rows.assign(**{k: v for k, v in drawn.items() if k not in explained})
                explained |= {*drawn}
        return {"data": rows, "types": None}

    def sentences(self) -> tuple[str, ...]:
        """Say what is assumed."""
        return (*self.guesses.sentences(), *_instruments(self.study), *_labels(self.study))


def _bounds(model: Model) -> dict[str, tuple[float, float]]:
    return model.arguments.get("bounds", {})


def _regressions(models: Iterable[Model]) -> Iterator[tuple[str, str, Model]]:
    """Give the results of regressions with their formulas and entries."""
    for model in models:
        if model.formulas:
            named = zip(model.result_names, model.formulas, strict=True)
            yield from ((result, formula, model) for result, formula in named)


def _instruments(study: Study) -> list[str]:
    """Say that guesses tell nothing of instruments."""
    named = [name for each in study.models if each.kind == "iv" for name in each.result_names]
    if not named:
        return []
    return [
        f"the columns of {', '.join(named)} are independent, so that instruments tell nothing; "
        "rows of a public stand-in tell more"
    ]


def _labels(study: Study) -> list[str]:
    """Say what a plan from guesses does not know of persons, clusters and absorbed columns."""
    labels = {each.arguments.get(key) for each in study.models for key in ("unit", "cluster")}
    absorbed = {formula.absorbed for each in study.models for formula in each.parsed}
    if not {*labels, *absorbed} - {None}:
        return []
    return [
        "persons, clusters and absorbed groups have about ten rows each and no effects of their "
        "own; rows of a public stand-in tell more"
    ]


def _check_public(study: Study, data) -> None:
    """Raise ArgumentError where the stand-in is a file of the study's own data."""
    listed = data if isinstance(data, list) else [data]
    paths = [os.fspath(each) for each in listed if isinstance(each, str | os.PathLike)]
    own = {os.path.realpath(path) for path in (study.data, *glob(study.data))}
    for path in paths:
        if own & {os.path.realpath(found) for found in (path, *glob(path))}:
            raise ArgumentError(
                f"data reads rows without privacy, and {Path(path).name} is the study's own data; "
                "give the file of a public stand-in"
            )
