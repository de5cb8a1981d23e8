"""Results speak statsmodels, say why something is NaN, and go through JSON unchanged."""

import dataclasses
import inspect
import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.regression.linear_model import RegressionResults

import dpstats as dp
from dpstats.schema import UNLIMITED, Numeric

UNIT = {"x": (0, 1), "y": (0, 1)}
WIDE = [name for name, entry in dp.METHODS.items() if not entry.single_regressor]
RICH = {
    "formula": "np.log1p(y) ~ x * C(kind) + flag + C(size) + I(z**2) + center(z):x",
    "bounds": {"y": (-0.5, 3), "x": (0, 1), "z": (-2, 3), "I(z**2)": (0, 4)},
    "levels": {"kind": ["u", "v"], "size": [1, 2, 4]},
}


def words(text) -> str:
    """A text in one line."""
    return " ".join(str(text).split())


def squeezed(text) -> str:
    """A text without white space, so that breaks after hyphens do not matter."""
    return "".join(str(text).split())


@pytest.fixture
def rich(line):
    """The table with a bool, a coded number and a column of another range."""
    more = {"flag": line["x"] > 0.5, "size": [(1, 2, 4)[i % 3] for i in range(len(line))]}
    return line.assign(z=line["z"] * 5 - 2, **more)


@pytest.fixture
def exact(fit, line):
    """A fit with standard errors: plenty of epsilon and declared bounds."""
    with dp.testing.insecure_seed(1):
        return fit(line, "adassp", epsilon=100)


def outcomes(fit, line, method) -> list:
    """Results of every status that the method can be made to end in."""
    no_x = line.assign(x=0.5)
    results = []
    for seed in range(2):
        with dp.testing.insecure_seed(seed):
            results += [fit(line, method), fit(no_x, method, epsilon=0.2), fit(line[:1], method)]
            results += [fit(line, method, bounds=None, epsilon=eps) for eps in (0.01, 50)]
    return results


def test_names_and_signatures_are_those_of_statsmodels(exact, line):
    ols = smf.ols("y ~ x", line).fit()
    for name in ("params", "bse", "tvalues", "pvalues"):
        assert getattr(exact, name).index.equals(getattr(ols, name).index), name
        assert isinstance(getattr(exact, name), pd.Series)
    assert exact.conf_int().index.equals(ols.conf_int().index)
    assert exact.conf_int().columns.equals(ols.conf_int().columns)
    assert exact.cov_params().index.equals(ols.cov_params().index)
    assert exact.cov_params().columns.equals(ols.cov_params().columns)
    assert exact.predict(line[:3]).index.equals(ols.predict(line[:3]).index)


@pytest.mark.parametrize("name", ["conf_int", "cov_params", "predict", "summary"])
def test_methods_take_what_statsmodels_takes(name):
    ours = inspect.signature(getattr(dp.DPResults, name)).parameters
    theirs = inspect.signature(getattr(RegressionResults, name)).parameters
    for parameter in set(ours) & set(theirs) - {"self"}:
        assert ours[parameter].default == theirs[parameter].default
    assert inspect.signature(getattr(dp.DPResults, name)).bind("self")  # nothing else is required
    if name in ("conf_int", "summary"):
        assert ours["alpha"].default == 0.05


def test_the_columns_are_those_of_the_formula(fit, rich):
    result = fit(rich, "adassp", **RICH)
    ols = smf.ols(RICH["formula"], rich.assign(y=rich["y"] + 1)).fit()
    assert list(result.params.index) == list(ols.params.index)


def test_inference_follows_from_the_covariance(exact):
    errors = np.sqrt(np.diag(exact.cov_params()))
    np.testing.assert_allclose(exact.bse, errors)
    np.testing.assert_allclose(exact.tvalues, exact.params / errors)
    wide, narrow = exact.conf_int(0.01), exact.conf_int(alpha=0.2)
    assert (wide[0] < narrow[0]).all() and (narrow[1] < wide[1]).all()
    np.testing.assert_allclose((wide[0] + wide[1]) / 2, exact.params)
    np.testing.assert_allclose(exact.conf_int()[1] - exact.params, 1.959964 * errors, rtol=1e-6)
    assert ((exact.pvalues >= 0) & (exact.pvalues <= 1)).all()


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan")])
def test_alpha_is_a_probability(exact, alpha):
    for method in (exact.conf_int, exact.summary):
        with pytest.raises(dp.ArgumentError, match=r"expected alpha in \(0, 1\)"):
            method(alpha)


