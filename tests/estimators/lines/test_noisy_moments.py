"""NoisyMoments and NoisyIntercept: sensitivities, noise, accuracy and degenerate data."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import differential_evolution

import dpstats as dp
from dpstats.estimators.lines.noisy_moments import sensitivities
from dpstats.evidence import LineEvidence
from tests.checks.recording import fit, line_data

BOTH = ["replace_one", "add_remove"]


def moments(u, v):
    return np.array([u, v, u * u, u * v, v * v])


def largest(distance, dimensions):
    """The largest distance over [-1/2, 1/2]^dimensions: corners and a global search."""
    corners = max(distance(p) for p in itertools.product([-0.5, 0.5], repeat=dimensions))
    found = differential_evolution(
        lambda p: -distance(p), [(-0.5, 0.5)] * dimensions, seed=1, tol=1e-12, popsize=40
    )
    return max(corners, -found.fun)


def test_moments_sensitivities_are_the_exact_maxima():
    def replace(order):
        return lambda p: np.linalg.norm(moments(*p[:2]) - moments(*p[2:]), order)

    l1, l2 = sensitivities("replace_one")
    assert largest(replace(1), 4) == pytest.approx(l1, rel=1e-9)
    assert largest(replace(2), 4) == pytest.approx(l2, rel=1e-9)
    l1, l2 = sensitivities("add_remove")
    assert largest(lambda p: 1 + np.abs(moments(*p)).sum(), 2) == pytest.approx(l1, rel=1e-9)
    assert largest(lambda p: math.hypot(1, *moments(*p)), 2) == pytest.approx(l2, rel=1e-9)


def moved(method, neighbors, rows, others):
    """(L1, L2) change of the recorded values over the stated sensitivities."""
    queries = [fit(method, *table, neighbors=neighbors)[1].queries[0] for table in (rows, others)]
    change = [int(a) - int(b) for a, b in zip(*(q.values for q in queries), strict=True)]
    l2 = math.hypot(*change) / queries[0].l2 if queries[0].l2 else 0.0
    return sum(map(abs, change)) / queries[0].l1, l2


@pytest.mark.parametrize("method", ["noisy_moments", "noisy_intercept"])
@pytest.mark.parametrize("neighbors", BOTH)
def test_no_neighbour_exceeds_the_sensitivity(method, neighbors):
    rng = np.random.default_rng(1)
    for _ in range(200):
        x, y = rng.uniform(-0.2, 1.2, size=(2, rng.integers(2, 9)))
        if neighbors == "replace_one":
            other = np.r_[x[:-1], rng.uniform(-1, 2)], np.r_[y[:-1], rng.uniform(-1, 2)]
        else:
            other = x[:-1], y[:-1]
        assert max(moved(method, neighbors, (x, y), other)) <= 1


def test_worst_neighbours_reach_the_sensitivity():
    x, y = np.array([0.3, 0.6]), np.array([0.9, 0.2])
    worst = {
        ("noisy_moments", "replace_one"): ((1, 1), (1 / 6, 1 / 6)),
        ("noisy_intercept", "replace_one"): ((0, 1), (0, 0)),
    }
    for (method, neighbors), (new, old) in worst.items():
        tables = [(np.r_[x, row[0]], np.r_[y, row[1]]) for row in (new, old)]
        assert moved(method, neighbors, *tables)[0] > 0.99
    for method in ("noisy_moments", "noisy_intercept"):
        assert moved(method, "add_remove", (np.r_[x, 1], np.r_[y, 1]), (x, y))[0] > 0.99


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("method", ["noisy_moments", "noisy_intercept"])
def test_one_release_takes_the_whole_budget(method, neighbors):
    _, noise = fit(method, *line_data(50), epsilon=0.7, neighbors=neighbors)
    (event,) = noise.events
    assert event.cost.epsilon == 0.7
    assert event.scale == pytest.approx(event.sensitivity / 0.7)


def test_moments_noise_has_the_stated_scale():
    x, y = line_data(30)
    draws = []
    for seed in range(4000):
        release, noise = fit("noisy_moments", x, y, epsilon=2.0, seed=seed)
        exact = np.array(noise.queries[0].values, float) * noise.queries[0].unit
        draws.append(release.evidence.totals[1:] - exact)
    # mean |Laplace(b)| = b with a standard deviation of b / sqrt(20,000)
    assert np.abs(draws).mean() == pytest.approx(25 / 12 / 2, rel=5 / math.sqrt(20_000))


def test_moments_are_those_of_centred_rows_and_include_the_variance():
    x, y = line_data(4000, noise=0.05)
    for neighbors in BOTH:
        release, _ = fit("noisy_moments", x, y, epsilon=1e7, neighbors=neighbors)
        u, v = x - 0.5, y - 0.5
        sums = [4000, u.sum(), v.sum(), (u * u).sum(), (u * v).sum(), (v * v).sum()]
        assert release.evidence.totals == pytest.approx(sums, abs=0.01)
        assert release.evidence.sigma2 == pytest.approx(0.05**2, rel=0.1)


@pytest.mark.parametrize("neighbors", BOTH)
def test_close_to_least_squares_for_large_epsilon(neighbors):
    x, y = line_data(500)
    slope, intercept = np.polyfit(x, y, 1)
    release, _ = fit("noisy_moments", x, y, epsilon=1e6, neighbors=neighbors)
    assert release.params == pytest.approx([intercept, slope], abs=1e-4)
    assert release.predictions == pytest.approx(
        intercept + slope * np.array([0.25, 0.75]), abs=1e-4
    )
    mean, _ = fit("noisy_intercept", x, y, epsilon=1e6, neighbors=neighbors)
    assert mean.params == pytest.approx([y.mean(), 0], abs=1e-4)


@pytest.mark.parametrize("method", ["noisy_moments", "noisy_intercept"])
@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows_give_a_status_and_no_error(method, neighbors, n):
    needed = 2 if method == "noisy_moments" else 1
    for seed in range(20):
        x, y = np.full(n, 0.5), np.full(n, 1.0)
        release, noise = fit(method, x, y, seed=seed, neighbors=neighbors)
        if neighbors == "replace_one":
            assert (release.status == "too_few_rows") == (n < needed) == (not noise.events)
        else:
            assert len(noise.events) == 1
        assert np.isnan(release.params).all() == (release.status != "ok")


def test_a_constant_regressor_fails_as_often_as_the_noise_is_negative():
    x, y = np.full(1000, 0.5), np.full(1000, 0.5)
    fits = [fit("noisy_moments", x, y, seed=seed)[0] for seed in range(200)]
    failures = [release.status == "failed" for release in fits]
    assert 60 < sum(failures) < 140
    assert all(isinstance(release.evidence, LineEvidence) and "params" in release.reasons
               for release, failed in zip(fits, failures, strict=True) if failed)  # fmt: skip


def test_released_sums_survive_a_round_trip():
    df = dp.simulate.line(100, seed=1)
    res = dp.dp_ols("y ~ x", df, method="noisy_moments", epsilon=1, neighbors="add_remove",
                    bounds={"x": (0, 2), "y": (0, 1)})  # fmt: skip
    again = dp.DPResults.from_json(res.to_json())
    assert again.release.evidence.to_plain() == res.release.evidence.to_plain()
