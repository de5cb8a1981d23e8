"""Products of scores for robust errors: private, near White's, and what noise and cuts add."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.estimators.newton.row_sums.sums import SCORE_EDGES
from dpstats.estimators.newton.steps.products import scatter, square_limit, squares_cut
from dpstats.estimators.newton.steps.score_tails import score_tail
from dpstats.privacy import ADD_REMOVE, RELATIONS
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import factor_case, rows
from tests.checks.recording import Recording
from tests.checks.replay import cases_of
from tests.checks.replayed import check_random, check_worst

HC1 = {"cov_type": "HC1"}
CASES = [replace(case, options=HC1) for case in cases_of(METHODS["noisy_newton"])]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_moves_a_query_further_than_stated(case):
    check_random(case, 5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_worst_rows_reach_the_stated_sensitivity(case):
    check_worst(case)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_products_have_their_fraction_and_the_other_steps_the_rest(neighbors):
    case = replace(factor_case(neighbors), options=HC1)
    noise = Recording(case.limit)
    case.fit(*rows(np.random.default_rng(1), 3000))(noise)
    shares = [event.cost.mu**2 / case.limit.mu**2 for event in noise.events]
    assert noise.events[-1].step == "score products"
    assert shares[-1] == pytest.approx(0.08) and sum(shares) == pytest.approx(1)


def tail_of(deviation: float):
    """Sizes of normal pairs over their root mean square, and what a noisy histogram tells."""
    sizes = np.random.default_rng(2).exponential(size=20_000) ** 0.5
    edges = np.concatenate([[-np.inf], SCORE_EDGES, [np.inf]])
    counts = np.histogram(sizes, edges)[0].astype(float)
    return score_tail(counts, deviation, 1.0, 0.02, 8.0)


def test_a_limit_cuts_less_the_less_noise_there_is():
    tail = tail_of(10.0)
    limits = [square_limit(tail, noise) for noise in (1e4, 100.0, 1.0, 1e-6)]
    assert limits == sorted(limits) and limits[0] < 2 < limits[-1]
    cut = [squares_cut(tail, limit) for limit in limits]
    assert cut == sorted(cut, reverse=True) and cut[-1] == 0


def test_a_tail_without_rows_has_a_limit():
    tail = tail_of(10.0)
    assert square_limit(replace(tail, counts=0 * tail.counts), 1.0) > 0


def test_without_noise_and_cut_it_is_the_sum():
    s = np.random.default_rng(3).normal(size=(500, 4)) * [1, 2, 3, 4]
    np.testing.assert_allclose(scatter(s.T @ s, 1e-9, 500.0, 0.0), s.T @ s, rtol=1e-9)


@pytest.mark.parametrize("deviation", [30.0, 300.0, 3000.0])
def test_noise_makes_it_longer_on_average_and_never_shorter_by_much(deviation):
    """300 draws, about scores with variances 1 to 4, whose noise is 2% to twice their mean."""
    truth, rng = 1500 * np.diag([0.4, 0.8, 1.2, 1.6]), np.random.default_rng(4)
    ratios = []
    for _ in range(300):
        noise = np.triu(rng.normal(0, deviation, (4, 4)), 1)
        noise = noise + noise.T + np.diag(rng.normal(0, math.sqrt(2) * deviation, 4))
        found = scatter(truth + noise, deviation, 1500.0, 0.0)
        assert np.linalg.eigvalsh(found)[0] > 0
        ratios.append(np.diag(found) / np.diag(truth))
    ratios = np.array(ratios)
    assert (ratios.mean(axis=0) > 1).all()
    assert (np.quantile(ratios, 0.1, axis=0) > 0.75).all()
    assert (ratios.mean(axis=0) < 1 + 12 * deviation / 1500).all()


def test_what_is_cut_is_added_in_proportion():
    products = np.diag([100.0, 300.0])
    np.testing.assert_allclose(scatter(products, 1e-9, 200.0, 40.0), 1.1 * products, rtol=1e-9)


def uneven(n: int, seed: int) -> pd.DataFrame:
    """Skewed errors whose size grows with that of x, and a factor with errors of its own."""
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n), rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    size = np.abs(x) * np.where(g == "c", 2.0, 1.0)
    errors = size * (rng.exponential(size=n) - 1)
    return pd.DataFrame({"x": x, "g": g, "y": 1 + 0.5 * x + 0.3 * (g == "b") + errors})


def fitted(data, epsilon, seed=1, **options):
    call = {"method": "noisy_newton", "levels": {"g": list("abc")}, **options}
    with insecure_seed(seed):
        return dp.dp_ols("y ~ x + g", data, epsilon=epsilon, **call)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_as_epsilon_grows_errors_are_those_of_statsmodels(neighbors):
    data = uneven(8000, seed=1)
    ols = smf.ols("y ~ x + g", data)
    for options in ({}, HC1):
        result, theirs = fitted(data, 1e6, neighbors=neighbors, **options), ols.fit(**options)
        assert result.cov_type == theirs.cov_type
        np.testing.assert_allclose(result.bse, theirs.bse, rtol=0.015)
        np.testing.assert_allclose(result.rsquared, theirs.rsquared, atol=0.01)
        assert f"Covariance Type: {theirs.cov_type}" in " ".join(str(result.summary()).split())


@pytest.mark.parametrize("law", ["0 or 1", "lognormal x"])
def test_errors_of_one_variance_do_not_weigh_residuals_by_leverage(law):
    """They were .95 of those of least squares for a 0/1 response, and 1.20 for a lognormal x."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=10_000)
    data = pd.DataFrame({"x": x, "y": (rng.random(10_000) < 0.1 + 0.03 * x) * 1.0})
    if law == "lognormal x":
        data = pd.DataFrame({"x": np.exp(x), "y": np.exp(x) + rng.normal(size=10_000)})
    with insecure_seed(1):
        result = dp.dp_ols("y ~ x", data, method="noisy_newton", epsilon=1e6)
    np.testing.assert_allclose(result.bse, smf.ols("y ~ x", data).fit().bse, rtol=0.01)


