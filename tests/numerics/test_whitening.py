"""Whitening loops: equal to matrix algebra, and each row by itself to the last bit."""

import numpy as np
import pytest

from dpstats.numerics.whitening import residuals, times_inverse, whitened

FAR = 2.0**20
ROOT = np.array([[2.0, 0, 0], [1, 3, 0], [-1, 0.5, 0.25]])
CENTER, SCALE = np.array([1.0, -2, 30]), np.array([2.0, 3, 1])
NONE = np.zeros(0, int)


def directions(rows, codes_to, numbers_to, offsets=NONE, codes=0, center=CENTER, scale=SCALE):
    """Whitened rows (n, p) with their squared norms, (n, p + 1)."""
    out = np.empty((len(codes_to), len(rows)))
    columns = map(np.ascontiguousarray, np.split(rows.T, [codes]))
    to = offsets, center, scale, codes_to, numbers_to
    squares = whitened(*columns, 0, to, FAR, out)
    return np.column_stack([out.T, squares])


def numbers(rows, **given):
    """The numbers as they are standardised."""
    return directions(rows, np.zeros((3, 1)), np.eye(3), **given)[:, :3]


def test_numbers_are_standardised_and_mapped():
    generator = np.random.default_rng(1)
    rows, constant, map_ = (generator.normal(size=shape) for shape in ((700, 3), (5, 1), (5, 3)))
    found = directions(rows, constant, map_)
    expected = constant.T + (rows - CENTER) / SCALE @ map_.T
    np.testing.assert_allclose(found[:, :5], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:, 5], (expected**2).sum(axis=1), rtol=1e-12)


def test_a_map_of_solved_numbers_is_one_of_the_numbers():
    map_ = np.random.default_rng(5).normal(size=(4, 3))
    np.testing.assert_allclose(times_inverse(map_, ROOT) @ ROOT, map_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324])
def test_no_number_is_used_that_is_not_within_far(value):
    for center in (CENTER, np.full(3, -1e308), np.full(3, np.inf)):
        for scale in (SCALE, np.full(3, 1e-310), np.full(3, 1e308)):
            for column in range(3):
                rows = np.zeros((1, 3))
                rows[0, column] = value
                assert (np.abs(numbers(rows, center=center, scale=scale)) <= FAR).all()


def test_whitened_rows_are_codes_and_numbers_times_the_map():
    generator = np.random.default_rng(2)
    codes_to, numbers_to = generator.normal(size=(4, 5)), generator.normal(size=(4, 2))
    codes = np.column_stack([generator.integers(0, 3, 300), generator.integers(0, 2, 300)])
    z = generator.normal(size=(300, 2))
    phi = np.hstack([np.eye(3)[codes[:, 0]], np.eye(2)[codes[:, 1]], z])
    found = directions(
        np.hstack([codes, z]), codes_to, numbers_to, np.array([0, 3]), 2, np.zeros(2), np.ones(2)
    )
    expected = phi @ np.hstack([codes_to, numbers_to]).T
    np.testing.assert_allclose(found[:, :4], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d", range(1, 10))
def test_a_row_is_the_same_to_the_bit_wherever_it_stands(d):
    """Whatever its place in a tile of the loops, and in the part that is left over."""
    generator = np.random.default_rng(3)
    rows, map_, eta = generator.normal(size=(600, d)), generator.normal(size=(d, d)), np.ones(d)
    response, constant, ones = generator.normal(size=600), np.ones((d, 1)), np.ones(d)

    def computed(rows, response):
        found = directions(rows, constant, map_, center=ones / 3, scale=ones * 3)
        columns = np.ascontiguousarray(found[:, :d].T)
        left = residuals(np.ascontiguousarray(response), 0.1, 3.0, FAR, columns, eta)
        return np.column_stack([found, left])

    whole = computed(rows, response)
    for order in (slice(None, None, -1), slice(5, 6), slice(1, None, 3), slice(3, 590)):
        again = computed(rows[order], response[order])
        assert again.tobytes() == whole[order].copy().tobytes()


def test_rows_are_those_from_the_start_on():
    rows = np.random.default_rng(6).normal(size=(20, 3))
    out = np.empty((3, 4))
    to = NONE, CENTER, SCALE, np.zeros((3, 1)), np.eye(3)
    squares = whitened(np.zeros((0, 20)), np.ascontiguousarray(rows.T), 7, to, FAR, out)
    assert np.array_equal(out.T, numbers(rows)[7:11]) and len(squares) == 4


def test_residuals_are_the_response_less_the_fit():
    generator = np.random.default_rng(4)
    columns, eta, response = generator.normal(size=(3, 20)), np.array([1.0, 2, -1]), np.arange(20.0)
    left = residuals(response, 5.0, 2.0, FAR, columns, eta)
    np.testing.assert_allclose(left, (response - 5) / 2 - columns.T @ eta, rtol=1e-12, atol=1e-12)
    far = residuals(np.array([np.inf, -np.inf, np.nan]), 5.0, 2.0, FAR, np.zeros((3, 3)), eta)
    assert far.tolist() == [FAR, -FAR, -FAR]
