"""First stages: how coefficients stand in the reduced form, and designs that do not agree."""

import pytest

import dpstats as dp
from dpstats.call import FirstStage
from dpstats.formula import InstrumentFormula
from dpstats.schema import Categorical, Numeric

SCHEMA = {name: Numeric(0.0, 1.0) for name in "ydxzw"} | {"g": Categorical(("a", "b", "c"))}
SCHEMA["h"] = SCHEMA["g"]


def instruments(text: str):
    stage = FirstStage.of(InstrumentFormula.parse(text), SCHEMA, {}, {})
    structural = stage.structural(SCHEMA, {}, {})
    return stage.design.names, structural.names, stage.instruments(structural)


def test_columns_are_found_by_their_names():
    names, structural, found = instruments("y ~ x + g + [d ~ z + w]")
    assert names == ("Intercept", "g[T.b]", "g[T.c]", "x", "z", "w")
    assert structural == ("Intercept", "g[T.b]", "g[T.c]", "x", "d")
    assert found.columns == (4, 5) and found.structural == (0, 1, 2, 3, -1)


def test_a_factor_may_be_the_instrument():
    names, _, found = instruments("y ~ x + [d ~ g]")
    assert [names[j] for j in found.columns] == ["g[T.b]", "g[T.c]"]
    assert len(instruments("y ~ 0 + [d ~ g]")[2].columns) == 3


def test_instruments_that_change_how_the_others_are_coded_are_refused():
    with pytest.raises(dp.FormulaError, match="these are to stay"):
        instruments("y ~ 0 + [d ~ g] + h")
