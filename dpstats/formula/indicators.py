"""Separate the columns of a design that are functions of factors alone from the others.

Dummies of one factor exclude one another, and their products with other columns are those of
level by level. A row is then kept as one code for each set of factors and the numeric columns.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np
from patsy import EvalFactor

from dpstats.formula.columns import Part
from dpstats.formula.expressions.intervals import multiply
from dpstats.numerics import Block, Layout, Slopes

# The factors of a block, with the number of levels of each; the first varies slowest.
FactorSet = Mapping[EvalFactor, int]


def layout_of(
    columns: list[tuple[Part, ...]], intercept: int | None
) -> tuple[Layout, tuple[FactorSet, ...]]:
    """Lay out a design with these columns; return also the factors of each of its blocks."""
    sets = {
        j: {part.factor: len(part.levels) for part in parts if part.levels is not None}
        for j, parts in enumerate(columns)
        if parts and all(part.levels is not None for part in parts)
    }
    maximal = _maximal(list(sets.values()))
    members: list[list[int]] = [[] for _ in maximal]
    for j, factors in sets.items():
        # a column that is a function of several sets belongs to the first
        owner = next(i for i, levels in enumerate(maximal) if factors.keys() <= levels.keys())
        members[owner].append(j)
    blocks = tuple(_block(levels, members[i], columns) for i, levels in enumerate(maximal))
    numeric = [j for j in range(len(columns)) if j not in sets and j != intercept]
    return Layout(blocks, np.array(numeric, dtype=np.intp), intercept), tuple(maximal)


def with_slopes(
    layout: Layout, columns: list[tuple[Part, ...]], sets: tuple[FactorSet, ...], bounds: Mapping
) -> Layout:
    """Find the interactions of a number with a block: the number at one code, zero at the others.

    ``bounds`` are those of the numeric factors' columns. Products with other contrasts than
    indicators, or with factors that have no block, stay numeric columns.
    """
    found: dict[tuple, list[int]] = {}
    alone: dict[tuple, int] = {}
    for place, j in enumerate(layout.numeric):
        numbers = tuple((part.factor, part.column) for part in columns[j] if part.levels is None)
        factors = frozenset(part.factor for part in columns[j] if part.levels is not None)
        if factors:
            found.setdefault((numbers, factors), []).append(place)
        else:
            alone[numbers] = place
    slopes = []
    for (numbers, factors), places in found.items():
        block = next((i for i, levels in enumerate(sets) if factors <= levels.keys()), None)
        if block is None:
            continue
        parts = [
            tuple(part for part in columns[layout.numeric[place]] if part.levels is not None)
            for place in places
        ]
        coding = _block(sets[block], list(range(len(parts))), parts).coding
        if not (np.isin(coding, (0.0, 1.0)).all() and (coding.sum(axis=1) <= 1).all()):
            continue
        owner = np.where(coding.any(axis=1), coding.argmax(axis=1), -1)
        ends = (bounds[factor][column] for factor, column in numbers)
        low, high = reduce(multiply, ends, (1.0, 1.0))
        main = alone.pop(numbers, None) if (owner < 0).any() else None  # it stands for one set
        slopes.append(Slopes(np.array(places, dtype=np.intp), block, owner, low, high, main))
    return replace(layout, slopes=tuple(slopes))


def _maximal(sets: list[FactorSet]) -> list[FactorSet]:
    """Find the sets that no other contains, each once, in the order of their first column."""
    distinct = {frozenset(levels): levels for levels in sets}
    return [
        levels for names, levels in distinct.items() if not any(names < other for other in distinct)
    ]


def _block(levels: FactorSet, members: list[int], columns: list) -> Block:
    """Build the block of a set of factors, with the columns ``members`` of it."""
    shape = tuple(levels.values())
    coding = np.ones((int(np.prod(shape)), len(members)))
    codes = dict(zip(levels, np.unravel_index(np.arange(len(coding)), shape), strict=True))
    for values, j in zip(coding.T, members, strict=True):
        for part in columns[j]:
            values *= part.levels[codes[part.factor]]
    return Block(np.array(members, dtype=np.intp), coding)


def joint_codes(levels: FactorSet, codes: Mapping[EvalFactor, np.ndarray]) -> np.ndarray:
    """Compute the code of each row in the block of these factors."""
    joint = np.zeros(1, dtype=np.intp)
    for factor, count in levels.items():
        joint = joint * count + codes[factor]
    return joint
