"""The page of plans: its numbers are plan's, and a person with a browser can use it."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.planning import page, plan_grid
from tests.checks.browser import SIZES, chromium, tab_of
from tests.checks.pages import Links

CALL = {"n": 1000, "bounds": {"y": (0, 0.01), "x": (0, 1), "z": (0, 2)}, "sd": 0.0015,
        "methods": ["adassp", "shrunken_pure"], "epsilon": [0.02, 1, 4],
        "repetitions": 20}  # fmt: skip
FORMULA = "y ~ x + z + I(x < 0.5)"


@pytest.fixture(scope="module")
def grid():
    return plan_grid(FORMULA, truth={"x": 0.003}, term="x", progress=False, **CALL)


@pytest.fixture(scope="module")
def file(grid, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "plan.html"
    path.write_text(page(grid, 2.5), encoding="utf-8")
    return path


def content(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json".*?>(.*?)</script>', text)[1])


def test_the_page_is_whole_and_loads_nothing(file):
    text = file.read_text()
    assert Links(text).found == ["data:,"] and "{{" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_the_numbers_are_those_of_the_plans(file, grid):
    held = content(file.read_text())
    assert (held["rows"], held["widths"]) == ([250, 500, 1000, 2000, 4000], [1, 1.5, 2, 3])
    assert (held["term"], held["start"], held["remaining"]) == ("x", 2, 2.5)
    seen = set()
    for n, row in zip(grid.rows, held["cells"], strict=True):
        for width, cell in zip(grid.widths, row, strict=True):
            frame = grid.plans[n, width].frame.set_index(["method", "term", "epsilon"])["width"]
            for method, terms in cell["methods"].items():
                for term, points in terms.items():
                    for epsilon, found in points:
                        value = frame[method, term, epsilon]
                        assert found == {"inf": "unbounded", "nan": None}.get(f"{value}", value)
                        seen.add(type(found))
            for term, found in cell["ols"].items():
                assert found == frame["ols (not private)", term, float("inf")]
    assert seen == {float, str, type(None)}


def test_a_call_on_the_page_gives_its_numbers(file, grid):
    cell = content(file.read_text())["cells"][0][3]
    made = eval(cell["call"], {"dp": dp})
    assert made.frame.equals(grid.plans[250, 3].frame)


POINTS = pd.DataFrame({"x": [0.2, 0.9]}, index=["a few", "most"])
GIVEN = {
    "delta that is 0": {"delta": 0, "methods": ["auto"]},
    "points with names": {"x_new": POINTS, "methods": ["adassp"]},
    "points without": {"x_new": POINTS.reset_index(drop=True), "methods": ["adassp"]},
    "arrays": {"epsilon": np.array([0.5, 2]), "methods": ["adassp"],
               "bounds": {"x": np.array([0, 1]), "y": tuple(np.array([0.0, 1.0]))}},
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_whatever_is_given_the_call_on_the_page_gives_its_numbers(name):
    given = {"n": 400, "bounds": {"x": (0, 1), "y": (0, 1)}, "epsilon": [1], "repetitions": 20}
    made = plan_grid("y ~ x", progress=False, **given | GIVEN[name])
    text = content(page(made))["cells"][2][3]["call"]
    assert eval(text, {"dp": dp, "pd": pd}).frame.equals(made.plans[400, 3].frame)


def test_what_cannot_be_shown_is_refused(grid):
    with pytest.raises(dp.ArgumentError, match="term"):
        plan_grid(FORMULA, term="nosuch", **CALL)
    for remaining in (0, -1, "1"):
        with pytest.raises(dp.ArgumentError, match="remaining"):
            page(grid, remaining)


SHELL = ["plan", "y ~ x", "--n", "200", "--methods", "adassp", "--bounds", "x=0,1", "--bounds",
         "y=0,1", "--epsilon", "1,4", "--repetitions", "20"]  # fmt: skip


def test_the_shell_writes_the_page_with_what_a_ledger_has_left(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dp.Ledger.create("l.ledger", dataset="d", epsilon=3).allocate("anna", 1.5)
    assert cli.main([*SHELL, "--html", "p.html", "--ledger", "l.ledger", "--analyst", "anna"]) == 0
    assert content((tmp_path / "p.html").read_text())["remaining"] == 1.5
    shown = capsys.readouterr().out
    assert "Forecast of y ~ x for 200 rows" in shown
    assert cli.main(SHELL) == 0 and capsys.readouterr().out == shown
    for more in (["--ledger", "l.ledger"], ["--html", "p.txt"], ["--html", "no/p.html"],
                 ["--html", "q.html", "--target-width", "1", "--term", "x"],
                 ["--html", "q.html", "--term", "nosuch"]):  # fmt: skip
        assert cli.main([*SHELL, *more]) == 2
    assert not (tmp_path / "q.html").exists()


def test_the_shell_writes_a_line_a_plan_where_there_is_no_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("dpstats.progress_bar._DELAY", -1.0)
    path, call = (
        tmp_path / "p.html",
        [word for word in SHELL if word not in ("--methods", "adassp")],
    )
    assert cli.main([*call, "--html", str(path), "--n-jobs", "2"]) == 0
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("plans: ")]
    assert len(lines) == 20 and lines[-1].startswith("plans: 100% (20 of 20, ")
    assert "auto: noisy_newton, as dp_ols would take for this call" in out
    assert list(content(path.read_text())["cells"][0][0]["methods"]) == ["auto"]
    assert cli.main([*call, "--n-jobs", "2"]) == 2
    assert "--n-jobs are for the page of --html" in capsys.readouterr().err
    assert cli.main([*call, "--html", str(path), "--n-jobs", "0"]) == 2


def test_each_position_says_how_unsure_its_widths_are(file, grid):
    held = content(file.read_text())
    assert held["cells"][2][0]["accuracy"].startswith("Here the medians are of 20 synthetic tables")
    said = {cell["accuracy"] for row in held["cells"] for cell in row}
    assert any("are of 9 to 20 synthetic tables" in text for text in said)
    assert any(re.search(r"widths are uncertain by up to \d+\.\d%", text) for text in said)
    assert not any("percentages" in note for note in held["notes"])


def test_the_shell_refuses_in_its_own_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main([*SHELL, "--html", "q.html", "--target-width", "1", "--term", "x"]) == 2
    message = "dpstats: error: --target-width searches for one epsilon; leave it out of a grid"
    assert capsys.readouterr().err.startswith(message)
    ledger = dp.Ledger.create("l.html", dataset="d", epsilon=3)
    before, page_of_ledger = ledger.verify(), [*SHELL, "--html", "./l.html", "--ledger", "l.html"]
    assert cli.main(page_of_ledger) == 2
    assert "different files for --html and --ledger" in capsys.readouterr().err
    assert dp.Ledger("l.html").verify() == before and not (tmp_path / "q.html").exists()


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def opened(request, browser, file):
    with tab_of(browser, request.param, file) as tab:
        yield tab


def readings(tab) -> dict:
    """The markers' method and epsilon, with the width that each is drawn at by the axis."""
    return tab.evaluate("""() => {
      const ticks = [...document.querySelectorAll('#chart text[text-anchor="end"]')]
        .map(text => [Math.log(Number(text.textContent)), Number(text.getAttribute('y')) - 5]);
      const [[a, ya], [b, yb]] = [ticks[0], ticks.at(-1)];
      const at = y => Math.exp(a + (b - a) * (y - ya) / (yb - ya));
      return Object.fromEntries([...document.querySelectorAll('path[data-epsilon]')].map(path => {
        const [, y] = path.getAttribute('transform').match(/ ([-.0-9]+)\\)/);
        return [`${path.dataset.method} ${path.dataset.epsilon}`, at(Number(y))];
      }));
    }""")


