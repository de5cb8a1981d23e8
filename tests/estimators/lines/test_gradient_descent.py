"""Gradient descent: sensitivity, composition, accuracy and degenerate data."""

import itertools
import math

import numpy as np
import pytest

import dpstats as dp
from dpstats.errors import ArgumentError
from dpstats.estimators import METHODS
from dpstats.privacy import GDP, gdp_delta
from tests.checks.recording import fit, line_data

ALL = ["gd_pure", "gd_approx", "gd_zcdp"]
BOTH = ["replace_one", "add_remove"]


def replay(x, y, outputs, **options):
    """The queries asked for when earlier answers were ``outputs``, whatever the rows."""
    steps = len(outputs)
    return fit("gd_pure", x, y, outputs=outputs, steps=steps, **options)[1].queries


def moved(a, b):
    """(L1, L2) change of the values over the stated sensitivities."""
    change = [int(v) - int(w) for v, w in zip(a.values, b.values, strict=True)]
    return sum(map(abs, change)) / a.l1, math.hypot(*change) / a.l2


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_no_neighbour_exceeds_the_sensitivity_at_any_step(neighbors, tau):
    rng = np.random.default_rng(1)
    for _ in range(60):
        x, y = rng.uniform(-0.2, 1.2, size=(2, rng.integers(2, 9)))
        if neighbors == "replace_one":
            other = np.r_[x[:-1], rng.uniform(-1, 2)], np.r_[y[:-1], rng.uniform(-1, 2)]
        else:
            other = x[:-1], y[:-1]
        outputs = list(rng.normal(0, 3, size=(6, 2)))
        tables = [replay(*t, outputs, neighbors=neighbors, tau=tau) for t in ((x, y), other)]
        assert len(tables[0]) == len(outputs)
        for a, b in zip(*tables, strict=True):
            assert max(moved(a, b)) <= 1


def test_clipped_gradients_reach_the_sensitivity():
    """At the start for a small tau; for tau = 1 once the noise took the fit far away."""
    x, y = np.array([0.5, 0.3]), np.array([1.0, 0.5])
    replaced = x, np.array([0.0, 0.5])
    a, b = (replay(*t, [np.zeros(2)], tau=0.1)[0] for t in ((x, y), replaced))
    assert min(moved(a, b)) > 0.99
    up = [np.full(2, 3.0)] * 9
    a, b = (replay(*t, up, neighbors="add_remove")[-1] for t in ((x, y), (x[1:], y[1:])))
    assert min(moved(a, b)) > 0.99


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("method", ALL)
def test_steps_share_the_budget_equally_and_the_scale_follows(method, neighbors):
    epsilon, steps, tau = 0.8, 20, 0.5
    _, noise = fit(method, *line_data(50), epsilon, neighbors=neighbors, steps=steps, tau=tau)
    rows = 2 if neighbors == "replace_one" else 1
    assert len(noise.events) == steps and noise.limit.covers([e.cost for e in noise.events])
    if method == "gd_pure":
        scale = 2 * rows * tau * steps / epsilon
        assert math.fsum(e.cost.epsilon for e in noise.events) == pytest.approx(epsilon)
    else:
        total = math.fsum(e.cost.mu**2 for e in noise.events)
        assert total == pytest.approx(noise.limit.mu**2)
        # the paper's standard deviation 2 tau / sqrt(rho / T) under replace-one
        scale = rows * tau / math.sqrt(noise.limit.mu**2 / 2 / steps)
    assert [e.scale for e in noise.events] == pytest.approx([scale] * steps)


def test_what_a_budget_means():
    assert METHODS["gd_zcdp"].cost(0.6, 1e-6) == GDP(0.6)
    assert gdp_delta(METHODS["gd_approx"].cost(0.6, 1e-6).mu, 0.6) == pytest.approx(1e-6)
    epsilon, delta = METHODS["gd_zcdp"].promise(0.6, 1e-6)
    assert delta == 1e-6 and gdp_delta(0.6, epsilon) <= 1e-6
    # no more than the conversion of the paper's Lemma F.2 gives
    rho = 0.6**2 / 2
    lemma = rho + math.sqrt(4 * rho * math.log(math.sqrt(math.pi * rho) / 1e-6))
    assert 0.6 < epsilon < lemma


