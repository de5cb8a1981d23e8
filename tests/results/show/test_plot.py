"""Pictures: what they show, say and leave out."""

import importlib.util
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.results.show.plot import has_line
from dpstats.schema import Numeric
from tests.checks.plots import BOUNDS, FORMULA, drawn, fit, legend


@pytest.fixture(scope="module")
def people():
    return dp.datasets.oi_microdata()


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_line_with_interval(people):
    result = fit(people)
    ax = result.plot()
    drawn(ax)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, result.predict({"parent_rank": x}))
    assert (x[0], x[-1]) == (0, 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("parent_rank", "kid_rank")
    assert legend(ax) == ["private fit", "95% interval, privacy noise included", "p25 and p75"]


def test_interval_is_that_of_the_prediction(people):
    result = fit(people)
    band = result.plot().collections[0].get_paths()[0].vertices
    at_zero = band[band[:, 0] == 0, 1]
    low, high = result.conf_int().loc["Intercept"]
    assert at_zero.min() == pytest.approx(low) and at_zero.max() == pytest.approx(high)


def test_line_without_standard_errors_has_no_interval(people):
    ax = fit(people, method="exp_theil_sen").plot()
    assert legend(ax) == ["private fit", "p25 and p75"]


def test_points_labelled_p25_elsewhere_are_not_drawn_at_the_quarters(people):
    elsewhere = pd.DataFrame({"parent_rank": [0.1, 0.9]}, index=["p25", "p75"])
    ax = fit(people, x_new=elsewhere).plot()
    assert "p25 and p75" not in legend(ax)


def test_curve_and_transformed_response(people):
    ax = fit(people, "np.sqrt(kid_rank) ~ parent_rank + I(parent_rank**2)").plot()
    drawn(ax)
    assert ax.get_ylabel() == "np.sqrt(kid_rank)"


def test_title_says_that_seeded_noise_is_not_private(people):
    assert "NOT PRIVATE" in fit(people).plot().get_title()
    result = dp.dp_ols(FORMULA, people, method="adassp", epsilon=1, bounds=BOUNDS)
    assert result.plot().get_title() == f"{FORMULA}\nadassp, epsilon 1, delta 1e-06"


def test_failed_fit_says_so(people):
    ax = fit(people.head(3), method="boosted_adassp", epsilon=0.1, bounds=None).plot()
    assert ax.texts[0].get_text() == "nothing to draw: status no_range"


def test_several_regressors_are_drawn_by_their_coefficients(people):
    result = fit(people, "kid_rank ~ parent_rank + cell", bounds=BOUNDS | {"cell": (1, 111)})
    assert not has_line(result)
    ax = result.plot()
    drawn(ax)
    assert ax.get_yticks().size == 3 and ax.get_xlabel() == "estimate, 95% interval"


def test_a_line_needs_a_regressor_with_a_range_and_no_absorbed_effect(people):
    assert has_line(fit(people))
    for more in (
        {"formula": "kid_rank ~ parent_rank | cell"},
        {"formula": "kid_rank ~ 1", "bounds": {"kid_rank": (0, 1)}},
    ):
        result = fit(people, **more)
        assert not has_line(result)
        drawn(result.plot())


def test_given_axes_are_used(people):
    _, ax = plt.subplots()
    assert fit(people).plot(ax) is ax


@pytest.mark.parametrize("name", ["a$^$", "x $y$ {"])
def test_a_name_is_no_formula_in_any_picture(name, tmp_path):
    line = dp.simulate.line(500, seed=1).rename(columns={"x": name})
    bounds, formula = {name: (0, 1), "y": (0, 1)}, f"y ~ Q('{name}')"
    one = fit(line, formula, bounds=bounds)
    by = fit(line.assign(g=["a", "b"] * 250), formula, bounds=bounds, by="g", groups=["a", "b"])
    plan = dp.plan(formula, n=500, bounds=bounds, methods=["adassp"], epsilon=[1], repetitions=20)
    ledger = dp.Ledger.create(tmp_path / "f.ledger", dataset=name, epsilon=1)
    shown = [one.plot(), by.plot(), plan.plot(), plan.plot(term=f"Q('{name}')"), ledger.plot()]
    for ax in shown[:-1]:
        drawn(ax)
    shown[-1].figure.savefig(tmp_path / "ledger.png")
    texts = [text for ax in shown for text in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    plain = [text._preprocess_math(text.get_text()) for text in texts]
    assert sum(name in text for text, _ in plain) >= 7 and not any(math for _, math in plain)
    if importlib.util.find_spec("geopandas"):
        from tests.checks.plots import squares

        bar = by.map(squares(["a", "b"], "g"), f"Q('{name}')").figure.axes[-1]
        drawn(bar)


def test_a_curve_is_drawn_where_its_terms_have_values():
    """A released range may reach below zero, where a logarithm has no value."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"x": rng.uniform(0, 1, 400), "y": rng.normal(size=400)})
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ np.log(x)", rows, epsilon=1)
    range_, ax = result.schema["x"], result.plot()
    x, y = ax.lines[0].get_data()
    assert range_.low < 0 < x[0] < x[-1] == range_.high and np.isfinite(y).all()
    below = replace(result, schema={**result.schema, "x": Numeric(-9.0, -8.0)})
    assert below.plot().texts[0].get_text().startswith("nothing to draw")
