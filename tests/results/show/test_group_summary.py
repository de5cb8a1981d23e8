"""Summaries of groups in notebooks: labels and values, with names escaped."""

import numpy as np
import pytest

import dpstats as dp
from tests.checks.pages import check_is_safe_and_whole, words

EVIL = "<script>alert('x')</script>"
UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def evil():
    """Rows with a level and a group label that are markup."""
    return dp.simulate.line(2000, seed=1).assign(g=[EVIL, "b"] * 1000, s=["a", EVIL] * 1000)


def fit(data, **more):
    return dp.dp_ols("y ~ x", data, method="adassp", epsilon=8, bounds=UNIT, **more)


def test_groups_show_labels_values_and_notes(evil):
    by = fit(evil, by="g", groups=[EVIL, "b"])
    page = by._repr_html_()
    check_is_safe_and_whole(page)
    text = words(page)
    assert EVIL in text and "2 groups: 2 ok" in text and "adassp" in text
    assert all(f"{value:.4f}" in text for value in np.ravel(by.params))
    assert all(note in text for note in by.privacy.assumptions)


def test_groups_of_several_columns_show_their_labels(evil):
    by = fit(evil, by=["g", "s"], groups=[(EVIL, "a"), ("b", EVIL)])
    check_is_safe_and_whole(by._repr_html_())
