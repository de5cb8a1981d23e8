"""Choosing terms before a fit: the draw, the two selectors, and dp_ols with select=."""

import math
import warnings
from contextlib import nullcontext
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.special import expit, log_expit, logit, ndtri_exp
from scipy.stats import chisquare

import dpstats as dp
from dpstats.errors import ArgumentError, BudgetError
from dpstats.noise import Noise, ScoreQuery
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE, ApproxDP, PureDP, gdp_delta, gdp_epsilon
from dpstats.selection import SELECTORS, Candidates
from dpstats.testing import insecure_seed
from tests.checks.replay import (
    check_reached,
)
from tests.checks.selections import check_choices

RELATIONS = (ADD_REMOVE, REPLACE_ONE)
HUGE = PureDP(1e9)


# ---------------------------------------------------------------- the price of a choice


@pytest.mark.parametrize("mu", [1e-9, 1e-4, 0.05, 0.9, 1.1, 3.0, 20.0])
def test_the_range_of_a_gaussian_cost_is_valid_and_tight(mu):
    """probit(logistic(l + r)) - probit(logistic(l)) is at most mu, and mu at l = -r / 2."""
    r = GDP(mu).loss_range
    low = -r / 2 + np.linspace(-8, 8, 4001) * max(1.0, r / 4)
    power = ndtri_exp(log_expit(low + r)) - ndtri_exp(log_expit(low))
    assert power.max() <= mu * (1 + 1e-9) + 1e-14
    assert power[2000] >= mu * (1 - 1e-9) - 1e-14


def test_small_costs_buy_a_range_of_1_6_mu():
    assert GDP(1e-6).loss_range == pytest.approx(1e-6 * 4 / math.sqrt(2 * math.pi), rel=1e-9)


@pytest.mark.parametrize("position", [0.2, 0.5, 0.8])
def test_choices_and_a_gaussian_compose_within_the_claim(position):
    """Against privacy-loss distributions; position 1/2 is the worst mechanism of its range."""
    k, delta = 5, 1e-6
    mu = GDP.of(1.0, delta).mu
    r = GDP(mu).part(0.3 / k).loss_range
    low = logit((math.exp(-position * r) - math.exp(-r)) / -math.expm1(-r))
    P, Q = ({0: math.log(expit(l)), 1: math.log(expit(-l))} for l in (low + r, low))
    choices = pld.from_two_probability_mass_functions(Q, P, symmetric=False).self_compose(k)
    gaussian = pld.from_gaussian_mechanism(1 / GDP(mu).part(0.7).mu)
    spent = choices.compose(gaussian).get_epsilon_for_delta(delta)
    assert spent <= 1.0 + 1e-3  # the distributions are rounded up to multiples of 1e-4
    assert spent >= (0.9 if position == 0.5 else 0.5)


def gumbel_max(scores, s):
    weights = np.exp((np.array(scores) - max(scores)) / s)
    return weights / weights.sum()


def permute_and_flip(scores, s):
    """Exact probabilities: walk a random order, accept each with e^((u - max u) / s)."""
    accept = np.exp((np.array(scores) - max(scores)) / s)
    total = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        still = 1.0
        for j in order:
            total[j] += still * accept[j]
            still *= 1 - accept[j]
    return total / len(orders)


@pytest.mark.parametrize("law", [gumbel_max, permute_and_flip])
def test_the_spread_bounds_the_loss(law):
    """Scores that move within [-3/2, 1]: the loss stays within the range, and reaches it."""
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(300):
        u = rng.integers(-6, 7, 4).astype(float)
        moved = u + rng.choice([-1.5, 0.0, 1.0], 4)
        if rng.random() < 0.3:
            u, moved = np.array([60.0, 0, 0, 0]), np.array([58.5, 1, 1, 1])
        losses = np.log(law(moved, 2.5) / law(u, 2.5))
        assert losses.max() - losses.min() <= 1 + 1e-9 or law is permute_and_flip
        worst = max(worst, np.abs(losses).max())
    assert 0.99 <= worst <= 1 + 1e-9


@pytest.mark.parametrize("seeded", [True, pytest.param(False, marks=pytest.mark.system_noise)])
@pytest.mark.parametrize("cost", [PureDP(0.5), GDP(0.3), ApproxDP(0.5, 1e-6)])
def test_the_draw_has_the_stated_distribution(seeded, cost):
    """Of the system; it fails by chance once in 10^7 times, and passes a wrong scale less often."""
    query = ScoreQuery("choice", [3, 9, 0, 12], spread=3)
    limit = GDP(1e6) if isinstance(cost, GDP) else PureDP(1e6)
    draws, chance = (2500, 1e-4) if seeded else (5000, 1e-7)
    with insecure_seed(1) if seeded else nullcontext():
        assert Noise(limit).private != seeded
        # each draw of its own limit, as one adds up all that was drawn within it
        found = [Noise(limit).best(query, cost) for _ in range(draws)]
    counts = np.bincount(found, minlength=4)
    law = gumbel_max if isinstance(cost, GDP) else permute_and_flip
    expected = law(query.scores, 3 / cost.loss_range)
    assert chisquare(counts, draws * expected).pvalue > chance
    other = law(query.scores, 3 / (1.5 * cost.loss_range))  # the test would see a wrong scale
    assert chisquare(counts, draws * other).pvalue < chance


