"""Compiled draws for many groups: as exact integers draw, and uniform integers from words."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.noise import exponential_compiled
from dpstats.noise.exact_samplers import below_beginning_with, sample_index

ONE = 1 << 24


tables = st.lists(st.integers(-40, 40), max_size=30)


@settings(max_examples=300, deadline=None)
@given(tables, st.integers(0, 2**32), st.floats(0, 20), st.sampled_from([1, 7, 40]), st.booleans())
def test_any_table_is_drawn_from_as_exact_integers_do(entries, seed, rate, size, widened):
    doubled, reach = np.array(entries, np.int32), 3 if widened else 0
    words = np.random.default_rng(seed).integers(
        0, 2**64, (1, exponential_compiled.WORDS), dtype=np.uint64
    )
    more = np.random.default_rng(seed + 1).bytes
    drawn = exponential_compiled.draw_each(
        doubled, np.array([0, len(entries)]), -5, size, reach, np.array([rate]), words
    )
    below = below_beginning_with(iter(words[0].tolist()), more)

    def imbalance(index):
        return int(exponential_compiled.imbalance(doubled, index - 5, reach))

    expected = sample_index(imbalance, size, rate, below)
    assert drawn[0] in (expected, exponential_compiled.UNDECIDED)
