"""What so many trials can show, against counts and mechanisms that spend twice the claim."""

import math

import numpy as np
import pytest
from scipy.stats import beta

import dpstats as dp
from dpstats.auditing.events import lower_bound
from dpstats.auditing.power import largest_bound, trials_to_refute
from dpstats.privacy import GDP


@pytest.mark.parametrize("trials", [20, 500, 10**6])
def test_no_counts_give_a_larger_bound_than_all_against_none(trials):
    """The limit for all of the trials is (alpha / 2)^(1 / trials), that for none its complement."""
    end = 1e-6 / 2
    attained = math.log(end ** (1 / trials)) - math.log(-math.expm1(math.log(end) / trials))
    assert largest_bound(trials, 1e-6, 0.0, False) == pytest.approx(max(attained, 0), abs=1e-6)
    assert -math.expm1(math.log(end) / trials) == pytest.approx(beta.ppf(1 - end, 1, trials))
    few = min(trials, 50)
    for likely in range(few + 1):
        bounds = lower_bound(likely, np.arange(few + 1), few, 1e-6)
        assert bounds.max() <= max(largest_bound(few, 1e-6, 0.0, False), 0) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_randomised_response_with_twice_the_claim_is_refuted_from_there_on(epsilon):
    """On average: with twice as many trials in most runs, with a half in few (500 runs, seed 1)."""
    draw, needed = np.random.default_rng(1), trials_to_refute(epsilon, 0.0, 1e-6, False)
    p = 1 / (1 + math.exp(-2 * epsilon))
    for factor, low, high in ((2, 0.9, 1.0), (1, 0.2, 0.8), (0.5, 0.0, 0.15)):
        n = int(needed * factor)
        bounds = lower_bound(draw.binomial(n, p, 500), draw.binomial(n, 1 - p, 500), n, 1e-6)
        assert low <= np.mean(bounds > epsilon) <= high


def test_a_gaussian_shift_of_twice_the_claim_is_refuted_from_there_on():
    draw, mu = np.random.default_rng(2), GDP.of(1.0, 1e-6).mu
    needed = trials_to_refute(1.0, 1e-6, 1e-6, True)
    for factor, low, high in ((2, 0.9, 1.0), (0.5, 0.0, 0.15)):
        n = int(needed * factor)
        counts = [(draw.normal(shift, 1, (200, n)) > 0).sum(axis=1) for shift in (mu, -mu)]
        bounds = lower_bound(*counts, n, 1e-6, 1e-6, gaussian=True)
        assert low <= np.mean(bounds > mu) <= high


def test_a_large_epsilon_takes_more_trials_than_anybody_has():
    """e^16 is nine million, and the bound has to be above it."""
    assert trials_to_refute(16.0, 0.0, 1e-6, False) > math.exp(16)
    assert trials_to_refute(60.0, 0.0, 1e-6, False) == math.inf


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_few_trials_show_nothing(gaussian):
    assert largest_bound(20, 1e-6, 1e-6, gaussian) == 0.0


def test_an_audit_says_what_its_trials_can_show():
    found = dp.audit("noisy_stats", epsilon=8, trials=200, progress=False)
    assert found.epsilon_attainable == pytest.approx(largest_bound(100, 1e-6, 0.0, False))
    assert found.epsilon_lower <= found.epsilon_attainable < found.epsilon
    assert found.trials_needed == 2 * trials_to_refute(8.0, 0.0, 1e-6, False)
    assert f"from trials={found.trials_needed:,.0f} on" in str(found)


@pytest.mark.parametrize("pairs, compared", [(1, 0), (3, 3 * 2 * 20)])
def test_a_pair_alone_is_compared_with_none(pairs, compared):
    made = []
    dp.audit(lambda rows: made.append(rows) or rows[0], pairs=[([1], [2])] * pairs, trials=100)
    assert len(made) == 2 * 100 + compared


def test_an_audit_shows_its_progress(capfd):
    dp.audit("noisy_stats", trials=60, progress=True)
    found = dp.audit(sum, pairs=[([1], [2])], trials=60, progress=False)
    assert found.epsilon_lower <= found.epsilon_attainable
    dp.audit(slow, pairs=[([1], [2])], trials=40, progress=True)
    assert "slow: 100%" in capfd.readouterr().err


def slow(rows):
    """A mechanism that takes long enough for a bar to appear."""
    import time

    time.sleep(0.018)
    return sum(rows)
