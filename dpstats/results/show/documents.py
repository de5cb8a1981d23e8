"""Write a table with its notes as LaTeX, Markdown, for Word and for Excel, every text as it is."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dpstats.atomic_write import replacing
from dpstats.errors import ArgumentError
from dpstats.escaping import latex
from dpstats.option_checks import refuse_path

_LINES = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
_MARKS = re.compile(r"([\\`*_{}\[\]<>|$&~^#])")
_DECIMAL = re.compile(r"-?\d+\.?(\d*)")
_NEGATIVE = re.compile(r"^-(?=[\d.,]+(?:[^\w.,+]|$))")
_CHARACTER, _PADDING = 0.068, 0.16  # inches of a character in small type, and around a cell
_POINTS = 15  # of height of a line of Excel
_FIRST = 1.5  # inches that the first column of Word keeps where others are wide


@dataclass(frozen=True)
class Printed:
    """Hold the cells of a table as texts.

    Attributes
    ----------
    title : str
    headers : sequence of str
        Of all columns; that of the first is empty.
    parts : sequence of sequences of rows
        Rows between two rules.
    notes : sequence of str
    """

    title: str
    headers: Sequence[str]
    parts: Sequence[Sequence[Sequence[str]]]
    notes: Sequence[str]

    @property
    def rows(self) -> list[Sequence[str]]:
        """List the rows of all parts."""
        return [row for part in self.parts for row in part]


class PrintedTable(ABC):
    """Write a table as documents, from the cells that a subclass lays out."""

    @abstractmethod
    def _printed(self) -> Printed:
        """Lay out the cells for documents."""

    def to_latex(self, *path) -> str:
        """Write the table as a LaTeX tabular, with its notes and names escaped; needs booktabs."""
        refuse_path("to_latex", path)
        return latex_table(self._printed())

    def to_markdown(self, *path) -> str:
        """Write the table as Markdown, with its notes; names are escaped."""
        refuse_path("to_markdown", path)
        return markdown_of(self._printed())

    def to_word(self, path) -> None:
        """Write a Word document (.docx), which appears whole or not at all; needs python-docx."""
        write_word(self._printed(), path)

    def to_excel(self, path) -> None:
        """Write an Excel workbook (.xlsx), which appears whole or not at all; needs openpyxl."""
        write_excel(self._printed(), path)


def one_line(text: str) -> str:
    """Put a space where a text has line breaks or characters that files of Office cannot hold."""
    return _LINES.sub(" ", text)


def markdown(text: str) -> str:
    r"""Write a text for Markdown, in one line.

    >>> print(markdown("a_b|c < $5 ***"))
    a\_b\|c \< \$5 \*\*\*
    """
    return _MARKS.sub(r"\\\1", one_line(text))


def latex_table(table: Printed) -> str:
    """Write a LaTeX tabular between rules, then its notes in small print; needs booktabs."""
    rows = [[_latex_line(row) for row in part] for part in table.parts]
    ruled = [line for part in rows for line in (r"\midrule", *part)]
    columns = "l" + "c" * (len(table.headers) - 1)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_line(table.headers), *ruled]
    notes = " \\\\\n".join(map(latex, table.notes))
    small = [r"{\footnotesize\noindent", notes, r"\par}"]
    ends = [r"\bottomrule", r"\end{tabular}", r"\end{center}"]
    return "\n".join([r"\begin{center}", *body, *ends, *small])


def _latex_line(cells: Sequence[str]) -> str:
    """Write a row of a tabular; numbers below zero have the sign of minus, not a hyphen."""
    first, *others = map(latex, cells)
    return " & ".join([first, *(_NEGATIVE.sub("$-$", text) for text in others)]) + r" \\"


def markdown_of(table: Printed) -> str:
    """Write a table of GitHub's and pandoc's Markdown, then its notes, a paragraph each.

    Dashes are as many as the widest cell has characters, by which pandoc divides wide tables.
    """
    rows = [list(map(markdown, row)) for row in (table.headers, *table.rows)]
    first, *others = (max(2, *map(len, column)) for column in zip(*rows, strict=True))
    aligned = [":" + "-" * first, *("-" * width + ":" for width in others)]
    lines = ["| " + " | ".join(row) + " |" for row in (rows[0], aligned, *rows[1:])]
    return "\n\n".join(["\n".join(lines), *map(markdown, table.notes)]) + "\n"


def write_word(table: Printed, path) -> None:
    """Write a document with a table between three rules, and its notes in small print."""
    try:
        from docx import Document
    except ImportError:
        raise _lacking("to_word", "python-docx") from None
    document = Document()
    _small(document.styles["Normal"])
    document.add_paragraph(one_line(table.title), style="Caption")
    cells = [table.headers, *table.rows]
    grid = document.add_table(len(cells), len(table.headers))
    for row, texts in zip(grid.rows, cells, strict=True):
        _fill(row.cells, texts)
    _rules(grid, table)
    _fit(document.sections[0], grid, [2 + max(map(len, c)) for c in zip(*cells, strict=True)])
    for note in table.notes:
        document.add_paragraph(one_line(note))
    with replacing(path) as temporary:
        document.save(str(temporary))


def _fill(cells, texts: Sequence[str]) -> None:
    """Write the texts of a row of a Word table, numbers to the right."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    for j, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        paragraph = cell.paragraphs[0]
        paragraph.text = one_line(text)
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT if j else WD_ALIGN_PARAGRAPH.LEFT


