"""Every query of a whole call for persons, asked of tables that differ in all rows of one person.

A call is replayed from ranges to standard errors (see tests/checks/replay.py). All data and answers
come from fixed seeds, so nothing here can fail by chance. Each privacy property is broken once on
purpose: the suite must then see it.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from dpstats.engines.unit_table import PARTS
from dpstats.fitting import group_batches
from dpstats.fitting.single import fit_single
from dpstats.mechanisms import ABSORBING_UNITS, METHODS, absorbed_units, noisy_newton
from dpstats.mechanisms.shared import (
    block_scores,
    block_sums,
    clipped_rows,
    gram,
    newton_sums,
    robust_covariance,
    within_units,
)
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import RELATIONS
from dpstats.range_estimation import estimate, quantiles
from dpstats.request.arguments import make_request
from dpstats.request.prepare import prepare, with_selected_terms, with_whole_units
from dpstats.request.privacy_unit import ONE, PrivacyUnit
from tests.checks.mutants import Mutant
from tests.checks.replay import Violation, check_neighbours, check_reached

BOUNDS = {"x": (0, 10), "y": (-5, 5), "w": (0, 4)}


def calls(settings, ending="", **more):
    """Calls by what sets them apart, for both relations."""
    return {
        f"{method}, {neighbors}, {'bounds' if bounds else 'none'}, {max_rows}, {epsilon}, {weights}"
        + ending: {
            "method": method,
            "neighbors": neighbors,
            "bounds": {n: BOUNDS[n] for n in ("x", "y") * bounds + ("w",) * (weights is not None)},
            "max_rows": max_rows,
            "weights": weights,
            "epsilon": epsilon,
            **more,
        }
        for method, bounds, max_rows, epsilon, weights in settings
        for neighbors in RELATIONS
    }


CALLS = calls((
    ("adassp", True, 1, 2.0, None),
    ("adassp", True, 3, 300.0, "w"),
    ("adassp", False, 1, 300.0, None),
    ("ssp", True, 1, 300.0, None),
    ("shrunken", True, 1, 300.0, None),
    ("shrunken", True, 3, 2.0, "w"),
    ("shrunken", False, 1, 300.0, None),
    ("shrunken_pure", True, 1, 2.0, None),
    ("shrunken_pure", False, 3, 300.0, None),
    ("noisy_newton", True, 3, 2.0, None),
    ("noisy_newton", False, 1, 2.0, None),
    ("noisy_newton", False, 1, 300.0, None),
))  # fmt: skip
PANELS = {
    f"{method}, {neighbors}, {'bounds' if bounds else 'none'}, {max_rows}, {epsilon} | id": {
        "formula": "y ~ x | id",
        "method": method,
        "neighbors": neighbors,
        "bounds": {n: BOUNDS[n] for n in ("x", "y") * bounds},
        "max_rows": max_rows,
        "epsilon": epsilon,
    }
    for method, bounds, max_rows, epsilon in (
        ("adassp", True, 1, 2.0),
        ("adassp", True, 3, 300.0),
        ("ssp", True, 1, 300.0),
        ("adassp", False, 1, 300.0),
    )
    for neighbors in RELATIONS
}
FACTORS = calls(
    (
        ("adassp", True, 1, 300.0, None),
        ("adassp", False, 3, 300.0, "w"),
        ("ssp", True, 3, 2.0, None),
        ("shrunken", True, 1, 300.0, None),
        ("shrunken_pure", False, 3, 2.0, "w"),
        ("noisy_newton", True, 1, 300.0, None),
    ),
    ", factor",
    formula="y ~ x + C(g)",
    levels={"g": [0, 1, 2]},
)
CALLS |= PANELS | FACTORS


def person(rng, name, rows):
    """Rows of one person, some of them far out of every range, missing or infinite."""
    kind = rng.integers(4)
    values = rng.uniform(-1, 1, (rows, 2)) * (10.0 ** rng.integers(-3, 9) if kind == 3 else 1)
    frame = pd.DataFrame(values, columns=["x", "y"]) * [5, 4] + [5, 0]
    if kind == 2:  # the same extreme row again and again
        frame[:] = [[1e6, -1e6], [0, 5], [10, 5], [np.inf, 0]][rng.integers(4)]
    frame.loc[rng.random(rows) < 0.1, "y"] = np.nan
    frame["w"] = rng.uniform(0, 5, rows)
    return frame.assign(id=name, g=rng.integers(0, 3, rows))


def table(people):
    return pd.concat(people, ignore_index=True) if people else person(None, 0, 0)


def pairs(seed, neighbors, most=30, same_groups=False):
    """Two tables that differ in all rows of one person; the second has its rows in another order.

    Under replace-one a person has rows in use in both, and with groups in the same ones.
    """
    rng = np.random.default_rng(seed)
    people = [person(rng, k, int(rng.integers(1, most))) for k in range(int(rng.integers(2, 40)))]
    for one in people:
        one.loc[one.index[0], ["y", "w"]] = 1.0
    others = people[1:]
    if neighbors == "replace_one":
        new = person(rng, 0, len(people[0]) if same_groups else int(rng.integers(1, most)))
        new.loc[0, ["x", "y", "w"]] = [1.0, 1.0, 1.0]
        if same_groups:
            used = people[0]["y"].notna()
            new = new.assign(g=people[0]["g"], y=new["y"].fillna(0.0).where(used))
        others = [new, *others]
    return table(people), table(others).sample(frac=1, random_state=seed)


def fit(request, noise):
    return fit_single(prepare(request, noise), noise).release


def requests(frames, epsilon=2.0, formula="y ~ x", **call):
    call = {"levels": None, "x_new": None, "row_norm": None, "options": {}, **call}
    return [
        make_request(formula, frame, epsilon=epsilon, delta=None, missing="drop", unit="id", **call)
        for frame in frames
    ]


def check(call, seeds=range(6)):
    """Replay pairs; return the largest distance over sensitivity by step."""
    reached: dict[str, float] = {}
    for seed in seeds:
        one, other = requests(pairs(seed, call["neighbors"]), **call)
        found = check_neighbours(partial(fit, one), partial(fit, other), one.cost, seed)
        reached = {step: max(found[step], reached.get(step, 0.0)) for step in found} | {
            step: ratio for step, ratio in reached.items() if step not in found
        }
    return reached


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
    return request.method.fit(
        rows.X[own], rows.y[own], problem=prepared.problem, cost=prepared.cost, noise=noise,
        **request.options,
    )  # fmt: skip


def whole_parts(unit, units):
    """Each row counts for all of max_rows rows."""
    return np.full(len(units), ONE // unit.max_rows)


def clip_before_summing(basis, map_, reference, eta, limit, X, y):
    """Rows' scores are clipped, and added up after."""
    one = np.arange(len(y), dtype=float)
    rows = np.column_stack([X[:, :-2], np.ones(len(y)), one])
    s, norms = newton_sums.unit_scores(basis, map_, reference, eta, limit, rows, y)
    s = np.trunc(s * (1 - 2.0**-30) / np.maximum(norms, 1.0))
    starts = np.flatnonzero(np.diff(X[:, -1], prepend=-1))
    return np.add.reduceat(s, starts, axis=1) if len(starts) else s


