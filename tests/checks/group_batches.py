"""Fit groups one by one and many at a time, and check that both agree."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory
from dpstats.noise import Noise, exponential_compiled
from dpstats.noise.exact_samplers import below_beginning_with, sample_index
from dpstats.numerics import Rows
from dpstats.privacy import REPLACE_ONE, PureDP
from tests.checks.recording import line_data, unit_problem


def people(sizes, seed=0, decimals=None):
    """Rows of groups of the given sizes; rounding makes ties."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x, y = line_data(len(groups), seed)
    if decimals is not None:
        x, y = x.round(decimals), y.round(decimals)
    return pd.DataFrame({"g": groups, "x": x, "y": y})


class Frozen:
    """A source of given words; the bits beyond a draw's first ones come from elsewhere."""

    private = True

    def __init__(self, seed):
        self._words, self._beyond, self._laplace = np.random.default_rng(seed).spawn(3)

    def bytes(self, size):
        return (self._beyond if size % (8 * exponential_compiled.WORDS) else self._words).bytes(
            size
        )

    def draw(self, name, scale, size):
        return [round(value) for value in self._laplace.laplace(0, scale, size)]


class Exactly(Noise):
    """Noise that answers choices by exact integers alone, from the words of each draw."""

    def choose(self, query, cost):
        words = np.frombuffer(self._source.bytes(8 * exponential_compiled.WORDS), "<u8").tolist()
        below = below_beginning_with(iter(words), self._source.bytes)
        rate = self._rank_rate(query.step, query.sensitivity, cost) / query.divisor
        return sample_index(query.imbalance, query.size, rate, below)


def both_paths(name, x, y, seed, epsilon=2.0, neighbors=REPLACE_ONE, **options):
    """The release of one group together, and the one by one, under the same frozen noise."""
    method, problem = METHODS[name], replace(unit_problem(name), neighbors=neighbors)
    checked = {
        key: check(options.get(key, default)) for key, (default, check) in method.options.items()
    }
    X, cost = np.column_stack([np.ones(len(x)), x]), PureDP(epsilon)
    releases = []
    for kind in (Noise, Exactly):
        noise = kind(cost)
        noise._source = Frozen(seed)
        if kind is Noise:
            edges = np.array([0, len(x)])
            each = method.each.release(Rows(X, y), edges, problem, cost, noise, **checked)
            releases.append((each.params[0], each.predictions[0], each.statuses[0], noise.events))
        else:
            one = method.release(InMemory(Rows(X, y)), problem, cost, noise, **checked)
            releases.append((one.params, one.predictions, one.status, noise.events))
    return releases


def check_agreement(name, n, decimals, seeds=25, neighbors=REPLACE_ONE):
    """The group's release and events are those of exact integers alone, bit for bit."""
    for seed in range(seeds):
        data = people([n], seed, decimals)
        epsilon = (0.01, 1.0, 30.0, 1e6)[seed % 4]
        rows = data["x"], data["y"].to_numpy()
        together, alone = both_paths(name, *rows, seed, epsilon, neighbors)
        for one, other in zip(together[:2], alone[:2], strict=True):
            assert np.array_equal(one, other, equal_nan=True)
        assert together[2:] == alone[2:]
