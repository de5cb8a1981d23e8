"""Noisy Newton steps: privacy with factors, least squares as epsilon grows, and what is shown."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks.skewed import default
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import METHOD, check_factors, factor_case, rows
from tests.checks.recording import Recording
from tests.checks.several_outcomes import check_random, check_worst


def test_no_row_with_factors_moves_a_query_further_than_stated():
    check_factors()


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_each_query_has_the_noise_that_its_fraction_asks_for(neighbors):
    """Scales recomputed from the docstring: sensitivity over mu times the root of a fraction."""
    case = factor_case(neighbors)
    noise = Recording(case.limit)
    case.fit(*rows(np.random.default_rng(1), 3000))(noise)
    replaced = neighbors != ADD_REMOVE
    # all fractions but that of the ranges, which comes before, and of a number of rows not bought
    mu = case.limit.mu / math.sqrt(1 - 0.185 - 0.005 * replaced)
    scales = {event.step: event.scale for event in noise.events}
    root2 = math.sqrt(2) if replaced else 1
    wide = 2 + 3 * 2
    expected = {
        "X'X": root2 * wide / (mu * math.sqrt(0.125)),
        "mean and mean square of y": (2 if replaced else math.sqrt(2)) / (mu * math.sqrt(0.02)),
        "leverages": root2 / (mu * math.sqrt(0.015)),
    }
    if not replaced:
        expected["number of rows"] = 1 / (mu * math.sqrt(0.005))
    for step, scale in expected.items():
        assert scales[step] == pytest.approx(scale, rel=1e-4), step
    tails = [event.scale for event in noise.events if event.step == "score norms"]
    assert tails == pytest.approx(
        [root2 / (mu * math.sqrt(part)) for part in (0.02, 0.08)], rel=1e-4
    )
    spent = sum(event.cost.mu**2 for event in noise.events) / case.limit.mu**2
    assert spent == pytest.approx(1)
    spans = noise.queries[-1]
    limit = spans.unit * 2**20
    far = math.hypot(2.0 if replaced else 1.0, 0.3)
    assert spans.l2 * spans.unit == pytest.approx(far * limit, rel=1e-5)
    assert scales["scores"] == pytest.approx(far * limit / (mu * math.sqrt(0.17)), rel=1e-5)


def table(n: int, seed: int) -> pd.DataFrame:
    """Made-up wages: two numbers, one of them skewed, and two factors."""
    generator = np.random.default_rng(seed)
    x, z = generator.uniform(1, 30, n), generator.normal(10, 3, n)
    g = pd.Categorical(generator.choice(list("abc"), n), categories=list("abc"))
    h = pd.Categorical(generator.choice(["u", "v"], n), categories=["u", "v"])
    y = 5 + 0.3 * x - 0.004 * x**2 + 0.2 * z + 2.0 * (g == "b") + (h == "v") * 0.1 * z
    return pd.DataFrame({"x": x, "z": z, "g": g, "h": h, "y": y + generator.normal(0, 1, n)})


FORMULAS = [
    "y ~ 1",
    "y ~ x + z",
    "y ~ x + I(x**2) + z",
    "y ~ np.log(x) * h + z",
    "y ~ g * h + x",
    "y ~ g:h - 1",
    "y ~ g - 1 + x:h",
    "y ~ C(g, Sum) + C(h, Helmert) + z",
    "y ~ C(g, Poly) * z",
    "y ~ x - 1",
    "np.log(y + 20) ~ x + g",
    "y ~ bs(x, df=5) + z",
    "y ~ x * z",
    "y ~ center(x) + standardize(z)",
]
BOUNDS = {"x": (1, 30), "z": (-5, 25), "y": (-10, 40)}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("declared", [True, False], ids=["bounds", "none"])
def test_fitted_values_tend_to_those_of_least_squares(formula, declared):
    """At epsilon 1e6, in units of the standard error of OLS; splines learn knots in public."""
    data = table(4000, seed=4)
    bounds = {name: BOUNDS[name] for name in BOUNDS if name in formula} if declared else None
    with insecure_seed(1):
        result = dp.dp_ols(formula, data, method="noisy_newton", epsilon=1e6, bounds=bounds)
    ols = smf.ols(formula, data).fit()
    at = data.iloc[:200]
    inside = at[(at["x"] > 2) & (at["x"] < 29)]
    error = np.asarray(result.predict(inside)) - np.asarray(ols.predict(inside))
    fit_error = np.sqrt(ols.scale * len(ols.params) / len(data))
    scale = 3.0 if "bs(" in formula else 0.3
    assert np.sqrt(np.mean(error**2)) < scale * fit_error
    if not any(word in formula for word in ("bs(", "center(")):
        off = np.abs(result.params.to_numpy() - ols.params.to_numpy()) / ols.bse.to_numpy()
        assert off.max() < 0.4, off


@pytest.mark.parametrize(
    "formula", ["y ~ far + near - 1", "y ~ far - 1", "y ~ near + cr(x, df=4) - 1"]
)
def test_columns_far_from_the_origin_are_fitted_through_it(formula):
    """Numbers of mean 200 and deviation 1, and a spline whose columns add up to 1."""
    generator = np.random.default_rng(5)
    data = pd.DataFrame({"far": generator.normal(200, 1, 5000), "x": generator.uniform(1, 5, 5000)})
    data["near"] = data["far"] + generator.normal(0, 0.5, 5000)
    data["y"] = 0.1 * data["far"] + 0.2 * data["near"] + generator.normal(0, 1, 5000)
    with insecure_seed(1):
        result = dp.dp_ols(formula, data, epsilon=1e6)
    ols = smf.ols(formula, data).fit()
    assert result.status == "ok"
    off = (result.params - ols.params) / ols.bse
    assert np.abs(off[["far" if "far" in formula else "near"]]).max() < 0.1
    np.testing.assert_allclose(result.bse, ols.bse, rtol=0.1)


def test_large_powers_and_offsets_keep_their_intercept():
    """Columns of size 1 and 1e20 stand in one design."""
    generator = np.random.default_rng(2)
    x = generator.uniform(20_000, 90_000, 5000)
    data = {"x": x, "y": 7 + 1e-4 * x - 1e-19 * x**4 + generator.normal(0, 1, 5000)}
    with insecure_seed(1):
        result = dp.dp_ols("y ~ x + I(x**4)", data, method="noisy_newton", epsilon=1e6)
    ols = smf.ols("y ~ x + I((x/1e4)**4)", data).fit()
    off = (result.params.to_numpy() * [1, 1, 1e16] - ols.params.to_numpy()) / ols.bse.to_numpy()
    assert np.abs(off).max() < 0.4, off


@pytest.mark.parametrize("spread", [2e-3, 1e-4])
def test_a_quadratic_of_a_number_far_from_zero_is_held(spread):
    """As of a coordinate. Its columns differ in the tenth digit, and one of them was left out."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        u = rng.normal(size=6000)
        y = 2 * u - 0.5 * u**2 + 3 * rng.normal(size=6000)
        exact = smf.ols("y ~ u + I(u**2)", pd.DataFrame({"u": u, "y": y})).fit().params
        with insecure_seed(seed):
            fit = dp.dp_ols("y ~ x + I(x**2)", {"x": spread * u - 63.845, "y": y}, epsilon=1)
        low, high = fit.conf_int().loc["I(x ** 2)"] * spread**2
        assert low < exact["I(u ** 2)"] < high and high - low < 0.5, (low, high)