def count_rows(bins, batch):
    """A histogram counts each row as one."""
    return ONE * COUNTS(bins, {name: column for name, column in batch.items() if name != PARTS})


COUNTS = estimate.bin_counts


def second_pass_by_rows(X, problem):
    """In the second pass rows count as one each."""
    X, parts = gram.split_weights(X, problem)
    return X, np.ones_like(parts)


def rows_in_number(X, y, problem):
    return len(y) << ENTRY_BITS


def other_center(cls, X, y, problem):
    """All rows of a batch have one centre, their mean, and not the mean of their unit."""
    own = OF(X, y, problem)
    z = within_units.within_box(problem).integers(X[:, :-2], y)
    center = np.rint(z.mean(axis=0)) if len(z) else 0.0
    return cls(z - center, own.parts, own.units)


def rows_as_scores(blocks, theta, cut):
    """Rows count in full in the scores of their unit."""
    blocks = list(blocks)
    scores, _ = WEIGHTED(((rows, np.ones_like(parts)) for rows, parts in blocks), theta, cut)
    return scores, WEIGHTED(blocks, theta, cut)[1]


def degrees_of_rows(X, y, problem):
    """The degrees of freedom count rows in full."""
    return replace(within_units.UnitSums.of(X, y, problem), degrees=len(y) << ENTRY_BITS)


