"""Read a study file: TOML with data, declarations and models."""

from dataclasses import dataclass
from pathlib import Path

from dpstats.codebook import PARTS, Schema
from dpstats.codebook.toml_file import check_names, parsed, table
from dpstats.errors import ArgumentError
from dpstats.option_checks import whole
from dpstats.results.record.registry import checked_publication
from dpstats.study.models import Model, read_model
from dpstats.study.tables import Table, read_tables

_SHARED = ("unit", "max_rows", "language")
_TOP = ("data", "rows", "models", "tables", "publication", "schema", *_SHARED, *PARTS)
_ROWS = 1000  # of a dry run


@dataclass(frozen=True)
class Study:
    """Hold the contents of a study file.

    ``data`` is a path or pattern, ``rows`` how many rows a dry run makes up, ``tables`` what the
    record shows side by side, and ``publication`` what goes into the registry of deployments. The
    file's ``language`` says what its formulas and subsets are written in, ``"Python"`` by default
    or ``"R"``; a model may have its own.
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
        {'y': (0.0, 1.0), 'x': (0.0, 1.0)}
        """
        path = Path(path)
        content = parsed(path)
        check_names(content, _TOP, f"{path.name}")
        if not isinstance(content.get("data"), str):
            raise ArgumentError(f'{path.name} needs data = "...", a file beside it or its path')
        named = table(content, "models", path.name)
        if not named:
            raise ArgumentError(
                f"{path.name} needs a model: [models.NAME] with formula and epsilon"
            )
        declared = {part: table(content, part, path.name) for part in PARTS}
        shared = _codebook(content, path).updated(**declared)
        usual = {name: content[name] for name in _SHARED if name in content}
        models = tuple(read_model(name, own, shared, usual) for name, own in named.items())
        names = [result for model in models for result in model.result_names]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ArgumentError(
                f"{path.name} has several results named {min(repeated)!r}; rename a model"
            )
        publication = content.get("publication")
        return cls(
            data=str(path.parent / content["data"]),
            rows=whole("rows", 1)(content.get("rows", _ROWS)),
            models=models,
            tables=read_tables(table(content, "tables", path.name), models),
            publication=None if publication is None else checked_publication(publication),
        )


def _codebook(content: dict, path: Path) -> Schema:
    """Read the file that ``schema = "..."`` names, beside the study file or by its path."""
    named = content.get("schema")
    if named is not None and not isinstance(named, str):
        raise ArgumentError(f'expected {path.name} to have schema = "FILE.toml", got {named!r}')
    return Schema.of(named and path.parent / named)