def test_the_true_slope_is_covered_with_uneven_errors():
    """40 tables, one slope each: at least 35, below which one seed of 50 falls at 95%.

    Those of one variance hold it 27 times without noise; the seeds are fixed.
    """
    held = plain = 0
    for seed in range(40):
        data = uneven(4000, seed=seed)
        low, high = fitted(data, 8, seed, **HC1).conf_int().loc["x"]
        held += bool(low <= 0.5 <= high)
        low, high = smf.ols("y ~ x + g", data).fit().conf_int().loc["x"]
        plain += bool(low <= 0.5 <= high)
    assert held >= 36 > plain


def test_errors_of_one_variance_are_not_longer_where_both_hold():
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"x": rng.normal(size=8000), "g": rng.choice(list("abc"), 8000)})
    data["y"] = data["x"] + rng.normal(size=8000)
    widths = [
        np.median([np.diff(fitted(data, 2, seed, **options).conf_int().loc["x"])
                   for seed in range(9)])
        for options in ({}, HC1)
    ]  # fmt: skip
    assert 0.8 < widths[0] / widths[1] < 1.1


def test_a_result_keeps_its_robust_errors():
    result = fitted(uneven(4000, seed=3), 4, **HC1)
    again = dp.DPResults.from_json(result.to_json())
    assert again.cov_type == "HC1" and again.to_json() == result.to_json()
    pd.testing.assert_frame_equal(again.conf_int(), result.conf_int())
    assert np.isfinite(result.rsquared)


def test_groups_have_robust_errors_of_their_own():
    data = uneven(6000, seed=4).assign(k=np.repeat(["u", "v"], 3000))
    groups = fitted(data, 8, by="k", groups=["u", "v"], **HC1)
    assert groups.cov_type == "HC1" and groups.privacy.spent[0] <= 8 * (1 + 1e-9)
    assert [event.step for event in groups.privacy.events].count("score products") >= 1


STRANGE = {
    "huge": lambda d: d.assign(x=np.where(np.arange(len(d)) % 3, d["x"], 1e300), y=-1e308),
    "infinite": lambda d: d.assign(x=np.inf, y=-np.inf),
    "constant": lambda d: d.assign(x=2.0, y=0.0),
    "tiny": lambda d: d.assign(x=d["x"] * 1e-305, y=5e-324),
    "one row": lambda d: d[:1],
    "no rows": lambda d: d[:0],
}


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", STRANGE)
def test_no_table_gives_a_number_that_is_none(name, neighbors):
    data = STRANGE[name](uneven(500, seed=5))
    result = fitted(data, 5, neighbors=neighbors, **HC1)
    assert np.isfinite(result.params).all() and not result.conf_int().isna().any(axis=None)


def test_files_and_memory_give_the_same_numbers(tmp_path):
    data = uneven(3000, seed=9)
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    one, other = (fitted(d, 3, **HC1).to_dict() for d in (data, tmp_path / "rows.parquet"))
    assert one["params"] == other["params"] and one["cov"] == other["cov"]


def test_the_default_takes_robust_errors():
    data = uneven(3000, seed=2)
    with insecure_seed(1):
        result = dp.dp_ols("y ~ x + g", data, epsilon=2, levels={"g": list("abc")}, **HC1)
    assert result.method == "noisy_newton" and result.cov_type == "HC1"
    assert result.privacy.neighbors == ADD_REMOVE
