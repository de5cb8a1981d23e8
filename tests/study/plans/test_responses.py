"""Responses of assumed regressions have the assumed law."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.formula import RFormula
from dpstats.study.kinds import KINDS
from dpstats.study.plans.responses import RESPONSES, Assumed, binary, counts, normal

BOUNDS = {"x": (0, 10), "y": (0, 100), "w": (1, 1000)}
N = 20_000


@pytest.fixture
def rows():
    draw = np.random.default_rng(0)
    labels = pd.Categorical.from_codes(draw.integers(2, size=N), ["a", "b"])
    answer = draw.integers(2, size=N).astype(bool)
    columns = {"x": draw.uniform(0, 10, N), "g": labels, "answer": answer, "y": np.zeros(N),
               "w": np.zeros(N), "state": draw.integers(50, size=N)}  # fmt: skip
    return pd.DataFrame(columns)


def drawn(respond, formula, rows, truth=None, sd=None):
    assumed = Assumed("main", formula, BOUNDS, truth or {}, sd)
    return rows.assign(**respond(assumed, rows, np.random.default_rng(1)))


@pytest.mark.parametrize("formula", ["y ~ x + C(g)", "y ~ x + C(g) | state"])
def test_normal_responses_have_the_assumed_line(rows, formula):
    made = drawn(normal, formula, rows, {"x": 2, "C(g)[T.b]": -3}, 5)
    fit = smf.ols("y ~ x + C(g)", made).fit()
    assert fit.params["x"] == pytest.approx(2, abs=0.06)
    assert fit.params["C(g)[T.b]"] == pytest.approx(-3, abs=0.3)
    assert np.sqrt(fit.scale) == pytest.approx(5, rel=0.03)
    assert made["y"].mean() == pytest.approx(50, abs=0.5) and made["y"].between(0, 100).all()


def test_the_usual_residuals_fill_a_sixth_of_the_range(rows):
    assert drawn(normal, "y ~ x", rows)["y"].std() == pytest.approx(100 / 6, rel=0.03)


@pytest.mark.parametrize("formula", ["np.log(w) ~ x", RFormula("log(w) ~ x"), "I(-w) ~ x"])
def test_a_transformed_response_is_inverted(rows, formula):
    linear = "I" in formula
    made = drawn(normal, formula, rows, {"x": 5 if linear else 0.1}, 50 if linear else 0.3)
    fit = smf.ols("I(-w) ~ x" if linear else "np.log(w) ~ x", made).fit()
    assert fit.params["x"] == pytest.approx(5 if linear else 0.1, rel=0.1)
    assert made["w"].between(1, 1000).all()


def test_what_has_no_inverse_is_refused(rows):
    with pytest.raises(dp.ArgumentError, match=r"cannot invert .*stand-in"):
        drawn(normal, "I((y - 50)**2) ~ x", rows)


def test_truth_values_have_the_assumed_chances(rows):
    logit = drawn(binary, "answer ~ x", rows, {"x": 0.4})
    fit = smf.logit("answer ~ x", logit.assign(answer=logit["answer"].astype(int))).fit(disp=0)
    assert fit.params["x"] == pytest.approx(0.4, abs=0.03)
    assert logit["answer"].astype(int).mean() == pytest.approx(0.5, abs=0.02)
    line = drawn(normal, "answer ~ x", rows, {"x": 0.05})["answer"].astype(int)
    assert np.polyfit(rows["x"], line, 1)[0] == pytest.approx(0.05, abs=0.005)
    assert drawn(binary, "y ~ x", rows)["y"].isin([0, 1]).all()
    labelled = drawn(binary, "g ~ x + answer", rows, {"x": 0.4, "answer[T.True]": 1})["g"]
    assert labelled.cat.categories.tolist() == ["a", "b"]
    assert (labelled == "b")[rows["answer"]].mean() > 0.56 > (labelled == "b").mean() > 0.4


def test_counts_have_the_assumed_means(rows):
    made = drawn(counts, "y ~ x + C(g)", rows, {"x": 0.2, "C(g)[T.b]": -0.5})
    fit = smf.poisson("y ~ x + C(g)", made).fit(disp=0)
    assert fit.params["x"] == pytest.approx(0.2, abs=0.02)
    assert fit.params["C(g)[T.b]"] == pytest.approx(-0.5, abs=0.05)
    assert np.isfinite(drawn(counts, "y ~ x", rows, {"x": 1e6})["y"]).all()


def test_every_response_is_of_a_kind_of_entry():
    assert {*RESPONSES} <= {*KINDS} and "describe" not in RESPONSES


def test_a_column_without_bounds_is_named(rows):
    with pytest.raises(dp.ArgumentError, match="bounds of 'z'"):
        drawn(normal, "y ~ z", rows.assign(z=0.0))