OF = within_units.UnitDeviations.of
WEIGHTED = robust_covariance.weighted_scores
PANEL = PANELS["adassp, add_remove, bounds, 3, 300.0 | id"]
FACTOR = FACTORS["adassp, add_remove, bounds, 1, 300.0, None, factor"]
CODED = {
    "rows count in full in indicators": (PrivacyUnit, "parts", whole_parts, FACTOR),
    "the number is that of rows in indicators": (block_sums, "number_of_units", len, FACTOR),
    "rows of the second pass in indicators count in full": (
        block_scores, "split_weights", second_pass_by_rows, FACTOR,
    ),
}  # fmt: skip
NEWTON, SUMS = (
    CALLS[f"{name}, add_remove, none, 1, {epsilon}, None"]
    for name, epsilon in (("noisy_newton", 2.0), ("adassp", 300.0))
)
SHRUNKEN, PURE = (
    CALLS[f"{name}, add_remove, none, {rows}, 300.0, None"]
    for name, rows in (("shrunken", 1), ("shrunken_pure", 3))
)
REPLACED = {
    "rows count in full and are shrunken": (PrivacyUnit, "parts", whole_parts, SHRUNKEN),
    "rows count in full, epsilon alone": (PrivacyUnit, "parts", whole_parts, PURE),
    "the number is that of rows, shrunken": (gram, "number_of_units", len, SHRUNKEN),
    "rows count in full": (PrivacyUnit, "parts", whole_parts, SUMS),
    "rows count in full in rounds": (PrivacyUnit, "parts", whole_parts, NEWTON),
    "a histogram counts rows": (estimate, "bin_counts", count_rows, SUMS),
    "a histogram counts rows in rounds": (estimate, "bin_counts", count_rows, NEWTON),
    "a quantile counts rows": (quantiles, "counts", count_rows, NEWTON),
    "scores are clipped before they are summed": (
        newton_sums, "clipped_unit_scores", clip_before_summing, NEWTON,
    ),
    "rows of the second pass count in full": (
        robust_covariance, "split_weights", second_pass_by_rows, SUMS,
    ),
    "the number is that of rows": (gram, "number_of_units", len, SUMS),
    "the sum of parts is that of rows": (
        METHODS, "noisy_newton", replace(noisy_newton.METHOD, summarise=rows_in_number), NEWTON,
    ),
    "clipped rows are counted": (
        clipped_rows, "whole_weights", lambda parts: np.full(len(parts), ONE), SUMS,
    ),
    "rows count in full around a mean": (PrivacyUnit, "parts", whole_parts, PANEL),
    "rows have the mean of all rows": (
        within_units.UnitDeviations, "of", classmethod(other_center), PANEL,
    ),
    "the degrees of freedom are those of rows": (
        ABSORBING_UNITS, "adassp",
        replace(ABSORBING_UNITS["adassp"], summarise=degrees_of_rows), PANEL,
    ),
    "a quarter of the sensitivity is stated": (
        within_units, "sensitivities",
        lambda *of: [bound / 4 for bound in gram.sensitivities(*of)], PANEL,
    ),
}  # fmt: skip


def replacing(target, name, value):
    """Replace an attribute, or an entry of a mapping."""

    def mutate(monkeypatch):
        put = monkeypatch.setitem if isinstance(target, dict) else monkeypatch.setattr
        put(target, name, value)

    return mutate


def unclipped_persons(monkeypatch):
    """Rows that count in full do no harm to what is clipped as a sum, and else they do."""
    monkeypatch.setattr(absorbed_units, "weighted_scores", rows_as_scores)
    monkeypatch.setattr(absorbed_units, "clipped_scores", lambda scores, norm: scores)


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
