"""Write the tables and pictures of a release record."""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats.errors import DPStatsError

_STEM = 60  # longest name of a file, without its number and ending


def result_files(folder: Path, number: int, name: str, result) -> tuple[str, ...]:
    """Write the table of a result, and its picture where there is one; return their names."""
    stem = _stem(str(number), name)
    table(result).to_csv(folder / f"{stem}.csv", index=False)
    with suppress(ImportError, DPStatsError):  # depends on public facts only
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 6), layout="constrained", dpi=100)
        result.plot(figure.subplots())
        figure.savefig(folder / f"{stem}.png")
        return f"{stem}.csv", f"{stem}.png"
    return (f"{stem}.csv",)


def table_files(folder: Path, number: int, name: str, comparison) -> tuple[str, ...]:
    """Write results side by side, tidy, as text and as LaTeX; return the names of the files."""
    stem = _stem(f"table_{number}", name)
    comparison.frame.to_csv(folder / f"{stem}.csv", index=False)
    (folder / f"{stem}.txt").write_text(comparison.summary() + "\n", encoding="utf-8")
    (folder / f"{stem}.tex").write_text(comparison.to_latex() + "\n", encoding="utf-8")
    return f"{stem}.csv", f"{stem}.txt", f"{stem}.tex"


def _stem(start: str, name: str) -> str:
    """Name a file after a result, without the characters that file systems refuse."""
    return f"{start}_" + re.sub(r"[^A-Za-z0-9_.-]+", "_", str(name))[:_STEM].strip("_.")


def table(result) -> pd.DataFrame:
    """Tabulate a release: estimates, standard errors and 95% intervals of every quantity."""
    if hasattr(result, "labels"):
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
