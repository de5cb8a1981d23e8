"""Logits as users call them: responses, refusals, results."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

RNG = np.random.default_rng(1)
N = 3000
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "g": pd.Categorical(RNG.choice(["a", "b"], N))})
FRAME["y"] = (FRAME.x + RNG.logistic(size=N) > 0).astype(int)
FRAME["text"] = np.where(FRAME.y == 1, "yes", "no")
FRAME["level"] = pd.Categorical(FRAME.text, ["no", "yes"])
FRAME["three"] = pd.Categorical(RNG.choice(["p", "q", "r"], N))
FRAME["known"] = FRAME.y == 1
FRAME["person"] = [f"p{i // 2}" for i in range(N)]


def fit(formula="y ~ x + g", data=FRAME, epsilon=2, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_logit(formula, data, epsilon=epsilon, **more)


@pytest.mark.parametrize(
    "response, more",
    [
        (FRAME.y.astype(bool), {}),
        (FRAME.y.astype(float), {}),
        (FRAME.y.astype("int8"), {}),
        (FRAME.y.astype("boolean"), {}),
        (FRAME.level, {}),
        (FRAME.text, {"levels": {"y": ["no", "yes"]}}),
        (FRAME.y.astype(object), {"types": {"y": "integer"}}),
    ],
    ids=["bool", "float", "int8", "boolean", "category", "text", "object"],
)
def test_one_release_whatever_the_two_outcomes_are_called(response, more):
    found = fit(data=FRAME.assign(y=response), **more)
    assert found.params.tolist() == fit().params.tolist()


@pytest.mark.parametrize("name", ["up=1", "is up"])
@pytest.mark.parametrize("kind", ["bool", "float", "category"])
def test_a_response_may_have_a_name_that_is_quoted(name, kind):
    """Q("...") and R's backticks name a column as a plain name does, in dp_ols too."""
    data, written = quoted(name, kind)
    found = [fit(formula, data).params.tolist() for formula in written]
    assert np.isfinite(found[0]).all() and found == [found[0]] * 3


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_line_takes_a_quoted_response(kind):
    """Up to the last bits: what is computed of released columns adds up in the order of names."""
    data, written = quoted("up=1", kind)
    lines = []
    for formula in written:
        with dp.testing.insecure_seed(1):
            lines.append(dp.dp_ols(formula, data, epsilon=2).params.tolist())
    assert np.isfinite(lines[0]).all()
    np.testing.assert_allclose(lines, [lines[0]] * 3, rtol=1e-12)
    data, written = quoted("up=1", "category")
    with pytest.raises(dp.FormulaError, match="numeric response.*a logit by dp_logit"):
        dp.dp_ols(written[1], data, epsilon=2)


def quoted(name, kind):
    """Rows with a response of two names, and formulas that name each."""
    values = FRAME.level if kind == "category" else FRAME.y.astype(kind)
    data = FRAME.assign(plain=values, **{name: values})
    return data, ["plain ~ x", f"Q({name!r}) ~ x", dp.RFormula(f"`{name}` ~ x")]


def test_what_a_quoted_response_needs_is_said_of_its_column():
    data = {"is up": FRAME.three, "up=1": FRAME.y == 1, "x": FRAME.x}
    with pytest.raises(dp.ArgumentError, match="two outcomes, and is up has the levels"):
        dp.dp_logit("Q('is up') ~ x", data, epsilon=1)
    with pytest.raises(dp.FormulaError, match="as a response: write `up=1` alone, which counts"):
        dp.dp_logit(dp.RFormula("I(`up=1`) ~ x"), data, epsilon=1)


def test_a_number_other_than_0_and_1_leaves_its_row_out():
    strange = FRAME.assign(y=FRAME.y.astype(float))
    strange.loc[:4, "y"] = [2.0, -1.0, 0.5, np.nan, np.inf]
    found = fit(data=strange, neighbors="replace_one")
    assert found.nobs == N - 5
    assert any("y is neither 0 nor 1" in said for said in found.privacy.assumptions)
    assert "known is neither" not in str(fit("y ~ x + known").privacy.assumptions)
    assert "neither" not in str(fit("known ~ x").privacy.assumptions)


def test_a_term_with_declared_values():
    term = "I((x > 0) * 1)"
    found = fit(f"{term} ~ g + y", bounds={term: (0, 1)})
    assert found.status == "ok" and found.params["y"] > 0.5


