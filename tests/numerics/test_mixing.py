"""Bits, scrambled."""

import numpy as np

from dpstats.numerics.mixing import mixed


def test_the_first_numbers_are_those_of_splitmix64():
    """Of the seed 0, as Java's SplittableRandom and Vigna's splitmix64.c give them."""
    seeds = np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert [hex(word) for word in mixed(seeds).tolist()] == [
        "0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f",
    ]  # fmt: skip


def test_different_bits_stay_different_and_what_is_given_stays_as_it_is():
    bits = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mixed(bits))) == len(bits) and (bits == np.arange(100_000)).all()
