"""Codes of factors and numeric columns make up the whole design, whatever the formula."""

import numpy as np
import pytest

from dpstats.formula import Formula, RFormula
from dpstats.schema import BOOLEAN, Categorical, Numeric

SCHEMA = {
    "y": Numeric(0, 1),
    "x": Numeric(0, 9),
    "z": Numeric(-1, 1),
    "g": Categorical(("a", "b", "c")),
    "h": Categorical(("u", "v")),
    "b": BOOLEAN,
}
FORMULAS = [
    "y ~ x",
    "y ~ 1",
    "y ~ x + g",
    "y ~ g - 1",
    "y ~ g + h + b",
    "y ~ g * h",
    "y ~ g:h",
    "y ~ g * h + g * b",
    "y ~ g * h * b + x",
    "y ~ x * g + z:h - 1",
    "y ~ C(g, Sum) + C(h, Helmert) + I(x**2)",
    "y ~ g + x:g + bs(x, df=4)",
    "y ~ (x > 3) + g",
    RFormula("y ~ g * h + x:b"),
    RFormula("y ~ g:h - 1 + I(x^2)"),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_codes_and_numbers_make_up_the_design(formula):
    parsed = Formula.parse(formula)
    design = parsed.design({name: SCHEMA[name] for name in parsed.variables})
    rng = np.random.default_rng(1)
    batch = {
        name: rng.integers(0, len(kind.levels), 200)
        if isinstance(kind, Categorical)
        else rng.uniform(kind.low - 1, kind.high + 1, 200)
        for name, kind in design.schema.items()
    }
    rows, compact = design.rows(batch), design.compact_rows(batch)
    layout, built = design.layout, np.zeros_like(rows.numbers)
    if layout.intercept is not None:
        built[:, layout.intercept] = 1
    for codes, block in zip(compact.codes.T, layout.blocks, strict=True):
        assert set(codes) <= set(range(len(block.coding)))
        built[:, block.columns] = block.coding[codes.astype(int)]
    built[:, layout.numeric] = compact.numbers
    assert np.array_equal(built, rows.numbers)
    assert np.array_equal(compact.response, rows.response)


def test_factors_that_are_crossed_share_a_block():
    design = Formula.parse("y ~ g * h + b").design({n: SCHEMA[n] for n in ("y", "g", "h", "b")})
    assert [len(block.coding) for block in design.layout.blocks] == [2, 6]
