"""Tables about all groups at once hold what each group's own fit says."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from tests.checks.groups import AREAS, seeded

UNIT = {"x": (0, 1), "y": (0, 1)}
POINTS = pd.DataFrame({"x": [0.0, 0.5, 2.0]}, index=["low", "middle", "beyond"])
# Methods with standard errors, with a companion, with bought ends, with none; clipped predictions.
CALLS = {
    "sums": dict(method="noisy_moments", epsilon=4),
    "companion": dict(method="noisy_stats", companion="noisy_moments", epsilon=4),
    "ends": dict(method="exp_theil_sen", ci=True, epsilon=4),
    "none": dict(method="exp_theil_sen", epsilon=4),
    "chosen": dict(method="by_spread", epsilon=4),
    "clipped": dict(method="shrunken", epsilon=4),
    "newton": dict(method="noisy_newton", epsilon=30, bounds=None),
    "several": dict(method="adassp", epsilon=20, formula="y ~ x + z", bounds={**UNIT, "z": (0, 1)}),
    "robust": dict(method="adassp", epsilon=30, cov_type="HC1"),
    "logit": dict(family="binomial", formula="high ~ x", epsilon=30),
    "counts": dict(family="poisson", formula="count ~ x", epsilon=30),
}


@pytest.fixture(params=CALLS)
def groups(request, fit, line):
    """Groups of 900 rows, of which one is empty."""
    call = {"by": "area", "groups": ["none", *AREAS], **CALLS[request.param]}
    rows = with_outcomes(line)
    if "family" in call:
        return seeded(dp.dp_glm, call.pop("formula"), rows, **call)
    return seeded(fit, rows, call.pop("method"), **call)


def with_outcomes(line) -> pd.DataFrame:
    """Repeat the rows nine times, with an outcome and a count that follow x."""
    rows, drawn = pd.concat([line] * 9, ignore_index=True), np.random.default_rng(1)
    high = drawn.random(len(rows)) < 0.2 + 0.6 * rows["x"]
    return rows.assign(high=high, count=drawn.poisson(np.exp(rows["x"])))


def data(groups, columns=POINTS) -> pd.DataFrame:
    return columns.assign(z=0.5) if "z" in groups.formula else columns


def test_each_group_is_a_fit_of_its_own(groups):
    assert list(groups) == ["none", *AREAS] and "a1" in groups and "b" not in groups
    for label, one in groups.items():
        assert isinstance(one, dp.DPResults) and one.status == groups.status[label]
        rows = groups.frame[groups.frame["area"] == label]
        pd.testing.assert_series_equal(one.params, groups.params.loc[label], check_names=False)
        own = pd.concat([one.bse, one.prediction_intervals()["mean_se"]])
        np.testing.assert_allclose(own, rows["std_error"], rtol=1e-12)
        ends = np.vstack([one.conf_int(), one.prediction_intervals().iloc[:, 2:]])
        np.testing.assert_allclose(ends, rows[["lower", "upper"]])
        assert one.privacy is groups.privacy
        assert dp.DPResults.from_json(one.to_json()) == one


def test_predictions_are_those_of_each_group(groups):
    new = data(groups)
    wide, tall = groups.predict(new), groups.predict(new, interval=True, alpha=0.2)
    assert list(wide.columns) == list(POINTS.index) and wide.index.name == "area"
    assert tall.index.names == ["area", "point"]
    for label, one in groups.items():
        np.testing.assert_allclose(wide.loc[label], one.predict(new), rtol=1e-12)
        own = one.predict(new, interval=True, alpha=0.2)
        pd.testing.assert_frame_equal(tall.loc[label], own, check_names=False)


@pytest.mark.parametrize(
    ("method", "epsilon"), [("auto", 0.3), ("boosted_adassp", 2), ("exp_theil_sen", 0.3)]
)
def test_predictions_keep_to_the_declared_bounds_of_the_response(method, epsilon):
    frame = dp.simulate.line(300, seed=1).assign(area=["a", "b", "c"] * 100)
    with dp.testing.insecure_seed(1):
        by = dp.dp_ols(
            "y ~ x", frame, by="area", groups=[*"abcdefgh"], method=method, epsilon=epsilon,
            bounds={"x": (0, 1), "y": (0, 1)},
        )  # fmt: skip
    line = by.params.to_numpy() @ np.array([[1, 1], [0.25, 0.75]])
    assert (line < -0.01).any() or (line > 1.01).any()
    terms = by.tidy().set_index("term").loc[["p25", "p75"]]
    released = by.predict({"x": [0.25, 0.75]}, interval=True)
    for table in (by.predictions, released.filter(like="mean_ci"), terms.filter(like="conf")):
        numbers = table.to_numpy()[np.isfinite(table.to_numpy())]
        assert (numbers >= 0).all() and (numbers <= 1).all()
    np.testing.assert_allclose(released["mean"], by.predictions.to_numpy().ravel(), atol=1e-12)
    assert by.predictions.loc["h"].equals(by["h"].predictions)


@pytest.mark.parametrize("family, added", [("binomial", {"offset": [0.0, 1.0, -1.0]}),
                                           ("poisson", {"exposure": 2.0})])  # fmt: skip
def test_offsets_are_added_to_predictions_of_every_group(line, family, added):
    call = {"family": family, "by": "area", "groups": ["none", *AREAS], "epsilon": 30}
    by = seeded(
        dp.dp_glm, "high ~ x", with_outcomes(line).assign(high=lambda d: d.high * 1), **call
    )
    wide, tall = by.predict(POINTS, **added), by.predict(POINTS, interval=True, **added)
    for label, one in by.items():
        np.testing.assert_allclose(wide.loc[label], one.predict(POINTS, **added), rtol=1e-12)
        own = one.predict(POINTS, interval=True, **added)
        pd.testing.assert_frame_equal(tall.loc[label], own, check_names=False)
    assert not np.allclose(wide, by.predict(POINTS))
    with pytest.raises(dp.ArgumentError, match="expected offset to be a finite number"):
        by.predict(POINTS, offset="a")


def test_predictions_of_a_link_are_not_tested_against_zero(line):
    by = seeded(dp.dp_logit, "high ~ x", with_outcomes(line), by="area", groups=AREAS, epsilon=30)
    table = by.tidy().set_index("term")
    tested = ["statistic", "p.value"]
    assert table.loc[["p25", "p75"], tested].isna().all(axis=None)
    assert table.loc["x", tested].notna().all(axis=None)
    shown = table.loc[["p25", "p75"]]
    assert shown["conf.low"].between(0, 1).all() and shown["conf.high"].between(0, 1).all()


def test_hypotheses_are_tested_as_in_each_group(groups):
    table = groups.t_test("x = 0.5, Intercept = 0.2", alpha=0.1)
    assert table.index.names == ["area", "hypothesis"]
    for label, one in groups.items():
        own = one.t_test("x = 0.5, Intercept = 0.2", alpha=0.1).summary_frame()
        pd.testing.assert_frame_equal(table.loc[label], own, check_names=False)


def test_tests_of_clustered_groups_are_called_those_of_students_t():
    """Their p-values are, and the table called them P>|z|."""
    frame = dp.simulate.line(4000, seed=1).assign(
        area=pd.Categorical(["a", "b"] * 2000), state=np.arange(4000) // 2 % 9
    )
    with dp.testing.insecure_seed(1):
        groups = dp.dp_ols(
            "y ~ x", frame, by="area", epsilon=20, cov_type="cluster", cluster="state"
        )
    table = groups.t_test("x = 0.5")
    for label, one in groups.items():
        own = one.t_test("x = 0.5").summary_frame()
        assert list(own)[2:4] == ["t", "P>|t|"]
        pd.testing.assert_frame_equal(table.loc[label], own, check_names=False)


def test_tidy_has_brooms_columns_of_each_group(groups):
    table = groups.tidy(alpha=0.1)
    names = "term estimate std.error statistic p.value conf.low conf.high".split()
    assert list(table) == ["area", *names, "status"]
    for label, one in groups.items():
        own = table[table["area"] == label].set_index("term").loc[list(one.names)]
        expected = one.tidy(alpha=0.1).set_index("term")
        pd.testing.assert_frame_equal(own[names[1:]], expected)


def test_the_number_of_rows_is_shown_where_it_is_public_or_was_released(groups):
    assert list(groups.glance()["status"]) == list(groups.status)
    if groups.privacy.neighbors == "add_remove":
        own = [one.nobs for _, one in groups.items()]
        np.testing.assert_array_equal(groups.glance()["nobs"], own)
        assert (groups.nobs is None) == np.isnan(own).all()
        if groups.nobs is not None:
            np.testing.assert_array_equal(groups.nobs[list(groups.labels)], own)
            assert groups.nobs["a0"] == pytest.approx(900, abs=60)
        assert groups["a0"].public_rows is None
    else:
        assert groups.nobs.to_dict() == {"none": 0, "a0": 900, "a1": 900, "a2": 900}
        assert groups.glance()["nobs"].tolist() == [0, 900, 900, 900]
        assert groups["a0"].nobs == 900 and groups["none"].nobs == 0


def test_rows_with_missing_values_are_not_counted(fit, line):
    line.loc[line["area"].eq("a0") & (line["x"] > 0.5), "x"] = np.nan
    groups = fit(line, "noisy_stats", by="area", groups=AREAS)
    complete = line.dropna().groupby("area").size()
    assert groups.nobs.to_dict() == complete.to_dict() and complete["a0"] < 100


def test_with_units_these_are_counted_and_not_their_rows(fit, line):
    line["person"] = np.arange(300) // 6 * 3 + np.arange(300) % 3  # two rows each, in one area
    call = dict(by="area", groups=AREAS, unit="person", max_rows=2, epsilon=30)
    groups = fit(line, "adassp", neighbors="replace_one", **call)
    assert groups.nobs.tolist() == [50, 50, 50]
    assert "person of a group: 50 to 50, median 50" in groups.summary()
    released = fit(line, "adassp", **call).nobs
    assert released.index.name == "area" and released.between(30, 70).all()


def test_json_restores_an_equal_result(groups):
    text = groups.to_json()
    restored = dp.DPGroupResults.from_json(text)
    assert restored == groups and restored.to_json() == text and "NaN" not in text
    pd.testing.assert_frame_equal(restored.frame, groups.frame)
    pd.testing.assert_frame_equal(restored.predict(data(groups)), groups.predict(data(groups)))
    content = json.loads(text)
    content["estimates"][1][0] = 7.5
    assert dp.DPGroupResults.from_dict(content) != groups


@pytest.mark.parametrize("call", ["newton", "logit", "counts"])
def test_error_bounds_are_those_of_each_group(fit, line, call):
    more = {"by": "area", "groups": ["none", *AREAS], **CALLS[call]}
    if "family" in more:
        by = seeded(dp.dp_glm, more.pop("formula"), with_outcomes(line), **more)
    else:
        by = seeded(fit, with_outcomes(line), more.pop("method"), **more)
    table = by.error_bound(90)
    for label, one in by.items():
        own = table.loc[table["area"] == label, "error_bound"]
        assert own.tolist() == one.error_bound(90).tolist()
    assert np.isfinite(table.loc[table["area"] == "a0", "error_bound"]).all()


def test_labels_keep_their_types_in_json(fit, line):
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    line["day"] = pd.array([days[i % 2] for i in range(300)], dtype="object")
    by = fit(line, "noisy_stats", by="day", groups=days, types={"day": "date"})
    assert dp.DPGroupResults.from_json(by.to_json()).labels == by.labels
    both = fit(line, "noisy_stats", by=["area", "kind"], groups=[("a0", "u"), ("a1", "v")])
    restored = dp.DPGroupResults.from_json(both.to_json())
    assert restored == both and restored["a1", "v"] == both["a1", "v"]
    assert both.t_test("x = 0").index.names == ["area", "kind", "hypothesis"]
    assert both.predict({"x": [0.5]}).index.tolist() == [("a0", "u"), ("a1", "v")]


def test_absorbed_effects_are_not_predicted(fit, line):
    line["state"] = [f"s{i % 5}" for i in range(300)]
    by = fit(line, "adassp", formula="y ~ x | state", by="area", groups=AREAS, epsilon=40)
    assert by.predict(POINTS).isna().all(axis=None) and by.params["x"].notna().all()
    assert by.predict(POINTS, interval=True).isna().all(axis=None)


def test_wrong_calls_are_refused(fit, line):
    by = fit(line, "noisy_stats", by="area", groups=AREAS)
    with pytest.raises(dp.ArgumentError, match="there is no group 'b' among 'a0', 'a1', 'a2'$"):
        by["b"]
    many = fit(line, "noisy_stats", by="area", groups=list("abcdefg"))
    with pytest.raises(dp.ArgumentError, match="'e', ...$"):
        many[3]
    with pytest.raises(dp.ArgumentError, match="alpha"):
        by.predict(POINTS, interval=True, alpha=2)
    with pytest.raises(dp.ArgumentError, match="hypotheses"):
        by.t_test("w = 0")
    for text in ("{}", "[1]", "x", fit(line, "noisy_stats").to_json(), None):
        with pytest.raises(dp.ArgumentError, match="what to_json"):
            dp.DPGroupResults.from_json(text)
