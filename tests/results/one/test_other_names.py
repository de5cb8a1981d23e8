"""Names that users of other packages have in their fingers are refused in one sentence."""

import numpy as np
import pytest

import dpstats as dp

LINE = dp.simulate.line(300, seed=1).assign(area=["a", "b", "c"] * 100)
CALL = {"epsilon": 4, "bounds": {"x": (0, 1), "y": (0, 1)}, "progress": False}
FIT = dp.dp_ols("y ~ x", LINE, method="adassp", **CALL)
GROUPS = dp.dp_ols("y ~ x", LINE, by="area", groups=["a", "b", "c"], method="noisy_moments", **CALL)


@pytest.mark.parametrize("result", [FIT, GROUPS], ids=["fit", "groups"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("get_prediction", r"^get_prediction is predict\(newdata, interval=True\) here$"),
        ("wald_test", r"^wald_test is f_test\(hypotheses\) here$"),
        ("compare_f_test", r"^compare_f_test is f_test\(hypotheses\) here$"),
        ("t_test_pairwise", r"^t_test_pairwise is t_test\(hypotheses\) here$"),
        ("get_group", r"^get_group is result\[label\] of a fit with by= here$"),
        ("cov_HC1", r'^cov_HC1 is cov_params\(\) of a fit with cov_type="HC1" here$'),
        ("load", r"^load is from_json\(text\) here$"),
        ("score", "^score is rsquared here$"),
        ("coef_", "^coef_ is params here$"),
        ("HC1_se", '^HC1_se is bse of a fit with cov_type="HC1" here$'),
        ("save", r"^save is to_json\(\) here$"),
        ("to_latex", r"^to_latex is dpstats\.compare\(result\)\.to_latex\(\) here$"),
        ("to_excel", r"^to_excel is dpstats\.compare\(result\)\.to_excel\(path\) here$"),
        ("get_influence", "^get_influence does not exist .* confidential data; "),
        ("centered_tss", "^centered_tss does not exist .*rsquared and scale"),
        ("deviance", "^deviance does not exist .* likelihood"),
        ("pred_table", "^pred_table does not exist .* it was not paid for"),
        ("resid_dev", "^resid_dev does not exist .* confidential data; "),
        ("df_model", "^df_model is the number of slopes here$"),
        ("fixef", "^fixef does not exist .* absorbed column are not released"),
        ("etable", r"^etable is dpstats\.compare\(result\) here$"),
        ("iplot", r"^iplot is plot\(\) here$"),
        ("fit", r"^this is the fit already, without fit\(\); leave \.fit\(\) out$"),
        ("converged", "^converged is status here$"),
        ("odds_ratios", r"^odds_ratios is numpy\.exp\(params\) here$"),
        ("to_frame", r"^to_frame is tidy\(\) here$"),
        ("sargan", "^sargan does not exist .* first_stage and anderson_rubin"),
    ],
)
def test_a_name_of_another_package_is_refused_with_the_one_here(result, name, message):
    assert not hasattr(result, name)
    with pytest.raises(dp.NotReleasedError, match=message):
        getattr(result, name)


@pytest.mark.parametrize("result", [FIT, GROUPS], ids=["fit", "groups"])
def test_tables_that_are_named_exist(result):
    table = dp.compare(result)
    for name in ("to_latex", "to_html", "to_markdown"):
        assert isinstance(getattr(table, name)(), str)
    assert callable(table.to_word) and callable(table.to_excel)


def test_what_groups_have_one_by_one_is_said():
    for name in ("pvalues", "tvalues", "rsquared", "scale"):
        with pytest.raises(dp.NotReleasedError, match=rf"of one group: result\[label\].{name}$"):
            getattr(GROUPS, name)
        assert hasattr(GROUPS["a"], name)


def test_what_is_read_off_a_description_as_off_a_frame_says_where_figures_are():
    with pytest.raises(AttributeError, match=r"no attribute 'loc'; frame and table\(\) have"):
        _ = DESCRIBED.loc


@pytest.mark.parametrize(
    ("name", "verb"), [("ols", "dp_ols"), ("OLS", "dp_ols"), ("Logit", "dp_logit")]
)
def test_an_estimator_of_another_package_is_told_as_the_verb_here(name, verb):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; write dpstats.{verb}$"):
        getattr(dp, name)
    with pytest.raises(AttributeError, match="no attribute 'OSL'$"):
        _ = dp.OSL


def test_an_unknown_name_is_told_to_python_which_suggests_another():
    with pytest.raises(
        AttributeError, match="'DPResults' object has no attribute 'pvals'"
    ) as error:
        _ = FIT.pvals
    assert error.value.name == "pvals" and error.value.obj is FIT


