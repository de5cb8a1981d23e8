"""Deviations from the means of units: exact sums, bounds on what one unit adds, worst cases.

All seeds are fixed.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.within.groups import within_box
from dpstats.estimators.least_squares.within.units import (
    UnitDeviations,
    UnitSums,
    clipped_scores,
)
from dpstats.formula import Formula
from dpstats.numerics import Rows, Sensitivity
from dpstats.privacy import RELATIONS
from dpstats.rows import PrivacyUnit
from dpstats.schema import Categorical, Labels, Numeric


def problem_of(columns=2, **more):
    given = {
        "low": np.full(columns, -1.0),
        "high": np.full(columns, 3.0),
        "y_low": 0.0,
        "y_high": 4.0,
    }
    fixed = {"intercept": None, "neighbors": "add_remove", "row_norm": None, "estimated": False}
    x_new = np.empty((0, columns))
    return Problem(**given, **fixed | more, x_new=x_new, weighted=True, by_unit=True)


def rows_of(seed, units, columns=2, max_rows=1, most=9):
    """Rows far inside, at and out of the ranges, with parts and numbers of units."""
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(units), rng.integers(1, most, units)).astype(float)
    X = rng.uniform(-1, 3, (len(numbers), columns)) * rng.choice([1, 100], (len(numbers), 1))
    parts = PrivacyUnit("id", max_rows).parts(numbers) * 2.0**-20
    return Rows(X, rng.uniform(-3, 9, len(numbers)), parts=parts, units=numbers)


def exact(rows, problem):
    """The sums of one summary in whole numbers, row by row."""
    box, total, degrees = within_box(problem), 0, 0
    for number in np.unique(rows.units):
        own = rows[rows.units == number]
        z = box.integers(own.numbers, own.response).astype(int).astype(object)
        k = [int(part * 2**20) for part in own.parts]
        center = [round(Fraction(int(np.dot(column, k)), sum(k))) for column in z.T]
        d = z - np.array(center, dtype=object)
        total = total + (d * np.array(k, dtype=object)[:, None]).T @ d
        degrees += sum(k) - k[0]
    return total, degrees


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 400), st.sampled_from([1, 4]), st.integers(1, 3))
def test_sums_are_exact_in_any_order_and_add_up(seed, units, max_rows, columns):
    problem, rows = problem_of(columns), rows_of(seed, units, columns, max_rows)
    sums = UnitSums.of(rows, problem)
    cross, degrees = exact(rows, problem)
    assert (sums.cross == cross).all() and sums.extra == degrees
    order = np.lexsort((np.random.default_rng(seed).random(len(rows)), rows.units))
    shuffled = UnitSums.of(rows[order], problem)
    assert (shuffled.cross == cross).all() and shuffled.extra == degrees
    half = rows.units < units // 2
    merged = UnitSums.of(rows[half], problem) + UnitSums.of(rows[~half], problem)
    assert (merged.cross == cross).all() and merged.extra == degrees


def test_many_rows_of_one_unit_at_the_corners_are_exact():
    """Products of the largest deviations, for more rows than one block holds."""
    signs = np.where(np.arange(5000) % 2, -9.0, 9.0)
    # one row far from all others deviates by nearly 2 ranges of half
    alone, unit = np.where(np.arange(5000) == 0, 9.0, -9.0), np.zeros(5000)
    for values in (signs, alone):
        X, parts = np.column_stack([values, values]), PrivacyUnit("id").parts(unit) * 2.0**-20
        rows = Rows(X, values, parts=parts, units=unit)
        cross, _ = exact(rows, problem_of())
        assert (UnitSums.of(rows, problem_of()).cross == cross).all()


def test_no_rows_and_units_of_one_row_add_nothing():
    rows = rows_of(1, 50)
    for chosen in (rows.unit_starts, rows.unit_starts[:0]):
        own = replace(rows[chosen], parts=np.ones(len(chosen)))
        sums = UnitSums.of(own, problem_of())
        assert not sums.cross.any() and sums.extra == 0


def triangle(cross, columns):
    return cross[:columns, :columns][np.triu_indices(columns)].astype(float)


CASES = [
    problem_of(columns, **kind)
    for columns in (1, 2, 5)
    for kind in ({}, {"row_norm": 2.5}, {"estimated": True})
]


@pytest.mark.parametrize("problem", CASES, ids=lambda p: f"{len(p.low)}-{p.estimated}-{p.row_norm}")
def test_no_unit_adds_more_than_stated(problem):
    columns = len(problem.low)
    norm = UnitDeviations(problem).norm
    for relation in RELATIONS:
        bounds = UnitDeviations(problem).sensitivity(relation).l2
        for seed in range(100):
            V = UnitSums.of(rows_of(seed, 1, columns), problem).cross
            W = UnitSums.of(rows_of(seed + 1000, 1, columns), problem).cross
            change = (V if relation == "add_remove" else V - W) * Fraction(1, 2**60)
            assert np.linalg.norm(triangle(change, columns)) <= bounds[0]
            assert np.linalg.norm(change[:columns, columns].astype(float)) <= bounds[1]
            assert abs(change[columns, columns]) <= bounds[2]
        of_row = Sensitivity.of(norm, columns, relation).l2
        np.testing.assert_allclose(bounds, of_row, rtol=1e-9)


def test_rounded_means_stay_within_the_stated_bound():
    """Rows at 1 and close to -1, whose mean is no multiple of 2^-20."""
    problem, unit = problem_of(1), np.zeros(3)
    step = 2.0**-19
    X, parts = np.array([[3.0], [-1 + step], [-1 + step]]), np.full(3, 1 / 3)
    cross = UnitSums.of(Rows(X, np.zeros(3), parts=parts, units=unit), problem).cross
    assert (
        cross[0, 0] * Fraction(1, 2**60) <= UnitDeviations(problem).sensitivity("add_remove").l2[0]
    )


@pytest.mark.parametrize("levels", [2, 3, 12])
@pytest.mark.parametrize("coding", ["C(h)", "C(h, Sum)", "C(h, Poly)", "C(h):x"])
def test_a_factor_counts_by_the_largest_distance_of_its_values(coding, levels):
    schema = {"y": Numeric(0, 4), "x": Numeric(-1, 3), "g": Labels(),
              "h": Categorical(tuple(range(levels)))}  # fmt: skip
    design = Formula.parse(f"y ~ x + {coding} | g").design(schema)
    box = {"low": design.low, "high": design.high, "layout": design.layout}
    problem = replace(problem_of(len(design.names)), **box)
    norm = UnitDeviations(problem).norm
    if coding == "C(h)":
        assert norm == pytest.approx(math.sqrt(1 + min(levels - 1, 4)), rel=1e-4)
    rng, largest = np.random.default_rng(levels), 0.0
    for seed in range(60):
        rows = levels if seed == 0 else int(rng.integers(1, 3 * levels))
        h = np.arange(levels) if seed == 0 else rng.integers(0, levels, rows)
        x = np.where(np.arange(rows) % 2, -1.0, 3.0)
        table = design.rows({"y": np.zeros(rows), "x": x, "h": h, "g": np.zeros(rows)})
        parts = PrivacyUnit("id").parts(np.zeros(rows)) * 2.0**-20
        table = replace(table, parts=parts, units=np.zeros(rows))
        (d,) = UnitDeviations(problem).blocks(table)
        trace = np.sum(d.parts * (d.columns[:-1] * 2.0**-20) ** 2)
        assert trace <= norm**2 * (1 + 1e-9)
        largest = max(largest, trace)
    if coding == "C(h)":
        assert largest >= 0.75 * norm**2


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.integers(-(2**34), 2**34), min_size=3, max_size=3), min_size=1),
    st.sampled_from([1.0, 1.2, 2.0]),
)
def test_clipped_scores_are_bounded_exactly_and_others_are_as_they_were(scores, norm):
    s = np.array(scores, dtype=float)
    clipped = clipped_scores(s, norm)
    for before, after in zip(s, clipped, strict=True):
        whole = [int(entry) for entry in after]
        assert whole == after.tolist() and max(map(abs, whole)) <= 2**20
        assert sum(entry**2 for entry in whole) <= Fraction(norm) ** 2 * 2**40
        if np.linalg.norm(before) <= 0.99 * norm * 2**20 and np.abs(before).max() <= 2**20:
            assert (before == after).all()
