"""Every query of a whole call for persons, asked of tables that differ in all rows of one person.

A call is replayed from ranges to standard errors (see tests/checks/replay.py). All data and answers
come from fixed seeds, so nothing here can fail by chance. Each privacy property is broken once on
purpose: the suite must then see it.
"""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from dpstats.call.arguments import make_request
from dpstats.estimators.contract import InMemory
from dpstats.estimators.least_squares.factors.scores import ScoreRule
from dpstats.estimators.least_squares.within import absorbed_units
from dpstats.numerics import Rows
from dpstats.privacy import RELATIONS
from dpstats.rows import PrivacyUnit
from dpstats.run import group_batches
from dpstats.run.prepare import prepare, with_selected_terms, with_whole_units
from tests.checks.mutants import Mutant
from tests.checks.persons import (
    BOUNDS,
    CALLS,
    FACTORS,
    NUMBER_OF_ROWS,
    PANEL,
    PANELS,
    REPLACED,
    check,
    fit,
    in_full,
    pairs,
    replacing,
    requests,
    rows_as_scores,
    table,
    unclipped_persons,
    whole_parts,
)
from tests.checks.replay import Violation, check_neighbours, check_reached


@pytest.mark.parametrize("name", CALLS)
def test_no_person_moves_a_query_further_than_stated(name):
    check(CALLS[name])


VOTES = {"method": "adassp", "bounds": {}, "formula": "y ~ x + w + w:x", "select": "lasso", "k": 1}


def voted(frames, neighbors):
    """Return the queries of a choice by votes: persons are numbered alike in both tables."""
    call = {**VOTES, "neighbors": neighbors, "epsilon": 50.0}
    one, other = requests(frames, **call)
    fits = [lambda noise, r=r: with_selected_terms(with_whole_units(r), noise).selected
            for r in (one, other)]  # fmt: skip
    return check_neighbours(*fits, one.cost, 1, place=0)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_person_changes_the_votes_of_one_subset(neighbors):
    """Person 0 comes first, as its key is the least in a table of so few."""
    reached = 0.0
    for seed in range(40):
        frames = [frame.sort_values("id", kind="stable") for frame in pairs(seed, neighbors)]
        found = voted([frame.assign(id=frame["id"].astype(int)) for frame in frames], neighbors)
        reached = max(reached, *(found[step] for step in found if "Lasso votes" in step))
    assert reached > 0.4


@pytest.mark.parametrize("max_rows", [1, 4])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["adassp", "shrunken", "shrunken_pure"])
def test_a_person_of_many_rows_reaches_what_one_row_would(method, neighbors, max_rows):
    """Rows at a corner, all of one person: sums move by what they state, to 99%."""
    corner = pd.DataFrame({"x": 10.0, "y": 5.0, "id": 0}, index=range(8))
    others = pd.DataFrame({"x": 5.0, "y": 0.0, "id": np.arange(1, 300)})
    new = [] if neighbors == "add_remove" else [corner.assign(y=-5.0)]
    call = {"method": method, "neighbors": neighbors, "bounds": {"x": (0, 10), "y": (-5, 5)}}
    one, other = requests(
        [table([corner, others]), table([*new, others])], max_rows=max_rows, epsilon=50, **call
    )
    found = check_neighbours(partial(fit, one), partial(fit, other), one.cost)
    check_reached("X'y", found["X'y"])
    if neighbors == "add_remove":
        check_reached("X'X", found["X'X"])
        check_reached("number of units", found["number of units"])


@pytest.mark.parametrize("max_rows", [1, 4])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_person_whose_mean_is_absorbed_reaches_what_one_row_would(neighbors, max_rows):
    """Half of the rows of a person at one corner and half at the opposite one."""
    ends, rows = np.array([1.0, -1.0] * 100), 200
    corners = pd.DataFrame({"x": 5 + 5 * ends, "y": 5 * ends, "id": 0}, index=range(rows))
    x = np.tile([4.0, 6.0], 300)
    others = pd.DataFrame({"x": x, "y": x - 5, "id": np.repeat(np.arange(1, 301), 2)})
    new = [] if neighbors == "add_remove" else [corners.assign(y=-5 * ends)]
    call = next(call for call in PANELS.values() if call["neighbors"] == neighbors)
    one, other = requests(
        [table([corners, others]), table([*new, others])],
        **call | {"max_rows": max_rows, "epsilon": 50},
    )
    found = check_neighbours(partial(fit, one), partial(fit, other), one.cost)
    assert "sum of e^2 x x'" in found
    check_reached("X'y within groups", found["X'y within groups"])
    if neighbors == "add_remove":
        for step in ("X'X within groups", "y'y within groups", "degrees of freedom"):
            check_reached(step, found[step])


