"""A draft of a schema comes from types alone, and can be read as it is and when filled in."""

import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines import Table
from dpstats.engines.streams import Stream


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": np.array([31, 62]),
            "wage": [1.5, np.nan],
            "my region": pd.array(["n", "s"], dtype="string"),
            "grade": pd.Categorical(["a", "b"], categories=["a", 'b"', "b"]),
            "urban": [True, False],
            "seen": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "free": np.array(["x", 3], dtype=object),
        }
    )


def test_types_are_drafted_and_values_never(frame):
    text = dp.suggest_schema(frame.dtypes)
    assert repr(text) == text == dp.suggest_schema(frame)
    for line in ("# age = [low, high]  # integer", "# wage = [low, high]  # number",
                 '# "my region" = ["...", "..."]  # string', "# urban: boolean, nothing to declare",
                 "# seen: datetime, convert it before use"):  # fmt: skip
        assert line in text.splitlines()
    assert '# free = "..."' in text and not any(value in text for value in ("31", "1.5", "2020"))


def test_the_draft_is_a_schema_and_filled_in_too(frame):
    text = dp.suggest_schema(frame.dtypes)
    assert tomllib.loads(text)["levels"] == {"grade": ["a", 'b"', "b"]}
    filled = text.replace("# age = [low, high]", "age = [18, 99]")
    filled = filled.replace('# "my region" = ["...", "..."]', '"my region" = ["n", "s"]')
    schema = dp.Schema.of(tomllib.loads(filled.replace('# free = "..."', 'free = "string"')))
    assert schema.bounds == {"age": (18, 99)} and schema.types == {"free": "string"}
    assert schema.levels["my region"] == ("n", "s")


def test_no_value_is_read(frame, monkeypatch, tmp_path):
    frame.drop(columns="free").to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv")
    for kind, place in ((Table, "batches"), (Table, "labels"), (Stream, "_frames")):
        monkeypatch.setattr(kind, place, None)
    assert "# age = [low, high]  # integer" in dp.suggest_schema(tmp_path / "people.parquet")
    assert '# age = "..."  # or bounds or levels: a text file' in dp.suggest_schema(
        tmp_path / "people.csv"
    )


def test_schemas_of_arrow_and_polars(tmp_path):
    """The values of a dictionary of arrow are those that happen to be there."""
    table = pa.table({"x": [1.0], "g": pa.array(["secret"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "t.parquet")
    for columns in (table.schema, tmp_path / "t.parquet"):
        text = dp.suggest_schema(columns)
        assert "secret" not in text and '# g = ["...", "..."]  # string' in text
    columns = pl.Schema({"x": pl.Int8, "g": pl.Enum(["a", "b"])})
    text = dp.suggest_schema(columns)
    assert tomllib.loads(text)["levels"] == {"g": ["a", "b"]} and "# x = [low, high]" in text


@pytest.mark.parametrize("columns", [3, None, pd.Series([1, 2]), "nowhere.csv"], ids=str)
def test_what_has_no_types_is_refused(columns):
    with pytest.raises(dp.ArgumentError):
        dp.suggest_schema(columns)
