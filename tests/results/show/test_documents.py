"""Tables as LaTeX, Markdown, Word and Excel: names and numbers as they are, nothing runs."""

import builtins
import re
import zipfile
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.results.show.documents import (
    Printed,
    latex_table,
    markdown_of,
    write_excel,
    write_word,
)

NAMES = ["a_b 5% $x$ R&D", "=HYPERLINK(1)", "c<d>|e", "-1+1", "*[l](u)* `q` #", "x\x00\ny\ud800z"]
ROWS = [[name, "-0.5000", "1.5e-07***", "1234."] for name in NAMES]
TABLE = Printed("Title", ["", "(1)", "=2", "3"], [ROWS, [["N", "4022 (32)", "nan", "07"]]],
                ["* p < 0.1", "A_note & <b>more</b>"])  # fmt: skip
SHOWN = [name.replace("\x00\n", " ").replace("\ud800", " ") for name in NAMES]


PLAIN = {r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciitilde{}": "~",
         r"\textasciicircum{}": "^", r"\textbackslash{}": "\\", "{*}": "*", "$-$": "-"}  # fmt: skip


def read_latex(text: str) -> list[list[str]]:
    """The cells of the rows of a tabular, as they are printed."""
    body = text.split("tabular}")[1].partition("}")[2].splitlines()[1:]
    rows = [re.split(r"(?<!\\) ?& ?", line.removesuffix(r" \\")) for line in body if "&" in line]
    known = re.compile("|".join([*map(re.escape, PLAIN), r"\\(.)"]))
    return [[known.sub(lambda m: m[1] or PLAIN[m[0]], cell) for cell in row] for row in rows]


def test_latex_holds_the_cells_between_rules_and_ends_its_small_print():
    text = latex_table(TABLE)
    cells = read_latex(text)
    assert {len(row) for row in cells} == {4} and cells[0] == ["", "(1)", "=2", "3"]
    assert [row[0] for row in cells[1:5]] == SHOWN[:4]
    assert cells[1][1:] == ["-0.5000", "1.5e-07***", "1234."] and "$-$0.5000" in text
    assert "\n-1+1 &" in text, "what only begins like a number stays as it is"
    rules = [line for line in text.splitlines() if line.endswith("rule")]
    assert rules == [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]
    notes = r"{\footnotesize\noindent" "\n{*} p \\textless{} 0.1 \\\\\nA\\_note "
    assert notes in text and text.endswith("\n\\par}")
    assert not re.search(r"(?<!\\)[_%#~^<>|]", text)


def test_markdown_escapes_each_mark_and_keeps_a_row_in_a_line():
    lines = markdown_of(TABLE).split("\n")
    assert re.fullmatch(r"\| :-+ \| -+: \| -+: \| -+: \|", lines[1])
    assert [mark.count("-") for mark in lines[1].split(" | ")[1:]] == [9, 13, 5], "by width"
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[:9]]
    assert {len(row) for row in cells} == {4}
    plain = [[re.sub(r"\\(.)", r"\1", cell).strip() for cell in row] for row in cells]
    assert [row[0] for row in plain[2:8]] == SHOWN
    assert plain[2][1:] == ["-0.5000", "1.5e-07***", "1234."]
    assert lines[9:] == ["", r"\* p \< 0.1", "", r"A\_note \& \<b\>more\</b\>", ""]
    assert not re.search(r"(?<!\\)[*_<$&`\[#]", "\n".join(lines[2:]))


def test_word_holds_the_cells_between_three_rules(tmp_path):
    docx = pytest.importorskip("docx")
    path = tmp_path / "table.docx"
    write_word(TABLE, path)
    document = docx.Document(str(path))
    (grid,) = document.tables
    cells = [[cell.text for cell in row.cells] for row in grid.rows]
    assert cells[0] == ["", "(1)", "=2", "3"] and cells[-1] == ["N", "4022 (32)", "nan", "07"]
    assert [row[0] for row in cells[1:-1]] == SHOWN
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == ["Title", "* p < 0.1", "A_note & <b>more</b>"]
    ruled = [i for i, row in enumerate(grid.rows) if "w:bottom" in row._tr.xml]
    assert ruled == [0, len(ROWS), len(ROWS) + 1] and "w:top" in grid.rows[0]._tr.xml


