"""Write a result as JSON and as a release record, and read the JSON, whatever the result is of."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, ClassVar, Self

from dpstats.errors import ArgumentError, shown, typed
from dpstats.option_checks import refuse_path
from dpstats.results.store.texts import built, parsed, written_by


class Published(ABC):
    """Write a result as JSON and as a release record, and restore it, equal, from the JSON.

    Attributes
    ----------
    formula : str
        A fit's formula, or what stands for it in records and ledgers.
    """

    formula: str
    _shape: ClassVar[Any]

    @property
    def written(self) -> str:
        """Return the formula as it was written."""
        return str(self.formula)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Convert the result to numbers, labels, strings, lists and dicts; NaN becomes None."""

    def __eq__(self, other) -> bool:
        return isinstance(other, Published) and self.to_dict() == other.to_dict()

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @classmethod
    @abstractmethod
    def _fields(cls, content: Mapping) -> dict[str, Any]:
        """Restore the fields of a result from the content that :meth:`to_dict` gives."""

    def _derived(self) -> tuple:
        """Compute what follows from several fields, which fails where they do not agree."""
        return ()

    @classmethod
    def from_dict(cls, content: Mapping) -> Self:
        """Restore a result from :meth:`to_dict`; ArgumentError for any other content."""
        return built(cls._restored, content, cls._shape, written_by(cls))

    @classmethod
    def _restored(cls, content: Mapping) -> Self:
        result = cls(**cls._fields(content))
        result._derived()
        return result

    def to_json(self, *path) -> str:
        """Write JSON text from which :meth:`from_json` restores an equal result.

        An infinity, which none releases, is written as Python's json module does.
        """
        refuse_path("to_json", path)
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore a result from :meth:`to_json`; ArgumentError for any other text."""
        if isinstance(text, Mapping):
            raise ArgumentError(f"from_json reads a text, got {typed(text)}; from_dict restores it")
        if isinstance(text, PurePath) or isinstance(text, str) and text.endswith(".json"):
            raise ArgumentError(
                f"from_json reads a text, got {shown(text)}; read the file, as "
                "pathlib.Path(path).read_text() does"
            )
        return cls.from_dict(parsed(text, written_by(cls)))

    def record(self, path, publication: Mapping | None = None) -> Path:
        """Write this release as a folder for output checkers, archives and registries.

        See :func:`dpstats.results.record.record.write_record` for the files, the parameters and
        what is raised; ``dpstats verify`` checks such a folder later.
        """
        from dpstats.results.record.record import write_record

        return write_record({self.written: self}, path, publication)
