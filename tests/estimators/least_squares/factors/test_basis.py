"""Indicators and numbers instead of design columns: the same rows, spans and predictions."""

from fractions import Fraction

import numpy as np
import pytest

from dpstats.estimators.least_squares.factors import BlockBasis
from dpstats.numerics import Block, Layout, Slopes

ONE = 2**20
SUMS = np.vstack([np.eye(3), -np.ones(3)])
POLY = np.column_stack([[-1.0, 0, 1], [1.0, -2, 1]])
# Codings of a block of each design, whether it has an intercept, and which block is saturated.
DESIGNS = {
    "dummies": ([np.eye(4)[:, 1:], np.eye(3)[:, 1:]], True, 0),
    "base in the middle": ([np.eye(4)[:, [0, 1, 3]], np.eye(3)[:, 1:]], True, 0),
    "sums": ([np.eye(3)[:, 1:], SUMS], True, 1),
    "polynomials": ([POLY], True, 0),
    "no intercept": ([np.eye(4), np.eye(3)[:, 1:]], False, 0),
    "fewer columns than codes": ([np.eye(5)[:, 1:3], np.eye(3)[:, 1:]], True, 1),
    "none is saturated": ([POLY[:, :1]], True, None),
    "neither intercept nor saturated": ([POLY[:, :1]], False, None),
}
NUMBERS = 2


def layout_of(codings, intercept, slopes=()):
    """The intercept, the blocks and then the numbers, in this order."""
    start, blocks = int(intercept), []
    for coding in codings:
        blocks.append(Block(np.arange(start, start + coding.shape[1]), coding))
        start += coding.shape[1]
    numeric = np.arange(start, start + NUMBERS)
    return Layout(tuple(blocks), numeric, 0 if intercept else None, slopes)


def basis_of(layout, low=0.0, high=4.0):
    """The basis of columns in [low, high] and a response in [-2, 6]."""
    size = int(layout.numeric[-1]) + 1
    return BlockBasis.spanning(layout, np.full(size, low), np.full(size, high), -2.0, 6.0, None)


def table(basis, n, seed=1):
    """Codes, numbers on a grid of 1/8 and beyond their bounds, and responses."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, n) for size in basis.sizes]
    return codes, rng.integers(-8, 48, (n, NUMBERS)) / 8, rng.integers(-24, 56, n) / 8


def design(layout, codes, numbers):
    """Design rows (n, S) of codes and numbers."""
    X = np.zeros((len(numbers), int(layout.numeric[-1]) + 1))
    if layout.intercept is not None:
        X[:, layout.intercept] = 1.0
    for block, own in zip(layout.blocks, codes, strict=True):
        X[:, block.columns] = block.coding[own]
    X[:, layout.numeric] = numbers
    return X


def scaled(value, low, high, centre):
    """A number less its centre, over its half range, clipped and cut, in fractions."""
    half = max(abs(Fraction(low) - centre), abs(Fraction(high) - centre))
    return int(min(max((Fraction(value) - centre) / half, -1), 1) * ONE)


@pytest.mark.parametrize("name", DESIGNS)
def test_rows_are_whole_numbers_as_by_hand(name):
    codings, intercept, saturated = DESIGNS[name]
    basis = basis_of(layout_of(codings, intercept))
    codes, numbers, y = table(basis, 80)
    constant = intercept or saturated is not None
    middle, y_middle = (2, 2) if constant else (0, 0)
    expected = [
        [*(scaled(x, 0, 4, middle) for x in row), scaled(v, -2, 6, y_middle)]
        for row, v in zip(numbers.tolist(), y.tolist(), strict=True)
    ]
    assert basis.scaled(codes, numbers, y).tolist() == expected


@pytest.mark.parametrize("name", DESIGNS)
def test_sizes_are_those_of_the_design(name):
    codings, intercept, saturated = DESIGNS[name]
    basis = basis_of(layout_of(codings, intercept))
    assert basis.saturated == saturated
    assert basis.sizes == tuple(len(coding) for coding in codings)
    assert basis.columns == intercept + sum(coding.shape[1] for coding in codings) + NUMBERS
    assert basis.entries == len(codings) + NUMBERS
    assert set(basis.others) == set(range(len(codings))) - {saturated}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_rest_is_orthonormal_and_spans_the_design_with_the_saturated_codes(name):
    """Every design column lies in the span, and no more columns than those are there."""
    codings, intercept, saturated = DESIGNS[name]
    layout = layout_of(codings, intercept)
    basis = basis_of(layout)
    rest = basis.rest
    np.testing.assert_allclose(rest.T @ rest, np.eye(rest.shape[1]), atol=1e-12)
    codes, numbers, _ = table(basis, 200)
    indicators = [np.eye(basis.sizes[k])[codes[k]] for k in basis.others]
    span = np.hstack([*indicators, numbers]) @ rest
    if saturated is not None:
        span = np.hstack([np.eye(basis.sizes[saturated])[codes[saturated]], span])
    X = design(layout, codes, numbers)
    assert np.linalg.matrix_rank(span) == np.linalg.matrix_rank(X) == span.shape[1]
    assert np.linalg.matrix_rank(np.hstack([span, X])) == span.shape[1]


@pytest.mark.parametrize("name", DESIGNS)
def test_products_that_are_always_zero_are_known(name):
    codings, intercept, _ = DESIGNS[name]
    basis = basis_of(layout_of(codings, intercept))
    codes, numbers, _ = table(basis, 300)
    rows = np.hstack([*(np.eye(basis.sizes[k])[codes[k]] for k in basis.others), numbers])
    assert np.array_equal(basis.free, rows.T @ rows != 0)


def predicted(basis, codes, rows, alpha, gamma):
    """Responses in the design's units of effects in the basis, for scaled rows."""
    indicators = [np.eye(basis.sizes[k])[codes[k]] for k in basis.others]
    v = np.hstack([*indicators, rows[:, :-1] / ONE]) @ basis.rest @ gamma
    if basis.saturated is not None:
        v = v + alpha[codes[basis.saturated]]
    return basis.box.y_center + basis.box.y_scale * v


