"""Noise that keeps the queries it is given, and problems on the unit square."""

from dataclasses import replace

import numpy as np

from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory, Problem
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.testing import insecure_seed


class Recording(Noise):
    """Keeps every query; with ``outputs`` it answers with those instead of drawing."""

    def __init__(self, limit, outputs=None):
        super().__init__(limit)
        self.queries, self.outputs, self._given = [], [], outputs

    def add(self, query, cost):
        noisy = super().add(query, cost)
        return replace(noisy, values=self._answer(query, noisy.values))

    def choose(self, query, cost):
        return self._answer(query, super().choose(query, cost))

    def best(self, query, cost):
        return self._answer(query, super().best(query, cost))

    def smooth(self, query, cost):
        return self._answer(query, super().smooth(query, cost))

    def deepest(self, query, cost):
        return self._answer(query, super().deepest(query, cost))

    def posterior(self, query, cost):
        return self._answer(query, super().posterior(query, cost))

    def posterior_in_ball(self, query, cost):
        return self._answer(query, super().posterior_in_ball(query, cost))

    def minimiser(self, query, cost):
        return self._answer(query, super().minimiser(query, cost))

    def _answer(self, query, drawn):
        given = drawn if self._given is None else self._given[len(self.queries)]
        self.queries.append(query)
        self.outputs.append(given)
        return given


def unit_problem(method, x_new=(0.25, 0.75), neighbors=None) -> Problem:
    """Rows (1, x) with x and y in [0, 1]."""
    return Problem(
        low=np.array([1.0, 0.0]),
        high=np.array([1.0, 1.0]),
        y_low=0.0,
        y_high=1.0,
        intercept=0,
        neighbors=neighbors or METHODS[method].neighbors[0],
        row_norm=None,
        estimated=False,
        x_new=np.column_stack([np.ones(len(x_new)), x_new]),
    )


def fit(method, x, y, epsilon=1.0, *, seed=0, outputs=None, neighbors=None, x_new=(0.25, 0.75),
        delta=1e-6, **options):  # fmt: skip
    """(release, noise) of one seeded fit, the options checked as dp_ols does."""
    spec = METHODS[method]
    problem = unit_problem(method, x_new, neighbors)
    checked = {name: check(options.get(name, default))
               for name, (default, check) in spec.options.items()}  # fmt: skip
    spec.check(problem, checked)
    rows = Rows(np.column_stack([np.ones(len(x)), x]), np.asarray(y, float))
    cost = spec.cost(epsilon, delta)
    with insecure_seed(seed):
        noise = Recording(cost, outputs)
        release = spec.release(InMemory(rows), problem, cost, noise, **checked)
    return release, noise


def line_data(n, seed=0, noise=0.1):
    """n rows around y = 0.2 + 0.5 x, x uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    return x, np.clip(0.2 + 0.5 * x + noise * rng.normal(size=n), 0, 1)
