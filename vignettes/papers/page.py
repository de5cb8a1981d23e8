"""What the sections share: the data, how much to compute, and the page they write."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats.estimators import METHODS


@dataclass
class Page:
    """Markdown that grows paragraph by paragraph, and pictures in a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Where the pictures go.
    """

    folder: Path
    parts: list[str] = field(default_factory=list)

    def write(self, *paragraphs: str) -> None:
        """Add paragraphs; the first of a section is its heading."""
        self.parts += paragraphs

    def table(self, header: Sequence[str], rows) -> None:
        """Add a table; columns of numbers are aligned to the right."""
        rows = [[str(cell) for cell in row] for row in rows]
        columns = zip(*rows, strict=True)
        ends = ["---:" if all(map(_is_number, column)) else "---" for column in columns]
        self.parts.append("\n".join(f"| {' | '.join(line)} |" for line in (header, ends, *rows)))

    def picture(self, figure, name: str, caption: str) -> None:
        """Save a matplotlib figure as NAME.png, close it and show the file."""
        from matplotlib import pyplot

        figure.savefig(self.folder / f"{name}.png", dpi=72, bbox_inches="tight")
        pyplot.close(figure)
        self.parts.append(f"![{caption}]({name}.png)")

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts)


@dataclass(frozen=True)
class Study:
    """What a section is given.

    Parameters
    ----------
    data : pathlib.Path
        A folder with CSV files and MANIFEST.csv, a list of them with the columns ``name``,
        ``file``, ``origin`` and ``licence``.
    page : Page
    effort : float
        How many times the usual number of trials and groups to compute.
    """

    data: Path
    page: Page
    effort: float = 1.0

    @cached_property
    def manifest(self) -> pd.DataFrame:
        """The list of sets, by name."""
        return pd.read_csv(self.data / "MANIFEST.csv").set_index("name")

    def there(self, *names: str) -> list[str]:
        """Which of these sets are listed, with a file."""
        file = self.manifest["file"]
        return [name for name in names if name in file and (self.data / file[name]).is_file()]

    def rows(self, name: str) -> pd.DataFrame:
        """The table of a set."""
        return pd.read_csv(self.data / self.manifest.loc[name, "file"])

    def times(self, usual: int) -> int:
        """A number of trials, groups or repetitions at this effort, at least 2."""
        return max(2, round(usual * self.effort))


def simple_methods(**theil_sen) -> dict[str, dict]:
    """Every method for one regressor, for the argument ``methods`` of dp.evaluate.

    ``theil_sen`` are options for the methods that take medians of pairs.
    """
    return {
        name: {"method": name, **(theil_sen if name.endswith("theil_sen") else {})}
        for name, method in METHODS.items()
        if method.single_regressor
    }


def _is_number(cell: str) -> bool:
    """Whether a cell holds a number or a percentage, or stands for one that does not exist."""
    return re.fullmatch(r"-?[\d.]+(e[+-]\d+)?%?|none|", cell) is not None


def number(value: float, digits: int = 2) -> str:
    """A number for a table: fixed digits, or powers of ten when it is far from one.

    >>> number(0.1234), number(-45000.0), number(float("inf")), number(float("nan"))
    ('0.12', '-4.5e+04', 'none', '')
    """
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "none"
    return f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:.1e}"


def percent(share: float) -> str:
    """A share in per cent, without decimals."""
    return "" if np.isnan(share) else f"{share:.0%}"