def both_predictions(layout, basis, codes, numbers):
    """Predictions by coefficients of the design, and by the effects that they follow from."""
    rng = np.random.default_rng(4)
    alpha = rng.normal(size=0 if basis.saturated is None else basis.sizes[basis.saturated])
    gamma = rng.normal(size=basis.rest.shape[1])
    beta = basis.back((alpha, gamma))
    rows = basis.scaled(codes, numbers, np.zeros(len(numbers)))
    return design(layout, codes, numbers) @ beta, predicted(basis, codes, rows, alpha, gamma)


@pytest.mark.parametrize("name", DESIGNS)
def test_coefficients_of_the_design_predict_what_effects_do(name):
    codings, intercept, _ = DESIGNS[name]
    layout = layout_of(codings, intercept)
    basis = basis_of(layout)
    codes, numbers, _ = table(basis, 100)
    found, expected = both_predictions(layout, basis, codes, np.clip(numbers, 0, 4))
    np.testing.assert_allclose(found, expected, atol=1e-9)


# y ~ g + x:g for a g of two codes, and y ~ x*g, where x is the first number and x:g the second.
EACH = Slopes(np.array([0, 1]), 0, np.array([0, 1]), 0.0, 4.0)
BESIDE = Slopes(np.array([1]), 0, np.array([-1, 0]), 0.0, 4.0, main=0)


def with_slopes(slopes, codes, x):
    """The two numbers of a row: x at its code's column, and x itself where that is a column."""
    numbers = np.zeros((len(x), NUMBERS))
    for i, place in enumerate(slopes.places):
        numbers[:, place] = x * (slopes.owner[codes] == i)
    if slopes.main is not None:
        numbers[:, slopes.main] = x
    return numbers


@pytest.mark.parametrize("slopes", [EACH, BESIDE], ids=["each", "beside"])
@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_of_codes_do_not_overlap_and_predict_the_same(slopes, intercept):
    layout = layout_of([np.eye(2)[:, 1:] if intercept else np.eye(2)], intercept, (slopes,))
    basis = basis_of(layout)
    rng = np.random.default_rng(2)
    codes, x = [rng.integers(0, 2, 100)], rng.integers(0, 33, 100) / 8
    numbers = with_slopes(slopes, codes[0], x)
    rows = basis.scaled(codes, numbers, np.zeros(100))
    assert (np.count_nonzero(rows[:, :-1], axis=1) <= 1).all() and basis.entries == 2
    assert sorted(set(np.abs(rows[:, :-1]).sum(axis=1))) == [ONE * k / 16 for k in range(17)]
    found, expected = both_predictions(layout, basis, codes, numbers)
    np.testing.assert_allclose(found, expected, atol=1e-9)
