"""Plans: what they forecast comes true on simulated data, and wrong guesses are refused."""

import matplotlib

from tests.checks.plans import guess_of

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.planning import simulation
from dpstats.planning.assumptions import Guess
from tests.checks.plans import CALL, UNIT, cells


@pytest.fixture(scope="module")
def made():
    return dp.plan("y ~ x", epsilon=[0.25, 4], methods=["adassp", "exp_theil_sen"], **CALL)


def test_a_plan_runs_what_dp_ols_runs(monkeypatch):
    """With the table and the seed of a repetition, dp_ols releases the same numbers."""
    tables, releases = [], []
    clipped, fit = Guess.clipped, simulation._release
    monkeypatch.setattr(Guess, "clipped", lambda *a: tables.append(clipped(*a)) or tables[-1])
    monkeypatch.setattr(simulation, "_release", lambda *a: releases.append(fit(*a)) or releases[-1])
    options = {"m": {"method": "exp_theil_sen", "output_range": (0, 1)}}
    dp.plan("y ~ x", epsilon=2, methods=options, **{**CALL, "repetitions": 20, "seed": 5})
    for i in (0, 7):
        X, y = tables[i]
        noise = np.random.SeedSequence([5, i]).spawn(2)[1]
        with dp.testing.insecure_seed(noise):
            result = dp.dp_ols("y ~ x", {"x": X[:, 1], "y": y}, method="exp_theil_sen", epsilon=2,
                               bounds=UNIT, output_range=(0, 1))  # fmt: skip
        np.testing.assert_array_equal(result.params, releases[i].params)
        np.testing.assert_array_equal(result.predictions, releases[i].predictions)


def test_a_quoted_response_is_forecast_as_a_plain_one():
    call = {"n": 300, "epsilon": 4, "method": "noisy_newton", "repetitions": 20}
    plain = dp.plan("y ~ x", bounds=UNIT, **call).frame
    quoted = dp.plan("Q('y=1') ~ x", bounds={"x": UNIT["x"], "y=1": UNIT["y"]}, **call).frame
    pd.testing.assert_frame_equal(plain, quoted)


def test_the_forecast_comes_true():
    """Errors of dp_ols on fresh tables exceed a forecast as often as it says.

    200 fits against quantiles forecast from 200: 5 standard errors of the difference of two
    shares, a false alarm below 1e-6.
    """
    call = {**CALL, "n": 100, "repetitions": 200}
    forecast = cells(dp.plan("y ~ x", epsilon=1, methods=["noisy_stats"], **call))
    guess = guess_of(n=100, truth={"x": 0.5}, sd=0.05)
    errors = []
    for i in range(200):
        X, y = guess.rows(np.random.default_rng([99, i]))
        with dp.testing.insecure_seed(10_000 + i):
            res = dp.dp_ols("y ~ x", {"x": X[:, 1], "y": y}, method="noisy_stats", epsilon=1,
                            bounds=UNIT)  # fmt: skip
        errors.append(abs(res.params["x"] - 0.5))
    for name, share in (("error", 0.5), ("error_90", 0.9)):
        below = np.mean(np.array(errors) <= forecast.loc[("noisy_stats", 1), name])
        assert abs(below - share) < 5 * np.sqrt(2 * share * (1 - share) / 200)


def test_the_frame_is_tidy_and_errors_fall_with_epsilon(made):
    frame = made.frame
    assert list(frame) == ["method", "epsilon", "term", "truth", "error", "error_90", "width",
                           "coverage", "unbounded", "failed", "intervals"]  # fmt: skip
    assert len(frame) == (2 * 2 + 1) * 4
    assert frame["term"].unique().tolist() == ["Intercept", "x", "p25", "p75"]
    truth = frame.drop_duplicates("term").set_index("term")["truth"]
    np.testing.assert_allclose(truth, [0.25, 0.5, 0.375, 0.625])
    by = cells(made)
    for method in ("adassp", "exp_theil_sen"):
        assert by.loc[(method, 0.25), "error"] > 2 * by.loc[(method, 4), "error"]
    assert (frame["error"] <= frame["error_90"]).all()
    ols = by.loc[("ols (not private)", np.inf)]
    exact = 0.05 / np.sqrt(400 / 12)
    assert ols["error"] == pytest.approx(0.6745 * exact, rel=0.5)
    assert ols["width"] == pytest.approx(2 * 1.966 * exact, rel=0.1)


