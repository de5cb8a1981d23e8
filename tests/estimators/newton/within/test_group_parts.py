"""Parts of groups by labels that rows draw."""

import numpy as np
import pytest

from dpstats.estimators.newton.steps.state import Clusters
from dpstats.estimators.newton.within import group_parts
from dpstats.estimators.newton.within.group_parts import (
    in_parts,
    labels_for_pairs,
    labels_for_variances,
    labels_of,
)
from dpstats.numerics import Rows
from tests.checks.pairs_within import check_labels_of_neighbours


def four_groups(size):
    return size * 2.0, (size - 1) * 2.0  # norm of sizes, weight of pairs


def test_labels_are_drawn_where_pairs_are_many():
    assert labels_for_pairs(*four_groups(500)) == 1
    assert labels_for_pairs(*four_groups(5000)) == 32
    assert labels_for_pairs(1.0, 1.0) == 1


def test_labels_are_drawn_for_variances_where_groups_are_few_and_large():
    few = Clusters(4.0, 0.0)
    assert labels_for_variances(few, *four_groups(5000)) == 128
    assert labels_for_variances(few, *four_groups(30)) == 1
    assert labels_for_variances(Clusters(50.0, 0.0), *four_groups(5000)) == 1


def test_so_many_labels_that_noise_alone_asks_for_are_not_drawn():
    few = Clusters(4.0, 0.0)
    assert labels_for_pairs(1e9, 1.0) == labels_for_variances(few, 1e9, 1.0) == 1 << 20
    rows = Rows(np.arange(9.0)[:, None], np.arange(9.0), keys=np.zeros(9, dtype=np.int64))
    assert sorted(in_parts(1 << 20, 5, rows).numbers[:, 0]) == list(range(9))


def test_rows_of_a_part_have_one_group_and_one_label_and_are_beside_one_another():
    keys = np.random.default_rng(1).integers(3, size=3000)
    rows = Rows(np.arange(3000.0)[:, None], keys.astype(float), keys=keys)
    parts = in_parts(16, 5, rows)
    np.testing.assert_array_equal(parts.units, parts.response)
    assert (np.diff(parts.keys) >= 0).all() and len(np.unique(parts.keys)) == 48
    np.testing.assert_array_equal(parts.keys // 16, parts.units)
    assert sorted(parts.numbers[:, 0]) == list(range(3000))
    whole = in_parts(1, 0, rows)
    np.testing.assert_array_equal(whole.numbers[:, 0], np.argsort(keys, kind="stable"))


def test_rows_in_common_draw_the_same_labels(monkeypatch):
    check_labels_of_neighbours()
    # where all rows share a hash
    monkeypatch.setattr(
        group_parts, "_hashed", lambda columns, key: 0 * columns[0] + np.uint64(key)
    )
    check_labels_of_neighbours()


@pytest.mark.parametrize("kind", ["equal rows", "rows", "rows of equal groups"])
def test_labels_are_as_if_drawn_by_chance(kind):
    """Of pairs of labels of rows beside one another chi-squared is that of 255 degrees of freedom.

    It has a standard deviation of 23; the keys are fixed.
    """
    n = 40_000
    x = np.zeros(n) if kind == "equal rows" else np.arange(n) // 2 / 1e4
    groups = np.arange(n) % 2 * 1.0 if kind == "rows of equal groups" else np.zeros(n)
    for key in (0, 1, 2**64 - 1):
        labels = labels_of(Rows(x[:, None], x, clusters=groups), 16, key)
        found = np.bincount(labels[::2] * 16 + labels[1::2], minlength=256)
        assert ((found - n / 512) ** 2).sum() / (n / 512) == pytest.approx(255, abs=75)
        other = labels_of(Rows(x[:, None], x, clusters=groups), 16, key ^ 1)
        assert (labels == other).mean() == pytest.approx(1 / 16, abs=0.01)


def test_the_number_of_parts_is_that_of_what_rows_draw():
    """4 groups of 5,000 rows by 128 labels; sizes of parts spread, which costs one in forty."""
    generator, groups = np.random.default_rng(2), np.repeat(np.arange(4), 5000)
    sizes = np.bincount(groups * 128 + generator.integers(128, size=20_000))
    found = Clusters(4.0, 0.1).divided(128, 20_000.0)
    assert found.number == pytest.approx(20_000**2 / (sizes**2).sum(), rel=0.01)
    assert found.error == pytest.approx(
        Clusters(4.1, 0.0).divided(128, 20_000.0).number - found.number, rel=0.1
    )
    assert Clusters(4.0, 0.1).divided(1, 20_000.0).number == pytest.approx(4.0)
