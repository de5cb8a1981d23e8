"""Summaries in notebooks: the numbers of the text, as HTML in which names are escaped."""

import pytest

import dpstats as dp
from tests.checks.pages import check_is_safe_and_whole, words

EVIL = "<script>alert('x')</script>"
UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def evil():
    """Rows with a level and a group label that are markup."""
    return dp.simulate.line(2000, seed=1).assign(g=[EVIL, "b"] * 1000, s=["a", EVIL] * 1000)


def fit(data, formula="y ~ x", **more):
    return dp.dp_ols(formula, data, method="adassp", epsilon=8, bounds=UNIT, **more)


def test_a_fit_shows_the_numbers_of_its_summary(evil):
    res = fit(evil, "y ~ x + s", levels={"s": ["a", EVIL]})
    page = res._repr_html_()
    check_is_safe_and_whole(page)
    assert page == res.summary().as_html() == res.summary()._repr_html_()
    text = words(page)
    assert EVIL in text and f"{res.params['x']:.4f}" in text and f"{res.bse['x']:.3f}" in text
    assert all(note in text for note in res.privacy.assumptions)


def test_a_plan_shows_its_tables():
    plan = dp.plan("y ~ x", n=100, method="noisy_moments", epsilon=[1, 2], bounds=UNIT,
                   target_width=1, repetitions=20)  # fmt: skip
    page = plan._repr_html_()
    check_is_safe_and_whole(page)
    text = words(page)
    assert all(note in text for note in plan.notes())
    assert page.count("<table") == 2 and "Forecast of y ~ x for 100 rows" in text


def test_a_plan_of_groups_shows_its_sizes():
    plan = dp.plan("y ~ x", by="g", n=[50, 200], method="noisy_moments", epsilon=1,
                   bounds=UNIT, repetitions=20)  # fmt: skip
    page = plan._repr_html_()
    check_is_safe_and_whole(page)
    text = words(page)
    assert all(note in text for note in plan.notes()) and "50 1 noisy_moments 1" in text
    assert repr(plan.plot).startswith("call .plot(term")


def test_a_budget_shows_what_is_spent_and_what_remains(evil):
    budget = dp.Budget(epsilon=10, delta=1e-5, composition="sum")
    fit(evil, budget=budget)
    page = budget._repr_html_()
    check_is_safe_and_whole(page)
    text = words(page)
    assert "limit 10 1e-05 spent 8 1e-06 remaining in one call 2 9e-06" in text
    assert "calls: 1; composition: sum; neighbours: add_remove" in text
    assert "fixed by the first call" in dp.Budget(epsilon=1)._repr_html_()


def test_a_ledger_shows_the_facts_of_its_summary(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "a.ledger", dataset=EVIL, epsilon=2)
    ledger.allocate("anna", epsilon=1)
    page = ledger._repr_html_()
    check_is_safe_and_whole(page)
    text = words(page)
    assert EVIL in text and "limit epsilon 2, delta 1e-06" in text and "anna" in text
    for line in ledger.summary().splitlines()[1:9]:
        assert line.partition(":")[2].strip() in text