def _fit(section, grid, widths: Sequence[int]) -> None:
    """Make columns of Word as wide as their texts, and turn a page that is too narrow for them."""
    from docx.enum.section import WD_ORIENT
    from docx.shared import Inches

    first, *others = (_PADDING + _CHARACTER * width for width in widths)
    margins = (section.left_margin + section.right_margin) / Inches(1)
    if first + sum(others) > section.page_width / Inches(1) - margins:
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
    room = section.page_width / Inches(1) - margins
    first = min(first, max(_FIRST, room - sum(others)))
    scale = min(1.0, (room - first) / sum(others)) if others else 1.0
    for column, inches in zip(grid.columns, (first, *(scale * w for w in others)), strict=True):
        for part in (column, *column.cells):
            part.width = Inches(inches)


def _small(style) -> None:
    """Print paragraphs of Word in small type without space around them, empty cells too."""
    from docx.shared import Pt

    style.paragraph_format.space_after = style.paragraph_format.space_before = Pt(0)
    style.font.size = Pt(9)


def _rules(grid, table: Printed) -> None:
    """Draw rules above and below the headers and below each part of a Word table."""
    last = 0
    _rule(grid.rows[0], "top")
    for size in (0, *map(len, table.parts)):
        last += size
        _rule(grid.rows[last], "bottom")


def _rule(row, edge: str) -> None:
    """Draw a line at an edge of the cells of a row."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for cell in row.cells:
        properties = cell._tc.get_or_add_tcPr()
        borders = properties.find(qn("w:tcBorders"))
        if borders is None:
            borders = OxmlElement("w:tcBorders")
            properties.append(borders)
        line = OxmlElement(f"w:{edge}")
        line.set(qn("w:val"), "single")
        line.set(qn("w:sz"), "6")
        borders.append(line)


def write_excel(table: Printed, path) -> None:
    """Write a workbook of one sheet; no text is a formula, and plain numbers are numbers."""
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Border, Side
        from openpyxl.worksheet.properties import PageSetupProperties
    except ImportError:
        raise _lacking("to_excel", "openpyxl") from None
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "table"
    texts = [[table.title], table.headers, *table.rows, *([note] for note in table.notes)]
    for i, row in enumerate(texts, start=1):
        for j, text in enumerate(row, start=1):
            _put(sheet.cell(i, j), text, is_value=2 < i <= len(table.rows) + 2 and j > 1)
    rule, last = Side(style="thin"), 2
    for size in (0, *map(len, table.parts)):
        last += size
        for cell in sheet[last]:
            cell.border = Border(top=rule if last == 2 else None, bottom=rule)
    _widen(sheet, [table.headers, *table.rows])
    for i in (1, *range(len(table.rows) + 3, sheet.max_row + 1)):
        _spread(sheet, i, len(table.headers))
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    with replacing(path) as temporary:
        book.save(temporary)


def _put(cell, text: str, is_value: bool) -> None:
    """Write a text into a cell of Excel, a plain number as one with the decimals it has."""
    from openpyxl.styles import Alignment

    number = _DECIMAL.fullmatch(text) if is_value else None
    if number:
        cell.value = float(text)
        cell.number_format = "0." + "0" * len(number[1]) if number[1] else "0"
    elif text:
        cell.value = one_line(text)
        cell.data_type = "s"
    if cell.column > 1:
        cell.alignment = Alignment(horizontal="right")


def _widen(sheet, rows: Sequence[Sequence[str]]) -> None:
    """Make the columns of a sheet as wide as their texts."""
    from openpyxl.utils import get_column_letter

    for j, column in enumerate(zip_longest(*rows, fillvalue=""), start=1):
        sheet.column_dimensions[get_column_letter(j)].width = 2 + max(map(len, column))


def _spread(sheet, i: int, columns: int) -> None:
    """Let the text of a row run over all columns, in as many lines as it needs."""
    from openpyxl.styles import Alignment

    sheet.merge_cells(start_row=i, end_row=i, start_column=1, end_column=columns)
    width = sum(dimension.width for dimension in sheet.column_dimensions.values())
    lines = math.ceil(1.1 * len(str(sheet.cell(i, 1).value or "")) / width)
    sheet.row_dimensions[i].height = _POINTS * max(1, lines)
    sheet.cell(i, 1).alignment = Alignment(wrap_text=True, vertical="top")


def _lacking(method: str, package: str) -> ArgumentError:
    """Build the error for a package that is not installed."""
    return ArgumentError(f"{method}() needs {package}: pip install 'dpstats[tables]'")