@pytest.mark.parametrize("formula", ["x > 0 ~ g + y", "I(x > 0) ~ g + y"])
@pytest.mark.parametrize("kind", [str, dp.RFormula])
def test_a_comparison_is_1_where_it_is_true(formula, kind):
    found = fit(kind(formula), epsilon=100)
    term = "I((x > 0) * 1)"
    wanted = fit(f"{term} ~ g + y", epsilon=100, bounds={term: (0, 1)})
    assert found.status == "ok"
    np.testing.assert_allclose(found.params, wanted.params, atol=0.05)
    assert np.all(np.isin(found.design().responses({"x": np.array([-1.0, 2.0])}), (0, 1)))


@pytest.mark.parametrize(
    "response",
    [
        "I((x > 0) * 1)", "I(1 - (x <= 0))", "np.where(x > 0, 1, 0)",
        dp.RFormula("as.numeric(x > 0)"), dp.RFormula("ifelse(x > 0, 1, 0)"),
    ],
)  # fmt: skip
def test_what_is_0_or_1_whatever_the_numbers_are_needs_no_bounds(response):
    """No bounds are declared; what may be another number is refused."""
    kind = type(response)
    found = fit(kind(f"{response} ~ g + y"), epsilon=100)
    wanted = fit("x > 0 ~ g + y", epsilon=100)
    assert found.status == "ok"
    np.testing.assert_allclose(found.params, wanted.params, atol=0.05)
    with pytest.raises(dp.ArgumentError, match="any number; .* declare the columns"):
        fit(kind("I(1 - x) ~ g"))


