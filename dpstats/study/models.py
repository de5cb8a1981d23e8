"""Read the models of a study: calls of dp_ols without their data."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from dpstats.codebook import PARTS, Schema
from dpstats.codebook.toml_file import table
from dpstats.errors import ArgumentError, FormulaError
from dpstats.formula import Condition, Formula, RFormula
from dpstats.option_checks import word
from dpstats.verbs.ols import dp_ols

# Arguments of dp_ols that are no part of a study.
_NOT_OF_MODELS = ("formula", "data", "schema", "budget", "progress", "n_jobs", "options")
# What formulas and subsets are written in.
_LANGUAGES = {"Python": str, "R": RFormula}


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


def read_model(name: str, content, shared: Schema, usual: Mapping) -> Model:
    """Build one model with the shared declarations of the columns that its formulas name.

    ``usual`` are the study's ``unit``, ``max_rows`` and ``language``, which a model may replace.
    """
    place = f"models.{name}"
    if not isinstance(content, dict):
        raise ArgumentError(f"expected {place} to be a table, got {content!r}")
    arguments = {**usual, **content}
    arguments.pop("formula", None)
    language = word("language", *_LANGUAGES)(arguments.pop("language", "Python"))
    refused = [key for key in arguments if key in _NOT_OF_MODELS]
    if refused or "formula" not in content or "epsilon" not in content:
        known = [key for key in inspect.signature(dp_ols).parameters if key not in _NOT_OF_MODELS]
        what = f"has no entry {refused[0]!r}" if refused else "needs formula and epsilon"
        raise ArgumentError(f"{place} {what}; it takes: formula, language, {', '.join(known)}")
    formulas = content["formula"]
    formulas = [formulas] if isinstance(formulas, str) else formulas
    texts = isinstance(formulas, list) and all(isinstance(each, str) for each in formulas)
    if not texts or not formulas:
        raise ArgumentError(f"expected {place}.formula to be a text or a list, got {formulas!r}")
    formulas = [_in(language, text, place) for text in formulas]
    if isinstance(arguments.get("subset"), str):
        arguments["subset"] = _LANGUAGES[language](arguments["subset"])
    own = {part: table(arguments, part, place) for part in PARTS}
    labelled = (arguments.get(name) for name in ("unit", "cluster"))
    labelled = [name for name in labelled if isinstance(name, str)]
    columns = [*columns_of(formulas, arguments), *labelled]
    declared = shared.updated(**own)
    for part in PARTS:
        whole = getattr(declared, part)
        arguments[part] = {key: whole[key] for key in [*columns, *own[part]] if key in whole}
    arguments["levels"] = {key: list(values) for key, values in arguments["levels"].items()}
    if isinstance(arguments.get("groups"), list):
        labels = arguments["groups"]
        arguments["groups"] = [tuple(v) if isinstance(v, list) else v for v in labels]
    return Model(name, formulas, {key: value for key, value in arguments.items() if value != {}})


def _in(language: str, text: str, place: str) -> str:
    """Mark a formula as written in a language; FormulaError says so if it is in the other."""
    written = _LANGUAGES[language](text)
    try:
        Formula.parse(written)
    except FormulaError as error:
        for other, mark in _LANGUAGES.items():
            if other != language and _is_formula(mark(text)):
                raise FormulaError(
                    f"{place}: {error}; as a formula of {other} it can be read: write language = "
                    f'"{other}" in the study file'
                ) from None
        raise
    return written


def _is_formula(text: str) -> bool:
    """Tell whether a formula can be read."""
    try:
        Formula.parse(text)
    except FormulaError:
        return False
    return True


def columns_of(formulas: list[str], arguments: Mapping) -> list[str]:
    """List the columns that a model reads, with weights and subset, but for absorbed ones."""
    parsed = [Formula.parse(text) for text in formulas]
    names = [name for formula in parsed for name in formula.variables if name != formula.absorbed]
    weights, subset = arguments.get("weights"), arguments.get("subset")
    names += [weights] if isinstance(weights, str) else []
    return list(dict.fromkeys([*names, *(Condition.parse(subset).variables if subset else ())]))
