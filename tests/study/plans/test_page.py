"""The page of a study's plan: its numbers are the plan's, and a browser shows them."""

import json
import re

import numpy as np
import pytest

from tests.checks.browser import SIZES, chromium, tab_of
from tests.checks.pages import Links
from tests.checks.study_plans import PAPER, made


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """At epsilon 0.2 intervals are hidden; a name has letters that HTML would read."""
    text = PAPER.replace('name = "main"', 'name = "</script><b>"')
    text = text.replace("main = ", '"</script><b>" = ')
    folder = tmp_path_factory.mktemp("page")
    return made(folder, text, n=700, epsilon=[0.2, 8], repetitions=1)


@pytest.fixture(scope="module")
def file(plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "plan.html"
    assert plan.to_html(path) == path.read_text(encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def opened(request, browser, file):
    with tab_of(browser, request.param, file) as tab:
        yield tab


def content(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json".*?>(.*?)</script>', text)[1])


def test_the_page_is_whole_and_loads_nothing(file):
    text = file.read_text()
    assert Links(text).found == ["data:,"] and "{{" not in text and "</script><b>" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_the_numbers_are_those_of_the_plan(plan, file):
    held = content(file.read_text())
    assert (held["own"], held["tables"]) == (2, ["Table 1", "</script><b>", "smoking"])
    frame = plan.frame.set_index(["epsilon", "table", "term"])
    seen = set()
    for position in held["positions"]:
        assert position["promise"] == plan.promise(position["epsilon"])
        for table in position["tables"]:
            for term, *shown in table["terms"]:
                row = frame.loc[(position["epsilon"], table["name"], term)]
                for found, name in zip(shown, ("width", "nonprivate_width", "ratio"), strict=True):
                    value = row[name]
                    assert found == {"inf": "hidden", "nan": None}.get(f"{value}", value)
                    seen.add(type(found))
            assert (table["share"], table["epsilon"]) == (row["share"], row["table_epsilon"])
            median = plan.tables.loc[table["name"], position["epsilon"]]
            assert table["median"] == ("hidden" if np.isinf(median) else median)
    assert {float, str} <= seen


def test_the_slider_moves_the_dots_to_the_ratios(opened, plan):
    slider = opened.get_by_role("slider", name="Epsilon")
    slider.focus()
    for key, epsilon in (("Home", 0.2), ("ArrowRight", 2), ("End", 8)):
        opened.keyboard.press(key)
        own = plan.frame.query("epsilon == @epsilon")
        ratios = own["ratio"][np.isfinite(own["ratio"])]
        dots = opened.eval_on_selector_all(".dot", "all => all.map(one => +one.dataset.ratio)")
        assert sorted(dots) == pytest.approx(sorted(ratios))
        said = slider.get_attribute("aria-valuetext")
        assert said == (f"{epsilon:g} (the study file's)" if epsilon == 2 else f"{epsilon:g}")
        assert opened.inner_text("#promise") == plan.promise(epsilon)
        assert opened.inner_text("#state").startswith(f"At epsilon {epsilon:g} half of the")
        assert opened.get_by_role("img", name=f"Widths of intervals at epsilon {epsilon:g}").count()


def test_dots_stand_where_the_axis_says(opened):
    """On an axis of logarithms: its labels and the dots agree."""
    ticks, dots = opened.evaluate("""() => [
      [...document.querySelectorAll('#chart text[text-anchor="middle"]')]
        .filter(text => Number(text.textContent) >= 1 && text.getAttribute('y') > 150)
        .map(text => [Math.log(Number(text.textContent)), Number(text.getAttribute('x'))]),
      [...document.querySelectorAll('.dot')]
        .map(dot => [Math.log(dot.dataset.ratio), Number(dot.getAttribute('cx'))]),
    ]""")
    slope, at_0 = np.polyfit(*np.array(ticks).T, 1)
    assert len(ticks) > 2 and len(dots) > 5
    for log_ratio, x in dots:
        assert x == pytest.approx(at_0 + slope * log_ratio, abs=1e-6)


def test_the_tables_follow_the_controls(opened, plan):
    rows = opened.locator("#tables tbody tr").all()
    assert [row.locator("th").inner_text() for row in rows] == list(plan.tables.index)
    opened.select_option("#table", label="smoking")
    assert opened.inner_text("#terms-caption") == "smoking at epsilon 2"
    own = plan.frame.query("table == 'smoking' and epsilon == 2").set_index("term")
    for row in opened.locator("#terms tbody tr").all():
        ratio = row.locator("td").nth(2).inner_text()
        assert ratio == f"{own.loc[row.locator('th').inner_text(), 'ratio']:.2f}"
    assert opened.locator("#needed tbody tr").count() == 3


def test_nothing_is_wider_than_the_screen_and_texts_stand_apart(opened):
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = opened.evaluate("""() => [...document.querySelectorAll('#chart text')]
      .filter(text => text.textContent)
      .map(text => [text.textContent, ...Object.values(text.getBoundingClientRect().toJSON())])
    """)
    assert len(boxes) > 6
    for i, (text, x, y, width, height, *_) in enumerate(boxes):
        assert height >= 12, f"{text} is too small to read"
        for other, left, top, wide, high, *_ in boxes[:i]:
            apart = x >= left + wide or left >= x + width or y >= top + high or top >= y + height
            assert apart, f"{text} and {other} overlap"
    opened.emulate_media(media="print")
    assert not opened.is_visible("form") and opened.is_visible("#tables")