def test_a_choice_is_recorded_and_limited():
    noise = Noise(GDP(1.0))
    query = ScoreQuery("choice", [0, 1], spread=4, unit=0.5)
    noise.best(query, GDP(1.0).part(0.6))
    (event,) = noise.events
    assert (event.mechanism, event.sensitivity) == ("exponential", 1.0)
    assert event.scale == pytest.approx(2 * event.sensitivity / GDP(math.sqrt(0.6)).loss_range)
    with pytest.raises(BudgetError, match="limit"):
        noise.best(query, GDP(1.0).part(0.6))


@pytest.mark.system_noise
@pytest.mark.parametrize("epsilon", [1e-9, 1e9])
@pytest.mark.parametrize("scores", [[-(2**60), 2**60], [0], [2**60] * 3])
def test_extreme_scores_and_budgets(epsilon, scores):
    limit = PureDP(epsilon)
    assert Noise(limit).best(ScoreQuery("choice", scores, 5 << 20), limit) < len(scores)


def test_labels_do_not_depend_on_the_rows_after_them():
    labels = []
    for rows in (70_000, 1_000):
        with dp.testing.insecure_seed(5):
            labels.append(Noise(HUGE).assign(rows, 7))
    np.testing.assert_array_equal(labels[0][:1000], labels[1])
    assert chisquare(np.bincount(labels[0])).pvalue > 1e-4
    assert Noise(HUGE).assign(50, 3).max() <= 2


# ---------------------------------------------------------------- the selectors


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("terms", [(0, 1, 2, 3), (0, 0, 1, 2)])
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("limit", [PureDP(2.0), GDP(0.5), ApproxDP(1.0, 1e-6)])
def test_choices_stay_within_their_spread(selector, relation, terms, limit):
    best = check_choices(selector, relation, terms, limit)
    if selector == "lasso":  # Kendall's worst cases are below
        for step, ratio in best.items():
            check_reached(step, ratio)


