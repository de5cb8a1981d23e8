"""Accuracy: near the non-private fit, as good as the papers, and intervals that cover."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import beta

import dpstats as dp
from benchmarks import goodness, illinois, table3
from benchmarks.tools import checked, released
from dpstats.call import Prepared
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.estimators.least_squares import adassp
from dpstats.numerics import Rows
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.testing import insecure_seed

ROWS = 10_000
RNG = np.random.default_rng(1)
NORMAL = RNG.normal(size=(3, ROWS))
UNIFORM = RNG.uniform(size=(3, ROWS))
X1, X2, NOISE = NORMAL


def frame(x1, x2, *, line=(1, 2, -1.5), sd=1.0) -> pd.DataFrame:
    """10,000 rows of a linear model."""
    y = line[0] + line[1] * x1 + line[2] * x2 + sd * NOISE
    return pd.DataFrame({"x1": x1, "x2": x2, "y": y})


# No bounds are declared for any of these.
PLAIN = {
    "normal": frame(X1, X2),
    "correlated": frame(X1, 0.8 * X1 + 0.6 * X2),
    "uniform": frame(UNIFORM[0], UNIFORM[1], sd=0.5),
    "skewed": frame(np.exp(X1), np.exp(X2)),
    "one skewed": frame(np.exp(X1), X2),
    "heavy tails": frame(X1 / np.sqrt(UNIFORM[0]), X2 / np.sqrt(UNIFORM[1])),
    "0/1": frame((UNIFORM[0] < 0.3) * 1, X2),
    "rare 1": frame((UNIFORM[0] < 0.1) * 1, X2),
    "two 0/1": frame(UNIFORM[0] < 0.3, UNIFORM[1] < 0.5).astype(float),
    "mostly zero": frame(X1 * (UNIFORM[0] < 0.3), X2),
    "small counts": frame(np.floor(5 * UNIFORM[0]), np.floor(4 * UNIFORM[1])),
    "large units": frame(1e6 * X1, 1e6 * X2, line=(1e6, 2, -1.5), sd=1e6),
    "small units": frame(1e-6 * X1, 1e-6 * X2, line=(1e-6, 2, -1.5), sd=1e-6),
    "different units": frame(1e-3 * X1, 1e5 * X2, line=(1, 2e3, -1.5e-5)),
    "response far from zero": frame(X1, X2, line=(1e4, 2, -1.5)),
    "years": frame(1980 + np.floor(41 * UNIFORM[0]), X2, line=(-4000, 2, -1.5), sd=5),
    "rarer 1": frame((UNIFORM[0] < 0.05) * 1, X2),
}
# Where x = 0 is far outside the data: the intercept of OLS itself is off by up to 200%.
FAR = {
    "one far from zero": frame(1e4 + X1, X2),
    "both far from zero": frame(1e4 + X1, 1e4 + X2),
    "negative": frame(5 * X1 - 50, X2),
    "incomes and ages": frame(
        np.exp(10.5 + 0.6 * X1), np.floor(18 + 62 * UNIFORM[1]), line=(1000, 0.3, 200), sd=5000
    ),
}
# Relative errors of the worst coefficient by epsilon, in the middle and largest of five fits.
LIMITS = {100: (0.01, 0.05), 1: (0.3, 0.5)}
# Ranges hold tails that noise hides, so they are wide where a long one decides.
TAILS = ("skewed", "one skewed", "heavy tails")
TAIL_LIMITS = {100: (0.15, 0.5), 1: (0.4, 1.1)}
FAR_LIMITS = {100: (0.01, 0.05), 1: (0.3, 0.4)}


def without_bounds(data, epsilon, seed):
    """The literal call of the documentation, with noise that repeats, and OLS."""
    with insecure_seed(seed):
        private = dp.dp_ols("y ~ x1 + x2", data, method="adassp", epsilon=epsilon)
    return private.params, smf.ols("y ~ x1 + x2", data).fit().params


def middle_and_largest(errors) -> tuple[float, float]:
    """Return the error of the worst coefficient, in the middle and the largest of the fits."""
    worst = np.max(errors, axis=1)
    return float(np.median(worst)), float(worst.max())


@pytest.mark.parametrize("epsilon", LIMITS)
@pytest.mark.parametrize("shape", PLAIN)
def test_without_bounds_every_coefficient_is_near_ols(shape, epsilon):
    fits = [without_bounds(PLAIN[shape], epsilon, seed) for seed in range(5)]
    limits = TAIL_LIMITS if shape in TAILS else LIMITS
    middle, largest = middle_and_largest([abs(private / ols - 1) for private, ols in fits])
    assert middle < limits[epsilon][0] and largest < limits[epsilon][1]


@pytest.mark.parametrize("epsilon", FAR_LIMITS)
@pytest.mark.parametrize("shape", FAR)
def test_far_from_zero_the_slopes_and_the_mean_are_near_ols(shape, epsilon):
    data = FAR[shape]
    fits = [without_bounds(data, epsilon, seed) for seed in range(5)]
    slopes = [abs(private / ols - 1)[["x1", "x2"]] for private, ols in fits]
    middle, largest = middle_and_largest(slopes)
    assert middle < FAR_LIMITS[epsilon][0] and largest < FAR_LIMITS[epsilon][1]
    means = data.mean()[["x1", "x2"]]
    off = [(private - ols) @ [1.0, *means] / data["y"].std() for private, ols in fits]
    assert np.abs(off).max() < FAR_LIMITS[epsilon][0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ones", [0, 5, 100])
def test_a_column_of_almost_only_zeros_gives_no_huge_coefficient(ones, seed):
    data = frame(1.0 * (np.arange(ROWS) < ones), X2)
    with insecure_seed(seed):
        private = dp.dp_ols("y ~ x1 + x2", data, method="adassp", epsilon=1).params
    assert np.all(np.abs(private) < 10)


@pytest.mark.parametrize("epsilon", [1, 10])
@pytest.mark.parametrize("value", [5.0, -1e6, 1e-9])
def test_a_constant_column_gives_no_huge_coefficient(value, epsilon):
    data = frame(np.full(ROWS, value), X2, line=(1, 0, -1.5))
    with insecure_seed(0):
        private = dp.dp_ols("y ~ x1 + x2", data, method="adassp", epsilon=epsilon).params
    assert abs(private["x1"] * value) < 10
    assert abs(private["x2"] / -1.5 - 1) < LIMITS[1][0]


def test_one_huge_value_does_no_harm():
    data = frame(np.r_[1e18, X1[1:]], X2)
    data["y"] -= 2 * data["x1"]
    for seed in range(3):
        with insecure_seed(seed):
            private = dp.dp_ols("y ~ x1 + x2", data, method="adassp", epsilon=1).params
        assert np.all(np.abs(private - [1, 0, -1.5]) < 0.25)


@pytest.mark.parametrize(("method", "epsilon"), [("adassp", 1), ("noisy_stats", 10)])
def test_noise_alone_widens_no_estimated_range(method, epsilon):
    """A single spurious count among 182 dyadic bins would give a range of up to 10^15."""
    for seed in range(60):
        with insecure_seed(seed):
            result = dp.dp_ols("y ~ x1", PLAIN["normal"], method=method, epsilon=epsilon)
        assert max(kind.high - kind.low for kind in result.schema.values()) < 40


UNIT = {"x": (0, 1), "y": (0, 1)}
LINE = dp.simulate.line(301, x_sd=0.2, noise_sd=0.1, seed=5)


def with_bounds(method, epsilon):
    """One seeded fit of the line on the unit square."""
    with insecure_seed(2):
        return dp.dp_ols("y ~ x", LINE, method=method, epsilon=epsilon, bounds=UNIT)


@pytest.mark.parametrize("method", ["adassp", "noisy_stats"])
def test_with_bounds_converges_to_ols(method):
    ols = smf.ols("y ~ x", LINE).fit().params
    errors = [np.abs(with_bounds(method, e).params - ols).max() for e in (10, 1e3, 1e6)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_exp_theil_sen_converges_to_the_median_over_all_pairs():
    x, y = LINE["x"].to_numpy(), LINE["y"].to_numpy()
    j, l = np.triu_indices(len(x), 1)
    apart = x[j] != x[l]
    j, l = j[apart], l[apart]
    private = with_bounds("exp_theil_sen", 1e6)
    for point, value in ((0.25, private.p25), (0.75, private.p75)):
        predictions = y[j] + (y[l] - y[j]) * (point - x[j]) / (x[l] - x[j])
        assert value == pytest.approx(np.median(predictions), abs=1e-5)


def paper_adassp(X, y, rng) -> np.ndarray:
    """Algorithm 2 of Wang (2018) as printed, for rows of norm 1: epsilon and delta in thirds."""
    columns = X.shape[1]
    delta = table3.delta_of(len(y))
    sigma = np.sqrt(np.log(6 / delta)) * 3 / table3.EPSILON
    upper = np.triu(rng.normal(0, sigma, (columns, columns)))
    gram = X.T @ X + upper + np.triu(upper, 1).T
    least = np.linalg.eigvalsh(X.T @ X)[0] + sigma * rng.normal()
    least = max(least - np.log(6 / delta) * 3 / table3.EPSILON, 0)
    ridge = max(0, sigma * np.sqrt(columns * np.log(2 * columns**2 / 0.05)) - least)
    return np.linalg.solve(gram + ridge * np.eye(columns), X.T @ y + rng.normal(0, sigma, columns))


def unit_rows(n, d, seed):
    """A simulated set under the protocol of Table 3."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, d + 1))
    table[:, -1] += table[:, :d] @ rng.uniform(-1, 1, d)
    return table3.prepared(table)


