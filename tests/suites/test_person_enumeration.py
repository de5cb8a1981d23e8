"""All small persons on a grid: tables that differ in one of them are no farther apart than said.

The rows of a person are any multiset of up to so many points of a grid, beside persons who stay.
One table answers the queries of a whole call with noise from a fixed seed; every other table is
asked the same queries under these answers (see tests/checks/replay.py), and its exact values are
compared with those of all of its neighbours. Nothing here can fail by chance.
"""

from functools import partial
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest

from dpstats.privacy import ADD_REMOVE
from tests.checks.mutants import Mutant
from tests.checks.persons import CALLS, PANEL, REPLACED, fit, replacing, requests, unclipped_persons
from tests.checks.replay import (
    Violation,
    check_budget,
    check_distances,
    check_flow,
    check_released,
    run,
)

# Corners of the bounds, and a point within.
GRID = ((0.0, -5.0), (0.0, 5.0), (10.0, -5.0), (10.0, 5.0), (7.0, 1.0))
Person = tuple[tuple[float, float], ...]


def people(most: int) -> list[Person]:
    """Every multiset of up to so many rows, the person without rows first."""
    return [rows for k in range(most + 1) for rows in combinations_with_replacement(GRID, k)]


def table(persons: tuple[Person, ...]) -> pd.DataFrame:
    """Their rows, and those of 40 persons near a line, off the middle, with two rows each."""
    x = np.linspace(0.5, 6.5, 80)
    crowd = pd.DataFrame({"x": x, "y": 0.3 * (x - 9) + 0.4 * np.sin(7 * x)})
    rows = [(*row, i) for i, own in enumerate(persons) for row in own]
    free = pd.DataFrame(rows, columns=["x", "y", "id"], dtype=float)
    return pd.concat([free, crowd.assign(id=np.tile(np.arange(100, 140), 2))], ignore_index=True)


def enumerated(call: dict, most: int, free: int = 1) -> dict[str, float]:
    """Compare all neighbours among the tables; return the largest distance by step.

    ``free`` persons have up to ``most`` rows each. Distances are those of doubles, which hold the
    values, and for the two tables farthest apart in a query they are computed in fractions.
    """
    some = people(most)[call["neighbors"] != ADD_REMOVE :]
    kinds = list(combinations_with_replacement(some, free))
    place = {kind: i for i, kind in enumerate(kinds)}
    made = requests([table(kind) for kind in kinds], **call)
    one = run(partial(fit, made[-1]), made[-1].cost, 1)
    check_budget(one, made[-1].cost)
    runs = [
        run(partial(fit, request), request.cost, 1, [asked.answer for asked in one.asked])
        for request in made
    ]
    for other in runs:
        check_flow(one, other)
        check_released(one, other)
    pairs = np.array([
        [place[tuple(sorted((own, *rest), key=some.index))] for own in both]
        for rest in combinations_with_replacement(some, free - 1)
        for both in (
            product(some[:1], some[1:]) if call["neighbors"] == ADD_REMOVE
            else product(some, some)
        )
    ])  # fmt: skip
    reached = {}
    for query, asked in enumerate(one.asked):
        if asked.event is not None:
            first, second = pairs[np.argmax(_distances(runs, query, pairs))]
            found = check_distances(runs[first], runs[second])[asked.step]
            reached[asked.step] = max(found, reached.get(asked.step, 0.0))
    return reached


def _distances(runs: list, query: int, pairs: np.ndarray) -> np.ndarray:
    """How far apart the values of a query are in each pair, up to a factor; of scores their range.

    In rounds a step may be asked several times, and the largest distance of them all is checked.
    """
    values = np.array([transcript.asked[query].values for transcript in runs], dtype=float)
    moved = values[pairs[:, 1]] - values[pairs[:, 0]]
    if runs[0].asked[query].kind == "gaussian":
        return np.sum(moved**2, axis=1)
    assert runs[0].asked[query].values, "a query without values is compared in another way"
    return np.ptp(moved, axis=1)


# One person with more rows than count in full, and where every query is asked two of up to two.
CHECKED = {
    f"{name}, {free} of up to {most} rows": (call, most, free)
    for name, call in CALLS.items()
    for most, free in ((max(3, 1 + call["max_rows"]), 1), (2, 2))
    if not call.get("weights") and "levels" not in call
    if free == 1 or (call["method"] == "adassp" and not call["bounds"])
}


@pytest.mark.parametrize("name", CHECKED)
def test_no_small_person_moves_a_query_further_than_stated(name):
    call, most, free = CHECKED[name]
    reached = enumerated(call, most, free)
    assert max(reached.values()) > 0.99


MUTANTS = {
    name: Mutant(replacing(*what), partial(enumerated, call, max(3, 1 + call["max_rows"])))
    for name, (*what, call) in REPLACED.items()
} | {
    "scores of persons around a mean are not clipped": Mutant(
        unclipped_persons, partial(enumerated, PANEL, 4)
    )
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_breaks_the_guarantee_is_seen(name, monkeypatch):
    MUTANTS[name].mutate(monkeypatch)
    with pytest.raises(Violation):
        MUTANTS[name].check()