def test_methods_without_intervals_say_why(made):
    by = cells(made)
    assert by.loc["exp_theil_sen", ["width", "coverage", "unbounded"]].isna().all(axis=None)
    assert by.loc[("adassp", 4), "width"] < 1 and by.loc[("adassp", 4), "unbounded"] == 0
    (reason,) = made.remarks["exp_theil_sen"]
    assert "no standard error" in reason
    assert f"exp_theil_sen: {reason}" in " ".join(str(made).split())


def test_another_meaning_of_epsilon_is_said():
    made = dp.plan("y ~ x", epsilon=1, methods=["gd_zcdp"], **{**CALL, "repetitions": 20})
    implied, _ = dp.METHODS["gd_zcdp"].promise(1, 1e-6)
    assert "rho = epsilon^2 / 2" in made.remarks["gd_zcdp"][0]
    assert f"({implied:.3g}, 1e-06)-DP" in made.remarks["gd_zcdp"][0]


def test_the_same_call_gives_the_same_plan_whatever_else_is_planned(made):
    alone = dp.plan("y ~ x", epsilon=4, methods=["adassp"], **CALL)
    pd.testing.assert_series_equal(cells(alone).loc[("adassp", 4)], cells(made).loc[("adassp", 4)])
    other = dp.plan("y ~ x", epsilon=4, methods=["adassp"], seed=1, **CALL)
    assert cells(other).loc[("adassp", 4), "error"] != cells(made).loc[("adassp", 4), "error"]


def test_formulas_with_functions_and_factors():
    call = {
        "n": 5000,
        "bounds": {"x": (1, 10), "y": (0, 20)},
        "levels": {"g": ["a", "b", "c"]},
        "truth": {"np.log(x)": 0.3, "g[T.b]": 0.2},
        "sd": 0.1,
        "repetitions": 20,
    }
    made = dp.plan("np.sqrt(y) ~ np.log(x) + g", methods=["adassp"], epsilon=5, **call)
    truth = made.frame.drop_duplicates("term").set_index("term")["truth"]
    assert truth["np.log(x)"] == 0.3 and truth["g[T.c]"] == 0
    errors = made.frame[made.frame["method"] == "adassp"].set_index("term")["error"]
    assert errors.max() < 0.1
    assert "g with 3 equally likely levels" in " ".join(str(made).split())


def test_levels_that_the_formula_declares():
    made = dp.plan("y ~ C(g, levels=[1, 2])", n=100, bounds={"y": (0, 1)}, methods=["adassp"],
                   epsilon=1, repetitions=20)  # fmt: skip
    assert made.terms == ("Intercept", "C(g, levels=[1, 2])[T.2]")
    assert made.slopes == made.terms[1:]


def test_predictions_at_given_points_and_an_intercept_alone():
    made = dp.plan("y ~ x", epsilon=2, methods=["adassp"], x_new=[0.2, 1.0], **CALL)
    assert cells(made, "1")["truth"].iloc[0] == pytest.approx(0.75)
    alone = dp.plan("y ~ 1", n=100, bounds={"y": (0, 2)}, epsilon=2, methods=["adassp"],
                    repetitions=20)  # fmt: skip
    assert cells(alone, "Intercept")["truth"].iloc[0] == 1
    assert "Intercept (guess: 1)" in str(alone)


def test_clipping_shows_as_an_error():
    """Half of the responses beyond the bounds: no epsilon brings the slope back."""
    call = {**CALL, "truth": {"x": 1.8}}
    made = dp.plan("y ~ x", epsilon=1e4, methods=["adassp"], **call)
    assert cells(made)["error"].min() > 0.2