@pytest.mark.parametrize("shape", [(1000, 5), (4000, 10)])
def test_adassp_beats_the_papers_on_simulated_rows(shape):
    X, y = unit_rows(*shape, seed=3)
    errors = table3.cross_validate(X, y, 10)
    rng = np.random.default_rng(4)
    paper = np.mean([np.mean((y - X @ paper_adassp(X, y, rng)) ** 2) for _ in range(100)])
    assert errors.ridge < errors.private.mean() < paper


@pytest.mark.parametrize("name", ["airfoil", "energy", "servo"])
def test_adassp_is_no_worse_than_table_3(name):
    path = table3.path_of(name)
    if not path.is_file():
        pytest.skip(f"there is no {path.name} in the folder that DATA names")
    errors = table3.cross_validate(*table3.prepared(pd.read_csv(path).to_numpy()), 10)
    mean, spread = table3.PAPER.loc[(name, "adassp")]
    assert errors.private.mean() < mean + spread / 2


def test_rows_of_unit_norm_are_summed_as_they_are():
    X, y = unit_rows(500, 6, seed=1)
    formula, data, arguments = table3.private_call(X, y)
    request = checked(formula, data, **arguments)
    summary = adassp.summarise(Rows(X, y), Prepared.of(request).problem)
    Z = np.column_stack([X, y])
    np.testing.assert_allclose(
        summary.sums.cross.astype(float) * PRODUCT_UNIT, Z.T @ Z, rtol=0, atol=500 * 2.0**-18
    )