def expected(grid, n, width, term):
    frame = grid.plans[n, width].frame
    frame = frame[(frame["term"] == term) & frame["epsilon"].lt(100)]
    return {f"{row.method} {row.epsilon:g}": row.width for row in frame.itertuples()
            if 0 < row.width < float("inf")}  # fmt: skip


def test_markers_stand_where_the_plan_says(opened, grid):
    assert readings(opened) == pytest.approx(expected(grid, 1000, 1, "x"), rel=1e-6)
    floor = grid.plans[1000, 1].frame.query("term == 'x' and epsilon > 100")["width"].item()
    assert float(opened.get_attribute("#floor", "data-width")) == floor
    assert float(opened.get_attribute("#left", "data-epsilon")) == 2.5
    assert "epsilon left in the budget: 2.5" in opened.inner_text("#legend")


def test_texts_of_the_chart_stand_apart(opened):
    for term in ("x", "I(x < 0.5)[T.True]"):
        opened.select_option("#term", term)
        boxes = opened.evaluate("""() => [...document.querySelectorAll('#chart text')]
          .filter(text => text.textContent)
          .map(text => [text.textContent, ...Object.values(text.getBoundingClientRect().toJSON())])
        """)
        assert len(boxes) > 6
        for i, (text, x, y, width, height, *_) in enumerate(boxes):
            assert height >= 12, f"{text} is too small to read"
            for other, left, top, wide, high, *_ in boxes[:i]:
                apart = (
                    x >= left + wide or left >= x + width or y >= top + high or top >= y + height
                )
                assert apart, f"{text} and {other} overlap"