def test_summary_csv_and_picture(made, tmp_path):
    text = made.summary()
    assert "Forecast of y ~ x for 400 rows" in text and "x (guess: 0.5)" in text
    assert "no data were read, nothing is spent" in " ".join(text.split())
    assert "Not shown, but in frame: Intercept, p25, p75" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "p75 (guess: 0.625)" in made.summary("p75")
    made.to_csv(tmp_path / "plan.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "plan.csv"), made.frame)
    ax = made.plot(term="p25")
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_legend().get_texts()]
    assert labels == ["adassp", "exp_theil_sen", "ols (not private)"]
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, [0.25, 4])
    np.testing.assert_array_equal(y, cells(made, "p25").loc["adassp", "error"])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    plt.close("all")
    for wrong in (made.plot, made.summary):
        for term in ("z", ["x"], np.array(["x", "p25"])):
            with pytest.raises(dp.ArgumentError, match="term to be one of Intercept, x, p25"):
                wrong(term)
    with pytest.raises(dp.ArgumentError, match="term, whose interval.*got a ndarray"):
        dp.plan("y ~ x", epsilon=[1], target_width=1, term=np.array(["x", "p25"]), **CALL)


def test_a_method_may_be_a_bare_string(made):
    plan = dp.plan("y ~ x", epsilon=[0.25, 4], methods="adassp", **CALL)
    pd.testing.assert_frame_equal(cells(plan).loc[["adassp"]], cells(made).loc[["adassp"]])
    assert repr(plan) == repr(dp.plan("y ~ x", epsilon=[0.25, 4], method="adassp", **CALL))


def test_the_footer_counts_the_tables_behind_each_number(made):
    """Without a release in some tables, fewer intervals are behind their coverage."""
    assert "From 60 synthetic tables" in made.summary()
    assert "covers counts" not in made.summary()
    bought = {"bought": {"method": "tukey", "ci": True}}
    plan = dp.plan("y ~ x", epsilon=2, methods=bought, **{**CALL, "n": 1500})
    few = cells(plan).loc[("bought", 2)]
    assert few["intervals"] == 60 - round(60 * few["failed"])
    assert 0 < few["intervals"] < 60
    assert f"an interval, {few['intervals']} to 60 of 60" in " ".join(plan.summary().split())


def test_without_methods_it_is_what_dp_ols_takes():
    for more in ({}, {"delta": 0}, {"neighbors": "replace_one"}):
        call = {**CALL, "repetitions": 20, "epsilon": 2, **more}
        made = dp.plan("y ~ x", **call)
        assert made.frame.equals(dp.plan("y ~ x", methods="auto", **call).frame)
        data = dp.simulate.line(400, seed=1)
        taken = dp.dp_ols("y ~ x", data, epsilon=2, bounds=UNIT, **more).method
        assert made.remarks["auto"][0] == f"{taken}, as dp_ols would take for this call"
    with pytest.raises(dp.ArgumentError, match="methods= or method="):
        dp.plan("y ~ x", methods="adassp", method="ssp", epsilon=1, **CALL)


def test_auto_that_depends_on_epsilon_names_both_methods():
    made = dp.plan("y ~ x", epsilon=[0.25, 50], neighbors="replace_one", **CALL)
    assert made.remarks["auto"][0].startswith("exp_theil_sen or noisy_newton, by epsilon")


def test_a_plan_reads_no_data_and_draws_no_secret_noise(monkeypatch):
    monkeypatch.setattr("dpstats.noise.random_sources.SystemSource.draw", None)
    monkeypatch.setattr("dpstats.noise.random_sources.SystemSource.randbelow", None)
    monkeypatch.setattr("dpstats.noise.random_sources.SystemSource.bytes", None)
    plan = dp.plan("y ~ x", n=30, bounds=UNIT, methods=list(dp.METHODS), epsilon=1,
                   repetitions=20, x_sd={"x": 0.2})  # fmt: skip
    assert set(plan.frame["method"]) == {*dp.METHODS, "ols (not private)"}


