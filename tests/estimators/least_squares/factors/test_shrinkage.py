"""shrunken with factors: least squares as epsilon grows, the mean where little is seen, between."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.estimators.contract import InMemory
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums
from dpstats.estimators.least_squares.factors.shrinkage import Means, shrunken_blocks
from dpstats.estimators.least_squares.factors.sums import release_block_sums
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import GDP
from tests.checks.block_least_squares import (
    BOUNDS,
    DESIGNS,
    RICH,
    fit,
    hand_made,
    many,
    rare,
    table,
)
from tests.checks.block_sums import coded, problem_of, rows

METHODS = ("shrunken", "shrunken_pure")


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**DESIGNS, method=st.sampled_from(METHODS))
def test_at_a_huge_budget_it_is_least_squares_with_dummies(
    terms, factor, coding, intercept, seed, method
):
    right = " + ".join([factor, *terms]).format(a=coding)
    formula, frame = f"y ~ {int(intercept)} + {right}", table(2000, seed)
    ours, ols = fit(formula, frame, method=method), smf.ols(formula, frame).fit()
    # else which of all solutions is taken is arbitrary
    assume(np.linalg.matrix_rank(ols.model.exog) == len(ours.params))
    assert ours.status == "ok"
    np.testing.assert_allclose(ours.params, ols.params, atol=2e-5 if "x:" in right else 3e-6)
    if method == "shrunken":
        np.testing.assert_allclose(ours.bse, ols.bse, rtol=1e-3)
        np.testing.assert_allclose(ours.rsquared, ols.rsquared, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("intercept", [True, False])
def test_a_coding_that_does_not_tell_all_codes_apart_is_shrunken_about_the_mean(method, intercept):
    """A trend over five codes, of which none is eliminated."""
    coding = np.arange(5.0)[:, None] / 4
    problem = hand_made(coding, intercept)
    generator = np.random.default_rng(1)
    codes, x = generator.integers(0, 5, 4000), generator.uniform(0, 4, 4000)
    parts = [coding[codes, 0], x]
    X = np.column_stack([np.ones(4000), *parts] if intercept else parts)
    y = X @ np.arange(1, X.shape[1] + 1) / 8 + generator.normal(0, 0.1, 4000)
    ols = np.linalg.lstsq(X, y.clip(-2, 3), rcond=None)[0]

    def params(epsilon, response):
        cost = dp.METHODS[method].cost(epsilon, 1e-6)
        with dp.testing.insecure_seed(1):
            passes = InMemory(Rows(x[:, None], response, codes[:, None]))
            return dp.METHODS[method].release(passes, problem, cost, Noise(cost))

    np.testing.assert_allclose(params(RICH, y).params, ols, atol=3e-6)
    nothing = params(0.05, generator.normal(0.8, 0.1, 4000))
    if intercept:
        assert nothing.status == "constant" and not nothing.params[1:].round(12).any()
        assert nothing.params[0] == pytest.approx(0.8, abs=0.6)
    else:
        assert nothing.params == pytest.approx([0, 0], abs=0.5)
        assert nothing.params.any() == (nothing.status == "ok")


@pytest.mark.parametrize("levels, slope, level", [(10, 0.002, 0.005), (50, 0.002, 0.015)])
def test_the_noise_depends_little_on_the_number_of_levels(levels, slope, level):
    """Ten draws at 100,000 rows and epsilon 1, with the limits that least squares keeps to.

    Sums of dummies gave slopes that were too small by a tenth at 50 levels. The slope's privacy
    error is about half of the limit, so a draw beyond it has a chance below 1e-6.
    """
    frame, _ = many(100_000, levels, 1)
    dummies = np.eye(levels)[np.arange(len(frame)) % levels]
    X = np.column_stack([np.ones(len(frame)), dummies[:, 1:], frame["x"]])
    ols = np.linalg.lstsq(X, frame["y"].clip(-0.5, 1.5), rcond=None)[0]
    errors = np.array(
        [
            fit("y ~ x + g", frame, 1.0, "shrunken", seed).params.to_numpy() - ols
            for seed in range(10)
        ]
    )
    assert np.sqrt((errors[:, -1] ** 2).mean()) < slope
    assert np.sqrt((errors[:, 1:-1] ** 2).mean()) < level


def test_effects_of_rare_levels_are_drawn_to_the_mean_and_err_less():
    """Sixty levels of 20 to 300 rows, of which least squares takes those together that noise hides.

    Its mean squared error of effects is a third larger over these six seeds.
    """
    generator = np.random.default_rng(4)
    sizes = generator.integers(20, 300, 60)
    codes = np.repeat(np.arange(60), sizes)
    effects = generator.normal(0, 0.1, 60)
    x = generator.uniform(0, 1, len(codes))
    y = 0.4 + 0.3 * x + effects[codes] + generator.normal(0, 0.1, len(codes))
    names = [f"l{i:02d}" for i in range(60)]
    frame = pd.DataFrame({"x": x, "y": y, "g": pd.Categorical.from_codes(codes, names)})
    points = pd.DataFrame({"x": 0.5, "g": pd.Categorical(names, names)})
    truth = 0.55 + effects
    errors: dict[str, list] = {"shrunken": [], "adassp": []}
    for seed in range(6):
        for method, found in errors.items():
            fitted = fit("y ~ x + g", frame, 1.0, method, seed)
            found.append(np.mean((fitted.predict(points) - truth) ** 2))
    assert np.mean(errors["shrunken"]) < 0.85 * np.mean(errors["adassp"])


def noisy(seed, n, effects, slope, pure=False):
    """Released sums of n rows with a factor of four codes and two numbers, at epsilon 1."""
    basis = BlockBasis.of(problem_of(1, 2))
    generator = np.random.default_rng(seed)
    codes, z = generator.integers(0, 4, n), generator.uniform(0, 2, (n, 2))
    y = 1 + slope * (z[:, 0] - 1) + np.array(effects)[codes] + generator.normal(0, 0.3, n)
    sums = BlockSums.of(Rows(z, y, codes[:, None]), basis)
    cost = dp.METHODS["shrunken_pure" if pure else "shrunken"].cost(1.0, 1e-6)
    with dp.testing.insecure_seed(seed):
        return release_block_sums(sums, basis, "add_remove", cost, Noise(cost)), basis


@pytest.mark.parametrize("pure", [False, True])
def test_neither_slopes_nor_effects_are_often_taken_from_noise_alone(pure):
    """400 tables without any; 60 of them or more have a chance below 1e-6 if 1 in 15 are.

    Slopes alone, or effects alone, stand out where they are.
    """
    null = [shrunken_blocks(*noisy(seed, 2000, np.zeros(4), 0.0, pure)) for seed in range(400)]
    assert sum(not found.is_constant for found in null) < 60
    slopes = [shrunken_blocks(*noisy(seed, 4000, np.zeros(4), 0.8, pure)) for seed in range(20)]
    assert sum(found.gamma.any() for found in slopes) == 20
    effects = [0.4, -0.4, 0.4, -0.4]
    levels = [shrunken_blocks(*noisy(seed, 4000, effects, 0.0, pure)) for seed in range(20)]
    assert sum(len(set(found.alpha)) == 4 for found in levels) == 20


def test_all_blocks_tell_the_number_of_rows_and_the_mean():
    """Their average errs less than the block with the fewest codes: 2 of 4, 3, 5 and 2 codes."""
    basis = BlockBasis.of(problem_of(4, 1))
    table, found = coded(*rows(4, 1, 20_000), basis), []
    sums = BlockSums.of(table, basis)
    with dp.testing.insecure_seed(2):
        for _ in range(200):
            noisy = release_block_sums(sums, basis, "add_remove", GDP(0.3), Noise(GDP(0.3)))
            found.append(Means.of(noisy, basis))
    errors = np.array([one.rows - 20_000 for one in found])
    assert found[0].codes == pytest.approx(1 / (1 / 4 + 1 / 3 + 1 / 5 + 1 / 2))
    assert errors.std() == pytest.approx(noisy.gram_sd * np.sqrt(found[0].codes), rel=0.2)
    v = np.clip((table.response - 1) / 2, -1, 1).mean()
    assert np.mean([one.response for one in found]) == pytest.approx(v, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formula", ["y ~ x + g", "y ~ 0 + x + g", "y ~ x + C(g, Sum) + h"])
def test_where_nothing_stands_out_the_mean_is_released(method, formula):
    frame = rare(3000, 7).assign(y=0.7)
    result = fit(formula, frame, 0.2, method)
    assert result.status == "constant"
    assert "so the mean of the response is released" in result.method_report
    means = result.predict(frame.head(20))
    assert np.ptp(means) < 1e-9 and 0 < means.iloc[0] < 1.5
    if "0 +" not in formula:
        assert result.params.drop("Intercept").abs().max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("bounds", [BOUNDS, None])
def test_few_rows_give_a_result(method, count, bounds):
    frame = rare(5000, 7).head(count)
    for formula in ("y ~ x + g", "y ~ g", "y ~ 0 + g + h", "y ~ x*g + h"):
        used = bounds and {name: ends for name, ends in bounds.items() if name in formula}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = fit(formula, frame, 1.0, method, bounds=used)
        assert result.status in ("ok", "constant") and np.isfinite(result.params).all()
        kind, predicted = result.schema["y"], result.predict(rare(5000, 7).tail(40))
        assert predicted.between(kind.low, kind.high).all()


def test_the_intervals_are_those_of_adassp_on_the_same_sums():
    frame = rare(50_000, 1)
    ours, plain = (fit("y ~ x + g + h", frame, 1.0, name) for name in ("shrunken", "adassp"))
    assert ours.companion.equals(plain.params) and ours.conf_int().equals(plain.conf_int())
    assert "about least squares on the same noisy sums" in " ".join(str(ours.summary()).split())
    assert ours.reasons["conf_int"] == plain.reasons["conf_int"]
    assert ours.bootstrap(draws=40).equals(plain.bootstrap(draws=40))
    assert dp.DPResults.from_json(ours.to_json()) == ours
    none = fit("y ~ x + g", frame.head(30), 0.2, "shrunken")
    assert none.companion is None and "rows of some levels" in none.reasons["bse"]
    clipped = fit("y ~ x + g", frame, 1.0, "shrunken", bounds=None)
    assert clipped.bse.isna().all() and "estimated ranges" in clipped.reasons["bse"]


def test_robust_errors_and_weights_take_factors_as_columns():
    frame = rare(30_000, 4).assign(w=np.random.default_rng(1).uniform(0.2, 3, 30_000))
    robust = fit("y ~ x + h", frame, 1e4, "shrunken", cov_type="HC1")
    ols = smf.ols("y ~ x + h", frame).fit(cov_type="HC1")
    assert robust.cov_type == "HC1"
    np.testing.assert_allclose(robust.params, ols.params, atol=2e-4)
    np.testing.assert_allclose(robust.bse, ols.bse, rtol=0.02)
    call = {"weights": "w", "bounds": {"x": (0, 1), "y": (-0.5, 1.5), "w": (0, 3)}}
    wls = smf.wls("y ~ x + h", frame, weights=frame["w"]).fit()
    for method in METHODS:
        weighted = fit("y ~ x + h", frame, 1e5, method, **call)
        np.testing.assert_allclose(weighted.params, wls.params, atol=2e-3)


def test_batches_and_groups_give_the_same(tmp_path):
    frame, path = rare(6000, 5), tmp_path / "rows.parquet"
    frame.to_parquet(path)
    levels = {"g": list("abcde"), "h": list("uvw")}
    for method in METHODS:
        ours = fit("y ~ x + g + h", frame, 4.0, method)
        streamed = fit("y ~ x + g + h", str(path), 4.0, method, levels=levels)
        assert ours.params.equals(streamed.params) and ours.bse.equals(streamed.bse)
        groups = fit("y ~ x + g", frame, 50.0, method, by="h")
        assert groups.params["x"].sub(0.5).abs().max() < 0.1