def test_table_3_measures_the_public_call():
    X, y = unit_rows(500, 6, seed=1)
    formula, data, arguments = table3.private_call(X, y)
    with insecure_seed(9):
        public = dp.dp_ols(formula, data, **arguments)
    request = checked(formula, data, **arguments)
    problem = Prepared.of(request).problem
    with insecure_seed(9):
        release = released(request, problem, Repeated(InMemory(Rows(X, y))))
    np.testing.assert_array_equal(public.params, release.params)


def test_in_simulated_illinois_privacy_costs_less_than_sampling():
    people = illinois.sampled_tracts(40, seed=2)
    table = illinois.error_bounds_of_p25(people, "exp_theil_sen", 16, draws=25, seed=2)
    assert table["ratio"].median() < 1


# Repetitions of each size. 1,000 reveal a coverage of 91% with probability 0.96, 400 one of 88%
# with 0.96, and 2,000 one of 92% with 0.99.
REPETITIONS = {1_000: 2_000, 10_000: 1_000, 100_000: 400}
CELLS = [(1, 1_000, (8,)), *((d, n, (1, 4)) for n in (10_000, 100_000) for d in (1, 3))]


def covered(d: int, n: int, epsilons: tuple) -> dict:
    """How many nominal 95% intervals hold the truth, a coefficient, by epsilon."""
    rng, truth = np.random.default_rng(7), np.r_[0.5, np.full(d, 0.3 / d)]
    names = [f"x{j}" for j in range(d)]
    rows = dict.fromkeys([*names, "y"], np.zeros(1))
    requests = {
        epsilon: checked(
            f"y ~ {' + '.join(names)}", rows, method="adassp", epsilon=epsilon,
            bounds={**dict.fromkeys(names, (-1, 1)), "y": (-1, 2)},
        )
        for epsilon in epsilons
    }  # fmt: skip
    hits = dict.fromkeys(epsilons, 0)
    with insecure_seed(7):
        for _ in range(REPETITIONS[n]):
            X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, d))])
            y = X @ truth + rng.normal(0, 0.1, n)
            problem = Prepared.of(requests[epsilons[0]]).problem
            repeated = Repeated(InMemory(Rows(X, y)))
            for epsilon, request in requests.items():
                release = released(request, problem, repeated)
                errors = np.abs(release.params - truth) / np.sqrt(np.diag(release.cov))
                hits[epsilon] = hits[epsilon] + (errors < 1.959964)
    return hits


