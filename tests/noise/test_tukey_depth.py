"""The draw of a deep point: its volumes, its test, its guarantee, by enumeration."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpstats.noise import DepthQuery, Noise
from dpstats.noise.tukey_depth import Boxes
from dpstats.privacy import ApproxDP
from dpstats.testing import insecure_seed

pytestmark = pytest.mark.system_noise

SIDE = 6  # a small public lattice, 0..5 on each axis


def query(models, cutoff, side=SIDE):
    """The boxes of integer models (m, d) on the lattice 0..side-1."""
    models = np.sort(models, axis=0)
    m, d = models.shape
    lower = [[0] * d] + [models[q - 1].tolist() for q in range(1, (m + 1) // 2 + 1)]
    upper = [[side - 1] * d] + [models[m - q].tolist() for q in range(1, (m + 1) // 2 + 1)]
    return DepthQuery("point", lower, upper, cutoff)


def depths(models, side=SIDE):
    """Depth of every lattice point by its definition: models on the emptier side, at most Q."""
    m, d = models.shape
    points = np.array(list(product(range(side), repeat=d)))
    not_above = (models[None] <= points[:, None]).sum(axis=1)
    not_below = (models[None] >= points[:, None]).sum(axis=1)
    return np.minimum(not_above, not_below).min(axis=1).clip(max=(m + 1) // 2)


def neighbours(rng, m, d, concentrated):
    """Models, most of them in the middle when concentrated, and the same with one exchanged."""
    models = rng.integers(0, SIDE, (m, d))
    if concentrated:
        middle = rng.random((m, d)) < 0.8
        models[middle] = rng.integers(2, 4, middle.sum())
    other = models.copy()
    other[rng.integers(m)] = rng.integers(0, SIDE, d)
    return models, other


def boxes(models, cutoff, rate, side=SIDE):
    made = query(models, cutoff, side)
    return Boxes.of(made.lower, made.upper, rate)


def draw_probabilities(models, cutoff, rate, side=SIDE):
    """Exact probability of every lattice point, from the definition."""
    weights = boxes(models, cutoff, rate, side).weights
    depth = depths(models, side)
    mass = [weights[q] if q >= cutoff else 0 for q in depth]
    return np.array([Fraction(value, sum(mass)) for value in mass])


CASES = [(7, 1, 2), (8, 2, 2), (13, 2, 3), (21, 1, 6)]


@pytest.mark.parametrize("m, d, cutoff", CASES)
def test_volumes_weights_and_mixture_are_those_of_the_definition(m, d, cutoff):
    rng = np.random.default_rng(m)
    for concentrated in (False, True):
        models, _ = neighbours(rng, m, d, concentrated)
        made, depth = boxes(models, cutoff, 0.3), depths(models)
        assert made.volumes == [int((depth >= q).sum()) for q in range((m + 1) // 2 + 1)]
        steps = np.diff(np.log(np.array(made.weights, dtype=float)))
        assert np.all(steps <= 0.3) and np.all(steps > 0.3 - 1e-6)
        mixture = np.zeros(SIDE**d, dtype=object)
        for q, mass in enumerate(made.masses(cutoff), start=cutoff):
            mixture = mixture + np.where(depth >= q, Fraction(mass, made.volumes[q]), 0)
        probabilities = draw_probabilities(models, cutoff, 0.3)
        assert list(mixture / sum(mixture)) == list(probabilities)


@pytest.mark.parametrize("m, d, cutoff", CASES)
def test_one_model_moves_depth_and_distance_by_at_most_one_and_by_one(m, d, cutoff):
    rng = np.random.default_rng(m + 1)
    moves, distances = set(), set()
    for trial in range(300):
        models, other = neighbours(rng, m, d, concentrated=trial % 2)
        moves |= set((depths(models) - depths(other)).tolist())
        rate, delta = rng.choice([0.3, 1.0, 2.0]), rng.choice([0.01, 0.05, 0.2, 0.45])
        pair = [boxes(each, cutoff, rate).distance(cutoff, delta) for each in (models, other)]
        distances.add(abs(pair[0] - pair[1]))
    assert moves == {-1, 0, 1}
    assert distances == {0, 1}


@pytest.mark.parametrize("m, d, cutoff", CASES)
def test_distance_is_the_largest_k_of_its_definition(m, d, cutoff):
    rng = np.random.default_rng(m + 2)
    for trial in range(30):
        models, _ = neighbours(rng, m, d, concentrated=trial % 2)
        made, delta = boxes(models, cutoff, 1.0), 0.2
        growth, found = Fraction(made.growth, 2**32), -1
        for k in range(min(cutoff - 1, (m + 1) // 2 - cutoff) + 1):
            above = sum(made.weights[q] for q in depths(models) if q >= cutoff + k)
            ratio = growth**k * made.weights[cutoff] * made.volumes[cutoff - 1 - k] / above
            found = k if ratio <= Fraction(delta) else found
        assert made.distance(cutoff, delta) == found


def excess(p, other, epsilon):
    """The least delta for which p is (epsilon, delta)-close to the other distribution."""
    return sum(
        max(float(a) - math.exp(epsilon) * float(b), 0.0) for a, b in zip(p, other, strict=True)
    )


def whole_mechanism(models, cutoff, epsilon, delta, rate):
    """Exact probabilities of stopping and of every point."""
    test = 0.4 * epsilon
    distance = boxes(models, cutoff, rate).distance(cutoff, delta)
    beyond = math.log(1 / (2 * delta)) - test * (1 + distance)
    passes = math.exp(-beyond) / 2 if beyond > 0 else 1 - math.exp(beyond) / 2
    return [1 - passes, *(passes * p for p in draw_probabilities(models, cutoff, rate))]


@pytest.mark.parametrize("m, d, cutoff", CASES)
@pytest.mark.parametrize("epsilon, delta", [(1.0, 0.05), (4.0, 0.2), (8.0, 0.01), (8.0, 0.2)])
def test_guarantee_by_enumeration(m, d, cutoff, epsilon, delta):
    rng = np.random.default_rng(m + 3)
    passed = []
    for trial in range(60):
        pair = neighbours(rng, m, d, concentrated=trial % 2)
        one, two = (whole_mechanism(each, cutoff, epsilon, delta, 0.3 * epsilon) for each in pair)
        assert excess(one, two, epsilon) <= delta * (1 + 1e-9)
        assert excess(two, one, epsilon) <= delta * (1 + 1e-9)
        passed.append(1 - one[0])
    assert max(passed) > 0.9 or (epsilon, delta) != (8.0, 0.2)


@pytest.mark.parametrize("m, d, cutoff", CASES)
def test_draws_differ_by_what_the_distance_looks_at(m, d, cutoff):
    """Step 3 of the derivation: beyond e^(2c) the draws differ by at most R(0)."""
    rng, rate = np.random.default_rng(m + 4), 0.3
    for trial in range(60):
        pair = neighbours(rng, m, d, concentrated=trial % 2)
        one, two = (draw_probabilities(each, cutoff, rate) for each in pair)
        made = boxes(pair[0], cutoff, rate)
        least = made.weights[cutoff] * made.volumes[cutoff - 1] / sum(made.masses(cutoff))
        assert excess(one, two, 2 * rate) <= least * (1 + 1e-9)


def lopsided(first):
    """21 models on a line; sending the first from one end to the other moves every depth."""
    return np.array([[first]] + [[1]] * 9 + [[2]] * 2 + [[199]] * 9)


def test_an_exchange_costs_twice_the_rate_and_not_once():
    """The paper takes depth as monotone, which one record exchanging a model breaks.

    Point 1 loses a step of depth and all points beyond 2, nearly all of the mass, gain one.
    """
    rate, cutoff = 0.5, 2
    one, two = (draw_probabilities(lopsided(first), cutoff, rate, 200) for first in (0, 199))
    ratios = [float(a / b) for a, b in zip(one, two, strict=True) if a and b]
    assert max(ratios) <= math.exp(2 * rate) * (1 + 1e-9)
    assert max(ratios) > math.exp(1.95 * rate)


def spread_or_equal(stable):
    """A query whose distance is 3, or -1 when the models are as far apart as can be."""
    models = np.full((41, 1), 2) if stable else np.repeat(np.arange(41)[:, None] % SIDE, 6, axis=1)
    return query(models, cutoff=4)


def test_the_test_passes_as_often_as_stated():
    """A wrong scale, such as epsilon / 2 for 1 / epsilon, moves every one of these."""
    runs, delta = 4000, 0.2
    for epsilon, stable in [(0.25, False), (0.5, False), (1.0, True)]:
        made = spread_or_equal(stable)
        distance = Boxes.of(made.lower, made.upper, 0.3 * epsilon).distance(made.cutoff, delta)
        assert distance == (3 if stable else -1)
        beyond = math.log(1 / (2 * delta)) - 0.4 * epsilon * (1 + distance)
        expected = math.exp(-beyond) / 2 if beyond > 0 else 1 - math.exp(beyond) / 2
        with insecure_seed(7):
            passed = sum(
                Noise(ApproxDP(epsilon, delta)).deepest(made, ApproxDP(epsilon, delta)) is not None
                for _ in range(runs)
            )
        assert abs(passed / runs - expected) < 5 * math.sqrt(expected * (1 - expected) / runs)


def test_points_are_drawn_as_often_as_stated():
    rng = np.random.default_rng(5)
    models, _ = neighbours(rng, 21, 2, concentrated=True)
    made, cost = query(models, cutoff=5), ApproxDP(5.0, 0.4)
    with insecure_seed(11):
        draws = [Noise(cost).deepest(made, cost) for _ in range(6000)]
    drawn = [x * SIDE + y for x, y in filter(None, draws)]
    expected = draw_probabilities(models, 5, 1.5).astype(float) * len(drawn)
    counts = np.bincount(drawn, minlength=SIDE**2)
    assert len(drawn) > 3000 and not counts[expected == 0].any()
    kept = expected > 0
    statistic = np.sum((counts[kept] - expected[kept]) ** 2 / expected[kept])
    assert statistic < kept.sum() - 1 + 6 * math.sqrt(2 * kept.sum())


def test_events_add_up_to_the_cost_and_a_stop_costs_the_test_alone():
    cost = ApproxDP(2.0, 1e-3)
    with insecure_seed(1):
        noise = Noise(cost)
        assert noise.deepest(spread_or_equal(False), cost) is None
        assert [event.cost.epsilon for event in noise.events] == [0.8]
        noise = Noise(cost)
        made = query(np.full((400, 2), 3), cutoff=100)
        assert noise.deepest(made, cost) == [3, 3]
    test, draw = noise.events
    assert test.cost.epsilon + draw.cost.epsilon == pytest.approx(2.0)
    assert draw.cost.delta == 1e-3
    assert test.scale == pytest.approx(1 / 0.8) and draw.scale == pytest.approx(2 / 1.2)


def test_labels_are_uniform_and_a_prefix_of_more_labels():
    with insecure_seed(3):
        labels = Noise(ApproxDP(1, 0.1)).assign(30_000, 7)
    assert labels.min() == 0 and labels.max() == 6 and labels.dtype == np.int64
    counts = np.bincount(labels)
    assert np.sum((counts - 30_000 / 7) ** 2 / (30_000 / 7)) < 40
    with insecure_seed(3):
        assert np.array_equal(Noise(ApproxDP(1, 0.1)).assign(100, 7), labels[:100])
