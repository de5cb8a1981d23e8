"""Names reach LaTeX, matplotlib and spreadsheets as texts, never as code."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from statsmodels.iolib.table import SimpleTable

from dpstats.escaping import cell_text, csv_of, drawn, latex, latex_of, save_csv

SPECIAL = "_ % $ & # { } ~ ^ \\ < > |"
FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-1+cmd|' /C calc'!A0"]
NUMBERS = ["-1", "+1.5", "-.5e-3", "-1e300", ".5"]


def test_every_special_character_of_latex_is_escaped():
    assert latex(SPECIAL) == (
        r"\_ \% \$ \& \# \{ \} \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"\textless{} \textgreater{} \textbar{}"
    )
    assert latex("a\nb\x00c\r\n") == "a b c "
    assert latex("[0.5]") == "{[}0.5]" and latex("*") == "{*}" and latex("") == ""
    assert latex("λ x1") == "λ x1"


def test_a_table_is_escaped_once_and_stays_as_it_was():
    table = SimpleTable([[r"a\_b", "$$"], ["[1]", "5%"]], headers=["x & y", ""], title="A_%\n}")
    text = latex_of(table)
    assert r"a\textbackslash{}\_b" in text and r"\$\$" in text and r"5\%" in text
    assert r"x \& y" in text and "{[}1]" in text and r"%\caption{A\_\% \}}" in text
    assert table[1][0].data == r"a\_b" and table.title == "A_%\n}"


@pytest.mark.parametrize("text", ["a$^$", r"a\$^$", "$", "$$", r"\frac$x$", "$x$ $y$", "{$", "_x_"])
def test_matplotlib_shows_a_text_as_it_is(text):
    figure = Figure()
    shown = figure.text(0, 0, drawn(text))
    figure.savefig(io.BytesIO())
    plain, is_formula = shown._preprocess_math(shown.get_text())
    assert (plain, is_formula) == (text, False)


def test_where_latex_draws_it_has_its_own_escapes():
    with rc_context({"text.usetex": True}):
        assert drawn("a_$") == r"a\_\$"


def test_only_texts_that_run_get_an_apostrophe():
    for text in FORMULAS:
        assert cell_text(text) == "'" + text.replace("\r", " ")
    same = [*NUMBERS, "a=1", "x - y", "", "np.log(x)", -1.5, None]
    assert [cell_text(cell) for cell in same] == same


def test_a_table_in_a_file_keeps_its_numbers_and_runs_nothing(tmp_path):
    columns = {"=x": FORMULAS, "n": np.arange(9) - 4.0, "s": pd.array([*NUMBERS] + [None] * 4)}
    frame = pd.DataFrame(columns | {"c": pd.Categorical(FORMULAS)})
    before = frame.copy()
    save_csv(frame, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["'=x", "n", "s", "c"] and len(rows) == 10
    assert [row[0] for row in rows[1:]] == [row[3] for row in rows[1:]]
    assert all(row[0].startswith("'") for row in rows[1:])
    assert [float(row[1]) for row in rows[1:]] == [*range(-4, 5)]
    assert [row[2] for row in rows[1:]] == NUMBERS + [""] * 4
    pd.testing.assert_frame_equal(frame, before)


def test_a_text_that_utf8_has_no_code_for_is_spelt_out(tmp_path):
    frame = pd.Series(["\ud800", "b"], dtype=object).to_frame("a")
    save_csv(frame, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "a\n\\ud800\nb\n"


def test_commas_stay_in_their_cell():
    table = SimpleTable([["poly(x, 2)", "-0.5"], ["=1", "x"]], title="=t")
    assert list(csv.reader(io.StringIO(csv_of(table)))) == [
        ["'=t"], ["poly(x, 2)", "-0.5"], ["'=1", "x"]
    ]  # fmt: skip
