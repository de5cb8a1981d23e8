"""Poisson regressions as users call them: responses, refusals, results."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

RNG = np.random.default_rng(1)
N = 3000
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "g": pd.Categorical(RNG.choice(["a", "b"], N))})
FRAME["y"] = RNG.poisson(np.exp(0.7 + 0.4 * FRAME.x))
FRAME["level"] = pd.Categorical(np.where(FRAME.y > 1, "many", "few"))
FRAME["person"] = [f"p{i // 2}" for i in range(N)]


def fit(formula="y ~ x + g", data=FRAME, epsilon=2, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_poisson(formula, data, epsilon=epsilon, **more)


@pytest.mark.parametrize("kind", ["float", "int8", "Int64", "float32"])
def test_one_release_whatever_type_counts_have(kind):
    assert fit(data=FRAME.assign(y=FRAME.y.astype(kind))).params.tolist() == fit().params.tolist()


@pytest.mark.parametrize(
    "more",
    [{}, {"bounds": {"y": (0, 40)}}, {"by": "level", "groups": ["a"]}, {"unit": "who"},
     {"formula": "I(y + 0 * x) ~ g", "bounds": {"y": (-9, 40), "x": (-5, 5)}}],
)  # fmt: skip
def test_a_row_with_a_negative_response_is_left_out(more):
    """As a code of -9 would move the mean; bounds do not make a count of it."""
    frame = FRAME.assign(level="a", who=np.arange(N))
    coded = frame.assign(y=np.where(frame.who % 3, frame.y, -9))
    found, kept = fit(data=coded, **more), fit(data=frame[frame.who % 3 > 0], **more)
    assert np.ravel(found.params) == pytest.approx(np.ravel(kept.params), rel=1e-9)
    report = fit(data=coded, neighbors="replace_one").privacy
    assert "with a negative response" in " ".join(report.assumptions)


def test_declared_bounds_cut_the_response():
    found = dp.dp_poisson("y ~ x", FRAME, epsilon=1e9, bounds={"y": (0, 3)})
    best = dp.dp_poisson("y ~ x", FRAME.assign(y=FRAME.y.clip(0, 3)), epsilon=1e9)
    assert found.params.to_numpy() == pytest.approx(best.params.to_numpy(), abs=1e-4)
    assert found.predict({"x": [9.0]}).max() <= 3


@pytest.mark.parametrize(
    "formula, more, why",
    [
        ("level ~ x", {}, "one numeric response"),
        ("y ~ x", {"bounds": {"y": (-5, -1)}}, r"counts or amounts, got bounds \(-5, -1\)"),
        ("y ~ x | g", {}, "a Poisson regression cannot absorb g"),
        ("y ~ x", {"delta": 0}, "needs delta > 0"),
        ("y ~ x", {"offset": "nowhere"}, "no column 'nowhere'"),
        ("y ~ x", {"offset": 3}, "expected offset to name a column, .* got an int"),
        ("y ~ x", {"exposure": "level"}, "exposure='level' is a column of type .*numbers"),
        ("y ~ x", {"offset": "x", "exposure": "x"}, "are one column"),
        ("y ~ x", {"exposure": "y"}, "exposure='y' is the response, .* name another column"),
        ("y ~ x", {"offset": "y"}, "offset='y' is the response"),
        ("y ~ x", {"exposure": "x", "bounds": {"x": (-2, 0)}}, "exposure to end above 0"),
        ("y ~ C(x)", {"offset": "x", "levels": {"x": [0, 1]}}, "'x' is a factor in the formula"),
        ("y ~ x", {"cov_type": "nonrobust"}, "cov_type"),
        ("y ~ x", {"robust": True}, "robust .* always"),
        ("y ~ x + g", {"by": "g"}, "by='g' is in the formula"),
        ("y ~ x", {"by": "g", "groups": []}, "groups"),
        ("y ~ x", {"by": "person", "n_jobs": "all"}, "n_jobs"),
        ("y ~ x", {"over": "g"}, 'write by="column"'),
        ("y ~ x", {"method": "auto"}, "a Poisson regression is fitted by one method"),
        ("y ~ x", {"link": "identity"}, "its link the logarithm"),
        ("y ~ x", {"epsilon": -1}, "epsilon"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_a_row_is_read(formula, more, why):
    with pytest.raises((dp.ArgumentError, dp.FormulaError), match=why):
        dp.dp_poisson(formula, FRAME, **({"epsilon": 1} | more))


def test_dp_ols_says_where_counts_are_fitted():
    for more in ({"family": "poisson"}, {"method": "poisson"}):
        with pytest.raises(dp.ArgumentError, match="dp_poisson|dp_glm"):
            dp.dp_ols("y ~ x", FRAME, epsilon=1, **more)


def test_dp_glm_is_the_same_by_the_name_of_a_family():
    with dp.testing.insecure_seed(1):
        found = dp.dp_glm("y ~ x + g", FRAME, family="poisson", epsilon=2)
    assert found == fit()
    for family in ("gamma", 3, None):
        with pytest.raises(dp.ArgumentError, match='expected family="binomial".*"poisson", got'):
            dp.dp_glm("y ~ x", FRAME, family=family, epsilon=1)


def test_a_result_is_restored_and_predicts_means():
    found = fit()
    again = dp.DPResults.from_json(found.to_json())
    assert again == found and again.get_margeff().margeff.equals(found.get_margeff().margeff)
    table = found.predict({"x": [-50.0, 0.0, 1.0], "g": ["a", "a", "b"]}, interval=True)
    assert (table["mean"] >= 0).all() and table["mean"].is_monotonic_increasing
    assert (table.mean_ci_lower <= table["mean"]).all()
    assert (table["mean"] <= table.mean_ci_upper).all() and table.mean_ci_lower.min() >= 0
    index = found.params["Intercept"] + found.params["x"] * 0.0
    assert table["mean"][1] == pytest.approx(np.exp(index))
    assert "Poisson Results" in str(found.summary()) and "R-squared:" not in str(found.summary())
    assert "noisy_poisson" in str(dp.compare(found))
    with pytest.raises(dp.NotReleasedError, match="a logit alone"):
        _ = found.prsquared
    assert "has no bound" in found.reasons["rsquared"]


def test_files_budgets_units_weights_and_subsets_work(tmp_path):
    FRAME.drop(columns="person").to_parquet(tmp_path / "rows.parquet")
    read = fit(data=tmp_path / "rows.parquet", levels={"g": ["a", "b"]})
    assert read.params.tolist() == fit().params.tolist()
    budget = dp.Budget(epsilon=2.5, delta=1e-5)
    fit(budget=budget)
    with pytest.raises(dp.BudgetError):
        fit(budget=budget)
    assert fit(unit="person", max_rows=2).cov_type == "cluster"
    weighted = fit(data=FRAME.assign(w=1.0), weights="w", bounds={"w": (0, 1)})
    assert weighted.cov_type == "HC1" and weighted.status == "ok"
    assert fit("y ~ x", subset='g == "a"').nobs_noisy < 0.7 * N
    several = dp.dp_poisson({"one": "y ~ x", "two": "y ~ g"}, FRAME, epsilon=2)
    assert set(several) == {"one", "two"}


def test_errors_are_clustered_by_a_column_whose_labels_stay_private():
    data = FRAME.assign(block=[f"block {i % 40}" for i in range(N)])
    found = fit(data=data, types={"block": "string"}, cov_type="cluster", cluster="block")
    assert found.cov_type == "cluster" and found.status == "ok"
    text = str(found.summary())
    assert "Clusters:" in text and "P>|t|" in text and "block 7" not in text + found.to_json()
    assert dp.DPResults.from_json(found.to_json()) == found
    with pytest.raises(dp.ArgumentError, match='add cov_type="cluster"'):
        fit(data=data, cluster="block")
