"""The benchmark of intervals counts what it says, and its page holds what it has written."""

import doctest
import math
import re
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import autopage, far_out, tails, tailspage, textbook, tried_tails
from benchmarks.skewed import HIDDEN, LAWS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "intervals.md"
CASES = {case.name: case for laws in (LAWS, HIDDEN) for case in tails.simulated(laws)}
CELL = re.compile(r"(\d\.\d\d|-) \((\d\.\d\d)\)")


def job(name, epsilon=1.0, fits=5, bounded=False, change=""):
    return tails.Job("simulated", CASES[name], epsilon, bounded, fits, "noisy_newton", change)


def shares(name):
    """The share of each value of the response."""
    case = CASES[name]
    return case.frame[case.formula.split(" ~ ")[0]].value_counts(normalize=True)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_the_same_table_everywhere_and_lies_within_its_bounds(name):
    case, law = CASES[name], (LAWS | HIDDEN)[name]
    pd.testing.assert_frame_equal(law.frame(name), case.frame)
    assert len(case.frame) == law.rows and not case.frame.isna().any(axis=None)
    assert case.bounds.keys() == set(case.frame.select_dtypes("number"))
    for column, (low, high) in case.bounds.items():
        assert low <= case.frame[column].min() and case.frame[column].max() <= high
    assert len(law.draw.__doc__.splitlines()) == 1


def test_responses_are_as_rare_and_heaped_as_their_names_say():
    assert shares("spending, 95% zeros")[0] == pytest.approx(0.95, abs=0.01)
    assert shares("0/1, 2% ones")[1] == pytest.approx(0.02, abs=0.005)
    assert shares("999 for missing in y, 1%")[999] == pytest.approx(0.01, abs=0.005)
    assert shares("visits, counts")[0] == pytest.approx(0.3, abs=0.02)
    assert list(shares("cigarettes, heaped").index[:3]) == [0, 20, 10]
    wealth = CASES["wealth, signed"].frame["wealth"]
    assert (wealth < 0).mean() == pytest.approx(0.1, abs=0.05) and wealth.skew() > 5
    trained = CASES["training, 85% zeros in x"].frame["training"]
    assert (trained == 0).mean() == pytest.approx(0.85, abs=0.02)


def test_laws_of_long_columns_are_drawn_and_summed_up():
    """A law that is flat from a percentile on is no steeper than its line anywhere."""
    some = {name: far_out.LAWS[name] for name in ("t3, line", "Pareto 3, up to 95%")}
    drawn = list(far_out.cases(1, laws=some))
    assert [len(case.frame) for _, case in drawn] == 2 * list(far_out.ROWS)
    draw, effect = some["Pareto 3, up to 95%"]
    x = np.sort(draw(np.random.default_rng(1), 1000))
    steps = np.diff(effect(x)) / np.diff(x) * x.std()
    assert steps[:900] == pytest.approx(np.full(900, 0.5)) and not steps[-40:].any()
    cells = {"law": "a", "n": 5, "epsilon": 1.0, "bounded": "bounds"}
    rows = pd.DataFrame([cells | {"cover": 0.9, "width": 2.0}, cells | {"cover": 0.8, "width": 8}])
    assert far_out.summary(rows, []).to_numpy().tolist() == [[0.5, pytest.approx(4)]]
    assert far_out.summary(rows, ["law", "n"]).shape == (1, 2)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(0, 0, 0), (23, 20, 30), (-23, -30, -20), (0.017, 0.01, 0.02), (7, 7, 7), (9999, 9000, 1e4)],
)
def test_bounds_are_rounded_outward_to_one_digit(value, low, high):
    assert tails.rounded(value, math.floor) == pytest.approx(low)
    assert tails.rounded(value, math.ceil) == pytest.approx(high)


def test_the_worst_slope_is_one_with_enough_intervals():
    shown = np.ones((10, 3), dtype=bool)
    held = shown.copy()
    shown[:6, 2], held[:, 2] = False, False  # four intervals, and all of them miss
    held[:3, 1] = False
    assert tails.worst(shown, held) == 0.7
    assert tails.worst(shown[:, 2:], held[:, 2:]).__repr__() == "nan"
    assert tails.worst(shown[:2], held[:2]) == 0.0  # of two fits two are enough


def test_tables_of_a_folder_have_factors_and_bounds(tmp_path):
    frame = pd.DataFrame({"y": [1.5, -23.0], "x": [4, 11], "g": [2, 7]})
    frame.to_csv(tmp_path / "made.csv.gz", index=False)
    (tmp_path / "FORMULAS.csv").write_text("name,n,formula\nmade,2,y ~ x + C(g)\n")
    (case,) = tails.tables(tmp_path)
    assert case.name == "made" and case.formula == "y ~ x + C(g)"
    assert list(case.frame["g"].cat.categories) == ["2", "7"]
    assert case.bounds == {"y": (-30.0, 2.0), "x": (4.0, 20.0)}


