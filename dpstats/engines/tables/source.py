"""Say where the rows of a table are and what its columns are, for the ledger of a data set."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Hold the place of a table and what its columns are.

    Attributes
    ----------
    files : tuple of str
        The absolute paths of its files, sorted, without symbolic links; empty for a table in
        memory and for a query, which have no place of their own.
    columns : mapping of str to str
        The kind of each column by its own type, as it is without ``types=``.
    """

    files: tuple[str, ...]
    columns: Mapping[str, str]

    @property
    def place(self) -> str:
        """Name the first file and how many there are, as a text of one line.

        >>> Source(("/data/a.csv", "/data/b.csv"), {}).place, Source((), {}).place
        ('/data/a.csv and 1 more', 'in memory')
        """
        if not self.files:
            return "in memory"
        first = self.files[0]
        shown = first if first.isprintable() else ascii(first)
        return shown + f" and {len(self.files) - 1} more" * (len(self.files) > 1)