def test_a_range_that_was_not_released_is_not_shown(fit):
    with dp.testing.insecure_seed(0):
        result = fit(
            dp.simulate.line(20, seed=1), "boosted_adassp", bounds={"y": (0, 1)}, epsilon=0.01
        )
    assert result.status == "no_range"
    assert result.schema == {"y": Numeric(0, 1), "x": UNLIMITED}
    assert np.isnan(result.predict({"x": [0.5]})).all()


def unexplained(result) -> list:
    """Attributes with a NaN that have no reason, or whose reason the summary leaves out."""
    quantities = {
        "params": [result.params],
        "predictions": [result.predictions],
        "bse": [result.bse, result.tvalues, result.pvalues, result.conf_int()],
        **{
            name: [result.fit_statistics.loc[[name], "estimate"]]
            for name in ("rsquared", "rsquared_adj", "scale")
        },
    }
    quantities["bse"].append(result.cov_params())
    printed = squeezed(result.summary())
    return [
        name
        for name, values in quantities.items()
        if any(np.isnan(part.to_numpy()).any() for part in values)
        and squeezed(result.reasons.get(name, "no reason")) not in printed
    ]


def test_every_nan_has_a_reason_in_the_summary(method, fit, line):
    for result in outcomes(fit, line, method):
        assert not unexplained(result), (result.status, result.reasons)
        released = ("ok", "imprecise", "not_identified", "constant")
        assert result.status in released or np.isnan(result.params).all()
        assert f"Status: {result.status}" in words(result.summary())


def test_one_point_gives_no_line_and_says_so(fit, line):
    result = fit(line, "exp_theil_sen", x_new=0.5)
    assert np.isnan(result.params).all() and np.isfinite(result.predictions).all()
    assert "ask for two different x_new" in result.reasons["params"]
    assert not unexplained(result)


def test_the_summary_warns_of_a_guarantee_that_says_little(fit, line):
    """So do the summaries of groups and the answers to R."""
    call = {"epsilon": 50, "delta": 0.01}
    for more in ({}, {"by": "area"}):
        said = squeezed(str(fit(line, "adassp", **call, **more).summary()))
        assert squeezed("caution: epsilon = 50 is large") in said
        assert squeezed("caution: delta = 0.01 is large") in said
    assert "caution" not in str(fit(line, "adassp").summary())


def test_the_summary_has_the_tables_of_statsmodels_and_a_privacy_block(method, fit, line, promise):
    result = fit(line, method, epsilon=2)
    printed = words(result.summary())
    assert str(result.summary()) == repr(result)
    assert "Dep. Variable: y R-squared: " in printed
    assert f"Method: {method} Adj. R-squared: " in printed and "Private: yes" in printed
    assert f"Epsilon: {promise(method, 2)[0]:g} Df Residuals: " in printed
    assert "coef std err z P>|z| [0.025 0.975]" in printed
    assert "[0.05 0.95]" in words(result.summary(alpha=0.1))
    assert "privacy: step mechanism sensitivity scale share" in printed
    assert all(event.step in printed for event in result.privacy.events)
    assert all(squeezed(said) in squeezed(printed) for said in result.privacy.assumptions)
    assert "prediction" in printed and "p25" in printed
    nobs = "private" if np.isnan(result.nobs_noisy) else f"{result.nobs_noisy:.0f}"
    assert f"No. Observations: {nobs}" in printed
    order = ["Epsilon", "coef", "prediction", "privacy: step", "Notes: [1]"]
    assert sorted(order, key=printed.index) == order


def test_the_summary_renders_in_every_format(method, fit, line):
    summary = fit(line, method).summary()
    for text in (summary.as_text(), summary.as_html(), summary.as_latex(), summary.as_csv()):
        assert "Intercept" in text and "Epsilon" in text and "differentially private" in text


def test_coefficients_in_the_summary_are_the_released_ones(exact):
    rows = str(exact.summary()).splitlines()
    slope = next(row.split() for row in rows if row.startswith("x "))
    assert slope[1] == f"{exact.params['x']:.4f}"
    assert slope[2] == f"{exact.bse['x']:.3f}"


STAMP = "insecure_seed"


