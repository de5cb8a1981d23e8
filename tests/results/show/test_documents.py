"""Tables as Markdown, Word and Excel: names and numbers as they are, nothing runs."""

import builtins
import re
import zipfile

import pytest

import dpstats as dp
from dpstats.results.show.documents import Printed, markdown_of, write_excel, write_word

NAMES = ["a_b 5% $x$ R&D", "=HYPERLINK(1)", "c<d>|e", "-1+1", "*[l](u)* `q` #", "x\x00\ny\ud800z"]
ROWS = [[name, "-0.5000", "1.5e-07***", "1234."] for name in NAMES]
TABLE = Printed("Title", ["", "(1)", "=2", "3"], [ROWS, [["N", "4022 (32)", "nan", "07"]]],
                ["* p < 0.1", "A_note & <b>more</b>"])  # fmt: skip
SHOWN = [name.replace("\x00\n", " ").replace("\ud800", " ") for name in NAMES]


def test_markdown_escapes_each_mark_and_keeps_a_row_in_a_line():
    lines = markdown_of(TABLE).split("\n")
    assert lines[1] == "| :-- | --: | --: | --: |"
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