@pytest.mark.parametrize(
    "formula, more, why",
    [
        ("three ~ x", {}, "two outcomes, and three has the levels"),
        ("text ~ x", {}, "levels of text must be declared"),
        ("y ~ x", {"bounds": {"y": (0, 5)}}, r"0 and 1, got bounds \(0, 5\)"),
        ("np.exp(x) ~ g", {}, "takes a response of 0 and 1.*got any number; write a comp"),
        (dp.RFormula("I(known) ~ x"), {}, "write known alone"),
        ("y ~ x | g", {}, "cannot absorb g"),
        ("y ~ x", {"delta": 0}, "needs delta > 0"),
        ("y ~ x", {"offset": "text"}, "offset='text' is a column of type .*numbers"),
        ("y ~ x", {"exposure": "x"}, "an exposure is for dp_poisson; give offset="),
        ("y ~ x + g", {"by": "g"}, "by='g' is in the formula"),
        ("y ~ x", {"by": "w"}, "'w'"),
        ("y ~ x", {"groups": ["a"]}, "name it with by="),
        ("y ~ x", {"by": "g", "groups": ["a", "a"]}, "groups"),
        ("y ~ x", {"by": "g", "n_jobs": 0}, "n_jobs"),
        ("y ~ x", {"by": "g", "max_groups": 2}, "max_groups"),
        ("y ~ x", {"group_by": "g"}, 'write by="column"'),
        ("y ~ x", {"method": "auto"}, "fitted by one method"),
        ("y ~ x", {"fixef": "g"}, r"write C\(column\) in the formula"),
        ("y ~ x", {"penalty": "l2"}, "no penalty to choose"),
        ("y ~ x", {"select": "lasso"}, "name the terms"),
        ("y ~ x", {"link": "probit"}, "its link the logit"),
        ("y ~ x", {"seed": 1}, "never seeded"),
        ("y ~ x", {"epsilon": -1}, "epsilon"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_a_row_is_read(formula, more, why):
    with pytest.raises((dp.ArgumentError, dp.FormulaError), match=why):
        dp.dp_logit(formula, FRAME, **({"epsilon": 1} | more))


def test_an_undeclared_response_of_words_is_not_taken_for_a_number(tmp_path):
    """Read as a number every word is missing, and the budget of the call would buy nothing."""
    data = tmp_path / "people.csv"
    words = np.random.default_rng(1).choice(["True", "False"], 2000)
    pd.DataFrame({"x": np.arange(2000) % 7, "y": words}).to_csv(data, index=False)
    with pytest.raises(dp.ArgumentError, match=r'give types=\{"y": "boolean"\} if .* "number"\}'):
        dp.dp_logit("y ~ x", data, epsilon=4, types={"x": "number"})
    fitted = dp.dp_logit("y ~ x", data, epsilon=4, types={"x": "number", "y": "boolean"})
    assert fitted.status == "ok"


def test_dp_ols_says_where_logits_are():
    for more, why in (({"family": "binomial"}, "dp_glm"), ({"method": "logit"}, "dp_logit")):
        with pytest.raises(dp.ArgumentError, match=why):
            dp.dp_ols("y ~ x", FRAME, epsilon=1, **more)
    with pytest.raises(dp.FormulaError, match="dp_logit"):
        dp.dp_ols("level ~ x", FRAME, epsilon=1)


def test_dp_glm_is_the_same_by_the_name_of_a_family():
    with dp.testing.insecure_seed(1):
        found = dp.dp_glm("y ~ x + g", FRAME, family="binomial", epsilon=2)
    assert found == fit()
    with pytest.raises(dp.ArgumentError, match="expected family=\"binomial\".*'gamma'"):
        dp.dp_glm("y ~ x", FRAME, family="gamma", epsilon=1)
    with pytest.raises(dp.ArgumentError, match='expected family="binomial".*got None; dp_ols'):
        dp.dp_glm("y ~ x", FRAME, epsilon=1)


def test_a_result_is_restored_and_predicts_probabilities():
    found = fit()
    again = dp.DPResults.from_json(found.to_json())
    assert again == found and again.get_margeff().margeff.equals(found.get_margeff().margeff)
    table = found.predict({"x": [-50.0, 0.0, 50.0], "g": ["a", "a", "b"]}, interval=True)
    assert table["mean"].between(0, 1).all() and table["mean"].is_monotonic_increasing
    assert (table.mean_ci_lower <= table["mean"]).all()
    assert (table["mean"] <= table.mean_ci_upper).all() and table.mean_ci_upper.max() <= 1
    assert "Logit Results" in str(found.summary()) and "R-squared:" not in str(found.summary())
    assert f"Pseudo R-squ.: {again.prsquared:.3f}" in " ".join(str(found.summary()).split())
    assert "noisy_logit" in str(dp.compare(found))
    with pytest.raises(dp.NotReleasedError, match="likelihood"):
        _ = found.llf


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
    several = dp.dp_logit({"one": "y ~ x", "two": "level ~ x"}, FRAME, epsilon=2)
    assert set(several) == {"one", "two"}


def test_a_summary_speaks_of_a_logit_alone():
    """Its response has no unit, and it has no R-squared that could be missing."""
    data = dp.simulate.line(5000, seed=1).assign(hit=lambda d: (d["y"] > d["y"].median()) * 1)
    with dp.testing.insecure_seed(1):
        notes = dp.dp_logit("hit ~ x", data, epsilon=4).summary().notes
    assert not any("declared bounds (0, 1)" in note or "R-squared" in note for note in notes)


def test_errors_are_clustered_by_a_column_whose_labels_stay_private():
    """Its values are told by no result; with units the rows of a person are in one cluster."""
    data = FRAME.assign(block=[f"block {i % 40}" for i in range(N)])
    found = fit(data=data, types={"block": "string"}, cov_type="cluster", cluster="block")
    assert found.cov_type == "cluster" and found.status == "ok"
    text = str(found.summary())
    assert "Clusters:" in text and "P>|t|" in text and "block 7" not in text + found.to_json()
    assert dp.DPResults.from_json(found.to_json()) == found
    few = fit(data=data.assign(block=np.arange(N) % 4), cov_type="cluster", cluster="block")
    assert few.status == "not_identified" and "below 6" in few.reasons["conf_int"]
    assert np.isnan(few.prsquared) and "open" in few.reasons["prsquared"]
    with pytest.raises(dp.ArgumentError, match='add cov_type="cluster"'):
        fit(data=data, cluster="block")
    with pytest.raises(dp.ArgumentError, match="needs what to cluster by"):
        fit(data=data, cov_type="cluster")


def test_the_pseudo_r_squared_is_mcfaddens_of_a_logit_alone():
    found = fit()
    assert found.prsquared == found.fit_statistics.loc["prsquared", "estimate"]
    assert 0 < found.fit_statistics.loc["prsquared", "std_error"] < 0.1
    with_offset = fit("y ~ x", offset="x")
    assert np.isnan(with_offset.prsquared) and "an offset" in with_offset.reasons["prsquared"]
    with dp.testing.insecure_seed(1), pytest.raises(dp.NotReleasedError, match="a logit alone"):
        _ = dp.dp_ols("x ~ g", FRAME, epsilon=4).prsquared