WRONG = {
    "no epsilon": ({"epsilon": None}, "epsilon to list numbers > 0.*target_width="),
    "empty epsilon": ({"epsilon": []}, r"epsilon to list numbers > 0.*got \[\]"),
    "epsilon 0": ({"epsilon": [1, 0]}, "epsilon > 0, got 0"),
    "epsilon text": ({"epsilon": "1"}, "expected a finite epsilon > 0, got '1'"),
    "methods numbers": ({"methods": [3]}, "methods to be a list of names"),
    "unknown method": ({"methods": ["lars"]}, "method to be one of noisy_newton.*got 'lars'"),
    "logit": ({"methods": ["noisy_logit"]}, r"no plan for method='noisy_logit': .*\[\[logit\]\]"),
    "instruments": ({"methods": ["noisy_instruments"]}, "dp.plan_study forecasts"),
    "family": ({"family": "binomial"}, "plan has no argument family=: .*dp.plan_study forecasts"),
    "outcomes": (
        {"formula": {"a": "y ~ x", "b": "x ~ y"}},
        r"several, as an \[\[ols\]\] of a study file",
    ),
    "listwise": ({"missing": "listwise"}, "dp.plan_study forecasts several.*one release"),
    "unknown argument": ({"mehtod": "adassp"}, r"plan has no argument mehtod=; help\(dpstats.plan"),
    "bad option": ({"methods": {"a": {"method": "adassp", "k": 3}}}, "adassp has no option 'k'"),
    "no bounds": ({"bounds": {"y": (0, 1)}}, r'bounds=\{"x": \(low, high\)\}.*levels'),
    "bounds text": ({"bounds": "x"}, "expected bounds to be a mapping"),
    "bounds reversed": ({"bounds": {"x": (1, 0), "y": (0, 1)}}, "low < high"),
    "factor": ({"formula": "y ~ C(x)"}, "levels of x must be declared"),
    "n 0": ({"n": 0}, "n to be a whole number in 1..10000000, got 0"),
    "n real": ({"n": 10.5}, "whole number"),
    "truth unknown": ({"truth": {"z": 1}}, "truth names 'z'; expected names among: Intercept, x"),
    "truth text": ({"truth": {"x": "a"}}, r"truth\['x'\] to be a finite number, got 'a'"),
    "truth list": ({"truth": [1]}, "truth to be a mapping"),
    "truth nan": ({"truth": {"x": np.nan}}, "finite number"),
    "sd 0": ({"sd": 0}, "sd > 0, got 0"),
    "x_sd unknown": ({"x_sd": {"y": 1}}, "x_sd names 'y'; expected names among: x"),
    "x_sd negative": ({"x_sd": {"x": -1}}, r"x_sd\['x'\] > 0, got -1"),
    "delta 0": ({"delta": 0}, "adassp needs delta > 0"),
    "relation": ({"neighbors": "all"}, "neighbors to be one of"),
    "unproven": ({"methods": ["ss_theil_sen"], "neighbors": "add_remove"}, "is proven for"),
    "two columns": ({"formula": "y ~ x + I(x**2)", "methods": ["noisy_stats"]}, "one numeric"),
    "repetitions": ({"repetitions": 5}, "repetitions .* in 20..100000, got 5"),
    "alpha": ({"alpha": 1}, r"alpha in \(0, 1\), got 1"),
    "seed": ({"seed": -1}, "seed to be a whole number >= 0"),
    "width": ({"target_width": 0}, "target_width > 0, got 0"),
    "covariances": (
        {"cov_type": np.array(["HC1", "cluster"])},
        "expected cov_type to be .* got a ndarray",
    ),
    "term alone": ({"term": "x"}, "term='x' goes with target_width=; give both"),
    "term unknown": ({"target_width": 1, "term": "z"}, "one of Intercept, x, p25, p75, got 'z'"),
    "precision 0": ({"precision": 0}, r"precision in \(0, 1\), got 0"),
    "precision text": ({"precision": "5%"}, "precision"),
    "precision searched": ({"precision": 0.1, "target_width": 1}, "a search compares all tables"),
    "no term": ({"formula": "y ~ x + I(x**2)", "target_width": 1}, "expected term.*got None"),
    "formula": ({"formula": "y ~ __import__('os')"}, "__import__"),
    "points": ({"x_new": {"z": [1]}}, "no column x"),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_wrong_guesses_are_refused_before_anything_is_run(wrong, message, monkeypatch):
    monkeypatch.setattr(simulation.Simulation, "_run", None)
    call = {"formula": "y ~ x", "n": 50, "bounds": UNIT, "epsilon": 1, "methods": ["adassp"]}
    with pytest.raises(dp.ArgumentError, match=message):
        dp.plan(**{**call, **wrong})


def test_delta_may_be_a_number_of_numpy():
    guess = {"bounds": {"x": (0, 1), "y": (0, 1)}, "epsilon": 1, "repetitions": 20, "seed": 1}
    for delta in (2**-20, 0):
        plans = [dp.plan("y ~ x", n=200, delta=d, **guess) for d in (delta, np.float64(delta))]
        assert plans[0].frame.equals(plans[1].frame)
