"""Write tables and notes as HTML in which every text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# Values stand right and their headings left, as browsers would centre the latter.
_TABLE, _STUB = 'table class="simpletable" style="text-align: right"', 'th style="text-align: left"'


def html_table(rows: Iterable[Sequence], headers: Sequence = (), title: str = "") -> str:
    """Write cells as a table of the class that statsmodels gives to its own.

    Parameters
    ----------
    rows : iterable of sequences
        Cells, written by ``str``; the first of each row is its heading where there are headers.
    headers : sequence, optional
        One for each column.
    title : str, optional

    Examples
    --------
    >>> print(html_table([["<b>", 0.5]], ["term", "coef"]))
    <table class="simpletable" style="text-align: right">
    <tr><th>term</th><th>coef</th></tr>
    <tr><th style="text-align: left">&lt;b&gt;</th><td>0.5</td></tr>
    </table>
    """
    caption = [f"<caption>{escape(title)}</caption>"] if title else []
    head = [_row(["th"] * len(headers), headers)] if headers else []
    first = _STUB if headers else "td"
    body = [_row([first, *["td"] * (len(row) - 1)], row) for row in rows]
    return "\n".join([f"<{_TABLE}>", *caption, *head, *body, "</table>"])


def _row(tags: Sequence[str], cells: Sequence) -> str:
    """Write one row; a tag has two letters, then attributes."""
    pairs = zip(tags, cells, strict=True)
    return "<tr>" + "".join(f"<{tag}>{escape(str(c))}</{tag[:2]}>" for tag, c in pairs) + "</tr>"


def html_of(table: Any) -> str:
    """Write a SimpleTable of statsmodels, which escapes nothing itself, as HTML."""
    cells = [[str(cell.data).strip() for cell in row] for row in table]
    heads = [row for row, line in zip(cells, table, strict=True) if line.datatype == "header"]
    rows = [row for row, line in zip(cells, table, strict=True) if line.datatype != "header"]
    return html_table(rows, heads[0] if heads else (), table.title or "")


def html_notes(notes: Iterable[str]) -> str:
    """Write notes as a paragraph, a line each; nothing where there is none."""
    lines = [escape(note) for note in notes]
    return "<p>" + "<br>\n".join(lines) + "</p>" if lines else ""
