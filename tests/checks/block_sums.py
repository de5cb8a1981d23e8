"""Code rows of factors by hand, and check how far one of them moves the sums."""

import math
from itertools import product

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums
from dpstats.estimators.least_squares.factors.sums import release_block_sums
from dpstats.noise import Noise
from dpstats.numerics import Block, Layout, Rows
from dpstats.privacy import ADD_REMOVE, GDP
from dpstats.testing import insecure_seed
from tests.checks.recording import Recording

SIZES = (4, 3, 5, 2)


def problem_of(blocks, numbers, neighbors=ADD_REMOVE):
    """An intercept, treatment dummies of some blocks, and numbers in [0, 2]."""
    codings = [np.eye(size)[:, 1:] for size in SIZES[:blocks]]
    ends = np.cumsum([1, *(coding.shape[1] for coding in codings)])
    parts = tuple(
        Block(np.arange(start, start + coding.shape[1]), coding)
        for start, coding in zip(ends[:-1], codings, strict=True)
    )
    columns = int(ends[-1]) + numbers
    numeric = np.arange(int(ends[-1]), columns)
    low, high = np.zeros(columns), np.ones(columns)
    low[0], high[numeric] = 1.0, 2.0
    return Problem(
        low, high, -1.0, 3.0, 0, neighbors, None, False, np.empty((0, columns)),
        Layout(parts, numeric, 0), None, True,
    )  # fmt: skip


def rows(blocks, numbers, n, seed=1):
    """Codes, numbers within and beyond their bounds, and responses."""
    generator = np.random.default_rng(seed)
    codes = [generator.integers(0, size, n) for size in SIZES[:blocks]]
    return np.column_stack([*codes, generator.uniform(-1, 3, (n, numbers))]), generator.uniform(
        -2, 4, n
    )


def coded(X, y, basis, **more):
    """Rows of a table of codes and then numbers."""
    K = len(basis.sizes)
    return Rows(X[:, K:], y, X[:, :K], **more)


def phi_of(X, y, basis):
    """Rows (e_1, ..., e_K, z, v) in units of 2^-20, by hand."""
    K = len(basis.sizes)
    parts = [np.eye(s)[X[:, k].astype(int)] * 2.0**20 for k, s in enumerate(basis.sizes)]
    z = np.trunc(np.clip(X[:, K:] - 1.0, -1, 1) * 2.0**20)
    v = np.trunc(np.clip((y - 1.0) / 2.0, -1, 1) * 2.0**20)
    return np.column_stack([*parts, z, v])


def released(sums, basis, neighbors=ADD_REMOVE, mu=1.0, noise=None):
    noise = Noise(GDP(mu)) if noise is None else noise
    with insecure_seed(1):
        return release_block_sums(sums, basis, neighbors, GDP(mu), noise)


def asked(basis, X, y, neighbors):
    """The values and sensitivities of the three queries about these rows."""
    noise = Recording(GDP(1.0))
    released(BlockSums.of(coded(X, y, basis), basis), basis, neighbors, noise=noise)
    return [(np.array(query.values, dtype=object), query.l2, query.l1) for query in noise.queries]


def moved(basis, one, two, neighbors):
    """How far each query moves, in units of its sensitivities, from one row to another or none.

    In L2, then in L1.
    """
    pairs = list(zip(asked(basis, *one, neighbors), asked(basis, *two, neighbors), strict=True))
    return [math.sqrt(sum(int(d) ** 2 for d in a - b)) / l2 for (a, l2, _), (b, *_) in pairs] + [
        sum(abs(int(d)) for d in a - b) / l1 for (a, _, l1), (b, *_) in pairs
    ]


def corner(blocks, numbers, signs, code, response):
    X = np.array([[min(code, size - 1) for size in SIZES[:blocks]] + [1.0 + s for s in signs]])
    return X, np.array([response])


def check_reached(blocks, numbers, neighbors):
    """Corners reach what the docstring says of every sensitivity, and none exceeds it.

    That is all of it for an added row; of X'X between two rows with other codes, whose numbers
    overlap, what the inner product of their triangles leaves: 82% to 98% here. In L1 the squares of
    the numbers do not move, nor do products of two numbers in which the rows agree.
    """
    basis = BlockBasis.of(problem_of(blocks, numbers, neighbors))
    best = np.zeros(6)
    none = np.empty((0, blocks + numbers)), np.empty(0)
    for signs in product((-1, 1), repeat=numbers):
        one = corner(blocks, numbers, (1,) * numbers, 0, 3.0)
        for code, response in product((0, 1), (-1.0, 1.0)):
            other = corner(blocks, numbers, signs, code, response)
            two = none if neighbors == ADD_REMOVE else other
            best = np.maximum(best, moved(basis, one, two, neighbors))
            best = np.maximum(best, moved(basis, other, two, neighbors))
    assert (best <= 1 + 1e-12).all(), best
    squared = (blocks + numbers) * (blocks + numbers + 1) / 2
    overlap = 0 if neighbors == ADD_REMOVE else (numbers % 2 + numbers) / 2
    triangle = (blocks + numbers) * (blocks + numbers + 1) / 2
    still = (
        0
        if neighbors == ADD_REMOVE
        else numbers * (numbers + 1) / 2 - numbers // 2 * (numbers - numbers // 2)
    )
    stated = [math.sqrt(1 - overlap / squared), 1, 1, 1 - still / triangle, 1, 1]
    assert best == pytest.approx(stated, rel=0.002), best