@pytest.mark.parametrize("case", ["catholic", "bwght2", "injury, charges"])
def test_regressions_of_the_textbook_have_rows_of_numbers(case):
    """The package writes missing numbers as a dot in catholic, and as such elsewhere."""
    formula = dict(textbook.FORMULAS + textbook.DECIDED)[case]
    frame = textbook.read(case, formula)
    assert len(frame) > 1000 and frame.notna().all(axis=None)
    assert set(frame) == set(re.findall(r"[a-z_]\w*", formula))
    assert all(frame.dtypes.map(pd.api.types.is_numeric_dtype)) and (frame.nunique() > 1).all()


def test_only_whole_sources_are_written_to_the_page(capsys):
    for only in (["bell-shaped"], ["econ"], ["simulated", "econ"]):
        with pytest.raises(SystemExit):
            tails.main(["--write", "--only", *only])
        assert "--only but simulated, hidden, textbook" in capsys.readouterr().err


def test_without_noise_to_speak_of_fits_are_least_squares():
    found = tails.measured(job("bell-shaped", epsilon=1000.0))
    assert found["ok"] == found["shown"] == found["cover"] == 1
    assert found["error"] < 0.05 and found["width"] == pytest.approx(1, abs=0.05)
    assert found == tails.measured(job("bell-shaped", epsilon=1000.0))


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_rows_bend_least_squares_out_of_intervals_that_are_shown(name):
    """The page says so: nobody can see them, and the benchmark counts the intervals that miss."""
    found = tails.measured(job(name))
    assert found["cover"] < 0.5 < found["shown"] and found["ok"] > 0.5


def measured(covers, source="simulated"):
    """Rows as of two cases, at both epsilons, with bounds and without."""
    return pd.DataFrame([
        {"source": source, "case": f"case {i}", "n": 1000 * (i + 1), "epsilon": epsilon,
         "bounded": bounded, "fits": 20, "ok": 1.0, "shown": 0.75, "cover": cover, "error": 4.0**i,
         "width": 2.0}
        for epsilon in tails.EPSILONS for bounded in (False, True) for i, cover in enumerate(covers)
    ])  # fmt: skip


def test_cases_are_summed_up():
    rows = measured([0.5, 0.9, math.nan]).query("epsilon == 1 and not bounded")
    assert tailspage.figures(rows) == {
        "shown": "0.75", "ok": "1.00", "least": "0.50", "median": "0.70", "covered": "2 of 3",
        "error": "4.00", "width": "2.00",
    }  # fmt: skip


def test_the_page_is_written_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    marks = "<!-- tails: {0} -->\nold\n<!-- end of {0} -->\n"
    page.write_text("a\n" + marks.format("simulated") + "b\n" + marks.format("tables") + "c\n")
    tailspage.write(pd.concat([measured([0.9, math.nan]), measured([1.0], "econ")]), page)
    text = page.read_text()
    assert re.sub("<!--.*?-->\n(.*?)<!--.*?-->", "", text, flags=re.DOTALL) == "a\n\nb\n\nc\n"
    assert "old" not in text and "| case 1 | 2,000 | - (0.75) | - (0.75) |" in text
    assert "| case 0 | 1,000 | 1.00 (0.75) |" in text.split("b\n")[1]
    with pytest.raises(ValueError, match="no marks <!-- tails: hidden -->"):
        tailspage.write(measured([0.5], "hidden"), page)


def printed_cases(name):
    """The tables of a block of the page: cases with their cells, and how all of them did."""
    block = re.search(tailspage.BLOCK.format(name), PAGE.read_text(), re.DOTALL)[1]
    rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
    cases = {row[0]: row[1:] for row in rows if CELL.fullmatch(row[-1])}
    return cases, {row[0]: row[1:] for row in rows if row[0] in tailspage.SUMMARY.values()}, rows[0]


