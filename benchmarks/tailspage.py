"""Sum up what benchmarks/tails.py found, and write it to a page between its marks."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.autopage import markdown

# A case is covered from here on.
COVERED = 0.9
BOUNDS = {False: "no bounds", True: "bounds"}
SUMMARY = {
    "shown": "intervals shown on average",
    "ok": 'fits with status "ok"',
    "least": "worst slope covered: least",
    "median": "worst slope covered: median",
    "covered": "cases at 0.90 or more or with nothing shown",
    "error": "error (geometric mean)",
    "width": "width (geometric mean)",
}
# What stands between the marks of each name: cases that run everywhere, those that nothing can
# cover, regressions of a textbook, and the tables of folders, all of them together.
BLOCKS = ("simulated", "hidden", "textbook", "tables")
BLOCK = "<!-- tails: {0} -->\n(.*?)<!-- end of {0} -->\n"


def summary(rows: pd.DataFrame) -> dict[str, float]:
    """Sum up cases at one epsilon, with bounds or without."""
    return {
        "shown": rows["shown"].mean(),
        "ok": rows["ok"].mean(),
        "least": rows["cover"].min(),
        "median": rows["cover"].median(),
        "covered": ((rows["cover"] >= COVERED) | rows["cover"].isna()).mean(),
        "error": float(np.exp(np.log(rows["error"]).mean())),
        "width": float(np.exp(np.log(rows["width"]).mean())),
    }


def figures(rows: pd.DataFrame) -> dict[str, str]:
    """Write what ``summary`` returns, the cases that are covered as a count."""
    values = summary(rows)
    covered = f"{round(values['covered'] * len(rows))} of {len(rows)}"
    return {key: f"{value:.2f}" for key, value in values.items()} | {"covered": covered}


def write(rows: pd.DataFrame, page: Path) -> None:
    """Write the tables of what was measured between their marks, and leave the rest as it is."""
    text = page.read_text(encoding="utf-8")
    groups = rows["source"].where(rows["source"].isin(BLOCKS), "tables")
    for name, part in rows.groupby(groups):
        text = replaced(text, str(name), block(part))
    page.write_text(text, encoding="utf-8")


def replaced(text: str, name: str, content: str) -> str:
    """Return a page with other content between the marks of a name."""
    found = re.search(BLOCK.format(name), text, re.DOTALL)
    if found is None:
        raise ValueError(f"the page has no marks <!-- tails: {name} --> and <!-- end of {name} -->")
    return text[: found.start(1)] + content + text[found.end(1) :]


def block(rows: pd.DataFrame) -> str:
    """Write a line for each case, then how all of them did, in Markdown."""
    settings = {
        f"epsilon {epsilon:g}, {BOUNDS[bounded]}": part.set_index("case")
        for (epsilon, bounded), part in rows.groupby(["epsilon", "bounded"])
    }
    first = next(iter(settings.values()))
    cases = {"case": first.index, "rows": first["n"].map("{:,}".format)} | {
        head: [cell(*pair) for pair in zip(part["cover"], part["shown"], strict=True)]
        for head, part in settings.items()
    }
    overall = {f"{first['fits'].iloc[0]} fits a case": SUMMARY.values()} | {
        head: figures(part).values() for head, part in settings.items()
    }
    tables = [markdown(pd.DataFrame(table)) for table in (cases, overall)]
    return "\n" + "\n\n".join([*tables, ""])


def cell(cover: float, shown: float) -> str:
    """Write how often the worst slope is covered, and the part of intervals that is shown.

    >>> cell(0.9, 1.0), cell(float("nan"), 0.05)
    ('0.90 (1.00)', '- (0.05)')
    """
    return f"{'-' if math.isnan(cover) else f'{cover:.2f}'} ({shown:.2f})"
