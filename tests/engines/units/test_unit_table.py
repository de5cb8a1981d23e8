"""Rows read in whole privacy units: complete, numbered, and the same in any order of rows."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.columns import KINDS, columns_of
from dpstats.engines.files.stata import LabelledColumn
from dpstats.engines.labels.label_keys import NO_UNIT, unit_keys
from dpstats.engines.open_table import open_table
from dpstats.engines.tables import Table
from dpstats.engines.units import UNIT, check_unit
from dpstats.errors import ArgumentError
from dpstats.schema import Numeric

SCHEMA = {"x": Numeric(0, 1)}


def units(table, size):
    """Return the values of each unit, sorted, as a set, and the sizes of batches."""
    found, sizes = [], []
    for batch in table.by_unit(SCHEMA, "id").batches(SCHEMA, size):
        sizes.append(len(batch[UNIT]))
        for number in np.unique(batch[UNIT]):
            found.append((number, tuple(sorted(batch["x"][batch[UNIT] == number]))))
    assert [number for number, _ in found] == list(range(len(found)))  # no unit in two batches
    return sorted(values for _, values in found), sizes


@pytest.mark.parametrize("many", [100, 10_000])
@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_every_unit_is_in_one_batch_whatever_the_order_of_rows(size, many, monkeypatch):
    monkeypatch.setattr("dpstats.engines.units.unit_order._MANY", many)
    rng = np.random.default_rng(0)
    ids = rng.zipf(1.7, 1000) % 300
    frame = pd.DataFrame({"id": ids, "x": rng.uniform(size=1000)})
    expected = sorted(tuple(sorted(own)) for _, own in frame.groupby("id")["x"])
    for seed in range(3):
        shuffled = frame.sample(frac=1, random_state=seed)
        found, sizes = units(Table.from_data(shuffled), size)
        assert found == expected
        assert sum(sizes) == 1000 and max(sizes) < size + 1000


def test_a_row_without_an_id_is_a_unit_of_its_own():
    ids = [None, "a", float("nan"), "a", None, 10**5000]
    found, _ = units(Table.from_data({"id": ids, "x": np.arange(6.0)}), 100)
    assert found == [(0,), (1, 3), (2,), (4,), (5,)]


def test_hostile_objects_are_one_unit_and_stop_nothing():
    class Hostile(str):
        def __hash__(self):
            raise RuntimeError

        def __eq__(self, other):
            raise RuntimeError

    ids = [[], {}, np.array([1]), Hostile("a"), "\ud800", 1, True, 1.0, "1", (1, "a"), (1, "a"), ""]
    found, _ = units(Table.from_data({"id": ids, "x": np.arange(12.0)}), 100)
    assert found == [(0, 1, 2, 3), (4,), (5, 6, 7), (8,), (9, 10), (11,)]


@pytest.mark.parametrize("many", [10, 1000])
def test_rows_are_taken_in_the_order_that_the_table_names(many, monkeypatch):
    """Rows of a unit stay in their order, and those without an id are told apart."""
    monkeypatch.setattr("dpstats.engines.units.unit_order._MANY", many)
    rng = np.random.default_rng(2)
    ids, x = rng.integers(0, 30, 500).astype(float), rng.uniform(size=500)
    ids[rng.choice(500, 200, replace=False)] = np.nan
    table = Table.from_data({"id": ids, "x": x}).by_unit(SCHEMA, "id")
    (batch,) = table.batches(SCHEMA, 500)
    order = table.move(np.arange(500))
    assert np.array_equal(np.sort(order), np.arange(500))
    assert np.array_equal(batch["x"], x[order])
    ordered, starts = ids[order], np.diff(batch[UNIT]) == 1
    assert np.array_equal(starts, ordered[1:] != ordered[:-1])  # NaN differs from itself
    assert np.all(np.diff(order)[~starts] > 0)


def test_value_labels_do_not_say_which_rows_are_one_person():
    column = LabelledColumn(
        np.array([12, -9, 7, 12]), np.array([0, 0, 0, 1], bool), {-9: "refused"}
    )
    assert unit_keys(column).view(np.int64).tolist() == [[12, -9, 7, -(2**63)]]


def test_a_column_that_cannot_name_units_is_refused_by_its_type():
    table = Table.from_data({"id": np.array([1j]), "x": [1.0]})
    check_unit(table, "x")
    with pytest.raises(ArgumentError, match="unit='id' is a column of a type whose values cannot"):
        check_unit(table, "id")
    with pytest.raises(ArgumentError, match="no column 'nobody'"):
        check_unit(table, "nobody")


def test_a_table_without_rows_gives_one_empty_batch():
    (batch,) = Table.from_data({"id": [], "x": []}).by_unit(SCHEMA, "id").batches(SCHEMA)
    assert {name: len(column) for name, column in batch.items()} == {"x": 0, UNIT: 0}


@pytest.mark.parametrize(
    "values",
    [
        np.arange(-5, 1000),
        np.array([0, 1, 2**63, 2**64 - 1], np.uint64),
        np.array([0.0, 5e-324, 1e-300, 0.1, 0.1 + 2**-56, 1e300, np.inf, -np.inf]),
        np.array([False, True]),
        pd.to_datetime([0, 1, 10**18]),
        pd.Categorical(["a", "b", "c"]),
        ["1", "1.0", "01", " 1", "a", "A"],
    ],
)
def test_different_ids_have_different_keys_and_equal_ones_the_same(values):
    column = columns_of({"id": np.asarray(values) if isinstance(values, list) else values})["id"]
    keys = unit_keys(column)
    assert len(np.unique(keys, axis=1).T) == len(values) and NO_UNIT not in keys[0]
    assert np.array_equal(keys, unit_keys(column))


@pytest.mark.parametrize(
    "ids",
    [np.array([2**63, 5, 2**63], np.uint64), np.array([-(2**63), 5, -(2**63)]),
     [10**5000, "a", 10**5000]],
    ids=["unsigned", "signed", "without a text"],
)  # fmt: skip
def test_rows_of_any_id_stay_together(ids):
    """The mark of a missing id is that of no id that is there."""
    found, _ = units(Table.from_data({"id": ids, "x": np.arange(3.0)}), 100)
    assert found == [(0, 2), (1,)]


class Odd:
    """Has no text and no equality."""

    def __str__(self):
        raise ValueError

    def __eq__(self, other):
        raise ValueError


ODD_IDS = {
    "bytes": b"ab", "list": [1], "dict": {"a": 1}, "complex": 1 + 2j, "object": Odd(),
    "huge": 10**5000, "surrogate": "\ud800", "half a tuple": (1, None),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_IDS)
def test_rows_of_an_id_of_any_type_stay_together(name):
    """One person whose id is no label would else count as many, and be protected row by row."""
    value = ODD_IDS[name]
    missing = [float("nan"), pd.NaT, pd.NA, Decimal("nan"), Decimal("snan")]
    keys = unit_keys(columns_of({"id": [value, None, value, *missing]})["id"])
    assert (keys[:, 0] == keys[:, 2]).all() and keys[0, 0] != NO_UNIT
    assert (keys[0, [1, *range(3, 8)]] == NO_UNIT).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_an_id_that_is_not_of_the_declared_kind_stay_together(kind, tmp_path):
    """They would else count as several persons, and be protected one by one."""
    ids = ["7", "A 1", "99999999999999999999", "7", None, "A 1", "99999999999999999999", None]
    table = {"id": ids, "x": np.arange(8.0)}
    path = tmp_path / "ids.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    for data in (Table.from_data(table), open_table(path)):
        made, _ = units(data.typed({"id": kind}), 100)
        together = {row: own for own in made for row in own}
        for one, other in ((0, 3), (1, 5), (2, 6)):
            assert together[one] == together[other]
        assert together[4] == (4,) and together[7] == (7,)
        assert kind != "string" or len(made) == 5


def test_bytes_and_wide_numbers_are_told_apart():
    wide = [Decimal(2**60), Decimal(2**60 + 1), None]
    columns = [
        columns_of({"id": [b"ab", b"cd", None]}),
        columns_of(pa.table({"id": pa.array(wide, pa.decimal128(25, 0))})),
        columns_of(pl.DataFrame({"id": wide}, schema={"id": pl.Decimal(25, 0)})),
        columns_of(pl.DataFrame({"id": [2**70, 2**70 + 1, None]}, schema={"id": pl.Int128})),
    ]
    for column in columns:
        one, other, missing = map(tuple, unit_keys(column["id"]).T)
        assert NO_UNIT not in (one[0], other[0]) and one != other and missing[0] == NO_UNIT


def test_zero_has_one_sign():
    (keys,) = unit_keys(columns_of({"id": np.array([0.0, -0.0])})["id"])
    assert keys[0] == keys[1] != NO_UNIT
