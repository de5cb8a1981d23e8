"""Read a study file: TOML with data, declarations and models."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dpstats.api import dp_ols
from dpstats.errors import ArgumentError
from dpstats.formula import Condition, Formula
from dpstats.option_checks import whole
from dpstats.results.record_registry import checked_publication
from dpstats.study.tables import Table, read_tables
from dpstats.study.toml import check_names, parsed, table

# Declarations that all models share; a model may have its own beside them.
_SHARED = ("bounds", "levels", "types")
_TOP = ("data", "rows", "models", "tables", "publication", *_SHARED)
# Arguments of dp_ols that are no part of a study.
_NOT_OF_MODELS = ("formula", "data", "budget", "progress", "n_jobs", "options")
_ROWS = 1000  # of a dry run


@dataclass(frozen=True)
class Model:
    """Hold one call of dp_ols, without its data.

    ``formulas`` are one formula or several; ``arguments`` the others by name, with the
    declarations that concern the formulas' columns.
    """

    name: str
    formulas: list[str]
    arguments: dict

    @property
    def formula(self):
        """Return the formula as dp_ols takes it."""
        return self.formulas if len(self.formulas) > 1 else self.formulas[0]

    @property
    def result_names(self) -> list[str]:
        """Name the results, one for each formula."""
        several = [f"{self.name}: {formula}" for formula in self.formulas]
        return several if len(several) > 1 else [self.name]


@dataclass(frozen=True)
class Study:
    """Hold the contents of a study file.

    ``data`` is a path or pattern, ``rows`` how many rows a dry run makes up, ``tables`` what the
    record shows side by side, and ``publication`` what goes into the registry of deployments.
    """

    data: str
    rows: int
    models: tuple[Model, ...]
    tables: tuple[Table, ...]
    publication: dict | None

    @classmethod
    def read(cls, path) -> "Study":
        """Read and check a file; an ArgumentError names what is wrong in it.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp(), "study.toml")
        >>> _ = file.write_text('''
        ... data = "people.csv"
        ... bounds = { x = [0, 1], y = [0, 1] }
        ... [models.main]
        ... formula = "y ~ x"
        ... method = "exp_theil_sen"
        ... epsilon = 4
        ... ''')
        >>> Study.read(file).models[0].arguments["bounds"]
        {'y': (0, 1), 'x': (0, 1)}
        """
        path = Path(path)
        content = parsed(path)
        _refuse_unit(content, path.name)
        check_names(content, _TOP, f"{path.name}")
        if not isinstance(content.get("data"), str):
            raise ArgumentError(f'{path.name} needs data = "...", a file beside it or its path')
        named = table(content, "models", path.name)
        if not named:
            raise ArgumentError(
                f"{path.name} needs a model: [models.NAME] with formula and epsilon"
            )
        shared = {name: table(content, name, path.name) for name in _SHARED}
        models = tuple(_model(name, own, shared) for name, own in named.items())
        publication = content.get("publication")
        return cls(
            data=str(path.parent / content["data"]),
            rows=whole("rows", 1)(content.get("rows", _ROWS)),
            models=models,
            tables=read_tables(table(content, "tables", path.name), models),
            publication=None if publication is None else checked_publication(publication),
        )


def _refuse_unit(content: Mapping, place: str) -> None:
    if "unit" in content:
        raise ArgumentError(
            f"{place} has an entry 'unit', but what is protected is one row; make the data one row "
            "a person, such as the mean of their rows, and leave unit out"
        )


def _model(name: str, content, shared: Mapping[str, dict]) -> Model:
    """Build one model with the shared declarations of the columns that its formulas name."""
    place = f"models.{name}"
    if not isinstance(content, dict):
        raise ArgumentError(f"expected {place} to be a table, got {content!r}")
    _refuse_unit(content, place)
    arguments = {key: value for key, value in content.items() if key != "formula"}
    refused = [key for key in arguments if key in _NOT_OF_MODELS]
    if refused or "formula" not in content or "epsilon" not in content:
        known = [key for key in inspect.signature(dp_ols).parameters if key not in _NOT_OF_MODELS]
        what = f"has no entry {refused[0]!r}" if refused else "needs formula and epsilon"
        raise ArgumentError(f"{place} {what}; it takes: formula, {', '.join(known)}")
    formulas = content["formula"]
    formulas = [formulas] if isinstance(formulas, str) else formulas
    if not isinstance(formulas, list) or not all(isinstance(each, str) for each in formulas):
        raise ArgumentError(f"expected {place}.formula to be a text or a list, got {formulas!r}")
    columns = dict.fromkeys(v for text in formulas for v in Formula.parse(text).variables)
    columns |= dict.fromkeys(columns_beside(arguments))
    for kind in _SHARED:
        own = table(arguments, kind, place)
        chosen = {column: shared[kind][column] for column in columns if column in shared[kind]}
        arguments[kind] = _pairs(chosen | own) if kind == "bounds" else chosen | own
    if isinstance(arguments.get("groups"), list):
        labels = arguments["groups"]
        arguments["groups"] = [tuple(v) if isinstance(v, list) else v for v in labels]
    return Model(name, formulas, {key: value for key, value in arguments.items() if value != {}})


def columns_beside(arguments: Mapping) -> list[str]:
    """List the columns that a model reads beside those of its formulas: weights and subset."""
    weights, subset = arguments.get("weights"), arguments.get("subset")
    columns = [weights] if isinstance(weights, str) else []
    return columns + list(Condition.parse(subset).variables if subset is not None else ())


def _pairs(bounds: Mapping) -> dict:
    return {name: tuple(pair) if isinstance(pair, list) else pair for name, pair in bounds.items()}