def test_what_is_seeded_says_so_wherever_it_prints(method, fit, line):
    with dp.testing.insecure_seed(1):
        result = fit(line, method)
        groups = fit(line, method, by="area", groups=["a0", "a1"])
        empty = fit(line[:0], method, by="area", groups=["a0"])
    summary = result.summary()
    for text in (summary, summary.as_html(), summary.extra_txt, groups.summary(), groups, empty):
        assert STAMP in words(text) and "private with epsilon" not in words(text)
    assert "Private: NO (seeded noise)" in words(summary)
    for one in (result, groups, empty):
        assert one.privacy.private is False and "private=False" in repr(one.privacy)
    assert json.loads(result.to_json())["privacy"]["private"] is False
    assert STAMP in words(dp.DPResults.from_json(result.to_json()).summary())


def test_a_seeded_release_of_no_group_says_so_too(fit, line):
    with dp.testing.insecure_seed(1):
        none = fit(line[:0], "noisy_stats", by="area")
    assert len(none) == 0 and none.privacy.private is False and STAMP in words(none)


def test_what_is_not_seeded_does_not(method, fit, line):
    with dp.testing.insecure_seed(1):
        pass
    result, groups = fit(line, method), fit(line, method, by="area", groups=["a0", "a1"])
    for one in (result, groups):
        assert one.privacy.private is True
        assert STAMP not in words(one) and "differentially private with epsilon" in words(one)


def test_plots_are_stamped(method, fit, line):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for seeded in (False, True):
        with dp.testing.insecure_seed(1) if seeded else matplotlib.rc_context():
            results = [fit(line, method), fit(line, method, by="area", groups=["a0", "a1"])]
        for result in results:
            axes = result.plot()
            texts = axes.figure.findobj(matplotlib.text.Text)
            assert any("NOT PRIVATE" in text.get_text().upper() for text in texts) == seeded
        matplotlib.pyplot.close("all")


def attributes(result) -> dict:
    """Every public value of a result, for comparison."""
    names = ["formula", "method", "status", "names", "points", "nobs", "schema", "selected"]
    series = ["params", "predictions", "bse", "tvalues", "pvalues"]
    plain = {name: getattr(result, name) for name in [*names, "term_bounds", "reasons", "privacy"]}
    frames = {name: getattr(result, name).to_dict() for name in series}
    tables = {"cov": result.cov_params().to_dict(), "interval": result.conf_int().to_dict()}
    return {name: repr(value) for name, value in (plain | frames | tables).items()}


def test_json_restores_every_outcome(method, fit, line):
    more = {"formula": "y ~ x + z", "bounds": UNIT | {"z": (0, 1)}, "select": "kendall", "k": 1}
    for result in [*outcomes(fit, line, method)[:5], fit(line, method, **more)]:
        restored = dp.DPResults.from_json(result.to_json())
        assert attributes(restored) == attributes(result)
        assert repr(restored) == repr(result)
        assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.parametrize("name", WIDE)
def test_json_restores_levels_and_bounds_of_terms(name, fit, rich):
    result = fit(rich, name, **RICH)
    restored = dp.DPResults.from_json(result.to_json())
    assert attributes(restored) == attributes(result)
    assert restored.schema["size"].levels == (1, 2, 4)
    assert restored.schema["flag"].levels == (False, True)
    assert restored.term_bounds == {"I(z**2)": (0.0, 4.0)}
    public = rich[["x", "kind", "flag", "size", "z"]][:7]
    pd.testing.assert_series_equal(restored.predict(public), result.predict(public))


def test_the_covariance_type_is_read_and_not_inferred(line):
    """A stored type counts whatever evidence is stored beside it."""
    call = {"method": "adassp", "epsilon": 8, "bounds": UNIT, "cov_type": "HC1"}
    content = dp.dp_ols("y ~ x", line, **call).to_dict()
    restored = dp.DPResults.from_dict({**content, "cov_type": "nonrobust"})
    assert restored.cov_type == "nonrobust"


@pytest.mark.parametrize(
    "levels", [list(np.arange(1, 5)), [np.int8(1), np.int64(2), 4.0], [1.0, 2, 4]]
)
def test_json_takes_levels_from_numpy(fit, rich, levels):
    result = fit(
        rich, "adassp", formula="y ~ C(size)", bounds={"y": (0, 1)}, levels={"size": levels}
    )
    restored = dp.DPResults.from_json(result.to_json())
    assert list(restored.schema["size"].levels) == levels
    assert restored.params.equals(result.params)


