"""Audits: honest mechanisms pass, broken ones are caught, the statistics are right."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

import dpstats as dp
from dpstats import cli
from dpstats.auditing.events import best_event, lower_bound
from dpstats.auditing.inputs import corner_pairs
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS, SEVERAL
from dpstats.estimators.companion import with_companion
from dpstats.estimators.lines import noisy_stats
from dpstats.noise import Noise, Query
from dpstats.privacy import GDP, PureDP
from tests.checks.trust_hazards import AUDITED, AUDITED_TOGETHER

pytestmark = pytest.mark.system_noise

ALPHA = 1e-6
CORNERS = [(pair.first, pair.second) for pair in corner_pairs(1, "add_remove")]
BITS = [([0] * 5, [0] * 4 + [1])]
TABLES = (np.ones((4, 2)), np.zeros(4)), (np.ones((4, 2)), np.ones(4))


def noisy_sum(epsilon, unit=1.0):
    """The sum of bits with the package's Laplace noise for epsilon."""

    def release(bits):
        noise = Noise(PureDP(epsilon))
        return noise.add(Query("sum", [sum(bits)], l1=1, unit=unit), PureDP(epsilon)).values

    return release


def halved(method):
    """The method with half the noise it should have."""

    def release(passes, problem, cost, noise, **options):
        twice = GDP(2 * cost.mu) if isinstance(cost, GDP) else cost.part(2)
        return method.release(passes, problem, twice, Noise(twice), **options)

    return replace(method, release=release)


def few_steps(method):
    """Options under which an iterative method draws noise a few times only."""
    return {name: 3 for name in ("steps", "rounds") if name in method.options}


@pytest.mark.parametrize("name", AUDITED)
def test_no_method_is_refuted(name):
    method = {**METHODS, **GENERALIZED, **INSTRUMENTAL}[name]
    for neighbors in AUDITED[name]:
        found = dp.audit(
            name,
            epsilon=1 if method.guarantee == "pure" else 4,
            trials=240,
            neighbors=neighbors,
            alpha=ALPHA,
            **few_steps(method),
        )
        assert not found.violated, str(found)
        assert (found.mechanism, found.neighbors, found.alpha) == (name, neighbors, ALPHA)


@pytest.mark.parametrize("name", AUDITED_TOGETHER)
def test_no_release_of_several_outcomes_is_refuted(name):
    for neighbors in AUDITED_TOGETHER[name]:
        found = dp.audit(name, epsilon=1, trials=40, neighbors=neighbors, outcomes=3, alpha=ALPHA)
        assert not found.violated, str(found)
        assert found.mechanism == f"{name}, 3 outcomes"


def test_one_outcome_without_any_noise_is_caught():
    def release(passes, problem, cost, noise, **options):
        first, last = method.release(passes, problem, cost, noise, **options)
        total = passes.sum(lambda rows: int(rows.of_outcome(1).response.sum() * 2**20))
        return first, replace(last, params=last.params * 0 + total)

    method = SEVERAL["noisy_newton"]
    call = {"trials": 100, "outcomes": 2, "alpha": 1e-3, "pairs": [CORNERS[1]]}
    assert dp.audit(replace(method, release=release), **call).violated
    assert not dp.audit(method, **call).violated


def test_several_outcomes_are_audited_of_rows_and_of_the_default():
    with pytest.raises(dp.ArgumentError, match="adassp fits one response at a time, got outcomes="):
        dp.audit("adassp", outcomes=2)
    with pytest.raises(dp.ArgumentError, match="unit='id' is audited with one response; leave"):
        dp.audit("noisy_newton", outcomes=2, unit="id")
    with pytest.raises(dp.ArgumentError, match="options are for methods, got outcomes"):
        dp.audit(noisy_sum(1), outcomes=2, pairs=BITS)
    with pytest.raises(dp.ArgumentError, match="outcomes to be a whole number >= 1, got 0"):
        dp.audit("noisy_newton", outcomes=0)


