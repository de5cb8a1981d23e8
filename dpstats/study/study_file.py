"""Read a study file: TOML with data, declarations and models."""

from dataclasses import dataclass
from pathlib import Path

from dpstats.errors import ArgumentError
from dpstats.option_checks import whole
from dpstats.results.record_registry import checked_publication
from dpstats.study.models import SHARED, Model, read_model, refuse_unit
from dpstats.study.tables import Table, read_tables
from dpstats.study.toml import check_names, parsed, table

_TOP = ("data", "rows", "models", "tables", "publication", *SHARED)
_ROWS = 1000  # of a dry run


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
        refuse_unit(content, path.name)
        check_names(content, _TOP, f"{path.name}")
        if not isinstance(content.get("data"), str):
            raise ArgumentError(f'{path.name} needs data = "...", a file beside it or its path')
        named = table(content, "models", path.name)
        if not named:
            raise ArgumentError(
                f"{path.name} needs a model: [models.NAME] with formula and epsilon"
            )
        shared = {name: table(content, name, path.name) for name in SHARED}
        models = tuple(read_model(name, own, shared) for name, own in named.items())
        publication = content.get("publication")
        return cls(
            data=str(path.parent / content["data"]),
            rows=whole("rows", 1)(content.get("rows", _ROWS)),
            models=models,
            tables=read_tables(table(content, "tables", path.name), models),
            publication=None if publication is None else checked_publication(publication),
        )
