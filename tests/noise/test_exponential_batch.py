"""Draws for many groups at once: undecided ones are rare and get the exact answer."""

from unittest import mock

import numpy as np

from dpstats.noise import RankTable, exponential_batch, exponential_compiled
from tests.checks.group_batches import Frozen

ONE = 1 << 24


def test_undecided_draws_are_rare_and_get_the_exact_answer():
    """With a margin of 2^-8 most draws are undecided; the answers stay what they were."""
    rng = np.random.default_rng(1)
    doubled = rng.integers(0, 2 * ONE, 300 * 50).astype(np.int32)
    edges = np.arange(0, len(doubled) + 1, 50)
    query = RankTable("median", doubled, edges, 0, ONE + 1, 0, np.full(300, 2))
    rates = np.full(300, 0.3)
    first = exponential_batch.draw_each(query, rates, Frozen(5).bytes)

    def nothing_decided(doubled, edges, first, size, reach, rates, words):
        return np.full(len(rates), exponential_compiled.UNDECIDED)

    words = np.frombuffer(Frozen(5).bytes(8 * exponential_compiled.WORDS * 300), "<u8").reshape(
        300, -1
    )
    compiled = exponential_compiled.draw_each(doubled, edges, 0, ONE + 1, 0, rates, words)
    assert np.mean(compiled == exponential_compiled.UNDECIDED) < 0.01
    with mock.patch.object(exponential_batch.exponential_compiled, "draw_each", nothing_decided):
        again = exponential_batch.draw_each(query, rates, Frozen(5).bytes)
    assert np.array_equal(first, again)
