"""Responses beyond their bounds are seen in released sums; others never are."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.results.show.bounds_reached import (
    note_on_the_ends,
    released_mean,
    responses_at_the_ends,
)

BOUNDS = {"x": (0, 1), "y": (0, 10)}


def fitted(y, method="adassp", formula="y ~ x", **more):
    data = pd.DataFrame({"x": np.linspace(0, 1, len(y)), "y": y, "g": np.arange(len(y)) % 9})
    with dp.testing.insecure_seed(4):
        return dp.dp_ols(formula, data, **{"method": method, "epsilon": 2, "bounds": BOUNDS} | more)


def drawn(share, n=4000):
    """Responses of which a share lies beyond the bounds, at either end."""
    draw = np.random.default_rng(2)
    outside = draw.choice([-500.0, 900.0], n)
    return np.where(draw.random(n) < share, outside, draw.uniform(1, 9, n))


def said(result) -> bool:
    return "outermost" in str(result.summary())


@pytest.mark.parametrize("method", ["adassp", "ssp"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_responses_in_other_units_are_seen(method, neighbors):
    for y in (np.full(4000, 30_000.0), np.full(4000, -2.0), drawn(0.95)):
        result = fitted(y, method, neighbors=neighbors)
        assert responses_at_the_ends(result) > 0.5 and said(result)
        assert said(dp.DPResults.from_json(result.to_json()))


@pytest.mark.parametrize("method", ["adassp", "ssp"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_no_rows_have_no_share(method, neighbors):
    result = fitted(np.empty(0), method, neighbors=neighbors)
    assert responses_at_the_ends(result) <= 1 and "nan" in str(result.summary())


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.8, 1.0])
def test_the_share_is_a_lower_bound(share):
    """Within three standard errors of the noise of each sum: fewer than 1 in 300 runs fail."""
    y = drawn(share)
    assert responses_at_the_ends(fitted(y)) <= np.mean(abs(y - 5) > 4.5)
    assert responses_at_the_ends(fitted(y)) > 0.9 or share < 1


def test_zeros_and_ones_are_no_matter_and_all_of_one_are():
    draw = np.random.default_rng(3)
    unit = {"bounds": {"x": (0, 1), "y": (0, 1)}}
    assert not said(fitted((draw.random(4000) < 0.5).astype(float), **unit))
    assert not said(fitted((draw.random(4000) < 0.2).astype(float), **unit))
    assert said(fitted(np.full(4000, 77.0), **unit))


SILENT = [
    {"formula": "y ~ x | g"},
    {"formula": "y ~ 0 + x"},
    {"formula": "y ~ x + C(g)", "levels": {"g": list(range(9))}},
    {"row_norm": 1.5, "bounds": {"y": (0, 10)}},
    {"bounds": None},
    {"method": "noisy_newton"},
    {"method": "exp_theil_sen"},
]


@pytest.mark.parametrize("more", SILENT, ids=str)
def test_nothing_is_said_where_the_sums_do_not_tell(more):
    assert not said(fitted(np.full(4000, 30_000.0), **more))


def test_noise_is_allowed_for():
    assert not said(fitted(drawn(0.3, 60), epsilon=0.1))


UNIT = {"bounds": {"x": (0, 1), "y": (0, 1)}}


def uniform(low, high):
    return np.random.default_rng(6).uniform(low, high, 4000)


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + C(g)"])
def test_a_response_in_another_unit_is_asked_for_by_every_method(method, formula, enough):
    """Of those without a released mean the prediction in the middle of all ranges tells."""
    if dp.METHODS[method].single_regressor and "C" in formula:
        formula = "y ~ g"
    more = {"formula": formula, "levels": {"g": list(range(9))}} if "C" in formula else {}
    call = {"method": method, "epsilon": 100, **UNIT, **more, **enough(method)}
    call["bounds"] = {**UNIT["bounds"], **({"g": (0, 8)} if formula == "y ~ g" else {})}
    if formula == "y ~ g":
        call["formula"] = formula
    result = fitted(uniform(0.7, 4.3), **call)
    assert result.status in ("ok", "imprecise", "constant", "not_identified"), result.status
    (note,) = note_on_the_ends(result)
    assert "units of the data" in note or "upper end of its declared bounds (0, 1)" in note
    assert not note_on_the_ends(fitted(uniform(0.1, 0.9), **call))


@pytest.mark.parametrize("method", ["adassp", "ssp", "shrunken", "noisy_moments", "by_spread"])
def test_the_released_mean_is_that_of_the_rows_with_its_error(method):
    y, errors = uniform(0, 8), []
    for epsilon in (1, 50):
        result = fitted(y, method, epsilon=epsilon)
        said, mean = released_mean(result)
        assert said == "the released mean of y" and 0 < mean.error < 0.5
        errors.append(abs(mean.value - y.mean()) / mean.error)
    assert max(errors) < 4 and min(errors) > 0


def test_a_rare_outcome_is_a_question_and_noise_none():
    rare = (np.random.default_rng(7).random(4000) < 0.01).astype(float)
    (note,) = note_on_the_ends(fitted(rare, **UNIT))
    assert note.endswith(", unless it is 0 or 1 and nearly always the same")
    (note,) = note_on_the_ends(fitted(rare, "noisy_moments", **UNIT))
    assert "lower end of its declared bounds (0, 1)" in note and "unless it is 0 or 1" in note
    assert not note_on_the_ends(fitted(rare[:60], epsilon=0.1, **UNIT))
    (wide,) = note_on_the_ends(fitted(rare, bounds={"x": (0, 1), "y": (0, 100)}))
    assert wide.endswith("units of the data")


def test_ranges_that_nobody_declared_are_not_asked_for():
    for method in ("adassp", "noisy_newton"):
        assert not note_on_the_ends(fitted(uniform(0.7, 4.3), method, bounds=None))
    estimated_x = fitted(uniform(0.7, 4.3), "noisy_newton", bounds={"y": (0, 1)}, epsilon=20)
    (note,) = note_on_the_ends(estimated_x)
    assert note.startswith("y as predicted in the middle of all ranges")
