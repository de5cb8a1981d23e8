"""Several results in one table: what stands where, and what is said below."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def fits():
    """A fit with standard errors, one without, one of another formula, one of nothing."""
    points = dp.simulate.line(4000, x_sd=0.2, seed=1)
    calls = [
        ("y ~ x", points, "adassp", 4),
        ("y ~ x", points, "exp_theil_sen", 4),
        ("y ~ I(x < 0.5)", points, "adassp", 4),
        ("y ~ x", points.head(1), "exp_theil_sen", 4),
    ]
    with dp.testing.insecure_seed(1):
        return [
            dp.dp_ols(formula, rows, method=method, epsilon=epsilon, bounds=UNIT)
            for formula, rows, method, epsilon in calls
        ]


def row(text: str, label: str) -> list[str]:
    """The cells of the only line that starts with a label."""
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [label]]
    return line.split()[1:]


def test_the_frame_holds_what_was_released(fits):
    frame = dp.compare(*fits, names=["a", "b", "c", "d"]).frame
    assert list(frame) == ["result", "term", "estimate", "std_error", "status"]
    first = frame[frame["result"] == "a"].set_index("term")
    assert list(first.index) == ["Intercept", "x", "p25", "p75"]
    expected = pd.concat([fits[0].params, fits[0].predictions])
    np.testing.assert_array_equal(first["estimate"], expected)
    errors = pd.concat([fits[0].bse, fits[0].prediction_intervals()["mean_se"]])
    np.testing.assert_array_equal(first["std_error"], errors)
    assert errors.notna().all()
    assert set(frame.loc[frame["result"] == "d", "status"]) == {fits[3].status} != {"ok"}


def test_each_number_stands_in_its_column(fits):
    text = str(dp.compare(*fits[:3]))
    assert row(text, "x") == [f"{fit.params['x']:#.4g}" for fit in fits[:2]]
    assert f"({fits[0].bse['x']:#.3g})" in text
    assert row(text, "method") == ["adassp", "exp_theil_sen", "adassp"]
    assert row(text, "epsilon") == ["4", "4", "4"]
    assert row(text, "delta") == ["1e-06", "0", "1e-06"]
    rows, errors = fits[0].fit_statistics.loc["nobs"]
    assert row(text, "N")[:3] == [f"{rows:.0f}", f"({errors:.0f})", "4000"]
    assert row(text, "neighbours") == ["add_remove", "replace_one", "add_remove"]


def test_coefficients_come_before_predictions(fits):
    lines = str(dp.compare(*fits[:3])).splitlines()
    starts = [line.split()[0] for line in lines if line.split()]
    assert starts.index("I(x") < starts.index("p25") < starts.index("response")


def test_gaps_have_their_reason_and_seeded_noise_its_stamp(fits):
    text = " ".join(str(dp.compare(*fits)).split())
    assert f"(2): {fits[1].reasons['bse']}" in text
    assert f"(4): {fits[3].reasons['params']}" in text
    assert "(1), (2), (3), (4): NOT PRIVATE" in text
    assert fits[3].status in text and "nan" in text


def test_a_private_result_bears_no_stamp(fits):
    points = dp.simulate.line(100, seed=1)
    real = dp.dp_ols("y ~ x", points, method="noisy_stats", epsilon=1, bounds=UNIT)
    text = str(dp.compare(fits[0], real))
    assert "(1): NOT PRIVATE" in text and "(2): NOT PRIVATE" not in text
    assert row(text, "private") == ["NO", "(seeded)", "yes"]
    assert "NOT PRIVATE" not in str(dp.compare(real))


def test_html_is_escaped_and_shown_in_notebooks(fits):
    table = dp.compare(*fits, names=["<b>", "2", "3", "4"])
    page = table.to_html()
    assert table._repr_html_() == page
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert "I(x &lt; 0.5)[T.True]" in page
    assert page.count("<tr>") == page.count("</tr>") > 10


def test_latex_is_escaped(fits):
    text = dp.compare(*fits).to_latex()
    assert r"\begin{tabular}{lcccc}" in text and r"exp\_theil\_sen" in text
    assert r"I(x \textless{} 0.5)[T.True]" in text
    assert r"insecure\_seed" in text and "insecure_seed" not in text


def test_restored_results_compare_alike(fits):
    restored = [dp.DPResults.from_json(fit.to_json()) for fit in fits]
    assert str(dp.compare(*restored)) == str(dp.compare(*fits))


def test_several_formulas_are_compared_by_their_names_and_cost_what_the_call_did():
    points = dp.simulate.line(2000, x_sd=0.2, seed=1)
    formulas = {"line": "y ~ x", "curve": "y ~ x + I(x**2)"}
    several = dp.dp_ols(formulas, points, method="adassp", epsilon=4, bounds=UNIT)
    table = dp.compare(several)
    assert table.names == ("line", "curve")
    assert table.frame["result"].unique().tolist() == ["line", "curve"]
    assert table.joint_guarantee == pytest.approx((4, 1e-6), rel=1e-6)
    text = " ".join(str(table).split())
    assert "they have epsilon = 4 and delta = 1e-06 together" in text
    assert dp.compare(several, names=["a", "b"]).names == ("a", "b")


def test_costs_of_separate_calls_add_up(fits):
    pure, other = fits[1], fits[3]
    assert dp.compare(pure, other).joint_guarantee == (8, 0)
    assert "they have epsilon = 8 together" in str(dp.compare(pure, other))
    gaussian = dp.compare(fits[0], fits[2])
    epsilon, delta = gaussian.joint_guarantee
    assert 4 < epsilon < 8 and delta == 1e-6
    assert dp.compare(pure, pure).joint_guarantee == (4, 0), "one release shown twice"
    assert "epsilon =" not in str(dp.compare(pure)).split("neighbours")[1]


def test_different_relations_have_no_joint_epsilon(fits):
    table = dp.compare(*fits[:2])
    assert table.joint_guarantee is None
    assert "no joint epsilon" in " ".join(str(table).split())
    points = dp.simulate.line(400, x_sd=0.2, seed=1).assign(person=[*range(200)] * 2)
    call = dict(method="adassp", epsilon=4, bounds=UNIT)
    rows = dp.dp_ols("y ~ x", points, **call)
    persons = dp.dp_ols("y ~ x", points, unit="person", max_rows=2, **call)
    assert rows.privacy.neighbors == persons.privacy.neighbors
    assert dp.compare(rows, persons).joint_guarantee is None
    assert dp.compare(persons, persons).joint_guarantee == pytest.approx((4, 1e-6))


@pytest.fixture(scope="module")
def groups():
    points = dp.simulate.line(900, x_sd=0.2, seed=1).assign(
        g=["a", "b", "c"] * 300, k=[1, 1, 2] * 300
    )
    return dp.dp_ols("y ~ x", points, by=["g", "k"], groups=[("a", 1), ("b", 1), ("c", 2)],
                     method="noisy_moments", epsilon=3, bounds=UNIT)  # fmt: skip


def test_groups_stand_side_by_side_and_cost_what_one_does(groups):
    table = dp.compare(groups)
    assert table.names == ("a, 1", "b, 1", "c, 2") and table.joint_guarantee == (3, 0)
    estimates = table.frame.query("term == 'x'")["estimate"]
    np.testing.assert_array_equal(estimates, groups.params["x"])
    assert row(str(table), "N") == ["300", "300", "300"]
    some = dp.compare(groups["a", 1], groups["c", 2], names=["a", "c"])
    assert some.joint_guarantee == (3, 0)


def test_equal_calls_about_groups_are_two_releases(groups):
    points = dp.simulate.line(300, x_sd=0.2, seed=1).assign(g="a")
    call = dict(by="g", groups=["a"], method="noisy_moments", epsilon=3, bounds=UNIT)
    first, second = (dp.dp_ols("y ~ x", points, **call) for _ in range(2))
    assert first.privacy == second.privacy
    assert dp.compare(first["a"], second["a"]).joint_guarantee == (6, 0)


def test_wrong_calls_are_refused(fits, groups):
    with pytest.raises(dp.ArgumentError, match="at least one result"):
        dp.compare()
    with pytest.raises(dp.ArgumentError, match="compare\\(first, second\\).*, got a list"):
        dp.compare(fits, fits)
    with pytest.raises(dp.ArgumentError, match="at least one result"):
        dp.compare({})
    with pytest.raises(dp.ArgumentError, match="or one list or mapping of them, .*got a dict"):
        dp.compare(fits[0], {"b": fits[1]})
    with pytest.raises(dp.ArgumentError, match="compare\\(by\\[label\\], other\\), got a DPGroup"):
        dp.compare(fits[0], groups)
    for names in ("ab", ["a"], ["a", "a"], ["a", 2], 3):
        with pytest.raises(dp.ArgumentError, match="names to list 2 different texts"):
            dp.compare(*fits[:2], names=names)


def test_columns_that_are_not_private_stand_last_and_say_so(fits):
    points = dp.simulate.line(4000, x_sd=0.2, seed=1)
    ols = smf.ols("y ~ x", points).fit()
    table = dp.compare(fits[:2], ols=[ols])
    text = str(table)
    assert table.names == ("(1)", "(2)", "(3)")
    assert row(text, "x")[2] == f"{ols.params['x']:#.4g}" and f"({ols.bse['x']:#.3g})" in text
    assert row(text, "N")[-1] == "4000" and row(text, "private")[-1] == "NO"
    assert sum(line.endswith(f" {ols.rsquared:.3f}") for line in text.splitlines()) >= 1
    said = " ".join(text.split())
    assert "(3): NOT PRIVATE, computed from the rows without noise" in said
    assert "(1), (2): NOT PRIVATE, made under" in said, "the stamp of noise stays apart"
    assert set(table.frame.query("result == '(3)'")["status"]) == {"not private"}
    assert table.joint_guarantee == dp.compare(fits[:2]).joint_guarantee
    named = dp.compare({"a": fits[0], "b": fits[2]}, ols={"OLS": ols, "too": ols}, stars=True)
    assert named.names == ("a", "b", "OLS", "too")
    assert "the private ones have epsilon" in " ".join(str(named).split())
    assert dp.compare(fits[0], ols=[ols], names=["dp", "ols"]).names == ("dp", "ols")
    assert dp.compare(fits[0], ols={"OLS": ols}, names=["dp"]).names == ("dp", "OLS")
    assert dp.compare(fits[0], ols={"OLS": ols}).names == ("(1)", "OLS")
    with pytest.raises(dp.ArgumentError, match="names to list 2 different texts"):
        dp.compare(fits[0], ols={"dp": ols}, names=["dp"])


def test_stars_stand_at_bounded_intervals_alone_and_gaps_are_said(fits):
    text = str(dp.compare(*fits[:2], stars=True, keep=["x"]))
    assert row(text, "x") == [f"{fits[0].params['x']:#.4g}***", f"{fits[1].params['x']:#.4g}"]
    said = " ".join(text.split())
    assert "* p < 0.1, ** p < 0.05, *** p < 0.01, privacy noise included." in said
    assert "(2): no stars at x, where no bounded interval was released" in said
    assert "(1): no stars" not in said and "*" not in str(dp.compare(*fits[:2]))
    own = str(dp.compare(fits[0], stars={0.05: "†"}, keep=["x"]))
    assert row(own, "x") == [f"{fits[0].params['x']:#.4g}†"]


def test_labels_terms_and_notes_are_those_asked_for(fits):
    table = dp.compare(fits[0], labels={"x": "Slope"}, order=["p75", "x"],
                       keep=["x", "p75", "Intercept"], notes=["First.", "Second."])  # fmt: skip
    text = str(table)
    starts = [line.split()[0] for line in text.splitlines() if line.split()]
    assert starts.index("p75") < starts.index("Slope") < starts.index("Intercept")
    assert "p25" not in starts and "x" not in starts
    assert text.splitlines()[-2:] == ["First.", "Second."]
    assert "NOT PRIVATE" in text, "no note of the user's replaces one of ours"
    assert "p25" in set(table.frame["term"]), "the tidy frame holds all that was released"


def test_a_real_guarantee_is_in_the_note():
    points = dp.simulate.line(200, seed=1)
    real = dp.dp_ols("y ~ x", points, method="noisy_stats", epsilon=1, bounds=UNIT)
    said = " ".join(str(dp.compare(real)).split())
    assert "(1): differentially private with epsilon = 1: whether one person's row is" in said


def test_fits_that_are_not_private_are_no_results(fits):
    points = dp.simulate.line(400, x_sd=0.2, seed=1)
    ols = smf.ols("y ~ x", points).fit()
    with pytest.raises(dp.ArgumentError, match=r"that are not private go into ols=\[\.\.\.\]"):
        dp.compare(fits[0], ols)
    for wrong in (ols, "ols", 3):
        with pytest.raises(dp.ArgumentError, match="ols to be a list of fits or a mapping"):
            dp.compare(fits[0], ols=wrong)
    with pytest.raises(dp.ArgumentError, match="no keep='X'; did you mean 'x'"):
        dp.compare(fits[0], keep=["X"])
    with pytest.raises(dp.ArgumentError, match="names to list 2 different texts"):
        dp.compare(fits[0], ols=[ols], names=["dp"])
