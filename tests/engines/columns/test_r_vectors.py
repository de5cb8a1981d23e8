"""Columns of R: kinds, labels and missing values."""

import numpy as np

from dpstats.engines import Table
from dpstats.engines.columns.r_vectors import NA_INTEGER, column
from dpstats.schema import BOOLEAN, Categorical, Numeric


def test_columns_of_r_keep_their_missing_values():
    codes = np.array([1, NA_INTEGER, 2], "<i4").tobytes()
    table = Table.from_data(
        {
            "whole": column("integer", codes),
            "truth": column("logical", np.array([1, NA_INTEGER, 0], "<i4").tobytes()),
            "text": column("character", codes, ["p", "q"]),
            "real": column("double", np.array([0.5, np.nan, 2]).tobytes()),
            "size": column("ordered", codes, ["s", "l"]),
        }
    )
    kinds = [table.kind(name) for name in table.columns]
    assert kinds == ["integer", "boolean", "string", "number", "category"]
    assert table.ordered("size") and not table.ordered("text")
    numeric, labels = Numeric(-9, 9), Categorical(("p", "q"))
    schema = {"whole": numeric, "truth": BOOLEAN, "text": labels, "real": numeric}
    batch = next(table.batches(schema | {"size": Categorical(("s", "l"), True)}))
    assert batch["truth"].tolist() == [1, -1, 0]
    assert batch["text"].tolist() == batch["size"].tolist() == [0, -1, 1]
    np.testing.assert_array_equal(batch["whole"], [1, np.nan, 2])
    np.testing.assert_array_equal(batch["real"], [0.5, np.nan, 2])