@pytest.mark.parametrize("method", ["noisy_newton", "noisy_newton_pure"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_person_around_a_mean_reaches_what_steps_state(method, neighbors):
    """Two rows at opposite corners, far from all others, and under replace-one in other bins."""
    far = pd.DataFrame({"x": [1e3, -1e3], "y": [-1e3, 1e3], "id": 0})
    x = np.random.default_rng(0).normal(size=900)
    others = pd.DataFrame({"x": x, "y": 0.2 * x, "id": np.repeat(np.arange(1, 301), 3)})
    near = pd.DataFrame({"x": 0.01, "y": [-0.01] * 100 + [0.01] * 100, "id": 0})
    new = [] if neighbors == "add_remove" else [near]
    call = {"method": method, "neighbors": neighbors, "bounds": {}, "formula": "y ~ x | id"}
    one, other = requests([table([far, others]), table([*new, others])], epsilon=50, **call)
    found = check_neighbours(partial(fit, one), partial(fit, other), one.cost)
    for step in ("deviations of column 1", "deviations of y", "leverages", "score norms"):
        check_reached(step, found[step])
    check_reached("mean square of y", found["mean square of y"])
    if neighbors == "add_remove":
        check_reached("number of units", found["number of units"])


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x | id"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_person_far_off_the_line_reaches_the_sensitivity_of_the_second_pass(neighbors, formula):
    """So half of it would be too little; its 200 rows have residuals beyond the cut."""
    x, errors = np.tile([1.0, 9.0], 150), np.random.default_rng(0).normal(0, 0.05, 300)
    ids = np.repeat(np.arange(1, 151), 2)
    others = pd.DataFrame({"x": x, "y": 0.2 * (x - 5) + errors, "id": ids})
    ends = np.array([1.0, -1.0] * 100) if "|" in formula else np.ones(200)
    far = pd.DataFrame({"x": 5 + 5 * ends, "y": -5 * ends, "id": 0})
    new = [] if neighbors == "add_remove" else [far.assign(x=10 * ("|" in formula), y=5.0)]
    call = {"method": "adassp", "neighbors": neighbors, "bounds": {n: BOUNDS[n] for n in "xy"}}
    one, other = requests(
        [table([far, others]), table([*new, others])], epsilon=2000.0, formula=formula, **call
    )
    found = check_neighbours(partial(fit, one), partial(fit, other), one.cost)
    check_reached(step := "sum of e^2 x x'", found[step], 0.99 if not new else 0.7)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("max_groups", [1, 2])
def test_a_person_moves_max_groups_groups_at_most_and_each_as_stated(neighbors, max_groups):
    """The groups that one person moves cost together what the call costs."""
    moved = 0
    for seed in range(12):
        frames = pairs(seed, neighbors, same_groups=True)
        one, other = (
            make_request(
                "y ~ x", frame, method="adassp", epsilon=2.0, delta=1e-6, missing="drop",
                neighbors=neighbors, bounds={n: BOUNDS[n] for n in "xy"}, levels=None, x_new=None,
                row_norm=None, options={}, by="g", unit="id", max_groups=max_groups,
            )
            for frame in frames
        )  # fmt: skip
        fits = [partial(_one_group, request, g) for g in range(3) for request in (one, other)]
        found = [
            check_neighbours(fits[2 * g], fits[2 * g + 1], one.fit_cost, seed) for g in range(3)
        ]
        touched = sum(max(ratios.values()) > 0 for ratios in found)
        moved = max(moved, touched)
        assert touched <= max_groups
    assert moved >= max_groups
    assert one.fit_cost.mu**2 * max_groups == pytest.approx(one.cost.mu**2)


def _one_group(request, g, noise):
    prepared = prepare(request, noise, ("g",))
    codes = prepared.in_order(prepared.table.codes("g", [0, 1, 2]))
    rows = group_batches.GroupedRows.of(prepared, codes, 3)
    own = slice(*rows.edges[g : g + 2])
    facts = prepared.problem, prepared.cost, noise
    return request.method.release(InMemory(rows.rows[own]), *facts, **request.options)


FACTOR = FACTORS["adassp, add_remove, bounds, 1, 300.0, None, factor"]
CODED = {
    "rows count in full in indicators": (PrivacyUnit, "parts", whole_parts, FACTOR),
    "the number is that of rows in indicators": (Rows, "count", NUMBER_OF_ROWS, FACTOR),
    "rows of the second pass in indicators count in full": (
        ScoreRule, "squares", in_full(ScoreRule.squares), FACTOR,
    ),
}  # fmt: skip


MUTANTS = {
    name: Mutant(replacing(*what), partial(check, call, range(30)))
    for name, (*what, call) in (REPLACED | CODED).items()
} | {
    "scores of persons around a mean are not clipped": Mutant(
        unclipped_persons, partial(check, PANEL, range(30))
    )
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_breaks_the_guarantee_is_seen(name, monkeypatch):
    MUTANTS[name].mutate(monkeypatch)
    with pytest.raises(Violation):
        MUTANTS[name].check()


def test_scores_that_are_clipped_as_a_sum_may_count_rows_in_full(monkeypatch):
    monkeypatch.setattr(absorbed_units, "weighted_scores", rows_as_scores)
    assert check(PANEL, range(30))["sum of e^2 x x'"] > 0
