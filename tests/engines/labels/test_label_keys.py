"""Keys of labels: equal ones for equal labels, the same in every batch and process."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dpstats.engines.columns import columns_of
from dpstats.engines.labels.label_keys import keys

COLUMNS = {
    "integer": np.array([3, -1, 3, 2**62]),
    "unsigned": np.array([3, 0, 3, 2**64 - 1], dtype=np.uint64),
    "number": np.array([0.5, -0.5, 0.5, 1e300]),
    "boolean": np.array([True, False, True, False]),
    "string": pd.Series(["b", "", "b", "é"], dtype="string"),
    "category": pd.Categorical(["b", "a", "b", "c"]),
    "whole category": pd.Categorical([7, 5, 7, 6]),
    "date": pd.array([np.datetime64("2020-01-02"), np.datetime64("1960-01-01")] * 2),
}


def keys_of(values):
    return keys(columns_of({"g": values})["g"])


@pytest.mark.parametrize("name", COLUMNS)
def test_equal_labels_have_equal_keys_and_others_have_others(name):
    labels, found = list(COLUMNS[name]), keys_of(COLUMNS[name])
    assert found.dtype == np.float64 and np.isfinite(found).all()
    assert ((found >= 0) & (found < 2**53) & (found == np.trunc(found))).all()
    for label, key in zip(labels, found, strict=True):
        assert [one == label for one in labels] == (found == key).tolist()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_key_depends_on_its_own_cell(name):
    whole = keys_of(COLUMNS[name])
    parts = [keys_of(COLUMNS[name][i : i + 1]) for i in range(4)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_zeros_of_both_signs_are_one_label():
    assert len(set(keys_of(np.array([0.0, -0.0])))) == 1


@pytest.mark.parametrize(
    "values",
    [
        np.array([np.nan, 1.0]),
        pd.array([None, 1], dtype="Int64"),
        pd.array([None, "a"], dtype="string"),
        pd.Categorical([None, "a"]),
        pd.Series([pd.NaT, pd.Timestamp("2020-01-01")]),
        pd.Categorical.from_codes([0, 1], pd.Index([10**5000, 1], dtype=object)),
    ],
    ids=lambda values: str(values.dtype)[:20],
)
def test_a_missing_label_has_no_key(values):
    assert np.isnan(keys_of(values)).tolist() == [True, False]


def test_cells_of_untyped_columns_are_labels_each_by_itself():
    cells = ["a", "1", 1, 1.0, True, None, float("nan"), [2], "\ud800", 10**400]
    found = keys_of(cells)
    assert np.isnan(found).tolist() == [False] * 5 + [True] * 4 + [False]
    a, text, *ones, huge = found[[0, 1, 2, 3, 4, 9]]
    assert len(set(ones)) == 1 and len({a, text, ones[0], huge}) == 4


def test_keys_spread_evenly():
    """A million neighbouring whole numbers share no key (chance 6e-5) and fill all bits."""
    found = keys_of(np.arange(1_000_000)).astype(np.int64)
    assert len(np.unique(found)) == 1_000_000
    ones = [np.mean(found >> bit & 1) for bit in range(53)]
    assert max(abs(share - 0.5) for share in ones) < 0.003  # six standard deviations


def test_keys_are_the_same_in_another_process():
    """Spark's workers and later runs see the same keys: Python's own hash would change."""
    code = (
        "import numpy as np, pandas as pd;from dpstats.engines.labels.label_keys import keys;"
        "from dpstats.engines.columns.to_columns import columns_of;"
        "g = columns_of({'g': pd.Series(['x', 'y'], dtype='string'), 'h': np.array([1, 2])});"
        "print(*keys(g['g']).astype(int), *keys(g['h']).astype(int))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = [*keys_of(pd.Series(["x", "y"], dtype="string")), *keys_of(np.array([1, 2]))]
    assert [int(key) for key in other.stdout.split()] == [int(key) for key in own]