def test_a_restored_result_equals_the_first(exact):
    assert dp.DPResults.from_json(exact.to_json()) == exact


def without(*keys) -> str:
    """JSON of a result from which something is taken away."""
    data = dp.simulate.line(50, seed=1)
    content = dp.dp_ols("y ~ x", data, method="noisy_stats", epsilon=9, bounds=UNIT).to_dict()
    part = content
    for key in keys[:-1]:
        part = part[key]
    del part[keys[-1]]
    return json.dumps(content)


GARBAGE = ["", "nonsense", "{}", "[]", "3", "null", '{"params": {}}']


@pytest.mark.parametrize("text", GARBAGE)
def test_text_that_is_no_result_is_refused(text):
    with pytest.raises(dp.ArgumentError, match="to_json"):
        dp.DPResults.from_json(text)


@pytest.mark.parametrize(
    "keys", [["params"], ["privacy", "limit"], ["schema"], ["formula"]], ids=str
)
def test_a_result_with_a_part_missing_is_refused(keys):
    with pytest.raises(dp.ArgumentError, match="to_json"):
        dp.DPResults.from_json(without(*keys))


@pytest.mark.parametrize("by", [None, "area"])
@pytest.mark.parametrize("levels", [["a"], ["b", "a"], ["a", "b", "c"]], ids=str)
def test_levels_that_the_coefficients_are_not_of_are_refused(line, levels, by):
    """Predictions would be of other levels, or fail."""
    people = line.assign(g=pd.Categorical(["a", "b"] * (len(line) // 2)), area="everywhere")
    more = {} if by is None else {"groups": ["everywhere"]}
    fit = dp.dp_ols("y ~ x + g", people, epsilon=9, bounds=UNIT, method="adassp", by=by, **more)
    content = fit.to_dict()
    assert type(fit).from_dict(content) == fit
    content["schema"]["g"]["levels"] = levels
    with pytest.raises(dp.ArgumentError, match="^expected .* schema, whose .* as it was written$"):
        type(fit).from_dict(content)


def test_a_formula_in_json_runs_no_code(exact):
    content = exact.to_dict() | {"formula": "y ~ __import__('os').getcwd()"}
    with pytest.raises(dp.FormulaError):
        dp.DPResults.from_dict(content).predict({"x": [0.5]})


@pytest.mark.parametrize("method", ["auto", "gd_pure", "exp_theil_sen"])
def test_predictions_keep_to_the_declared_bounds_of_the_response(method):
    frame, beyond = dp.simulate.line(200, seed=1), 0
    new = pd.DataFrame({"x": [0.25, 0.75]}, ["p25", "p75"])
    for seed in range(12):
        with dp.testing.insecure_seed(seed):
            result = dp.dp_ols(
                "y ~ x", frame, method=method, epsilon=0.2, bounds={"x": (0, 1), "y": (0, 1)}
            )
        line = result.design().predictors(new) @ result.params.to_numpy()
        beyond += int((line < -0.01).any() or (line > 1.01).any())
        for table in (result.predict(new, interval=True), result.prediction_intervals()):
            assert table["mean"].dropna().between(0, 1).all()
            low, high = table["mean_ci_lower"], table["mean_ci_upper"]
            assert (~np.isfinite(low) | (low.between(0, 1) & (low <= table["mean"]))).all()
            assert (~np.isfinite(high) | (high.between(0, 1) & (high >= table["mean"]))).all()
        np.testing.assert_equal(result.p75, result.predictions["p75"])
        again = dp.DPResults.from_json(result.to_json())
        assert again.predict(new).equals(result.predict(new))
    assert beyond > 0


@pytest.mark.parametrize("by", [None, "area"])
def test_an_interval_reaches_to_a_prediction_that_ends_where_the_response_is_seen(by):
    frame = dp.simulate.line(4000, seed=1).assign(area=["a", "b"] * 2000)
    frame = frame.astype({"area": "category"})
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", frame, by=by, epsilon=8)
    far = pd.DataFrame({"x": [0.5, -40.0, 40.0]})
    seen = result.predict(far, interval=True)
    line = result.predict(far, interval=True, which="linear")
    low, high = seen["mean_ci_lower"], seen["mean_ci_upper"]
    assert ((low <= seen["mean"]) & (seen["mean"] <= high)).all()
    assert (low <= line["mean_ci_lower"]).all() and (high >= line["mean_ci_upper"]).all()
    reached = (low < line["mean_ci_lower"]) | (high > line["mean_ci_upper"])
    np.testing.assert_array_equal(reached, [False, True, True] * (1 if by is None else 2))


def test_an_estimated_range_of_the_response_keeps_no_prediction():
    frame = dp.simulate.line(2000, seed=1)
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", frame, method="adassp", epsilon=8, bounds={"x": (0, 1)})
    assert result.declared_range == (-np.inf, np.inf)
    far = {"x": [-50.0, 50.0]}
    line = result.params.to_numpy() @ np.array([[1, 1], far["x"]])
    np.testing.assert_allclose(result.predict(far), line)


@pytest.mark.parametrize("name", WIDE)
def test_predictions_are_the_design_times_the_coefficients(name, fit, rich):
    result = fit(rich, name, **RICH)
    new = pd.DataFrame(
        {"x": [0.1, 0.9, 0.5], "kind": ["v", "u", "v"], "flag": [True, False, True]}
        | {"size": [4, 1, 2], "z": [-2.0, 0.0, 2.0]},
        index=["first", "second", "third"],
    )
    v = (new["kind"] == "v").astype(float)
    middle = np.linspace(-2, 3, 101).mean()
    by_hand = {
        "Intercept": 1.0,
        "C(kind)[T.v]": v,
        "flag[T.True]": new["flag"].astype(float),
        "C(size)[T.2]": (new["size"] == 2).astype(float),
        "C(size)[T.4]": (new["size"] == 4).astype(float),
        "x": new["x"],
        "x:C(kind)[T.v]": new["x"] * v,
        "I(z ** 2)": new["z"] ** 2,
        "center(z):x": (new["z"] - middle) * new["x"],
    }
    expected = sum(result.params[column] * values for column, values in by_hand.items())
    assert set(by_hand) == set(result.params.index)
    expected = np.clip(expected, np.log1p(-0.5), np.log1p(3))  # the declared bounds of the response
    np.testing.assert_allclose(result.predict(new), expected, rtol=1e-9, atol=1e-9)
    assert list(result.predict(new).index) == ["first", "second", "third"]
    as_mapping = {column: new[column].tolist() for column in new}
    np.testing.assert_allclose(result.predict(as_mapping), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "new", [{"x": 0.5}, {"x": [0.5]}, {"x": np.array([0.5])}, pd.DataFrame({"x": [0.5]})], ids=str
)
def test_one_point_may_be_given_in_many_ways(exact, new):
    np.testing.assert_allclose(
        exact.predict(new), exact.params["Intercept"] + exact.params["x"] / 2
    )


BAD_NEW = [None, 3, "x", {}, {"z": [1]}, {"x": [np.nan]}, {"x": ["a"]}, {"x": [None]}, [0.5]]


@pytest.mark.parametrize("new", [*BAD_NEW, {"x": [[1, 2]]}, np.ones((2, 2))], ids=str)
def test_new_data_that_cannot_be_used_are_refused(exact, new):
    with pytest.raises(dp.ArgumentError):
        exact.predict(new)


@pytest.mark.parametrize("new", [{"kind": ["w"], "x": [1]}, {"x": [1, 2], "kind": ["u"] * 3}])
def test_unknown_levels_and_ragged_columns_are_refused(fit, line, new):
    result = fit(line, "adassp", formula="y ~ x + kind", levels={"kind": ["u", "v"]})
    with pytest.raises(dp.ArgumentError):
        result.predict(new)


def test_p25_and_p75_lie_a_quarter_into_the_declared_range(method, fit, line, enough):
    data = line.assign(x=4 * line["x"] - 3, y=8 * line["y"] + 2)
    bounds = {"x": (-3, 1), "y": (2, 10)}
    result = fit(data, method, bounds=bounds, epsilon=1000, **enough(method))
    assert list(result.predictions.index) == ["p25", "p75"]
    assert (result.p25, result.p75) == tuple(result.predictions)
    np.testing.assert_allclose(result.predict({"x": [-2, 0]}), [result.p25, result.p75])


@pytest.mark.parametrize("name", [name for name, one in dp.METHODS.items() if one.ranges.needed])
def test_p25_and_p75_lie_in_the_estimated_range(name, fit, line):
    with dp.testing.insecure_seed(1):
        result = fit(line, name, bounds=None, epsilon=100)
    low, high = result.schema["x"].low, result.schema["x"].high
    quarters = [low + q * (high - low) for q in (0.25, 0.75)]
    np.testing.assert_allclose(result.predict({"x": quarters}), [result.p25, result.p75])


@pytest.mark.parametrize(
    "name", [name for name, one in dp.METHODS.items() if not one.ranges.needed]
)
def test_without_a_range_there_is_no_quarter_of_it(name, fit, line):
    with pytest.raises(dp.NotReleasedError, match="p25 exists for one .*x_new="):
        _ = fit(line, name, bounds=None).p25


NO_QUARTERS = [
    {"formula": "y ~ x + z", "bounds": UNIT | {"z": (0, 1)}},
    {"formula": "y ~ kind", "levels": {"kind": ["u", "v"]}, "bounds": {"y": (0, 1)}},
    {"formula": "y ~ 1", "bounds": {"y": (0, 1)}},
    {"bounds": {"y": (0, 1)}, "row_norm": 2},
    {"x_new": [0.1, 0.2]},
]


@pytest.mark.parametrize("more", NO_QUARTERS, ids=str)
def test_without_one_declared_range_p25_asks_for_x_new(fit, line, more):
    result = fit(line, "adassp", **more)
    groups = fit(line, "adassp", by="area", groups=["a0", "a1"], **more)
    for one in (result, groups):
        for name in ("p25", "p75"):
            with pytest.raises(dp.NotReleasedError, match=f"{name} exists for one .*x_new="):
                getattr(one, name)
            assert not hasattr(one, name)


X_NEW = [
    (0.5, ["0"], [0.5]),
    ([0.2, 0.4], ["0", "1"], [0.2, 0.4]),
    ((0.2,), ["0"], [0.2]),
    (np.array([0.2, 0.4]), ["0", "1"], [0.2, 0.4]),
    (pd.Series([0.2, 0.4]), ["0", "1"], [0.2, 0.4]),
    ({"x": [0.2, 0.4]}, ["0", "1"], [0.2, 0.4]),
    ({"x": 0.2}, ["0"], [0.2]),
    (pd.DataFrame({"x": [0.2, 0.4]}, index=["low", "high"]), ["low", "high"], [0.2, 0.4]),
    (pd.DataFrame({"x": [0.2, 0.4]}, index=["p25", "p75"]), ["p25", "p75"], [0.2, 0.4]),
    (pd.DataFrame({"x": [0.2, 0.4]}, index=[10, 20]), ["10", "20"], [0.2, 0.4]),
    (pd.DataFrame({"x": [0.2, 0.4]}, index=["same", "same"]), ["0", "1"], [0.2, 0.4]),
    (pd.DataFrame({"x": [0.2, 0.4]}, index=[1, "1"]), ["0", "1"], [0.2, 0.4]),
]


@pytest.mark.parametrize("given, labels, points", X_NEW)
def test_predictions_at_x_new(method, fit, line, given, labels, points):
    result = fit(line, method, x_new=given, epsilon=50)
    assert list(result.predictions.index) == labels
    if result.params.notna().all():
        expected = result.params["Intercept"] + result.params["x"] * np.array(points)
        np.testing.assert_allclose(result.predictions, expected, rtol=1e-9, atol=1e-9)
    groups = fit(line, method, x_new=given, by="area", groups=["a0", "a1"])
    assert list(groups.predictions.columns) == labels


@pytest.mark.parametrize("name", WIDE)
def test_x_new_with_several_regressors(name, fit, line):
    levels = {"kind": ["u", "v"]}
    more = {"formula": "y ~ x + kind", "levels": levels}
    frame = pd.DataFrame({"kind": ["u", "v"], "x": [0.1, 0.1]}, index=["at u", "at v"])
    result = fit(line, name, x_new=frame, **more)
    np.testing.assert_allclose(result.predictions, result.predict(frame))
    spread = fit(line, name, x_new={"kind": ["u", "v"], "x": 0.1}, **more)
    np.testing.assert_allclose(spread.predictions, spread.predict(frame))
    with pytest.raises(dp.ArgumentError, match="expected x_new to be a mapping.*x, kind"):
        fit(line, name, x_new=0.5, **more)


def test_nothing_of_a_result_can_be_replaced(method, fit, line):
    result, groups = fit(line, method), fit(line, method, by="area", groups=["a0", "a1"])
    for one in (result, groups, result.release, result.privacy, result.privacy.events[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, dataclasses.fields(one)[0].name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.params = None


def test_what_is_read_off_a_result_is_a_copy(method, fit, line):
    result, groups = fit(line, method), fit(line, method, by="area", groups=["a0", "a1"])
    before = result.to_json(), groups.frame.to_csv()
    for values in (result.params, result.predictions, groups.params, groups.predictions):
        values[:] = 7.0
    frame, reasons, content = groups.frame, result.reasons, result.to_dict()
    frame["estimate"] = 7.0
    reasons["params"] = content["params"]["x"] = "changed"
    assert (result.to_json(), groups.frame.to_csv()) == before


def test_released_arrays_cannot_be_written_to(method, fit, line):
    result, groups = fit(line, method), fit(line, method, by="area", groups=["a0", "a1"])
    for values in (result.release.params, result.release.predictions, groups.estimates):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 7.0


def wide_table() -> pd.DataFrame:
    """2,000 rows of 14 regressors and a positive response."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame(rng.normal(size=(2000, 14)), columns=[f"x{i}" for i in range(14)])
    return table.assign(wage=np.exp(1 + table["x0"] + rng.normal(size=2000)))


def test_the_summary_lists_estimated_ranges_and_how_many_rows_count_less(fit):
    table = wide_table()
    with dp.testing.insecure_seed(1):
        result = fit(table, "noisy_newton", formula="np.log(wage) ~ x0", bounds=None)
        wide = fit(table, "adassp", formula="x0 ~ " + " + ".join(table.columns[1:14]), bounds=None)
    kind = result.schema["x0"]
    low, high = result.term_bounds["np.log(wage)"]
    printed = words(result.summary())
    assert (
        f"far beyond which rows are clipped: x0 [{kind.low:.4g}, {kind.high:.4g}], np.log(wage)"
        in printed
    )
    assert f"[{low:.4g}, {high:.4g}]" in printed
    assert f"{result.release.evidence.down_weighted:.1%} of the rows" in printed
    printed = words(wide.summary())
    assert "beyond which rows are clipped: x0 [" in printed and "and 2 more" in printed
    assert "x11 [" in printed and "x12 [" not in printed


def test_declared_ranges_are_not_listed_as_estimated(fit):
    with dp.testing.insecure_seed(1):
        result = fit(
            wide_table(), "noisy_newton", formula="np.log(wage) ~ x0",
            bounds={"x0": (-4, 4), "np.log(wage)": (-5, 7)},
        )  # fmt: skip
    assert "estimated ranges" not in words(result.summary())


def test_the_summary_says_where_columns_are_nearly_collinear_on_their_ranges(fit, line):
    table = line.assign(age=40 + 20 * line["x"])
    bounds = {"y": (0, 1), "age": (20, 60)}
    for method, formula, said in [
        ("adassp", "y ~ age + I(age**2)", False),
        ("shrunken", "y ~ age + I(age**2)", False),
        ("shrunken", "y ~ age * z", True),
        ("adassp", "y ~ poly(age, 2)", False),
        ("noisy_newton", "y ~ age * z", False),
    ]:
        known = bounds | ({"z": (0, 1)} if "z" in formula else {})
        printed = words(fit(table, method, formula=formula, bounds=known).summary())
        assert ("age, z, age:z are nearly collinear" in printed) == said, (method, formula)
        assert ("nearly collinear" in printed) == said, (method, formula)


def test_predictions_far_out_show_without_a_warning():
    """Their standard error is infinite where the slope of a probability is zero."""
    rng = np.random.default_rng(0)
    table = {"x": 1e6 * rng.uniform(size=300), "b": rng.uniform(size=300) > 0.5}
    with dp.testing.insecure_seed(2):
        fit = dp.dp_logit("b ~ I(x**40)", table, epsilon=1)
    assert np.isnan(fit.predict({"x": [1e6]}, interval=True)["mean_se"]).all()
    assert len(fit.error_bound()) == 2 + len(fit.points) and str(fit.summary())
