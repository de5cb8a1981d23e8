"""Equal calls have equal descriptions, and no two different ones: a store answers by them."""

import json
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpstats.call.facts import plain
from tests.checks.facts import ROLES, ROWS, check_kinds_are_told_apart, facts


@pytest.fixture
def people():
    """Columns of which none but ``number`` has a type: what they are a call declares."""
    texts = [str(i % 3) for i in range(ROWS)]
    return {name: list(texts) for name in ("y", "x", "w", "g")} | {"number": np.arange(ROWS) % 3}


@pytest.mark.parametrize("role", ROLES)
def test_what_types_declares_of_any_column_is_another_call(people, role):
    check_kinds_are_told_apart(people, ROLES[role])


def test_the_categories_of_a_by_column_are_part_of_the_call(people):
    """The groups of a release are its categories, whichever labels occur."""
    said = set()
    for labels in (["a", "b"], ["b", "a"], ["a", "b", "c"], ["a", "b", None]):
        known = [label for label in labels if label]
        data = people | {"g": pd.Categorical(["a"] * ROWS, known, ordered=labels[-1] is None)}
        said.add(facts(data, by="g"))
    assert len(said) == 4


def test_levels_of_different_types_that_read_alike_are_told_apart():
    day = datetime(2020, 1, 1)
    alike = [
        date(2020, 1, 1), "date 2020-01-01", "2020-01-01", day, pd.Timestamp(day), str(day),
        np.datetime64("2020-01-01"), np.datetime64(day, "ns"), pd.Period("2020-01", "M"),
        pd.Period("2020-01", "D"), 1, True, "1", Decimal("1"), float("nan"), "nan", float("inf"),
        "inf", None, "None", (1,), "[1]", pd.Interval(0, 1), pd.Interval(0, 1, closed="left"),
    ]  # fmt: skip
    assert len({json.dumps(plain(label)) for label in alike}) == len(alike)
    assert plain(np.float64(0.5)) == 0.5 and plain(np.array([1, 2])) == [1, 2]
    assert plain(np.bool_(True)) is True and plain(np.str_("a")) == "a"


BASE = {"formula": "y ~ x + z", "method": "adassp", "bounds": {c: (0, 1) for c in "yxz"}}
OTHER = {
    "formula": "z ~ x + y", "method": "ssp", "epsilon": 2.0, "delta": 1e-5, "by": "g",
    "bounds": {"x": (0, 1), "y": (0, 1), "z": (0, 2)}, "x_new": {"x": [0.5], "z": [0.5]},
    "neighbors": "replace_one", "row_norm": 2.0, "subset": "w > 0",
    "unit": "p", "cov_type": "HC1",
}  # fmt: skip
ALONE = {"formula": "y ~ x", "method": "gd_approx"}
PAIRS = {
    "select": {"k": 1, "select": ["lasso", "kendall"], "neighbors": "replace_one"},
    "companion": {**ALONE, "companion": ["ssp", "adassp"]},
    "companion_share": {**ALONE, "companion": "adassp", "companion_share": [0.5, 0.3]},
    "k": {"select": "lasso", "k": [1, 2], "formula": "y ~ x + z + w", "bounds": {}},
    "select_share": {"select": "lasso", "k": 1, "select_share": [0.1, 0.2]},
    "weights": {"weights": ["w", "p"], "bounds": {c: (0, 1) for c in "yxzwp"}},
    "trim_weights": {"weights": "w", "trim_weights": [0.5, 0.6],
                     "bounds": {c: (0, 1) for c in "yxzw"}},
    "max_rows": {"unit": "p", "max_rows": [1, 2]},
    "max_groups": {"unit": "p", "by": "g", "max_groups": [1, 2]},
    "cluster": {"method": "noisy_newton", "cov_type": "cluster", "cluster": ["g", "p"]},
    "groups": {"by": "g", "groups": [["a"], ["b"], "present"]},
    "levels": {"formula": "y ~ g", "levels": [{"g": ["a", "b"]}, {"g": ["b", "a"]}]},
}  # fmt: skip


@pytest.fixture
def typed():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({name: draw.uniform(size=ROWS) for name in ("x", "y", "z", "w")})
    return frame.assign(p=np.arange(ROWS) // 2, g=["a", "b"] * (ROWS // 2)).astype({"g": "string"})


@pytest.mark.parametrize("name", OTHER)
def test_an_argument_that_changes_makes_another_call(typed, name):
    assert facts(typed, **BASE) != facts(typed, **BASE | {name: OTHER[name]})


@pytest.mark.parametrize("name", PAIRS)
def test_an_argument_beside_others_that_changes_makes_another_call(typed, name):
    call = BASE | PAIRS[name]
    said = [facts(typed, **call | {name: value}) for value in PAIRS[name][name]]
    assert len({*said}) == len(said) > 1


def test_what_the_release_does_not_depend_on_makes_no_other_call(typed):
    more = {"n_jobs": 1, "progress": False, "bounds": BASE["bounds"] | {"w": (0, 9)}}
    assert facts(typed, **BASE) == facts(typed, **BASE | more)
    assert facts(typed, **BASE) == facts(dict(typed), **BASE)
