"""Rows of groups, counted and divided, before sums over their pairs are released."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import InBatches, InMemory, Passes
from dpstats.estimators.newton.row_sums.pair_sums import differences
from dpstats.estimators.newton.within.pair_numbers import Shares, by_groups, fewest, paired
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.parallel_sum import added
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.pairs_within import case_of

COST = GDP(1e4)
SHARES = Shares(0.2, 0.01, 0.02, 0.03, 0.1)
EDGES = np.linspace(0, 9, 30)


def rows(groups: int, each: int, parts=None) -> Passes:
    keys = np.repeat(np.arange(groups), each)
    generator = np.random.default_rng(1)
    order = generator.permutation(len(keys))
    X = generator.normal(size=(len(keys), 2))
    return by_groups(InMemory(Rows(X, X[:, 0], parts=parts, keys=7.0 + 2 * keys[order])))


def numbers(given: Passes, divided: str):
    noise = Noise(COST)
    return paired(given, case_of(ADD_REMOVE).problem, COST, noise, SHARES, divided), noise


def keys_of(found) -> np.ndarray:
    assert isinstance(found.passes, InBatches)
    return np.concatenate([batch.keys for batch in found.passes.batches])


def test_keys_are_numbers_of_labels_in_order():
    given = rows(30, 20)
    assert isinstance(given, InMemory) and given.rows.keys is not None
    assert np.bincount(given.rows.keys).tolist() == [20] * 30
    assert (given.rows.clusters == 7 + 2 * given.rows.keys).all()


class Pieces:
    """Two pieces of whole groups, in any order."""

    def __init__(self, rows: Rows, whole_keys: bool):
        assert rows.clusters is not None and rows.keys is not None
        rows = replace(rows, keys=rows.clusters, clusters=None)[::-1]
        odd = rows.keys % 4 == 1
        self.pieces, self.whole_keys = (rows[~odd], rows[odd], rows[:0]), whole_keys

    def sum(self, summary):
        return added(map(summary, self.pieces))


@pytest.mark.parametrize("whole_keys", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_groups_in_pieces_are_those_in_memory(whole_keys, weighted):
    """What is released is the same, of parts of groups too."""
    whole = rows(4, 2000, np.linspace(0, 1, 8000) if weighted else None)
    assert isinstance(whole, InMemory)
    pieces = by_groups(Pieces(whole.rows, whole_keys))
    assert isinstance(pieces, InMemory) != whole_keys
    fits, sums = [], []
    for given in (whole, pieces):
        with insecure_seed(3):
            found, noise = numbers(given, "always")
        fits.append((found._replace(passes=whole), noise.events))
        at = PairQueries.over(found.passes, case_of(ADD_REMOVE).problem, noise)
        sums.append(at.total(lambda some: differences(some.response, EDGES, some)))
    assert fits[0] == fits[1] and fits[0][0].parts
    assert (sums[0] == sums[1]).all() and sums[0].any()


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
            PairQueries.over(given, case_of(neighbors).problem, Noise(GDP(1.0))),
            2,
            1,
            GDP(1.0),
        )
        for neighbors in (ADD_REMOVE, REPLACE_ONE)
    )
    assert replaced > 1.9 * added