@pytest.mark.skipif(not PAGE.exists(), reason="the tests of an installed package lack it")
@pytest.mark.parametrize("name", tailspage.BLOCKS)
def test_the_page_prints_the_worst_slope_of_every_case(name):
    cases, overall, head = printed_cases(name)
    blank = pd.concat([measured([1.0]).assign(n=0)])
    assert tailspage.block(blank).strip().splitlines()[0] == f"| {' | '.join(head)} |"
    drawn = {"simulated": LAWS, "hidden": HIDDEN}.get(name, {})
    listed = {"hidden": textbook.DECIDED, "textbook": textbook.FORMULAS}.get(name, ())
    assert name == "tables" or list(cases) == [*drawn, *(case for case, _ in listed)]
    assert all(cases[case][0] == f"{law.rows:,}" for case, law in drawn.items())
    assert list(overall) == list(tailspage.SUMMARY.values())
    for setting in range(1, 5):
        cells = [CELL.fullmatch(row[setting]).groups() for row in cases.values()]
        covers = [float(cover) for cover, _ in cells if cover != "-"]
        shown, _, least, median, covered, *_ = (row[setting - 1] for row in overall.values())
        below = sum(cover < tailspage.COVERED for cover in covers)
        assert covered == f"{len(cells) - below} of {len(cells)}"
        assert float(least) == min(covers)
        assert float(median) == pytest.approx(statistics.median(covers), abs=0.011)
        assert float(shown) == pytest.approx(np.mean([float(s) for _, s in cells]), abs=0.011)


def test_one_case_is_measured_and_printed(capsys, tmp_path):
    name = "lognormal x"
    tails.main(["--only", name, "--fits", "1", "--epsilon", "1", "--jobs", "1"])
    printed = capsys.readouterr().out
    assert "simulated: epsilon 1, no bounds, 1 fits" in printed and "hidden" not in printed
    assert re.search(r"simulated: epsilon 1, bounds: intervals shown on average [01]\.00", printed)
    for bad in (["--only", name, "--write", str(tmp_path)], ["--only", "no such case"]):
        with pytest.raises(SystemExit):
            tails.main(bad)


def test_with_weights_intervals_are_held_against_weighted_least_squares():
    """As epsilon grows they are its own; least squares without weights is elsewhere."""
    found = {}
    for weighted in (False, True):
        found[weighted] = tails.measured(job("bell-shaped", 1e6, 1)._replace(weighted=weighted))
        assert found[weighted]["error"] < 0.05 and found[weighted]["cover"] == 1
    assert found[True]["width"] == pytest.approx(1, abs=0.05)
    with pytest.raises(SystemExit):
        tails.main(["--weights", "--write"])


def test_every_change_that_was_tried_changes_fits():
    """None is left behind by a rename; a case alone is indifferent to some."""
    found = {
        change: [
            {**tried_tails.measured(job(name, fits=1, change=change)), "change": ""}
            for name in ("two lognormal x, correlated", "spending, 95% zeros", "t3 errors")
        ]
        for change in tried_tails.CHANGES
    }
    first = found["as it is"]
    assert [change for change, rows in found.items() if rows == first] == ["as it is"]


def test_what_was_tried_is_compared_with_the_first_change(tmp_path):
    found = pd.concat([
        measured([0.9]).assign(change="as it is"),
        measured([0.5]).assign(change="b", error=3.0, width=1.0),
    ])  # fmt: skip
    table = tried_tails.rows(found)
    assert list(table["change"]) == ["as it is", "b"] * 4
    assert list(table.iloc[1])[2:] == [
        "b",
        20,
        "0.75",
        "1.00",
        "0.50",
        "0.50",
        "0 of 1",
        "3.00",
        "0.50",
    ]
    table.to_csv(tmp_path / "tried_tails.csv", index=False)
    (tmp_path / "README.md").write_text(
        "# Page\n\nText.\n\n## What was tried for shrunken\n\nold\n"
    )
    autopage.write_tried(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert (
        text.startswith("# Page\n\nText.\n\n## What was tried for intervals\n")
        and "old" not in text
    )
    assert "| 1 | no bounds | b | 20 | 0.75 | 1.00 | 0.50 | 0.50 | 0 of 1 | 3.00 | 0.50 |" in text


TEXTS = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("vignettes/*/README.md"),
         *ROOT.glob("r-wrapper/R/*.R"), *ROOT.glob("r-wrapper/*.md"),
         *ROOT.glob("dpstats/results/**/*.py"), ROOT / "dpstats" / "verbs" / "ols.py"]  # fmt: skip


@pytest.mark.skipif(not PAGE.exists(), reason="the tests of an installed package lack it")
def test_what_intervals_are_about_is_one_sentence_wherever_it_is_said():
    found = {}
    for path in TEXTS:
        text = re.sub(r"[\s`#']+", " ", path.read_text(encoding="utf-8"))
        for said in re.findall(r"[Ii]ntervals are about (?:least|the reg)[^.]*\.", text):
            found.setdefault(said, []).append(path.name)
    (sentence,) = found
    assert sentence == (
        "Intervals are about least squares on all rows, clipped at declared bounds only, or, where "
        "none are declared, at released ranges that summary() prints beside the noisy share of "
        "rows beyond them."
    )
    assert {"intervals.md", "bounds.md", "inference_mixin.py"} <= set(found[sentence])


def test_examples():
    assert doctest.testmod(tailspage).failed == 0