def test_zcdp_results_state_the_epsilon_it_implies_and_charge_it():
    df = dp.simulate.line(100, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    budget = dp.Budget(epsilon=5, delta=1e-6)
    with dp.testing.insecure_seed(1):
        res = dp.dp_ols("y ~ x", df, method="gd_zcdp", epsilon=1, bounds=bounds, budget=budget)
    assert res.privacy.epsilon == pytest.approx(4.887, abs=0.001)
    assert res.privacy.spent[0] <= res.privacy.epsilon and budget.spent[0] == res.privacy.epsilon
    assert any("rho = epsilon^2 / 2" in line for line in res.privacy.assumptions)
    assert "gradient (80 times)" in str(res.summary())
    with pytest.raises(dp.BudgetError):
        dp.dp_ols("y ~ x", df, method="gd_zcdp", epsilon=1, bounds=bounds, budget=budget)


def test_groups_list_every_step():
    df = dp.simulate.atlas(tracts=3, seed=1)
    bounds = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
    with dp.testing.insecure_seed(1):
        by = dp.dp_ols("kid_rank ~ parent_rank", df, by="tract", method="gd_pure", epsilon=2,
                       bounds=bounds)  # fmt: skip
    assert len(by.privacy.events) == 80
    assert by.privacy.spent[0] == pytest.approx(2)


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("method", ALL)
def test_close_to_least_squares_for_large_epsilon(method, neighbors):
    x, y = line_data(500)
    slope, intercept = np.polyfit(x, y, 1)
    release, _ = fit(method, x, y, 1e5, neighbors=neighbors)
    exact = intercept + slope * np.array([0.25, 0.75])
    assert release.predictions == pytest.approx(exact, abs=1e-3)
    assert release.params == pytest.approx([intercept, slope], abs=4e-3)


def test_a_step_climbs_towards_the_rows():
    """One row far above the start pulls the fit up; the papers' sign would push it down."""
    release, _ = fit("gd_pure", [0.5] * 50, [1.0] * 50, 1e5, steps=4)
    assert np.all(release.predictions > 0.5)


def test_gaussian_noise_has_the_stated_scale():
    x, y = line_data(20)
    draws = []
    for seed in range(400):
        _, noise = fit("gd_zcdp", x, y, 0.7, seed=seed, steps=10)
        draws += [out - np.array(q.values) * q.unit
                  for q, out in zip(noise.queries, noise.outputs, strict=True)]  # fmt: skip
    expected = 2 / math.sqrt(0.7**2 / 2 / 10)
    assert np.std(draws) == pytest.approx(expected, rel=5 / math.sqrt(2 * 8000))


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_or_equal_rows_give_a_status_or_finite_numbers(method, neighbors, n):
    release, noise = fit(method, np.full(n, 0.5), np.full(n, 1.0), neighbors=neighbors)
    if neighbors == "replace_one" and n < 2:
        assert release.status == "too_few_rows" and not noise.events
    else:
        assert release.status == "ok" and np.isfinite(release.params).all()


def test_gradients_that_are_all_zero_leave_the_start():
    outputs = [np.zeros(2)] * 3
    release, _ = fit("gd_pure", [0.1, 0.9], [0.5, 0.5], outputs=outputs, steps=3)
    assert release.predictions.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(["steps"], [0, 1.5, 1001, True, "80", math.nan]),
        *itertools.product(["tau"], [0, -1, math.inf, math.nan, "1", True]),
    ],
)
def test_bad_options_are_refused_by_name(name, value):
    with pytest.raises(ArgumentError, match=name):
        METHODS["gd_pure"].options[name][1](value)
