"""Passes over rows, what releases from the same rows share, and releases in two passes."""

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory, Release, Repeated, of_outcome, released_twice
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.privacy import GDP, PureDP

ROWS = Rows(np.ones((3, 1)), np.arange(3.0))
COST = PureDP(1.0)


def drawn() -> Noise:
    """Noise of which some was drawn."""
    noise = Noise(COST)
    noise.add(Query("count", [3], l1=1, unit=1.0), COST)
    return noise


def test_a_sum_over_rows_in_memory_is_of_all_of_them():
    assert InMemory(ROWS).sum(len) == 3
    assert InMemory(ROWS).sum(lambda rows: rows.response.sum()) == 3.0


def test_rows_in_memory_are_mapped_once():
    calls = []

    def halved(rows):
        calls.append(len(rows))
        return rows[:1]

    passes = InMemory(ROWS).mapped(halved)
    assert [passes.sum(len), passes.sum(len)] == [1, 1]
    assert calls == [3]


def test_the_first_sum_alone_is_shared_and_none_after_noise():
    """What is asked after noise may depend on it, so it is asked of the rows again."""
    repeated, calls = Repeated(InMemory(ROWS)), []

    def count(rows):
        calls.append(len(rows))
        return len(calls)

    for _ in range(2):
        passes = repeated.under(Noise(COST))
        assert passes.sum(count) == 1
    assert passes.sum(count) == 2 and repeated.under(drawn()).sum(count) == 3


@pytest.mark.parametrize(
    ("fraction", "reasons", "costs"),
    [(0.0, {}, [2.0]), (0.25, {}, [1.5, 0.5]), (0.25, {"bse": "none"}, [1.5])],
)
def test_a_second_release_takes_what_the_first_leaves(fraction, reasons, costs):
    """None where nothing is kept for it, or where the first has no standard errors."""
    spent = []

    def first(cost):
        spent.append(cost.epsilon)
        return Release(np.zeros(1), np.zeros(0), reasons=reasons)

    def second(found, cost):
        spent.append(cost.epsilon)
        return Release(found.params + 1, found.predictions)

    found = released_twice(first, second, PureDP(2.0), fraction)
    assert spent == pytest.approx(costs) and found.params[0] == len(costs) - 1


def test_costs_of_two_releases_add_up_under_gaussian_noise():
    spent = []

    def release(*given):
        spent.append(given[-1].mu ** 2)
        return Release(np.zeros(1), np.zeros(0))

    released_twice(release, release, GDP(3.0), 0.1)
    assert sum(spent) == pytest.approx(9.0) and spent[1] == pytest.approx(0.9)


def test_an_outcome_is_the_response_of_the_same_rows():
    rows = Rows(np.ones((3, 1)), np.arange(3.0), others=np.array([[5.0], [6.0], [9.0]]))
    assert rows.of_outcome(0) is rows
    total = of_outcome(lambda work: work(rows), 1)
    assert total(lambda seen: seen.response.sum()) == 20.0
    assert total(lambda seen: seen.numbers is rows.numbers)
