"""Rows of groups, counted and divided, before sums over their pairs are released."""

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.pair_numbers import Shares, fewest, gathered, paired
from dpstats.estimators.newton.pair_queries import PairQueries
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from tests.checks.pairs_within import case_of

COST = GDP(1e4)
SHARES = Shares(0.2, 0.01, 0.02, 0.03, 0.1)


def rows(groups: int, each: int, parts=None) -> Rows:
    keys = np.repeat(np.arange(groups), each)
    generator = np.random.default_rng(1)
    order = generator.permutation(len(keys))
    X = generator.normal(size=(len(keys), 2))
    return gathered(InMemory(Rows(X, X[:, 0], parts=parts, keys=7.0 + 2 * keys[order])))


def numbers(given: Rows, divided: str):
    noise = Noise(COST)
    return paired(given, case_of(ADD_REMOVE).problem, COST, noise, SHARES, divided), noise


def keys_of(found) -> np.ndarray:
    return np.concatenate([batch.keys for batch in found.passes.batches])


def test_keys_are_numbers_of_labels_in_order():
    given = rows(30, 20)
    assert given.keys is not None and np.bincount(given.keys).tolist() == [20] * 30


def test_fractions_add_up():
    assert SHARES.spent(False, 1, clustered=False) == pytest.approx(0.26)
    assert SHARES.spent(True, 2, clustered=True) == pytest.approx(0.41)


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_released_for_their_fractions(weighted):
    given = rows(30, 20, np.full(600, 0.5) if weighted else None)
    found, noise = numbers(given, "never")
    half = 0.5 if weighted else 1.0
    assert found.weight.total == pytest.approx(30 * 19 / 2 * half, rel=0.01)
    assert found.number.number == pytest.approx(600, rel=0.01)
    assert found.number.part == pytest.approx(half, rel=0.01)
    assert found.clusters.number == pytest.approx(30, rel=0.05)
    # of mu^2: that of sizes' numbers, and of one norm or two
    spent = sum(event.cost.mu**2 for event in noise.events) / 1e8
    assert spent == pytest.approx(SHARES.numbers + SHARES.norm * (1 + weighted), rel=1e-6)


def test_rows_come_sorted_by_group_and_by_part():
    whole_groups, _ = numbers(rows(30, 20), "if few")
    assert not whole_groups.parts and (np.diff(keys_of(whole_groups)) >= 0).all()
    divided, _ = numbers(rows(4, 5000), "if few")
    assert divided.parts and divided.labels > 8
    keys = keys_of(divided)
    assert (np.diff(keys) >= 0).all() and len(np.unique(keys)) == 4 * divided.labels
    assert divided.clusters.number > 0.9 * 4 * divided.labels
    many, _ = numbers(rows(60, 400), "if few")
    assert not many.parts
    asked, _ = numbers(rows(4, 5000), "never")
    assert not asked.parts and asked.clusters.number == pytest.approx(4, rel=0.05)


def test_notes_say_what_errors_hold_for():
    few, _ = numbers(rows(4, 5000), "never")
    assert "as the rows lie in groups as good as 4 of one size" in few.note(None, False)
    assert few.note("nonrobust", False).endswith("independent and of one variance")
    assert few.note("HC1", True).endswith("different variances too")
    parts, _ = numbers(rows(4, 5000), "always")
    assert f"one of {parts.labels:,} by chance" in parts.note("HC1", True)


def test_more_pairs_are_needed_where_a_row_moves_more():
    given = rows(3, 9)
    added, replaced = (
        fewest(
            PairQueries.over(InMemory(given), case_of(neighbors).problem, Noise(GDP(1.0))),
            2,
            1,
            GDP(1.0),
        )
        for neighbors in (ADD_REMOVE, REPLACE_ONE)
    )
    assert replaced > 1.9 * added