@pytest.mark.parametrize("result", [FIT, GROUPS], ids=["fit", "groups"])
def test_predictions_at_the_rows_of_the_fit_are_refused(result):
    for predict in (result.predict, lambda: result.predict(None)):
        with pytest.raises(dp.ArgumentError, match="rows of the fit, which are confidential"):
            predict()


@pytest.mark.parametrize(
    "hypotheses",
    ["", " ", [], "x =", "nope = 0", [[np.nan, 1]], {"x": np.inf}, ([[0, 1]], [np.nan])],
)
def test_hypotheses_that_cannot_be_read_are_refused(hypotheses):
    for test in (FIT.t_test, FIT.f_test, GROUPS.t_test):
        with pytest.raises(dp.ArgumentError, match="hypotheses"):
            test(hypotheses)


def test_what_is_of_one_group_is_named():
    for name in ("f_test", "get_margeff", "cov_params", "raw_powers", "df_resid", "prsquared"):
        assert hasattr(dp.DPResults, name) and not hasattr(GROUPS, name)
        with pytest.raises(dp.NotReleasedError, match=rf"result\[label\]\.{name}"):
            getattr(GROUPS, name)


def test_a_picture_of_groups_with_several_regressors_says_what_there_is():
    bounds = CALL["bounds"] | {"z": (0, 1)}
    by = dp.dp_ols("y ~ x + z", LINE.assign(z=0.5), by="area", groups=["a", "b", "c"],
                   **CALL | {"bounds": bounds})  # fmt: skip
    with pytest.raises(dp.NotReleasedError, match=r"^plot\(\) of groups .*result\[label\]\.plot"):
        by.plot()


@pytest.mark.parametrize("label", [["a", "b"], slice(None), {}, "z", GROUPS.params])
def test_no_label_is_refused(label):
    with pytest.raises(dp.ArgumentError, match="there is no group .* among 'a', 'b', 'c'"):
        GROUPS[label]
    assert isinstance(label, str) or label not in GROUPS


@pytest.mark.parametrize("drawn", [FIT, GROUPS, dp.compare(FIT)], ids=["fit", "groups", "table"])
def test_axes_that_are_none_are_refused(drawn):
    pytest.importorskip("matplotlib")
    with pytest.raises(dp.ArgumentError, match="expected ax to be axes of matplotlib, got 'x'"):
        drawn.plot(ax="x")


DESCRIBED = dp.dp_describe(LINE, ["x"], epsilon=1, bounds={"x": (0, 1)})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dp.compare(FIT, digits=2), r"^compare has no argument digits=; help\(dpst"),
        (lambda: dp.plan_study("a.toml", reps=3), "^plan_study has no argument reps=; "),
        (lambda: FIT.summary(yname="wage"), "^summary has no argument yname=; .*labels="),
        (lambda: FIT.to_json("a"), r"^to_json\(\) takes no path, got 'a'; .*result\.to_json\(\)\)"),
        (lambda: GROUPS.to_json("a"), r"^to_json\(\) takes no path, got 'a'; "),
        (lambda: DESCRIBED.to_json("a"), r"^to_json\(\) takes no path, got 'a'; "),
        (lambda: dp.compare(FIT).to_latex("a"), r"^to_latex\(\) takes no path, got 'a'; "),
        (lambda: dp.compare(FIT).to_markdown("a"), r"^to_markdown\(\) takes no path, got 'a'; "),
        (lambda: dp.compare(FIT).to_html("a"), r"^to_html\(\) takes no path, got 'a'; "),
        (lambda: DESCRIBED.to_html("a"), r"^to_html\(\) takes no path, got 'a'; "),
        (lambda: FIT.predict({"x": 1}, interval=0.9), "^expected interval to be True or False"),
        (lambda: GROUPS.predict({"x": 1}, "confidence"), "^expected interval to be True or False"),
        (lambda: FIT.conf_int(cols=["z"]), r"^expected cols to list .*\['x'\], got \['z'\]$"),
        (lambda: FIT.conf_int(cols=2), r"^expected cols to list .*\['x'\], got 2$"),
    ],
)
def test_arguments_of_other_packages_are_refused_in_one_sentence(call, message):
    with pytest.raises(dp.ArgumentError, match=message):
        call()


@pytest.mark.parametrize("cols", [["x"], [1], "x", np.array([1])])
def test_intervals_are_of_the_coefficients_asked_for(cols):
    assert FIT.conf_int(cols=cols).equals(FIT.conf_int().loc[["x"]])
