"""What values of a column add to a description, against NumPy."""

import numpy as np
import pytest

from dpstats.numerics.column_sums import column_sums

CENTER, HALF, FIRST, WIDTH, SIZE = 1.0, 2.0, -2, 0.5, 9
ENDS = np.clip(
    (np.stack([np.arange(SIZE), np.arange(SIZE) + 1], axis=1) - 2.5) * WIDTH / HALF - 0.5, -1, 1
)
ENDS[0, 0], ENDS[-1, 1] = -1.0, 1.0


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
def test_sums_are_those_of_numpy(grouped, weighed):
    rng = np.random.default_rng(1)
    values = np.append(rng.normal(1, 2, 5000), [np.nan, np.inf, -np.inf, 1e300, 3.0, -1.0])
    m = len(values)
    codes = rng.integers(0, 3, m) if grouped else np.zeros(m, int)
    parts = rng.integers(0, 2**20, m).astype(float) if weighed else np.ones(m)
    weights = rng.integers(1, 4096, SIZE) / (4096 if weighed else 1)
    sums, counts = np.zeros((3, 3), np.int64), np.zeros((3, SIZE), np.int64)
    column_sums(
        values, codes if grouped else codes[:0], parts if weighed else parts[:0],
        (CENTER, HALF, float(FIRST), WIDTH), ENDS, (1e5, 3e4), weights, sums, counts,
    )  # fmt: skip
    present = ~np.isnan(values)
    bins = np.clip(np.floor(values / WIDTH + 0.5) - FIRST, 0, SIZE - 1)
    t = np.clip((values - CENTER) / HALF, -1, 1)
    added = np.trunc(t * parts * 1e5), np.trunc((2 * t * t - 1) * parts * 3e4)
    for group in range(3):
        own = present & (codes == group)
        wanted = [parts[~present & (codes == group)].sum(), *(each[own].sum() for each in added)]
        np.testing.assert_array_equal(sums[group], wanted)
        held = [np.floor(parts[own & (bins == k)] * weights[k]).sum() for k in range(SIZE)]
        np.testing.assert_array_equal(counts[group], held)


def test_t_is_cut_to_the_ends_of_the_bin():
    """A bin whose ends are 0: the sums of its values are 0, and their squares -b."""
    sums, counts = np.zeros((1, 3), np.int64), np.zeros((1, 1), np.int64)
    none = np.zeros(0)
    values = np.array([-5.0, 0.3, 7.0, np.inf])
    column_sums(values, none.astype(int), none, (0.0, 1.0, 0.0, 1.0), np.zeros((1, 2)),
                (10.0, 4.0), np.ones(1), sums, counts)  # fmt: skip
    assert sums.tolist() == [[0, 0, -16]] and counts.tolist() == [[4]]
    values = np.zeros(3)
    column_sums(values, none.astype(int), none, (0.0, 0.0, 0.0, 1.0), -np.ones((1, 2)),
                (10.0, 4.0), np.ones(1), sums, counts)  # fmt: skip
    assert sums[0, 1] == -30  # 0 / 0 is cut too
