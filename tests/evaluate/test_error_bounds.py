"""Errors of repeated fits: C-hat, by group, against the truth, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.evaluate import (
    error_bounds,
    ols_reference,
)
from dpstats.evaluate.error_bounds import percentile_error

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}


UNIT = {"x": (0, 1), "y": (0, 1)}


FORMULA = "kid_rank ~ parent_rank"


def test_c_hat_counts_trials():
    predictions = np.array([[[1.0], [2], [np.nan], [5]]])
    for q, expected in ((25, 1), (50, 2), (51, 5), (75, 5), (76, np.inf), (100, np.inf)):
        assert percentile_error(predictions, np.zeros((1, 1)), q)[0, 0] == expected
    assert np.isnan(percentile_error(predictions, np.full((1, 1), np.nan), 50)[0, 0])


def test_error_bounds_of_a_known_distribution(people):
    """noisy_stats' predictions at large epsilon: the error bound follows the noise scales."""
    table = error_bounds(FORMULA, people, methods=["noisy_stats"], epsilon=50, bounds=BOUNDS,
                         trials=400, seed=2, public=True)  # fmt: skip
    fits = []
    with dp.testing.insecure_seed(3):
        for _ in range(400):
            fit = dp.dp_ols(FORMULA, people, method="noisy_stats", epsilon=50, bounds=BOUNDS)
            fits.append([fit.p25, fit.p75])
    ols = ols_reference(FORMULA, people, bounds=BOUNDS, public=True)["estimate"].to_numpy()[2:]
    expected = np.quantile(np.abs(np.array(fits) - ols), 0.68, axis=0)
    np.testing.assert_allclose(table["c_hat"], expected, rtol=0.2)
    assert list(table["point"]) == ["p25", "p75"]
    assert (table["failed"] == 0).all()


def test_error_bounds_by_group(people):
    methods = ["noisy_stats", "ols", "mean", "theil_sen", "mos"]
    table = error_bounds(FORMULA, people, methods=methods, epsilon=16, by="cell", bounds=BOUNDS,
                         trials=5, seed=1, public=True)  # fmt: skip
    assert list(table.columns) == [
        "method",
        "group",
        "point",
        "c_hat",
        "standard_error",
        "ratio",
        "failed",
    ]
    assert len(table) == 5 * 111 * 2
    ols = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    errors = ols[ols["term"].isin(["p25", "p75"])]["std_error"]
    for label, part in table.groupby("method"):
        np.testing.assert_array_equal(part["standard_error"], errors)
        np.testing.assert_array_equal(part["ratio"], part["c_hat"] / part["standard_error"])
        assert ("(not private)" in label) == (label != "noisy_stats")
    assert (table[table["method"] == "ols (not private)"]["c_hat"] == 0).all()
    suppressed = table[(table["method"] == "mos (not private)") & (table["failed"] == 1)]
    assert len(suppressed) and np.isinf(suppressed["c_hat"]).all()


def test_error_bounds_repeat_with_a_seed_and_ask_for_the_declaration(people):
    call = {
        "methods": ["noisy_stats", "mos"],
        "epsilon": 4,
        "by": "cell",
        "bounds": BOUNDS,
        "trials": 2,
    }
    one, two = (error_bounds(FORMULA, people, seed=5, public=True, **call) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(error_bounds(FORMULA, people, public=True, **call))
    with pytest.raises(dp.ArgumentError, match="public=True"):
        error_bounds(FORMULA, people, **call)


def test_errors_against_the_truth():
    line = dp.simulate.line(300, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    call = {"methods": ["ols"], "epsilon": 1, "bounds": bounds, "public": True}
    table = error_bounds("y ~ x", line, truth=[0.325, 0.575], **call)
    ols = ols_reference("y ~ x", line, bounds=bounds, public=True)["estimate"].to_numpy()[2:]
    np.testing.assert_allclose(table["c_true"], np.abs(ols - [0.325, 0.575]))
    np.testing.assert_allclose(table["ratio_true"], table["c_true"] / table["standard_error"])
    for truth in ([1, 2, 3], {"p25": 0.3, "p75": 0.5}, "a"):
        with pytest.raises(dp.ArgumentError, match="expected truth of shape .* got "):
            error_bounds("y ~ x", line, truth=truth, **call)


def test_methods_with_options_and_labels():
    line = dp.simulate.line(60, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    methods = {
        "one matching": {"method": "exp_theil_sen", "k": 1},
        "all pairs": {"method": "exp_theil_sen"},
        "with delta": {"method": "adassp"},
    }
    table = error_bounds("y ~ x", line, methods=methods, epsilon=2, delta=1e-5, bounds=bounds,
                         trials=3, seed=1, public=True)  # fmt: skip
    assert list(table["method"].unique()) == list(methods)
    one, every = (table.loc[table["method"] == label, "c_hat"] for label in list(methods)[:2])
    assert not np.array_equal(one, every)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"methods": "adassp"}, "expected methods to be a list"),
        ({"methods": []}, "expected methods to be a list"),
        ({"methods": ["lars"]}, "expected method to be one of .*adassp.*mos"),
        ({"methods": ["noisy_logit"]}, "with least squares, got method='noisy_logit'; dp.plan_stu"),
        ({"methods": {"a": "adassp"}}, "expected methods"),
        ({"methods": {"a": {"method": "ols", "k": 3}}}, "baseline without options"),
        ({"q": 0}, "expected q in .0, 100.*, got 0"),
        ({"trials": 0}, "expected trials to be a whole number"),
        ({"epsilon": -1}, "expected a finite epsilon"),
    ],
)
def test_arguments_are_checked_before_rows_are_read(wrong, message):
    call = {
        "methods": ["adassp"],
        "epsilon": 1,
        "bounds": {"x": (0, 1), "y": (0, 1)},
        "public": True,
    }
    with pytest.raises(dp.ArgumentError, match=message):
        error_bounds("y ~ x", {"x": [0.5], "y": [0.5]}, **{**call, **wrong})


def relative_error(method, n, epsilon, x_sd):
    """Median C-hat(68) over the OLS standard error of p25, over 25 simulated tables."""
    tables = [
        dp.simulate.line(n, x_sd=x_sd, noise_sd=0.15, shape="uniform", seed=i).assign(table=i)
        for i in range(25)
    ]
    options = {"k": 10, "output_range": (-2, 2)} if "theil_sen" in method else {}
    errors = error_bounds(
        "y ~ x",
        pd.concat(tables),
        by="table",
        methods={method: {"method": method, **options}},
        epsilon=epsilon,
        bounds=UNIT,
        trials=12,
        seed=1,
        public=True,
    )
    return errors[errors["point"] == "p25"]["ratio"].median()


@pytest.mark.parametrize("name", ["noisy_stats", "noisy_moments"])
def test_theil_sen_leads_while_eps_n_var_x_is_small_and_then_falls_behind(name):
    """Figures 10 and 11 of Alabi et al., at epsilon n var(x) = 2.4 and 925."""
    small, large = (60, 4, 0.1), (1000, 32, 0.17)
    assert relative_error("exp_theil_sen", *small) < relative_error(name, *small) / 2
    assert relative_error(name, *large) < relative_error("exp_theil_sen", *large) / 1.5