@pytest.mark.parametrize(("d", "n", "epsilons"), CELLS)
def test_intervals_of_adassp_cover(d, n, epsilons):
    """No Clopper-Pearson interval of level 99.9% lies below 95%."""
    for epsilon, hits in covered(d, n, epsilons).items():
        highest = beta.ppf(0.9995, hits + 1, REPETITIONS[n] - hits)
        assert np.all(highest >= 0.95), (epsilon, hits / REPETITIONS[n])


@pytest.mark.parametrize(
    ("regressors", "parts"), [("Student's t3", ""), ("Pareto", ""), ("Student's t3", "persons")]
)
def test_r_squared_covers_where_a_regressor_has_a_long_tail(regressors, parts):
    """Of 20 fits .8 hold it, but once in 400 times at 95%; .35 to .65 did before."""
    cell = goodness.Cell("noisy_newton", False, "normal", 2, 20_000, 4.0, parts, regressors)
    error, deviation, *_ = goodness.measured(cell, 20).T
    assert np.isfinite(deviation).sum() >= 14
    assert goodness.covered(error, deviation) >= 0.8


@pytest.mark.parametrize("regressors", ["lognormal", "Pareto"])
def test_r_squared_is_hidden_where_two_quantiles_tell_nothing_of_tails(regressors):
    """Of 2,000 rows at epsilon 1; .44 and .52 showed one before, of which .64 and .69 held it."""
    cell = goodness.Cell("noisy_newton", False, "normal", 2, 2_000, 1.0, "", regressors)
    error, deviation, *_ = goodness.measured(cell, 20).T
    shown = np.isfinite(deviation)
    assert shown.mean() <= 0.3
    assert (np.abs(error[shown]) <= 1.96 * deviation[shown]).sum() >= shown.sum() - 1
