"""Ledgers and calls for tests of them; no noise is drawn unless a test fits."""

import pytest

import dpstats as dp
from dpstats.engines import Source
from dpstats.privacy import GDP, PureDP

SOURCE = Source((), {"x": "number", "y": "number"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "families.ledger"


@pytest.fixture
def make(path):
    """Create a ledger with limits that a test names."""

    def create(**more):
        call = {"dataset": "families", "epsilon": 1.0, "neighbors": "replace_one"}
        return dp.Ledger.create(path, **call | more)

    return create


@pytest.fixture
def reserve():
    """Reserve a call of some epsilon, or any cost, described by its name."""

    def call(ledger, cost, name="y ~ x", neighbors=None):
        cost = PureDP(cost) if isinstance(cost, float) else cost
        epsilon, delta = cost.guarantee(1e-7) if isinstance(cost, GDP) else cost.guarantee(0.0)
        facts = {"formula": name, "method": "any", "call": {"name": name}, "source": SOURCE}
        relation = neighbors or ledger.dataset.neighbors
        return ledger.reserve(epsilon, delta, cost, relation, lambda: facts)

    return call


@pytest.fixture
def ols(line):
    """dp_ols by noisy_stats on a public table, charged to a ledger."""

    def call(ledger, epsilon=0.5, formula="y ~ x", **more):
        call = {"method": "noisy_stats", "bounds": {"x": (0, 1), "y": (0, 1)}} | more
        return dp.dp_ols(formula, line, epsilon=epsilon, budget=ledger, **call)

    return call