def test_every_epsilon_that_was_computed_has_a_tick(opened):
    lines = opened.eval_on_selector_all("[data-tick]", "all => all.map(one => one.dataset.tick)")
    assert lines == ["0.02", "1", "4"]
    texts = opened.eval_on_selector_all(
        '#chart text[text-anchor="middle"]', "all => all.map(one => one.textContent)"
    )
    assert texts == ["0.02", "1", "4", "epsilon"]


def test_it_is_used_by_keyboard_and_read_by_labels(opened, grid):
    opened.get_by_label("Coefficient").focus()
    opened.keyboard.press("ArrowDown")
    term = opened.eval_on_selector("#term", "select => select.value")
    assert term == "z"
    opened.keyboard.press("Tab")
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("Tab")
    opened.keyboard.press("End")
    rows, width = opened.get_by_label("Number of rows"), opened.get_by_role("slider", name="Bounds")
    assert rows.get_attribute("aria-valuetext") == "2,000"
    assert width.get_attribute("aria-valuetext") == "3 times as wide"
    assert readings(opened) == pytest.approx(expected(grid, 2000, 3, "z"), rel=1e-6)
    assert opened.inner_text('[role="status"]') == "Shown: z, 2,000 rows, bounds 3 times as wide."
    assert opened.get_by_role("img", name="Interval width of z against epsilon").count() == 1
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.getAttribute('role')") == "region"


def test_the_table_says_the_same(opened, grid):
    cells = opened.locator("tbody tr").all()
    assert [row.locator("th").inner_text() for row in cells] == ["0.02", "1", "4"]
    for row, epsilon in zip(cells, (0.02, 1, 4), strict=True):
        shown = [cell.inner_text() for cell in row.locator("td").all()]
        frame = grid.plans[1000, 1].frame
        values = frame[(frame["term"] == "x") & frame["epsilon"].isin([epsilon, float("inf")])]
        names = {"inf": "unbounded", "nan": "none"}
        assert shown == [names.get(str(v), f"{float(f'{v:.3g}'):g}") for v in values["width"]]
    assert opened.get_by_role("table").count() == 1


def test_nothing_is_wider_than_the_screen_and_controls_do_not_print(opened):
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    opened.emulate_media(media="print")
    assert not opened.is_visible("form") and opened.is_visible('[role="status"]')
    assert opened.is_visible("#chart") and opened.is_visible("table")
