"""Write names and labels so that LaTeX, matplotlib and spreadsheets show them as they are."""

import csv
import io
import re
from copy import deepcopy
from typing import Any

import pandas as pd

from dpstats.atomic_write import replacing

_LATEX = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "_%$&#{}"},
}  # fmt: skip
_LINES = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
# What a spreadsheet takes for a formula where a cell begins with it, wide forms too; but numbers.
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def latex(text: str) -> str:
    r"""Write a text for LaTeX, in one line; at the start of a row nothing is taken for an option.

    >>> print(latex("C(my_x)[T.50%]"), latex("[a]"))
    C(my\_x)[T.50\%] {[}a]
    """
    found = "".join(_LATEX.get(character, character) for character in _LINES.sub(" ", text))
    return f"{{{found[0]}}}{found[1:]}" if found[:1] in ("[", "*") else found


def latex_of(table: Any) -> str:
    """Write a SimpleTable of statsmodels, which escapes some characters alone, as a tabular."""
    escaped = deepcopy(table)
    escaped.title = escaped.title and latex(escaped.title)
    for row in escaped:
        for cell in row:
            cell.data = latex(str(cell.data))
    return escaped.as_latex_tabular(replacements={})


def drawn(text: str) -> str:
    r"""Write a text for matplotlib, which otherwise reads what is between two $ as a formula.

    >>> print(drawn("a$^$"))
    a\$^\$
    """
    from matplotlib import rcParams

    return latex(text) if rcParams["text.usetex"] else text.replace("$", r"\$")


def cell_text(cell):
    """Put an apostrophe before a text that a spreadsheet would run; a number stays one.

    >>> cell_text("=HYPERLINK(A1)"), cell_text("-1.5"), cell_text(-1.5)
    ("'=HYPERLINK(A1)", '-1.5', -1.5)
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return ("'" if _FORMULA.match(cell) else "") + cell.replace("\r", " ")


def save_csv(frame: pd.DataFrame, path) -> None:
    """Write a table without its index as CSV, with cells as :func:`cell_text` gives them.

    The file appears whole or not at all.
    """
    texts = {
        name: pd.Series([*map(cell_text, frame[name])], frame.index, dtype=object)
        for name in frame
        if frame[name].dtype.kind == "O"
    }
    frame = frame.assign(**texts).rename(columns=cell_text)
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False, encoding="utf-8", errors="backslashreplace")


def csv_of(table: Any) -> str:
    """Write a SimpleTable of statsmodels, which quotes no commas, as CSV."""
    text = io.StringIO()
    rows = [[str(cell.data).strip() for cell in row] for row in table]
    rows = [[table.title]] * bool(table.title) + rows
    csv.writer(text, lineterminator="\n").writerows([map(cell_text, row) for row in rows])
    return text.getvalue()