def test_halved_laplace_noise_is_caught():
    assert not dp.audit(noisy_sum(1), epsilon=1, pairs=BITS, trials=2000, alpha=ALPHA).violated
    found = dp.audit(noisy_sum(2), epsilon=1, pairs=BITS, trials=2000, alpha=ALPHA)
    assert found.violated and 1 < found.epsilon_lower <= 2
    assert "VIOLATED" in str(found)


@pytest.mark.parametrize("name", ["adassp", "ssp", "noisy_intercept"])
def test_a_method_with_halved_noise_is_caught(name):
    method = dp.METHODS[name]
    epsilon = 1 if method.guarantee == "pure" else 4
    with dp.testing.insecure_seed(2):
        assert not dp.audit(method, epsilon=epsilon, trials=1200, alpha=ALPHA).violated
        assert dp.audit(halved(method), epsilon=epsilon, trials=1200, alpha=ALPHA).violated


def test_a_companion_is_audited_too():
    """Its noise is far too small; the fit it is with is as it should be."""
    main, other = dp.METHODS["noisy_intercept"], dp.METHODS["noisy_moments"]

    def loud(passes, problem, cost, noise):
        return other.release(passes, problem, PureDP(50.0), Noise(PureDP(50.0)))

    for companion, caught in ((other, False), (replace(other, release=loud), True)):
        pair = with_companion(main, companion, 0.5)
        assert dp.audit(pair, epsilon=1, trials=400, alpha=ALPHA).violated == caught


def test_rows_without_any_noise_are_caught():
    def release(passes, problem, cost, noise, **options):
        made = method.release(passes, problem, cost, noise, **options)
        sums = passes.sum(partial(noisy_stats.summarise, problem=problem))
        return replace(made, params=made.params * 0 + sums.y)

    method = dp.METHODS["noisy_stats"]
    assert dp.audit(replace(method, release=release), epsilon=1, trials=200, alpha=1e-3).violated


def test_a_status_that_tells_is_caught():
    def release(passes, problem, cost, noise, **options):
        made = method.release(passes, problem, cost, noise, **options)
        sums = passes.sum(partial(noisy_stats.summarise, problem=problem))
        return replace(made, status="even" if sums.x % 2**21 else "odd")

    method = dp.METHODS["noisy_stats"]
    found = dp.audit(replace(method, release=release), epsilon=1, trials=200, alpha=1e-3)
    assert found.violated


def test_the_bound_rarely_exceeds_the_truth():
    """Randomised response at epsilon 1: coverage of the lower bound at alpha = 0.1."""
    rng = np.random.default_rng(1)
    p = math.e / (1 + math.e)
    likely, rare = rng.binomial(200, p, 4000), rng.binomial(200, 1 - p, 4000)
    bounds = lower_bound(likely, rare, 200, 0.1)
    assert np.mean(bounds > 1) < 0.1
    assert np.median(bounds) > 0.6


def test_an_event_that_never_happened_bounds_nothing():
    assert lower_bound(0, 100, 100, 0.02) == -np.inf


@pytest.mark.parametrize("likely, rare", [(90, 20), (100, 0), (37, 37), (1, 0)])
def test_limits_are_clopper_and_pearsons(likely, rare):
    """The limits by definition: the tails of the binomial are alpha / 2 there."""
    gap = lower_bound(likely, rare, 100, 0.02)
    p = np.exp(gap) * (1.0 if rare == 100 else _upper(rare))
    assert binom.sf(likely - 1, 100, p) == pytest.approx(0.01, rel=1e-6)
    gaussian = lower_bound(likely, rare, 100, 0.02, gaussian=True)
    assert gaussian < lower_bound(likely, rare, 100, 0.2, gaussian=True)


def _upper(count):
    """Upper limit of a probability at which `count` or fewer of 100 have probability 0.01."""
    low, high = count / 100, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if binom.cdf(count, 100, middle) > 0.01 else (low, middle)
    return low


def test_delta_is_taken_off():
    assert lower_bound(90, 10, 100, 0.01, delta=0.3) < lower_bound(90, 10, 100, 0.01)
    assert lower_bound(10, 5, 100, 0.01, delta=0.5) == -np.inf