def test_columns_of_word_are_as_wide_as_their_texts_on_a_page_that_holds_them(tmp_path):
    """Of 7 inches of texts a page of 6 is turned, and no column breaks a number."""
    docx = pytest.importorskip("docx")
    for columns, turned in ((3, False), (7, True)):
        cells = [["x" * 20, *["-0.0004843***"] * columns]]
        heads = ["", *map(str, range(columns))]
        write_word(Printed("t", heads, [cells], []), tmp_path / "t.docx")
        document = docx.Document(str(tmp_path / "t.docx"))
        (section,) = document.sections
        inches = [column.width / 914_400 for column in document.tables[0].columns]
        assert (section.page_width > section.page_height) == turned
        assert sum(inches) <= (section.page_width - 2 * section.left_margin) / 914_400
        assert min(inches[1:]) == max(inches[1:]) > 13 * 0.068 and inches[0] > 20 * 0.068
        assert document.tables[0].rows[0].cells[1].width == document.tables[0].columns[1].width
    many = Printed("t", [""] * 30, [[["x" * 50] * 30]], [])
    write_word(many, tmp_path / "t.docx")
    grid = docx.Document(str(tmp_path / "t.docx")).tables[0]
    assert sum(column.width for column in grid.columns) <= 9.01 * 914_400


