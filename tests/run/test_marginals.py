"""What follows from released distributions: ranges, the scale of the design, what is learned."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.call.arguments import make_request
from dpstats.noise import Noise
from dpstats.run.marginals import with_marginals
from dpstats.run.passes import in_use
from dpstats.testing import insecure_seed


def data(n: int = 20_000) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    x = generator.normal(40, 5, n)
    g = pd.Categorical(generator.choice(list("ab"), n), categories=list("ab"))
    z = generator.lognormal(0, 0.5, n)
    return pd.DataFrame({"x": x, "z": z, "g": g, "y": 3 * x + generator.normal(0, 8, n)})


def requested(formula, table, **more):
    """A request whose distributions are released."""
    call = {"bounds": None, "levels": None, "epsilon": 50, **more}
    request = make_request(
        formula=formula, data=table, method="noisy_newton", delta=None, x_new=None,
        neighbors=None, missing="drop", row_norm=None, options={}, **call,
    )  # fmt: skip
    with insecure_seed(2):
        noise = Noise(request.cost)
        return with_marginals(request, noise, partial(in_use, request)), noise


@pytest.mark.parametrize("low", [-9, 30, 39])
def test_splines_have_their_own_knots_wherever_the_rows_lie(low):
    formula = f"y ~ bs(x, knots=[{low}, 42], lower_bound=-10, upper_bound=45, degree=1)"
    request, _ = requested(formula, data(2000))
    assert len(request.design.names) == 4


@pytest.mark.parametrize("sign", [1, -1])
def test_no_spline_is_refused_for_where_the_rows_lie(sign):
    """Below zero its columns add up to 1, above they do not; the call is charged by then."""
    formula, table = "y ~ bs(np.minimum(x, 0), df=4, include_intercept=True)", data(2000)
    request, _ = requested(formula, table.assign(x=sign * table["x"]))
    assert len(request.design.names) == 5


def test_the_reference_is_near_the_moments_of_the_design():
    table = data()
    request, noise = requested("y ~ x + I(x**2) + g", table)
    reference = request.reference
    columns = np.column_stack([table["x"], table["x"] ** 2])
    np.testing.assert_allclose(reference.center, columns.mean(axis=0), rtol=0.05)
    covariance = reference.root @ reference.root.T
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), columns.std(axis=0), rtol=0.3)
    assert covariance[0, 1] / np.sqrt(np.prod(np.diag(covariance))) > 0.97
    assert abs(reference.y_center - table["y"].mean()) < 0.2 * table["y"].std()
    assert reference.y_scale == pytest.approx(table["y"].std(), rel=0.2)
    spent = sum(event.cost.mu**2 for event in noise.events) / request.cost.mu**2
    assert spent == pytest.approx(request.method.ranges.share)


def test_the_response_is_taken_as_transformed_and_costs_twice_a_regressor():
    table = data()
    request, noise = requested("np.log(z) ~ x", table)
    logs = np.log(table["z"])
    assert abs(request.reference.y_center - logs.mean()) < 0.2 * logs.std()
    parts = {name: 0.0 for name in ("x", "np.log(z)")}
    for event in noise.events:
        parts[event.step.split(" of ")[-1]] += event.cost.mu**2
    assert parts["np.log(z)"] == pytest.approx(2 * parts["x"])


def test_wide_bounds_do_not_widen_the_scale():
    table = data()
    for width in (30, 3000, 3e6):
        bounds = {"x": (40 - width, 40 + width), "y": (120 - 9 * width, 120 + 9 * width)}
        reference = requested("y ~ x", table, bounds=bounds)[0].reference
        assert reference.root[0, 0] == pytest.approx(table["x"].std(), rel=0.3)
        assert reference.y_scale == pytest.approx(table["y"].std(), rel=0.3)


def test_ranges_of_variables_without_bounds_are_estimated_and_others_stay():
    request, _ = requested("y ~ x + z", data(), bounds={"x": (0, 90)})
    assert request.estimated == ("y", "z") and request.unbounded == ()
    assert (request.schema["x"].low, request.schema["x"].high) == (0, 90)
    assert 0 <= request.schema["z"].low < 1 and 2 < request.schema["z"].high < 40


@pytest.mark.parametrize("formula", ["y ~ np.log(x)", "y ~ center(np.sqrt(x)) + x:g"])
def test_a_formula_without_a_value_on_the_released_range_is_no_error(formula):
    table = data(4000).assign(x=lambda d: -d["x"])
    request, _ = requested(formula, table)
    batch = {"y": np.array([1.0]), "x": np.array([-9.0]), "g": np.array([0])}
    assert np.isfinite(request.design.compact_rows(batch).numbers).all()
    assert np.isfinite(request.reference.root).all()


@pytest.mark.parametrize("power", [1, 4, 12])
def test_the_scale_of_large_powers_is_a_number(power):
    table = data(4000).assign(x=lambda d: d["x"] * 1e12)
    reference = requested(f"y ~ I(x**{power})", table)[0].reference
    assert np.isfinite([*reference.center, *reference.root.ravel()]).all()
    assert np.isfinite(reference.y_scale) and (np.diag(reference.root) > 0).all()


def test_predictions_at_a_quarter_where_a_term_has_no_value_have_a_reason():
    """Of few rows two quantiles are released, and a range that reaches below zero."""
    table = data(1000).assign(x=np.exp(np.random.default_rng(1).normal(size=1000)))
    with insecure_seed(3):
        result = dp.dp_ols("y ~ np.log(x)", table, method="noisy_newton", epsilon=1)
    assert np.isnan(result.p25) and "x_new" in result.reasons["predictions"]
    assert dp.DPResults.from_json(result.to_json()) == result


@pytest.mark.parametrize("term", ["np.log(x)", "center(np.log(x))"])
def test_a_function_without_values_on_the_released_range_still_predicts(term):
    """What was spent must not end in a result that cannot be asked."""
    rng = np.random.default_rng(0)
    x = -rng.uniform(5, 9, 2000)
    data = {"x": x, "z": rng.normal(size=2000), "y": x + rng.normal(size=2000)}
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(f"y ~ {term} + z", data, method="noisy_newton", epsilon=4)
    assert np.isfinite(fit.predict({"x": [0.5, 2.0], "z": [0.0, 1.0]})).all()
    assert dp.DPResults.from_json(fit.to_json()) == fit
    assert fit.schema["z"].low < -1 and fit.schema["z"].high > 1


def test_a_note_names_long_tails_that_bounds_leave_room_for():
    """Seeds are fixed, and tails far from those of normal columns."""
    table = data().assign(w=np.random.default_rng(5).lognormal(0, 1.2, 20_000))
    formula = "y ~ x + z + w"
    assert "long tail of z, w:" in requested(formula, table)[0].plan
    assert "long tail of z, w:" in requested(formula, table, bounds={"w": (0, 200)})[0].plan
    assert "long tail of z:" in requested(formula, table, bounds={"w": (0, 6)})[0].plan
    assert "long tail" not in requested("y ~ x + np.log(w)", table)[0].plan
