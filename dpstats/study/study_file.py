"""Read a study file: TOML with data, declarations, and entries of several kinds."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpstats.codebook import PARTS, Schema
from dpstats.codebook.toml_file import check_names, parsed, table
from dpstats.errors import ArgumentError
from dpstats.option_checks import whole
from dpstats.privacy import Composition
from dpstats.results.record.registry import checked_publication
from dpstats.study.kinds import KINDS
from dpstats.study.models import Model, read_model
from dpstats.study.shares import divided, limit_of, part_of, shares_of
from dpstats.study.tables import Table, read_tables

_SHARED = ("unit", "max_rows", "language")
_TOP = (
    "data", "rows", "epsilon", "delta", "models", *KINDS, "tables", "publication", "schema",
    "guesses", *_SHARED, *PARTS,
)  # fmt: skip
_ROWS, _MOST_ROWS = 1000, 10_000_000  # of a dry run, which are held in memory


@dataclass(frozen=True)
class Study:
    """Hold the contents of a study file.

    ``data`` is a path or pattern, ``rows`` how many rows a dry run makes up, ``tables`` what the
    record shows side by side, and ``publication`` what goes into the registry of deployments. The
    file's ``language`` says what its formulas and subsets are written in, ``"Python"`` by default
    or ``"R"``; an entry may have its own. ``limit`` is the budget that entries share, or None where
    each has its own epsilon. ``[models.NAME]`` is an ``[[ols]]`` with that name. ``shares`` are by
    entry, of the limit's squared mu, or else of the sum of epsilons. ``guesses`` are for plans
    alone (:func:`dpstats.plan_study`).
    """

    data: str
    rows: int
    models: tuple[Model, ...]
    tables: tuple[Table, ...]
    publication: dict | None
    limit: Composition | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    guesses: Mapping = field(default_factory=dict)

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
        {'y': (0.0, 1.0), 'x': (0.0, 1.0)}
        """
        path = Path(path)
        content = parsed(path)
        check_names(content, _TOP, f"{path.name}")
        if not isinstance(content.get("data"), str):
            raise ArgumentError(f'{path.name} needs data = "...", a file beside it or its path')
        entries = {place: (kind, name, own) for place, kind, name, own in _entries(content, path)}
        if not entries:
            raise ArgumentError(
                f"{path.name} needs a model: [models.NAME] with formula and epsilon, or one of "
                f"{', '.join(f'[[{kind}]]' for kind in KINDS)}"
            )
        limit = limit_of(content, path.name)
        given = {place: own for place, (_, _, own) in entries.items()}
        calls, shares = divided(limit, given), shares_of(limit, given)
        declared = {part: table(content, part, path.name) for part in PARTS}
        shared = _codebook(content, path).updated(**declared)
        usual = {name: content[name] for name in _SHARED if name in content}
        models = tuple(
            read_model(place, name, kind, calls[place], shared, usual)
            for place, (kind, name, _) in entries.items()
        )
        names = [model.name for model in models if len(model.formulas) > 1]
        names += [result for model in models for result in model.result_names]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ArgumentError(
                f"{path.name} has several results named {min(repeated)!r}; rename one of them"
            )
        publication = content.get("publication")
        return cls(
            data=str(path.parent / content["data"]),
            rows=whole("rows", 1, _MOST_ROWS)(content.get("rows", _ROWS)),
            models=models,
            tables=read_tables(table(content, "tables", path.name), models),
            publication=None if publication is None else checked_publication(publication),
            limit=limit,
            shares=dict(zip((model.name for model in models), shares.values(), strict=True)),
            guesses=table(content, "guesses", path.name),
        )

    @property
    def epsilon(self) -> float:
        """Return the epsilon of all entries: what they share, or the sum of their own."""
        if self.limit is not None:
            return self.limit.epsilon
        return math.fsum(model.arguments["epsilon"] for model in self.models)

    def at(self, epsilon: float) -> "Study":
        """Return the study with another epsilon for all entries, of which each has its share.

        Deltas stay as they are.
        """
        if epsilon == self.epsilon:
            return self
        limit = None if self.limit is None else replace(self.limit, epsilon=epsilon)
        models = []
        for model in self.models:
            share = self.shares[model.name]
            own = {"epsilon": epsilon * share} if limit is None else part_of(limit, share)
            models.append(replace(model, arguments={**model.arguments, **own}))
        return replace(self, models=tuple(models), limit=limit)


def _entries(content: Mapping, path: Path) -> Iterator[tuple[str, str, str, dict]]:
    """Give the entries, kinds in the order of the file: place, kind, name, content without it."""
    for key in content:
        if key == "models":
            for name, own in table(content, "models", path.name).items():
                yield f"models.{name}", "ols", name, _as_table(f"models.{name}", own)
        elif key in KINDS:
            yield from _listed(key, content[key], path)


def _listed(kind: str, listed, path: Path) -> Iterator[tuple[str, str, str, dict]]:
    """Give the entries of one kind, which are named by it unless they have names of their own."""
    if not isinstance(listed, list) or not listed:
        raise ArgumentError(f"{path.name}: write [[{kind}]] for each {kind}, in double brackets")
    for i, own in enumerate(listed, start=1):
        number = f" {i}" if len(listed) > 1 else ""
        place = f"[[{kind}]]{number}"
        name = _as_table(place, own).get("name", f"{kind}{number}")
        if not isinstance(name, str) or not name.strip():
            raise ArgumentError(f"expected name of {place} to be a text, got {name!r}")
        yield place, kind, name, {key: value for key, value in own.items() if key != "name"}


def _as_table(place: str, own) -> dict:
    if not isinstance(own, dict):
        raise ArgumentError(f"expected {place} to be a table, got {own!r}")
    return own


def _codebook(content: dict, path: Path) -> Schema:
    """Read the file that ``schema = "..."`` names, beside the study file or by its path."""
    named = content.get("schema")
    if named is not None and not isinstance(named, str):
        raise ArgumentError(f'expected {path.name} to have schema = "FILE.toml", got {named!r}')
    return Schema.of(named and path.parent / named)
