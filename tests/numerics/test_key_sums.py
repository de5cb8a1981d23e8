"""Sums of rows by keys: exact, and the same however rows are divided."""

import numpy as np

from dpstats.numerics import KeySums


def test_sums_are_those_of_each_key_whatever_the_order_and_the_batches():
    generator = np.random.default_rng(0)
    keys = generator.choice([3.0, 2.0**53 - 1, 0.0, 17.0], 3000)
    columns = generator.integers(-(2**20), 2**20, (2, 3000)).astype(float)

    def summed(rows):
        blocks = np.array_split(columns[:, rows], 3, axis=1)
        return KeySums.of(keys[rows], blocks, 2)

    whole, order = summed(np.arange(3000)), generator.permutation(3000)
    for other in (summed(order), summed(order[:700]) + summed(order[700:])):
        np.testing.assert_array_equal(other.keys, whole.keys)
        np.testing.assert_array_equal(other.sums, whole.sums)
    for key, sums in zip(whole.keys, whole.sums, strict=True):
        assert sums.tolist() == columns[:, keys == key].sum(axis=1).tolist()


def test_no_rows_have_no_keys():
    none = KeySums.of(np.empty(0), [], 3)
    assert none.keys.shape == (0,) and none.sums.shape == (0, 3)
    some = KeySums.of(np.array([4.0]), [np.array([[1.0], [2.0], [3.0]])], 3)
    assert (none + some).sums.tolist() == [[1, 2, 3]]


def test_many_rows_of_one_key_add_up_exactly():
    """Sums beyond 2^53 would not be exact in doubles; of 2^33 rows they are below it."""
    one = KeySums(np.array([1.0]), np.array([[2**52 + 1]]))
    assert (one + one).sums.item() == 2**53 + 2
