"""Read the models of a study: calls of dp_ols without their data."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from dpstats.api import dp_ols
from dpstats.errors import ArgumentError
from dpstats.formula import Condition, Formula
from dpstats.study.toml import table

# Declarations that all models share; a model may have its own beside them.
SHARED = ("bounds", "levels", "types")
# Arguments of dp_ols that are no part of a study.
_NOT_OF_MODELS = ("formula", "data", "budget", "progress", "n_jobs", "options")


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


def refuse_unit(content: Mapping, place: str) -> None:
    """Raise ArgumentError for a unit other than a row."""
    if "unit" in content:
        raise ArgumentError(
            f"{place} has an entry 'unit', but what is protected is one row; make the data one row "
            "a person, such as the mean of their rows, and leave unit out"
        )


def read_model(name: str, content, shared: Mapping[str, dict]) -> Model:
    """Build one model with the shared declarations of the columns that its formulas name."""
    place = f"models.{name}"
    if not isinstance(content, dict):
        raise ArgumentError(f"expected {place} to be a table, got {content!r}")
    refuse_unit(content, place)
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
    columns = columns_of(formulas, arguments)
    for kind in SHARED:
        own = table(arguments, kind, place)
        chosen = {column: shared[kind][column] for column in columns if column in shared[kind]}
        arguments[kind] = _pairs(chosen | own) if kind == "bounds" else chosen | own
    if isinstance(arguments.get("groups"), list):
        labels = arguments["groups"]
        arguments["groups"] = [tuple(v) if isinstance(v, list) else v for v in labels]
    return Model(name, formulas, {key: value for key, value in arguments.items() if value != {}})


def columns_of(formulas: list[str], arguments: Mapping) -> list[str]:
    """List the columns that a model reads, with weights and subset, but for absorbed ones."""
    parsed = [Formula.parse(text) for text in formulas]
    names = [name for formula in parsed for name in formula.variables if name != formula.absorbed]
    weights, subset = arguments.get("weights"), arguments.get("subset")
    names += [weights] if isinstance(weights, str) else []
    return list(dict.fromkeys([*names, *(Condition.parse(subset).variables if subset else ())]))


def _pairs(bounds: Mapping) -> dict:
    return {name: tuple(pair) if isinstance(pair, list) else pair for name, pair in bounds.items()}