def test_notes_of_excel_run_over_the_table_in_lines_enough(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    write_excel(Printed("Title", ["", "(1)"], [[["x", "1"]]], ["word " * 40]), tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    assert sorted(map(str, sheet.merged_cells.ranges)) == ["A1:B1", "A4:B4"]
    width = sum(sheet.column_dimensions[letter].width for letter in "AB")
    assert sheet.row_dimensions[4].height / 15 * width >= 200 and sheet["A4"].alignment.wrap_text
    assert sheet.page_setup.fitToHeight == 0 and sheet.sheet_properties.pageSetUpPr.fitToPage


def test_excel_holds_texts_that_do_not_run_and_numbers(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    write_excel(TABLE, path)
    sheet = openpyxl.load_workbook(path).worksheets[0]
    assert [sheet.cell(i, 1).value for i in range(3, 9)] == SHOWN
    values = [sheet.cell(3, j) for j in (2, 3, 4)]
    assert [cell.value for cell in values] == [-0.5, "1.5e-07***", 1234]
    assert values[0].number_format == "0.0000", "as many decimals as are printed"
    assert [sheet.cell(9, j).value for j in (2, 3)] == ["4022 (32)", "nan"]
    assert [sheet.cell(2, j).value for j in (2, 3, 4)] == ["(1)", "=2", "3"]
    assert sheet.cell(11, 1).value == "A_note & <b>more</b>"
    with zipfile.ZipFile(path) as parts:
        assert "<f>" not in parts.read("xl/worksheets/sheet1.xml").decode()
    assert sheet.cell(8, 1).border.bottom.style == "thin" == sheet.cell(2, 1).border.top.style


@pytest.mark.parametrize("write, package", [(write_word, "docx"), (write_excel, "openpyxl")])
def test_what_is_not_installed_is_named(write, package, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(dp.ArgumentError, match=r"needs .*: pip install 'dpstats\[tables\]'"):
        write(TABLE, tmp_path / "table")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def mixed():
    """A regression, a logit, instruments and least squares of columns with awkward names."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["z", "pay & perks", "e"])
    rows = rows.assign(**{"share_%": rows["z"] + rows["e"], "up": rows["e"] > 0})
    rows["wage <$>"] = rows["share_%"] + rows["e"]
    rows["region"] = rng.choice(["a_b", "5% $", "R&D", "x=1", "<2 yrs"], 3000)
    call = {"epsilon": 2, "levels": {"region": ["a_b", "5% $", "R&D", "x=1", "<2 yrs"]}}
    shares = "Q('share_%') + C(region)"
    with dp.testing.insecure_seed(1):
        fits = {
            "wage_$": dp.dp_ols(f"Q('wage <$>') ~ {shares}", rows, **call),
            "= logit": dp.dp_logit("up ~ Q('pay & perks')", rows, epsilon=2),
            "IV & 5%": dp.dp_iv("Q('wage <$>') ~ [Q('share_%') ~ z]", rows, epsilon=2),
        }
    ols = {"<OLS>": smf.ols(f"Q('wage <$>') ~ {shares}", rows).fit()}
    return dp.compare(fits, ols=ols, stars=True, notes="_ % $ & = <")


def read_html(text: str) -> list[list[str]]:
    table = ElementTree.fromstring(text.partition("</table>")[0] + "</table>")
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


def read_markdown(text: str) -> list[list[str]]:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:1] == "|"]
    cells = [[re.sub(r"\\(.)", r"\1", cell).strip() for cell in row] for row in rows]
    return [row for row in cells if row[1][:2] != "--"]


def test_awkward_names_of_each_kind_of_fit_stand_in_every_format(mixed, tmp_path):
    docx, openpyxl = pytest.importorskip("docx"), pytest.importorskip("openpyxl")
    mixed.to_word(tmp_path / "t.docx")
    mixed.to_excel(tmp_path / "t.xlsx")
    (grid,) = docx.Document(str(tmp_path / "t.docx")).tables
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    expected = read_html(mixed.to_html())
    assert read_latex(mixed.to_latex()) == read_markdown(mixed.to_markdown()) == expected
    assert [[cell.text for cell in row.cells] for row in grid.rows] == expected
    in_excel = [[cell.value or "" for cell in row[:5]] for row in sheet.iter_rows(min_row=2)]
    texts = [[*row[:1], *(str(cell) for cell in row[1:])] for row in in_excel[: len(expected)]]
    assert [row[0] for row in texts] == [row[0] for row in expected]
    columns = {row[0]: dict(zip(expected[0], row, strict=True)) for row in expected}
    assert expected[0] == ["", "wage_$", "= logit", "IV & 5%", "<OLS>"]
    assert columns["C(region)[T.<2 yrs]"]["<OLS>"] and columns["Q('pay & perks')"]["= logit"]
    assert columns["Q('share_%')"]["IV & 5%"].count("*") == 3
    assert columns["R-squared"]["= logit"] == columns["R-squared"]["IV & 5%"] == ""
    assert columns["R-squared"]["wage_$"][:2] == "0." == columns["R-squared"]["<OLS>"][:2]
    pseudo = columns["Pseudo R-squared"]
    assert [bool(pseudo[name]) for name in expected[0][1:]] == [False, True, False, False]
    assert all(columns["N"].values()) and "R-squared" not in " ".join(mixed._notes())


def test_a_comparison_is_written_in_each_format(tmp_path):
    points = dp.simulate.line(500, seed=1)
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols("y ~ x", points, epsilon=4)
    table = dp.compare(fit, names=["a_b"], stars=True, labels={"x": "R&D_share"})
    text = table.to_markdown()
    assert r"| R\&D\_share | " in text and r"a\_b" in text and "NOT PRIVATE" in text
    for package, ending, write in (
        ("docx", "docx", table.to_word),
        ("openpyxl", "xlsx", table.to_excel),
    ):
        pytest.importorskip(package)
        write(tmp_path / f"table.{ending}")
        with zipfile.ZipFile(tmp_path / f"table.{ending}") as parts:
            texts = "".join(parts.read(name).decode() for name in parts.namelist() if "xml" in name)
        assert "R&amp;D_share" in texts and "NOT PRIVATE" in texts
