"""Write the tables and pictures of a release record."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpstats.errors import NotReleasedError
from dpstats.escaping import save_csv

_STEM = 60  # longest name of a file, without its number and ending


class Written(NamedTuple):
    """Hold the names of files, and in words what could not be written and why."""

    files: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def has_table(self) -> bool:
        """Tell whether the numbers are in a file."""
        return any(name.endswith(".csv") for name in self.files)


def result_files(folder: Path, number: int, name: str, result) -> Written:
    """Write the table of a result, and its picture where there is one; a description as tables."""
    stem = _stem(str(number), name)
    if hasattr(result, "figures"):
        described, picture = _tables(folder, stem, result), folder / f"{stem}.png"
        drawn = _written(("picture", picture, lambda: _draw(result, picture)))
        return Written(described.files + drawn.files, described.missing + drawn.missing)
    table_file, picture = folder / f"{stem}.csv", folder / f"{stem}.png"
    return _written(
        ("table", table_file, lambda: save_csv(table(result), table_file)),
        ("picture", picture, lambda: _draw(result, picture)),
    )


def table_files(folder: Path, number: int, name: str, comparison) -> Written:
    """Write results side by side, tidy, as text and as LaTeX."""
    return _tables(folder, _stem(f"table_{number}", name), comparison)


def _tables(folder: Path, stem: str, shown) -> Written:
    """Write what is a table in itself, tidy, as text and as LaTeX."""
    tidy, text, tex = (folder / f"{stem}.{ending}" for ending in ("csv", "txt", "tex"))
    return _written(
        ("table", tidy, lambda: save_csv(shown.frame, tidy)),
        ("text", text, lambda: write_text(text, shown.summary())),
        ("LaTeX table", tex, lambda: write_text(tex, shown.to_latex())),
    )


def _written(*steps: tuple[str, Path, Callable[[], None]]) -> Written:
    """Write files one by one; what fails stops no other, for the release is paid for."""
    files, missing = [], []
    for what, path, write in steps:
        try:
            write()
            files.append(path.name)
        except (ImportError, NotReleasedError):  # no matplotlib, or nothing to draw
            path.unlink(missing_ok=True)
        except OSError:
            raise
        except Exception as error:  # a library's, about public names
            path.unlink(missing_ok=True)
            missing.append(f"the {what} could not be written ({type(error).__name__})")
    return Written(tuple(files), tuple(missing))


def _draw(result, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6), layout="constrained", dpi=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that the font has not
        result.plot(figure if hasattr(result, "figures") else figure.subplots())
        figure.savefig(path)


def write_text(path: Path, text: str) -> None:
    """Write a text with a line break at its end; what UTF-8 has no code for is spelt out."""
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def _stem(start: str, name: str) -> str:
    """Name a file after a result, without the characters that file systems refuse."""
    return f"{start}_" + re.sub(r"[^A-Za-z0-9_.-]+", "_", str(name))[:_STEM].strip("_.")


def table(result) -> pd.DataFrame:
    """Tabulate a release: estimates, standard errors and 95% intervals of every quantity."""
    if hasattr(result, "labels") or hasattr(result, "figures"):
        return result.frame
    points = result.prediction_intervals()
    ends = result.conf_int()
    frame = pd.DataFrame(
        {
            "term": [*result.names, *result.points],
            "estimate": np.concatenate([result.params, points["mean"]]),
            "std_error": np.concatenate([result.bse, points["mean_se"]]),
            "lower": np.concatenate([ends[0], points["mean_ci_lower"]]),
            "upper": np.concatenate([ends[1], points["mean_ci_upper"]]),
        }
    )
    return frame.assign(status=result.status)