DEGENERATE = {
    "no rows": np.zeros((0, 6)),
    "one row": np.ones((1, 6)),
    "two rows": np.arange(12.0).reshape(2, 6),
    "constant": np.full((50, 6), 0.1),
    "copies": np.tile(np.arange(50.0)[:, None], 6),
    "huge": np.random.default_rng(0).choice([-1.7e308, 1.7e308, 5e-324], (50, 6)),
    "tiny": np.random.default_rng(0).choice([-5e-324, 5e-324, 0.0], (50, 6)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_selectors_are_total(selector, name, relation):
    Z = DEGENERATE[name]
    candidates = Candidates(Z[:, :5], Z[:, 5], np.array([0, 1, 1, 2, 3]), relation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (1, 3, 4):
            chosen = SELECTORS[selector].select(candidates, k, PureDP(0.1), Noise(PureDP(0.1)))
            assert len(set(chosen)) == k and set(chosen) <= set(range(4))


@pytest.mark.parametrize("selector", SELECTORS)
def test_without_signal_every_term_is_equally_likely(selector):
    X, y = np.ones((20, 4)), np.zeros(20)
    candidates = Candidates(X, y, np.arange(4), ADD_REMOVE)
    draw = SELECTORS[selector].select
    counts = np.bincount([draw(candidates, 2, HUGE, Noise(HUGE))[1] for _ in range(400)])
    assert chisquare(counts).pvalue > 1e-4


# ---------------------------------------------------------------- dp_ols


def thirty(n, seed=0):
    """Thirty columns, five of which count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30)) + 0.3 * rng.normal(size=(n, 1))
    y = X[:, :5] @ [1, -1, 1, 0.6, -0.6] + rng.normal(size=n)
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(30)]).assign(y=y)


THIRTY = "y ~ " + " + ".join(f"x{i}" for i in range(30))
FIVE = {f"x{i}" for i in range(5)}


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("method, epsilon", [("adassp", 2.0)])
def test_both_find_most_of_five_among_thirty(selector, method, epsilon):
    data = thirty(20_000)
    hits = []
    for _ in range(3):
        result = dp.dp_ols(THIRTY, data, method=method, epsilon=epsilon, select=selector)
        hits.append(len(FIVE & set(result.selected)))
        assert set(result.params.index) == {"Intercept", *result.selected}
    assert np.mean(hits) >= 4.5


def small():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.uniform(size=(400, 3)), columns=["a", "b", "c"])
    data["g"] = pd.Categorical(rng.choice(list("uvw"), 400))
    data["area"] = pd.Categorical(rng.choice(list("pq"), 400))
    data["y"] = 0.2 * data["a"] + 0.5 * (data["g"] == "v") + 0.05 * rng.normal(size=400)
    return data


BOUNDS = {"a": (0, 1), "b": (0, 1), "c": (0, 1), "y": (0, 1)}
FORMULA = "y ~ a + b + I(c**2) + g + a:b"


def fit(data=None, formula=FORMULA, epsilon=1e5, select="kendall", k=2, method="adassp", **more):
    data = small() if data is None else data
    bounds = {name: pair for name, pair in BOUNDS.items() if name in formula}
    options = {"method": method, "epsilon": epsilon, "select": select, "k": k, "bounds": bounds}
    return dp.dp_ols(formula, data, **options | more)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_factor_stays_whole_and_the_model_is_refitted(selector, neighbors):
    result = fit(select=selector, neighbors=neighbors)
    assert set(result.selected) == {"a", "g"}
    assert result.formula == "y ~ 1 + a + g"
    assert list(result.params.index) == ["Intercept", "g[T.v]", "g[T.w]", "a"]
    np.testing.assert_allclose(result.params[["g[T.v]", "a"]], [0.5, 0.2], atol=0.03)
    assert len(result.predict({"a": [0.5], "g": ["v"]})) == 1
    again = dp.DPResults.from_json(result.to_json())
    assert (again.selected, again.formula) == (result.selected, result.formula)
    assert f"selected, in the order of their choice: {', '.join(result.selected)}" in str(result)
    assert "2 of 5 terms were selected" in str(result).replace("\n    ", " ")


def test_without_a_selection_nothing_is_selected():
    result = fit(formula="y ~ a", select=None, k=None)
    assert result.selected is None and result.to_dict()["selected"] is None
    assert dp.DPResults.from_json(result.to_json()).selected is None
    assert "selected" not in str(result)


def test_no_intercept_stays_no_intercept():
    result = fit(formula="y ~ 0 + a + b + c", k=1)
    assert result.formula == f"y ~ 0 + {result.selected[0]}"


@pytest.mark.parametrize("method", dp.METHODS)
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("bounds", [BOUNDS, None], ids=["declared", "estimated"])
def test_events_add_up_to_the_budget(method, selector, bounds):
    data, spec = thirty(3000).rename(columns={"x0": "a", "x1": "b", "x2": "c"}), dp.METHODS[method]
    for neighbors in spec.neighbors:
        result = fit(data, "y ~ a + b + c", 50.0, selector, 1, method, bounds=bounds,
                     neighbors=neighbors, select_share=0.2)  # fmt: skip
        report = result.privacy
        chosen = sum(share for event, share in report.shares() if "term 1" in event.step)
        counted = sum(
            share for e, share in report.shares() if e.step == "number of rows for the votes"
        )
        assert report.limit.covers([event.cost for event in report.events])
        if result.status == "ok":
            assert sum(share for _, share in report.shares()) == pytest.approx(1)
        assert chosen + (counted if selector == "lasso" else 0) == pytest.approx(0.2)


def test_gaussian_fits_pay_for_a_selection_in_mu_squared():
    report = fit(epsilon=1.0).privacy
    mu = GDP.of(1.0, 1e-6).mu
    parts = [event.cost.mu**2 for event in report.events]
    assert sum(parts[:2]) == pytest.approx(0.05 * mu**2)
    assert report.spent[0] == pytest.approx(gdp_epsilon(mu, 1e-6))
    assert gdp_delta(math.sqrt(sum(parts)), 1.0) <= 1e-6
    assert report.events[0].scale == pytest.approx(2.5 / GDP(mu).part(0.025).loss_range)


def test_only_selected_columns_need_ranges():
    data = thirty(5000)
    result = dp.dp_ols(THIRTY, data, method="adassp", epsilon=3, select="kendall", k=3)
    ranged = {e.step.split(" of ")[1] for e in result.privacy.events if e.step.startswith("range")}
    assert ranged == {"y", *result.selected}


def test_a_missing_value_in_a_column_left_out_drops_no_row():
    data = small()
    data.loc[::2, "b"] = np.nan
    result = fit(data, "y ~ a + b + g", neighbors=REPLACE_ONE)
    assert set(result.selected) == {"a", "g"}
    assert result.nobs == 400


def test_groups_share_one_selection():
    result = fit(by="area")
    assert set(result.selected) == {"a", "g"}
    assert list(result.params.columns) == ["Intercept", "g[T.v]", "g[T.w]", "a"]
    assert "selected, in the order" in result.summary()
    spent = [event for event in result.privacy.events if "Kendall" in event.step]
    assert len(spent) == 2
    assert result.privacy.spent[0] == pytest.approx(1e5, rel=1e-3)


@pytest.mark.parametrize("method", [name for name, m in dp.METHODS.items() if m.single_regressor])
def test_a_method_for_one_regressor_selects_one(method):
    result = fit(formula="y ~ a + b + c", k=None, method=method, epsilon=1e4)
    assert result.selected == ("a",)
    assert np.isfinite([result.p25, result.p75]).all()
    with pytest.raises(ArgumentError, match="k must be 1"):
        fit(formula="y ~ a + b + c", k=2, method=method)
    with pytest.raises(ArgumentError, match="one numeric column"):
        fit(k=1, method=method)


def test_k_is_the_methods_own_without_a_selection():
    with pytest.raises(ArgumentError, match='expected k to be "all"'):
        fit(formula="y ~ a", select=None, k=0, method="exp_theil_sen")
    result = fit(formula="y ~ a", select=None, k=3, method="exp_theil_sen")
    assert result.privacy.events[0].sensitivity == 6
    selected = fit(formula="y ~ a + b", k=1, method="exp_theil_sen")
    assert selected.privacy.events[-1].sensitivity == 2 * 399


@pytest.mark.parametrize(
    "more, message",
    [
        ({"select": "best"}, "expected select to be one of kendall, lasso"),
        ({"select": None}, "to keep k=2 of the terms, add select="),
        ({"k": 5}, "nothing to select with k=5 among "),
        ({"k": None}, "nothing to select with k=5"),
        ({"k": 0}, "expected k"),
        ({"k": True}, "expected k"),
        ({"k": 1.5}, "expected k"),
        ({"select_share": 0}, "expected select_share"),
        ({"select_share": 0.6}, "expected select_share"),
        ({"select_share": True}, "expected select_share"),
        ({"select": None, "k": None, "select_share": 0.1}, "add select="),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_spent(more, message):
    budget = dp.Budget(epsilon=1e6, delta=1e-3)
    with pytest.raises(ArgumentError, match=message):
        fit(budget=budget, **more)
    assert budget.spent == (0, 0)


def test_a_product_of_unlimited_columns_is_refused_beforehand():
    data = {name: np.ones(4) for name in "abcdefghijkly"}
    with pytest.raises(ArgumentError, match="overflows"):
        fit(data, "y ~ a + b + a:b:c:d:e:f:g:h:i:j:k:l", bounds=None)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("bounds", [BOUNDS, {"c": (0, 1)}])
def test_small_tables_and_strange_values(rows, selector, bounds):
    data = small()[:rows]
    data["b"] = np.inf
    data.loc[data.index[:1], "a"] = 1e300
    result = fit(data, select=selector, epsilon=1.0, bounds=bounds)
    assert len(result.selected) == 2
    data["a"] = np.nan
    assert len(fit(data, select=selector, epsilon=1.0, bounds=bounds).selected) == 2


class Replayed(Noise):
    """Answers from a shared list once it is full; fills it before."""

    answers, position = [], 0

    def _kept(self, drawn):
        if Replayed.position == len(Replayed.answers):
            Replayed.answers.append(drawn)
        Replayed.position += 1
        return Replayed.answers[Replayed.position - 1]

    def add(self, query, cost):
        noisy = super().add(query, cost)
        return replace(noisy, values=self._kept(noisy.values))

    def best(self, query, cost):
        return self._kept(super().best(query, cost))


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("bounds", [BOUNDS, {"c": (0, 1)}], ids=["declared", "estimated"])
def test_given_the_same_answers_a_row_reaches_nothing(selector, bounds, monkeypatch):
    data, row = small(), {"a": [1e9], "b": [np.inf], "c": [-5], "y": [-1e9], "g": ["w"]}
    monkeypatch.setattr(dp.run.charge, "Noise", Replayed)
    monkeypatch.setattr(Replayed, "answers", [])
    results = []
    for table in (data, pd.concat([data, pd.DataFrame(row)]), data[1:]):
        Replayed.position = 0
        table = table.assign(g=pd.Categorical(table["g"], categories=list("uvw")))
        results.append(fit(table, select=selector, epsilon=40.0, bounds=bounds).to_json())
        assert Replayed.position == len(Replayed.answers) > 4
    assert results[0] == results[1] == results[2]


def test_a_seed_reproduces_the_result():
    results = []
    for _ in range(2):
        with dp.testing.insecure_seed(11):
            results.append(fit(epsilon=0.5, select="lasso").to_json())
    assert results[0] == results[1]
