"""Layouts: designs are codes and numbers, and slopes are numbers times indicators."""

import numpy as np
import pytest

from dpstats.numerics import Block, Layout, Rows, Slopes
from dpstats.numerics.layout import free_products

DUMMIES, SUMS = np.eye(4)[:, 1:], np.vstack([np.eye(2), [-1.0, -1.0]])
LAYOUT = Layout(
    (Block(np.array([1, 2, 4]), DUMMIES), Block(np.array([6, 3]), SUMS)), np.array([7, 5]), 0
)


def design(codes, numbers):
    """The columns that a row's codes and numbers stand for, one row at a time."""
    X = np.zeros((len(numbers), 8))
    for row, own, values in zip(X, codes, numbers, strict=True):
        row[0] = 1.0
        for block, code in zip(LAYOUT.blocks, own, strict=True):
            row[block.columns] = block.coding[code]
        row[LAYOUT.numeric] = values
    return X


@pytest.mark.parametrize("n", [0, 1, 200])
def test_codes_and_numbers_are_read_back_from_a_design(n):
    rng = np.random.default_rng(n)
    codes = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 3, n)])
    numbers = rng.normal(size=(n, 2))
    found = LAYOUT.compact(Rows(design(codes, numbers), np.zeros(n)))
    assert np.array_equal(found.codes, codes) and np.array_equal(found.numbers, numbers)


@pytest.mark.parametrize(("levels", "columns"), [(2, 1), (51, 50), (40, 3)])
def test_rows_get_back_the_code_that_made_them(levels, columns):
    rng = np.random.default_rng(levels)
    coding = np.unique(rng.integers(-1, 3, (2 * levels, columns)).astype(float), axis=0)
    codes, numbers = rng.integers(len(coding), size=500), rng.normal(size=500)
    layout = Layout((Block(np.arange(columns), coding),), np.array([columns]), None)
    rows = layout.compact(Rows(np.column_stack([coding[codes], numbers]), np.arange(500.0)))
    np.testing.assert_array_equal(rows.codes[:, 0], codes)
    np.testing.assert_array_equal(rows.numbers[:, 0], numbers)
    np.testing.assert_array_equal(rows.response, np.arange(500.0))


def test_of_codes_with_equal_columns_the_first_is_taken():
    block = Block(np.array([0, 1]), np.array([[0.0, 1], [2, 2], [0, 1], [2, 2]]))
    layout = Layout((block,), np.array([], int), None)
    assert layout.compact(Rows(block.coding, np.zeros(4))).codes.ravel().tolist() == [0, 1, 0, 1]


OWNERS = [[-1, 0, 1], [1, -1, 0], [0, 1, 2]]


@pytest.mark.parametrize("owner", OWNERS)
def test_slopes_are_a_number_at_one_code_and_zero_at_the_others(owner):
    k = max(owner) + 1
    slopes = Slopes(np.arange(k), 0, np.array(owner), 0.0, 1.0)
    for code, own in enumerate(owner):
        assert slopes.indicators[code].tolist() == [float(j == own) for j in range(k)]
    assert slopes.with_main() is slopes


@pytest.mark.parametrize("owner", OWNERS[:2])
def test_the_number_itself_stands_at_codes_without_a_column(owner):
    slopes = Slopes(np.array([3, 4]), 0, np.array(owner), 0.0, 1.0, main=2).with_main()
    assert slopes.places.tolist() == [3, 4, 2]
    for code, own in enumerate(owner):
        place = 2 if own < 0 else own
        assert slopes.indicators[code].tolist() == [float(j == place) for j in range(3)]


def test_columns_as_numbers_keep_their_slopes():
    block = Block(np.array([1, 2]), np.array([[0.0, 0], [1, 0], [0, 1]]))
    slopes = Slopes(np.array([1, 2]), 0, np.array([-1, 0, 1]), 0.0, 1.0, main=0)
    found = Layout((block,), np.array([3, 4, 5]), 0, (slopes,)).as_numbers()
    assert found.numeric.tolist() == [0, 1, 2, 3, 4, 5] and not found.blocks
    assert found.slopes[0].places.tolist() == [4, 5] and found.slopes[0].main == 3


def test_columns_give_the_indicator_of_each_code_but_for_a_constant():
    """Of a block with a column too few, those that its columns do not give are zeros."""
    codes = np.random.default_rng(3).integers(0, LAYOUT.sizes, (500, 2))
    found = design(codes, np.zeros((500, 2))) @ LAYOUT.level_coefficients().T
    wanted = coordinates_of(codes, np.zeros((500, 0)))
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], atol=1e-12)
    few = Layout((Block(np.array([0, 1]), DUMMIES[:, :2]),), np.zeros(0, int), None)
    wanted = np.array([[0, 0], [1, 0], [0, 1], [0, 0]])
    np.testing.assert_allclose(few.level_coefficients(), wanted, atol=1e-12)


def coordinates_of(codes, numbers):
    """An indicator for each code of each block, then the numbers."""
    return np.hstack([*(np.eye(size)[codes[:, k]] for k, size in enumerate(LAYOUT.sizes)), numbers])


def test_columns_follow_from_indicators_and_numbers():
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, 4, 90), rng.integers(0, 3, 90)])
    numbers = rng.normal(size=(90, 2))
    phi = coordinates_of(codes, numbers)
    np.testing.assert_allclose(phi @ LAYOUT.of_coordinates(), design(codes, numbers), atol=1e-12)
    assert LAYOUT.sizes == (4, 3) and LAYOUT.columns == 8
    assert np.array_equal(free_products(LAYOUT.sizes, 9), phi.T @ phi != 0)


@pytest.mark.parametrize("constant", [True, False])
def test_without_blocks_a_constant_stands_before_the_numbers(constant):
    layout = Layout((), np.array([1, 2]) if constant else np.array([0, 1]), 0 if constant else None)
    assert layout.of_coordinates(constant).tolist() == np.eye(2 + constant).tolist()
