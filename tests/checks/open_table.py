"""Read what a table opens, and check that a source is refused."""

import numpy as np
import pandas as pd
import pytest

from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError
from dpstats.schema import Categorical, Numeric

FRAME = pd.DataFrame({"age": [31, 45], "pay": [1.5, np.nan], "town": ["Ulm", "Bonn"]})
RANGE = Numeric(-1e6, 1e6)


def columns(path, **schema):
    """Columns of a file as they are summarised."""
    parts = list(open_table(path).batches(schema))
    return [np.concatenate([part[name] for part in parts]).tolist() for name in schema]


def check(path):
    table = open_table(path)
    assert table.columns == ("age", "pay", "town")
    age, pay, town = columns(path, age=RANGE, pay=RANGE, town=Categorical(("Bonn", "Ulm")))
    assert age == [31, 45] and town == [1, 0]
    assert pay[0] == 1.5 and np.isnan(pay[1])


def check_refused(path, match):
    with pytest.raises(ArgumentError, match=match) as error:
        open_table(path)
    assert str(path) in str(error.value)
    assert error.value.__cause__ is None
    return str(error.value)
