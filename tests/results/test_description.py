"""What a description shows and stores, names with every awkward character included."""

import math
from dataclasses import replace

import pytest
from docx import Document
from openpyxl import load_workbook

import dpstats as dp
from dpstats.describe import Figure
from dpstats.privacy import GDP, PrivacyReport

ODD = "a_%$&=<|b"


def description() -> dp.DPDescription:
    """A number, a hidden one and a factor."""
    report = PrivacyReport("add_remove", 1.0, 1e-6, GDP.of(1, 1e-6), (), ("rows",))
    inf = math.inf
    figures = (
        (None, ODD, Figure(None, "mean", 12345.678, 1.5, 12343.0, 12348.0)),
        (None, ODD, Figure(None, "50%", 2.5, 0.5, 1.5, 3.5)),
        (None, "y", Figure(None, "mean", math.nan, inf, -inf, inf, "not_identified")),
        (None, "g", Figure("<x>", "share", 0.25, 0.01, 0.23, 0.27)),
    )
    return dp.DPDescription(figures, None, (0.5,), 0.05, report, ("why",))


def test_the_frame_is_tidy():
    frame = description().frame
    wanted = "variable level statistic estimate std_error lower upper status".split()
    assert list(frame) == wanted and len(frame) == 4
    assert frame["status"].tolist() == ["ok", "ok", "not_identified", "ok"]
    assert description().status == "imprecise"


def test_table_1_has_means_errors_and_shares():
    table = description().table()
    assert table.loc[ODD, "mean or share"] == "12,346" and table.loc[ODD, "(s.e.)"] == "(1.5)"
    assert table.loc["y", "mean or share"] == "" and table.loc["g: <x>", "mean or share"] == "0.25"


def test_table_1_of_groups_says_whose_values_it_counts_and_keeps_a_variable_called_n():
    """A variable with missing values has fewer than its group, and names may be any."""
    figures = tuple(
        (group, name, Figure(None, statistic, value, 0.5, 0.0, 9.0))
        for group in (0, 1)
        for name, count in (("x", 40.0), ("n", 50.0))
        for statistic, value in (("n", count + group), ("mean", 2.5 + group))
    )
    table = replace(description(), figures=figures, by="g").table()
    assert table.index.tolist() == ["x", "n", "n of x"] and table.columns.tolist() == ["0", "1"]
    assert table.loc["n"].tolist() == ["2.5 (0.5)", "3.5 (0.5)"]
    assert table.loc["n of x"].tolist() == ["40", "41"]


def test_a_variable_and_a_level_called_alike_have_a_row_each():
    mean, share = description().figures[0][2], description().figures[3][2]
    figures = ((None, "g: <x>", mean), (None, "g", share))
    table = replace(description(), figures=figures).table()
    assert table.index.tolist() == ["g: <x>", "g: <x>"]
    assert table["mean or share"].tolist() == ["12,346", "0.25"]


@pytest.mark.parametrize("name, escaped", [
    ("to_html", "a_%$&amp;=&lt;|b"),
    ("to_latex", r"a\_\%\$\&=\textless{}\textbar{}b"),
    ("to_markdown", r"a\_%\$\&=\<\|b"),
])  # fmt: skip
def test_names_are_escaped(name, escaped):
    text = getattr(description(), name)()
    assert escaped in text and ODD not in text
    assert "epsilon = 1" in text


def test_json_restores_everything_nan_too():
    found = dp.DPDescription.from_json(description().to_json())
    assert found == description() and found != replace(description(), alpha=0.1)
    assert repr(found.figures) == repr(description().figures)


@pytest.mark.parametrize("text", ["", "{}", '{"figures": 1}', description().to_json()[:-9]])
def test_other_texts_are_refused(text):
    with pytest.raises(dp.ArgumentError, match="DPDescription"):
        dp.DPDescription.from_json(text)


def test_a_table_is_written_for_spreadsheets(tmp_path):
    named = replace(description(), figures=((None, "=A1", description().figures[0][2]),))
    named.to_csv(tmp_path / "table.csv")
    assert "'=A1" in (tmp_path / "table.csv").read_text()


def test_office_files_hold_the_cells_and_notes_and_run_none(tmp_path):
    named = replace(description(), figures=((None, "=A1", description().figures[0][2]),))
    named.to_word(tmp_path / "table.docx")
    named.to_excel(tmp_path / "table.xlsx")
    document = Document(str(tmp_path / "table.docx"))
    assert document.tables[0].cell(1, 0).text == "=A1"
    assert document.tables[0].cell(1, 1).text == "12,346"
    sheet = load_workbook(tmp_path / "table.xlsx").worksheets[0]
    assert sheet["A3"].value == "=A1" and sheet["A3"].data_type == "s"
    shown = [paragraph.text for paragraph in document.paragraphs]
    for note in named.printed_notes():
        assert note in shown and note in [cell.value for cell in sheet["A"]]


@pytest.mark.parametrize("name", ["min", "max", "nunique"])
def test_extremes_are_refused_with_what_to_ask(name):
    with pytest.raises(dp.NotReleasedError, match=r"quantiles=|levels="):
        getattr(description(), name)
