"""Conditions of subset=: translated to expressions of formulas, evaluated row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.errors import FormulaError
from dpstats.formula import Condition, RFormula
from dpstats.schema import BOOLEAN, Categorical, Numeric

SCHEMA = {
    "age": Numeric(0, 99),
    "my col": Numeric(0, 1),
    "female": Numeric(0, 1),
    "region": Categorical(("north", "south & east", "west")),
    "member": BOOLEAN,
}
ROWS = {
    "age": np.array([20.0, 25, 26, 40, 99, 1e300, -np.inf]),
    "my col": np.array([0.1, 0.9, 0.5, 0.2, 0.7, 0.6, 0.51]),
    "female": np.array([1.0, 0, 1, 0, 1, 1, 0]),
    "region": np.array([0, 1, 2, 0, 1, 2, 0]),
    "member": np.array([0, 1, 0, 1, 1, 0, 1]),
}
FRAME = pd.DataFrame(
    {
        "age": ROWS["age"], "my col": ROWS["my col"], "female": ROWS["female"],
        "region": np.array(SCHEMA["region"].levels)[ROWS["region"]], "member": ROWS["member"] == 1,
    }
)  # fmt: skip
QUERIES = [
    "age > 25 & female == 1",
    "age > 25 and not female == 1",
    "~(age > 25) | `my col` >= .5",
    "20 < age <= 40",
    "region == 'north'",
    "region in ['north', 'west'] & member",
    'region not in ("north", "south & east")',
    "region != 'south & east'",
    "not member",
    "member == 1 | age > 90",
    "member != 0",
    "age + 10 * female > 36",
    "(age > 25) == (female == 1)",
    "(age > 25 & member) != (female == 1 | ~member)",
    "(age > 25) + (female == 1) * 2 >= 2",
    "age > 25 & `my col` > .5 | region == 'west' & female != 1",
]


def holds(text, rows=ROWS):
    condition = Condition.parse(text)
    condition.check({name: SCHEMA[name] for name in condition.variables})
    return condition.holds(rows, {name: SCHEMA[name] for name in condition.variables})


@pytest.mark.parametrize("text", QUERIES)
def test_a_condition_chooses_the_rows_that_query_chooses(text):
    found = holds(text)
    assert found.dtype == bool and found.tolist() == FRAME.eval(text).tolist()


IN_R = {
    "age > 25 & female == 1": QUERIES[0],
    "!(age > 25) | `my col` >= .5": QUERIES[2],
    "region %in% c('north', 'west') & member": QUERIES[5],
    "region != 'south & east'": QUERIES[7],
    "!member": QUERIES[8],
    "log(age) > 3 || member": "np.log(age) > 3 | member",
}


@pytest.mark.parametrize("text", IN_R)
def test_a_condition_of_r_means_the_same(text):
    assert holds(RFormula(text)).tolist() == holds(IN_R[text]).tolist()


def test_functions_are_those_of_formulas():
    assert holds("np.log(age) > 3 & abs(female - 0.5) < 1").tolist() == [
        False, True, True, True, True, True, False,
    ]  # fmt: skip


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(numbers, numbers, numbers, st.integers(-1, 2), st.integers(-1, 1))),
    st.sampled_from([*QUERIES, "np.log(age) / `my col` > 1", "age ** 0.5 < 3 | ~member"]),
)
def test_every_row_decides_by_itself_whatever_its_values(rows, text):
    """Without an exception or a warning, and as it does alone."""
    columns = [np.array(column) for column in zip(*rows, strict=True)] or [np.zeros(0)] * 5
    batch = dict(zip(SCHEMA, columns, strict=True))
    batch = {
        name: column.astype(np.int64 if isinstance(SCHEMA[name], Categorical) else np.float64)
        for name, column in batch.items()
    }
    found = holds(text, batch)
    alone = [holds(text, {k: v[[i]] for k, v in batch.items()})[0] for i in range(len(rows))]
    assert found.tolist() == alone


REFUSED = {
    "age": "needs levels of age",
    "age + female": "neither true nor false",
    "age.mean() > 3": "write center",
    "center(age) > 0": "learns nothing",
    "@limit > age": r"cannot read subset='@limit > age'; write a condition such as 'age > 25",
    "age >": "cannot read subset='age >'; write a condition such as",
    "": "cannot read subset=''; write",
    "True": "names no column; compare one",
    "1 > 0": "cannot read subset='1 > 0': it names no column",
    "age > " + "~" * 3000 + "member": "write a condition such as",
    "age > 1 / 0": "cannot be computed .*; write numbers within",
    "age + 10**400 > 0": "too large; expected less than 1e300",
    "age > 2.0**5000": "cannot be computed",
    "(age > 25) - (female == 1) > 0": r"cannot be computed .*join truth values by & \| ~",
    "age in region": "or a list, as in",
    "age in []": "or a list, as in",
    "age is None": "or a list, as in",
    "region > 'a'": "a string may only be compared",
    "region == 'easst'": "has no level 'easst'",
    "__import__('os').system('true') == 0": "is not row by row",
    "age[0] > 3": "not row by row",
    "(lambda: age)() > 3": "not row by row",
    "log > 1 & log(age) > 2": "the column log hides the function",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_condition_on_one_row_is_refused(text):
    with pytest.raises(FormulaError, match=REFUSED[text]):
        holds(text)


def test_a_condition_of_r_is_refused_in_the_same_words():
    for text in ("age >", "age > 25 | " * 3000 + "member"):
        with pytest.raises(FormulaError, match="cannot read subset="):
            holds(RFormula(text))
    with pytest.raises(FormulaError, match=r"so as\.integer\(region\) == 2 has no value"):
        holds(RFormula("as.integer(region) == 2"))


@pytest.mark.parametrize("value", [3, True, ["age > 3"], lambda row: True])
def test_a_condition_is_a_text(value):
    with pytest.raises(FormulaError, match="expected subset to be a condition such as"):
        Condition.parse(value)