def test_the_event_is_chosen_where_the_samples_differ():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 500, 3))
    first[:, 1] += 3
    bound = lambda likely, rare: lower_bound(likely, rare, 500, 0.01)  # noqa: E731
    proven, event = best_event(first, second, ["a", "b", "c"], bound)
    assert proven > 2 and str(event).startswith(("b", "linear"))
    wide = second * np.array([1, 1, 4])
    _, event = best_event(second, wide, ["a", "b", "c"], bound)
    assert str(event).startswith(("c", "distance"))
    correlated = np.column_stack([second[:, 0], second[:, 0] + second[:, 1] / 10, second[:, 2]])
    moved = correlated + np.array([0, 0.4, 0])
    _, event = best_event(correlated, moved, ["a", "b", "c"], bound)
    assert str(event).startswith("linear")


def test_tables_may_be_lists():
    table = [[1, 0], [1, 1]], [0, 1]
    found = dp.audit("noisy_stats", epsilon=4, trials=60, pairs=[(table, table)])
    assert not found.violated


def test_several_regressors_and_options():
    with dp.testing.insecure_seed(1):
        assert not dp.audit("adassp", epsilon=4, d=np.float64(3), trials=80).violated
        assert not dp.audit("exp_theil_sen", epsilon=4, trials=60, k=1).violated


@pytest.mark.parametrize(
    "call, message",
    [
        ({"mechanism": "lars"}, "method to be one of .*adassp"),
        ({"mechanism": noisy_sum(1)}, "needs pairs="),
        ({"mechanism": noisy_sum(1), "pairs": []}, "list of"),
        ({"mechanism": noisy_sum(1), "pairs": [1]}, "list of"),
        ({"mechanism": lambda rows: None, "pairs": BITS}, "to return a number .*, got None"),
        ({"mechanism": str, "pairs": BITS}, r"to return a number .*, got '\[0, 0, 0"),
        ({"mechanism": "adassp", "pairs": BITS}, r"tables \(X, y\) .* d=1 numbers in X, got \["),
        ({"mechanism": "adassp", "pairs": [TABLES], "d": 2}, r"\(X, y\) .* d=2 numbers in X"),
        ({"mechanism": "adassp", "pairs": [TABLES], "unit": "p"}, r"tables \(X, y, persons\)"),
        ({"mechanism": noisy_sum(1), "pairs": BITS, "k": 1}, "options are for methods"),
        ({"mechanism": "adassp", "trials": 10}, "trials to be a whole number in 40"),
        ({"mechanism": "adassp", "trials": 10**400}, "trials to be a whole number in 40"),
        ({"mechanism": "adassp", "alpha": 0}, "alpha in"),
        ({"mechanism": "adassp", "epsilon": -1}, "finite epsilon > 0"),
        ({"mechanism": "adassp", "d": 0}, "d to be a whole number in 1..1000"),
        ({"mechanism": "adassp", "d": 10**400}, "d to be a whole number in 1..1000"),
        ({"mechanism": "noisy_stats", "d": 2}, "fits one regressor"),
        ({"mechanism": "noisy_stats", "neighbors": "add_remove"}, "is proven for"),
        ({"mechanism": "noisy_stats", "k": 2}, "has no option"),
        ({"mechanism": "noisy_stats", "delta": 1e-6}, "delta=0"),
        ({"mechanism": "adassp", "delta": 0}, "needs delta > 0"),
    ],
)
def test_wrong_calls_are_refused(call, message):
    with pytest.raises(dp.ArgumentError, match=message):
        dp.audit(**call)


def test_command_line(capsys):
    assert cli.main(["audit", "noisy_stats", "--epsilon", "2", "--trials", "60"]) == 0
    out = capsys.readouterr().out
    assert "noisy_stats, replace_one, claims epsilon 2" in out
    assert "no violation found" in out
    assert cli.main(["audit", "noisy_stats", "--trials", "1"]) == 2
    assert "trials to be a whole number in 40" in capsys.readouterr().err