def test_intervals_cover_given_that_they_are_shown():
    """60 tables of 1,500 rows, 4 slopes each: at least 90% of what is shown covers.

    With a true coverage of 95%, the 240 slopes (dependent within a table: count the 60 tables
    for 120) fall below 88% in one seed of a thousand at most; the seeds are fixed.
    """
    shown, covered, truth = 0, 0, np.array([2.0, 0.5, -1.0, 0.25])
    for seed in range(60):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(1500, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
        y = truth[0] + X @ truth[1:] + generator.standard_t(5, 1500)
        data = {"y": y, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
        with insecure_seed(seed):
            result = dp.dp_ols("y ~ a + b + c", data, method="noisy_newton", epsilon=2)
        ends = result.conf_int().to_numpy()
        finite = np.isfinite(ends).all(axis=1)
        shown += finite.sum()
        covered += ((ends[:, 0] <= truth) & (truth <= ends[:, 1]) & finite).sum()
    assert shown >= 0.9 * 240
    assert covered >= 0.88 * shown


LONG_TAILS, TWO_VALUES, SQUARES = "exp(0.8 z)", "z > -0.5", "40 + 12 z and its square"


def simulated(law: str, n: int, generator) -> np.ndarray:
    """Regressors (n, d) made of a normal z."""
    z = generator.normal(size=n)
    x = {LONG_TAILS: np.exp(0.8 * z), TWO_VALUES: (z > -0.5) * 1.0, SQUARES: 40 + 12 * z}[law]
    return np.column_stack([x, x**2] if law == SQUARES else [x])


@pytest.mark.parametrize(
    ("law", "n", "epsilon"),
    [(LONG_TAILS, 10_000, 1), (LONG_TAILS, 3000, 0.5), (TWO_VALUES, 500, 1), (SQUARES, 800, 1)],
)
def test_intervals_cover_with_long_tails_two_values_and_squares(law, n, epsilon):
    """Of 200 tables whose regressors explain 90%, the first slope is held by 90% of those shown.

    With a true coverage of 95% that fails in one seed of 800 where all are shown, and of 200 where
    130 are; the seeds are fixed. They covered 77 to 86% with two steps, each trusted to leave 7% of
    itself, values clipped six deviations from a median, and X'X taken as exact where it stands
    clear of its noise.
    """
    shown = covered = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        X = simulated(law, n, generator)
        slopes = np.array([1, -0.5])[: X.shape[1]] / X.std(axis=0)
        signal = X @ slopes
        data = {f"x{j}": column for j, column in enumerate(X.T)}
        data["y"] = 7 + signal + signal.std() / 3 * generator.normal(size=n)
        with insecure_seed(seed):
            result = dp.dp_ols(
                f"y ~ {' + '.join(list(data)[:-1])}", data, method="noisy_newton", epsilon=epsilon
            )
        low, high = result.conf_int().loc["x0"]
        shown += np.isfinite(high)
        covered += bool(np.isfinite(high) and low <= slopes[0] <= high)
    assert shown >= 130
    assert covered >= 0.9 * shown


@pytest.mark.parametrize(
    ("spread", "options", "least"),
    [(0.6, {}, 9), (0.6, {"cov_type": "HC1"}, 9),
     (0.8, {}, 9), (0.8, {"cov_type": "HC1"}, 9), (0.8, {"delta": 0.0}, 8)],
    ids=str,
)  # fmt: skip
def test_intervals_hold_least_squares_where_the_response_stays_flat_far_out(spread, options, least):
    """Ten seeded fits of the logarithm of a lognormal column, by the column as it is.

    Up to three of each were held where what is cut off far rows was taken to lie in all directions.
    Of the shorter column with delta = 0, in which noise hides what tail it has, six are.
    """
    held = 0
    for seed in range(10):
        z, w, errors = np.random.default_rng(seed).normal(size=(3, 20_000))
        data = pd.DataFrame({"x": np.exp(spread * z), "w": w, "y": 0.5 * z + 0.4 * w + errors})
        best = smf.ols("y ~ x + w", data).fit().params["x"]
        with insecure_seed(seed):
            low, high = dp.dp_ols("y ~ x + w", data, epsilon=1, **options).conf_int().loc["x"]
        held += bool(low <= best <= high)
    assert held >= least


@pytest.mark.parametrize("epsilon", [1, 4])
def test_intervals_hold_least_squares_of_power_laws_whose_effect_ends(epsilon):
    """Ten seeded tables of a t with three degrees of freedom, whose effect ends about 2.

    Five were held while what is lost was cut to what noise hides in a bin within the bounds.
    """
    held = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, (z, errors) = rng.standard_t(3, 60_000), rng.normal(size=(2, 60_000))
        data = pd.DataFrame({"x": x, "z": z, "y": np.tanh(x) + 0.4 * z + errors})
        bounds = {"x": (x.min(), x.max()), "z": (-5, 5), "y": (-8, 8)}
        best = smf.ols("y ~ x + z", data).fit().params["x"]
        with insecure_seed(seed):
            fit = dp.dp_ols("y ~ x + z", data, epsilon=epsilon, bounds=bounds)
        low, high = fit.conf_int().loc["x"]
        held += bool(low <= best <= high)
    assert held >= 9


def test_rare_ones_of_a_bounded_response_are_not_lost_among_empty_bins():
    """Defaults of 2%: seed 5, one in fifty, had an interval a hundred times too short."""
    table = pd.DataFrame(default(np.random.default_rng(5), 1250))
    bounds = {"balance": (0, 3), "student": (0, 1), "default": (0, 1)}
    formula = "default ~ balance + student"
    with insecure_seed(5):
        found = dp.dp_ols(formula, table, bounds=bounds, epsilon=4, delta=1e-6)
    squares = smf.ols(formula, table).fit()
    assert (np.abs(found.params - squares.params) < 3 * found.bse).all()
    assert (found.bse > squares.bse).all()


def test_a_logarithm_leaves_no_tail_to_count():
    z, errors = np.random.default_rng(1).normal(size=(2, 20_000))
    data = pd.DataFrame({"x": np.exp(0.8 * z), "y": 0.5 * z + errors})
    widths = {}
    for term in ("x", "np.log(x)"):
        with insecure_seed(1):
            fit = dp.dp_ols(f"y ~ {term}", data, epsilon=1)
        widths[term] = fit.bse[term] / smf.ols(f"y ~ {term}", data).fit().bse[term]
    assert widths["np.log(x)"] < 1.3 and widths["x"] > 1.5 * widths["np.log(x)"]


@pytest.mark.parametrize(("d", "n", "enough"), [(1, 250, 500), (6, 700, 1100)])
def test_no_interval_is_shown_where_rows_are_too_few_for_the_scales(d, n, enough):
    """Six correlated regressors of 700 rows had intervals at epsilon 1 that covered 73 to 77%."""
    for size in (n, enough):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(size, d)) + 0.5 * generator.normal(size=(size, 1))
        data = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": X.sum(axis=1)}
        with insecure_seed(0):
            result = dp.dp_ols(
                f"y ~ {' + '.join(list(data)[:-1])}", data, method="noisy_newton", epsilon=1
            )
        few = "rows are too few" in result.reasons.get("bse", "")
        assert few == (size == n)
        assert not few or result.bse.isna().all()


def test_the_noise_on_the_number_of_rows_alone_shows_no_interval():
    """Of 60 fits to the 340 rows that one regressor needs 1 in 6 shows one: at most 19 but for .2%.

    Without a margin for that noise half of them do: at most 19 in 3 of 1,000.
    """
    shown = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        x = generator.normal(size=340)
        with insecure_seed(seed):
            result = dp.dp_ols(
                "y ~ x", {"x": x, "y": x + generator.normal(size=340)}, method="noisy_newton",
                epsilon=1,
            )  # fmt: skip
        shown += "bse" not in result.reasons
    assert 0 < shown <= 19


def test_steps_do_not_go_too_far_where_few_rows_have_most_of_a_column():
    """Of 12 fits 7 were worse than the mean, as rows so far out count for less in X'X.

    Where ranges miss them the center alone is released, in 8 of them.
    """
    explained = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        z = generator.normal(size=(450, 10))
        X = np.where(z > 1.3, 30 * z, z)
        signal = X @ (np.resize([1, -0.5, 0.7], 10) / X.std(axis=0))
        y = signal + 0.7 * signal.std() * generator.normal(size=450)
        data = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": y}
        formula = f"y ~ {' + '.join(list(data)[:-1])}"
        with insecure_seed(seed):
            result = dp.dp_ols(formula, data, method="noisy_newton", epsilon=3)
        explained.append(1 - np.mean((y - result.predict(data)) ** 2) / y.var())
    assert min(explained) > -0.2 and sum(share < -0.05 for share in explained) <= 1
    assert sum(share > 0.3 for share in explained) >= 3


def hidden_result():
    """A fit with a rare level that noise hides and a slope that it does not."""
    generator = np.random.default_rng(1)
    g = np.where(np.arange(3000) < 3, "rare", "usual")
    x = generator.normal(size=3000)
    data = {"x": x, "g": g, "y": x + generator.normal(0, 0.5, 3000)}
    with insecure_seed(1):
        return dp.dp_ols(
            "y ~ x + g", data, method="noisy_newton", epsilon=1, levels={"g": ["usual", "rare"]}
        )


def test_a_hidden_coefficient_has_no_error_and_an_unbounded_interval():
    result = hidden_result()
    assert np.isnan(result.bse["g[T.rare]"]) and np.isfinite(result.bse["x"])
    ends = result.conf_int()
    assert np.isinf(ends.loc["g[T.rare]"]).all() and np.isfinite(ends.loc["x"]).all()
    words = " ".join(str(result.summary()).replace("\n", " ").split())
    assert "the noise could account for the directions that decide some coefficients" in words


def test_json_keeps_what_hides_intervals():
    result = hidden_result()
    again = dp.DPResults.from_json(result.to_json())
    pd.testing.assert_frame_equal(again.conf_int(), result.conf_int())
    pd.testing.assert_series_equal(again.bse, result.bse)
    assert again.to_json() == result.to_json()


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_files_and_memory_give_the_same_numbers(tmp_path, neighbors):
    data = table(3000, seed=9)
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    results = []
    for source in (data, tmp_path / "rows.parquet"):
        with insecure_seed(2):
            results.append(
                dp.dp_ols(
                    "y ~ np.log(x) + z * g",
                    source,
                    method="noisy_newton",
                    epsilon=3,
                    neighbors=neighbors,
                    levels={"g": list("abc")},
                )  # fmt: skip
            )
    one, other = (result.to_dict() for result in results)
    assert one["params"] == other["params"] and one["cov"] == other["cov"]


def test_groups_share_distributions_and_no_row_reaches_another_group():
    """Another row of group b, given the same answers for what all groups share."""
    data = table(3000, seed=8).assign(k=np.repeat(["a", "b", "c"], 1000))
    call = {"by": "k", "groups": ["a", "b", "c"], "method": "noisy_newton", "epsilon": 4}
    with insecure_seed(5):
        result = dp.dp_ols("y ~ x + g", data, n_jobs=1, **call)
    steps = [event.step for event in result.privacy.events]
    assert steps.count("range of x") == steps.count("range of y") == 1
    assert result.privacy.spent[0] <= 4 * (1 + 1e-9)
    changed = data.copy()
    # within a bin of each histogram, so that what is shared is the same under one seed
    changed.loc[1500, "y"] = np.nextafter(data.loc[1500, "y"], 100)
    changed.loc[1501, "g"] = "c" if data.loc[1501, "g"] == "a" else "a"
    with insecure_seed(5):
        other = dp.dp_ols("y ~ x + g", changed, n_jobs=1, **call)
    same = [result.params.loc[k].equals(other.params.loc[k]) for k in "abc"]
    assert same == [True, False, True]


STRANGE = {
    "huge": lambda d: d.assign(x=np.where(np.arange(len(d)) % 3, d["x"], 1e300), y=-1e308),
    "infinite": lambda d: d.assign(x=np.inf, z=-np.inf),
    "constant": lambda d: d.assign(x=2.0, y=0.0),
    "negative": lambda d: d.assign(x=-d["x"]),
    "collinear": lambda d: d.assign(z=2 * d["x"]),
    "tiny": lambda d: d.assign(x=d["x"] * 1e-305, y=5e-324),
    "one row": lambda d: d[:1],
    "no rows": lambda d: d[:0],
}
HARD = ("y ~ np.log(x) + z", "y ~ x + z - 1", "y ~ center(np.log(x)) * g", "y ~ np.exp(x)")
TIGHT = {"x": (1, 1 + 1e-12), "z": (5, 5 + 2**-50), "y": (0, 1e-99)}


@pytest.mark.parametrize("bounds", [None, TIGHT], ids=["none", "tight"])
@pytest.mark.parametrize("name", STRANGE)
def test_no_table_stops_a_call_or_gives_a_number_that_is_none(name, bounds):
    data = STRANGE[name](table(800, seed=6))
    for formula in HARD:
        more = bounds and {name: pair for name, pair in bounds.items() if name in formula}
        for neighbors in RELATIONS:
            with insecure_seed(1):
                result = dp.dp_ols(
                    formula,
                    data,
                    method="noisy_newton",
                    epsilon=5,
                    bounds=more,
                    neighbors=neighbors,
                )
            assert np.isfinite(result.params).all()
            assert (~np.isnan(result.conf_int().to_numpy())).all() and str(result.summary())


def test_cost_is_in_gdp():
    assert isinstance(METHOD.cost(1.0, 1e-6), GDP)


def test_many_levels_are_refused_beforehand_and_left_to_adassp_by_default():
    levels = [f"county {i}" for i in range(1200)]
    data = pd.DataFrame({"x": np.arange(2400.0), "g": pd.Categorical(levels * 2), "y": 1.0})
    budget = dp.Budget(epsilon=1, delta=1e-5)
    with pytest.raises(dp.ArgumentError, match=r"1,200; absorb the factor, as in y ~ x \| county"):
        dp.dp_ols("y ~ x + g", data, method="noisy_newton", epsilon=1, budget=budget)
    assert budget.spent == (0.0, 0.0)
    fit = dp.dp_ols("y ~ x + g", data, epsilon=1)
    assert fit.method == "adassp" and "factors with 1,200 levels" in fit.method_report


def test_no_row_moves_a_query_of_several_outcomes_further_than_stated():
    check_random()


@pytest.mark.parametrize(
    "options", [{}, {"cov_type": "HC1"}, {"name": "noisy_newton_pure"}], ids=str
)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_worst_rows_reach_what_is_stated_of_several_outcomes(neighbors, options):
    check_worst(neighbors, **options)


@pytest.mark.parametrize(
    "function, formula",
    [("dp_ols", "y ~ x"), ("dp_ols", "y ~ x | p"), ("dp_logit", "b ~ x"), ("dp_poisson", "k ~ x")],
)
def test_the_number_of_units_is_that_of_units_with_few_rows_too(function, formula):
    """With 8 rows at most, of which most have four; what these count for is half of the number."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"p": rng.integers(0, 2000, 8000), "x": rng.normal(size=8000)})
    data["y"], data["k"] = data.x + rng.normal(size=8000), rng.poisson(2, 8000)
    data["b"] = data.y > 0
    used = data.groupby("p").filter(lambda rows: len(rows) > 1) if "|" in formula else data
    with insecure_seed(1):
        fit = getattr(dp, function)(formula, data, epsilon=8, unit="p", max_rows=8)
    found = fit.fit_statistics.loc["nobs"]
    assert abs(found.estimate - used.p.nunique()) < 5 * found.std_error < 200
