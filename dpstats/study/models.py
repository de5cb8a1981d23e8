"""Read the entries of a study: calls of verbs without their data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.codebook import PARTS, Schema
from dpstats.codebook.toml_file import table
from dpstats.errors import ArgumentError, FormulaError
from dpstats.formula import Condition, Formula, RFormula
from dpstats.option_checks import word
from dpstats.study.kinds import KINDS

# What formulas and subsets are written in.
_LANGUAGES = {"Python": str, "R": RFormula}


@dataclass(frozen=True)
class Model:
    """Hold one call of a verb, without its data.

    ``kind`` is a name in :data:`dpstats.study.kinds.KINDS`. ``formulas`` are one formula or
    several, none of a description; ``arguments`` the others by name, with the declarations that
    concern the columns in use.
    """

    name: str
    kind: str
    formulas: list[str]
    arguments: dict

    @property
    def formula(self):
        """Return the formula, or several in a list, as the verb takes them."""
        return self.formulas if len(self.formulas) > 1 else self.formulas[0]

    @property
    def result_names(self) -> list[str]:
        """Name the results, one for each formula."""
        several = [f"{self.name}: {formula}" for formula in self.formulas]
        return several if len(several) > 1 else [self.name]

    @property
    def parsed(self) -> list[Formula]:
        """Return the regressions that the formulas stand for."""
        return [each for text in self.formulas for each in KINDS[self.kind].read(text)]

    def call(self, data, **more) -> Any:
        """Call the verb on the data; ``more`` replaces arguments."""
        kind, arguments = KINDS[self.kind], {**self.arguments, **more}
        if kind.formulas:
            return kind.verb(self.formula, data, **arguments)
        return kind.verb(data, **arguments)


def read_model(
    place: str, name: str, kind: str, content: Mapping, shared: Schema, usual: Mapping
) -> Model:
    """Build one entry with the shared declarations of the columns that it names.

    ``usual`` are the study's ``unit``, ``max_rows`` and ``language``, which an entry may replace.
    """
    takes = KINDS[kind]
    arguments = {key: v for key, v in usual.items() if key == "language" or takes.takes(key)}
    arguments |= content
    arguments.pop("formula", None)
    language = word("language", *_LANGUAGES)(arguments.pop("language", "Python"))
    _check_entries(place, kind, content, arguments)
    formulas = [_in(language, text, place, kind) for text in _formulas(place, content)]
    if len(formulas) > 1 and not KINDS[kind].several:
        raise ArgumentError(f"{place} takes one formula; write [[{kind}]] for each")
    parsed = [each for text in formulas for each in KINDS[kind].read(text)]
    if isinstance(arguments.get("subset"), str):
        arguments["subset"] = _LANGUAGES[language](arguments["subset"])
    own = {part: table(arguments, part, place) for part in PARTS}
    columns = [*columns_of(parsed, arguments), *_labelled(kind, arguments)]
    declared = shared.updated(**own)
    for part in PARTS:
        whole = getattr(declared, part)
        arguments[part] = {key: whole[key] for key in [*columns, *own[part]] if key in whole}
    arguments["levels"] = {key: list(values) for key, values in arguments["levels"].items()}
    if isinstance(arguments.get("groups"), list):
        labels = arguments["groups"]
        arguments["groups"] = [tuple(v) if isinstance(v, list) else v for v in labels]
    kept = {key: value for key, value in arguments.items() if value != {}}
    return Model(name, kind, formulas, kept)


def _check_entries(place: str, kind: str, content: Mapping, arguments: Mapping) -> None:
    """Raise ArgumentError for what the verb does not take, and where what it needs is missing."""
    takes = KINDS[kind]
    needed = "formula" if takes.formulas else "columns"
    refused = [key for key in arguments if not takes.takes(key)]
    if not takes.formulas and "formula" in content:
        refused.insert(0, "formula")
    if refused or needed not in content:
        what = f"has no entry {refused[0]!r}" if refused else f"needs {needed}"
        known = [*(["formula"] if takes.formulas else []), "language", "share", *takes.arguments]
        raise ArgumentError(f"{place} {what}; it takes: {', '.join(known)}")


def _formulas(place: str, content: Mapping) -> list[str]:
    """Return the formulas of an entry, none of a description."""
    formulas = content.get("formula", ())
    formulas = [formulas] if isinstance(formulas, str) else formulas
    if "formula" not in content:
        return []
    texts = isinstance(formulas, list) and all(isinstance(each, str) for each in formulas)
    if not texts or not formulas:
        raise ArgumentError(f"expected {place}.formula to be a text or a list, got {formulas!r}")
    return formulas


def _labelled(kind: str, arguments: Mapping) -> list[str]:
    """Name the columns of labels: persons, clusters, and the groups of a description."""
    names = ("unit", "cluster") if KINDS[kind].formulas else ("by", "unit")
    return [name for key in names if isinstance(name := arguments.get(key), str)]


def _in(language: str, text: str, place: str, kind: str) -> str:
    """Mark a formula as written in a language; FormulaError says so if it is in the other."""
    written = _LANGUAGES[language](text)
    try:
        KINDS[kind].read(written)
    except FormulaError as error:
        for other, mark in _LANGUAGES.items():
            if other != language and _is_formula(mark(text), kind):
                raise FormulaError(
                    f"{place}: {error}; as a formula of {other} it can be read: write language = "
                    f'"{other}" in the study file'
                ) from None
        raise FormulaError(f"{place}: {error}") from None
    return written


def _is_formula(text: str, kind: str) -> bool:
    """Tell whether a formula can be read."""
    try:
        KINDS[kind].read(text)
    except FormulaError:
        return False
    return True


def columns_of(parsed: list[Formula], arguments: Mapping) -> list[str]:
    """List the columns that an entry reads, those of rows too, but for absorbed ones."""
    names = [name for formula in parsed for name in formula.variables if name != formula.absorbed]
    described, weights = arguments.get("columns", ()), arguments.get("weights")
    names += described if isinstance(described, list) else [described] if described else []
    names += [weights] if isinstance(weights, str) else []
    subset = arguments.get("subset")
    names += Condition.parse(subset).variables if subset else ()
    names += [arguments[name] for name in ("offset", "exposure") if arguments.get(name)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))
