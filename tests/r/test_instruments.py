"""Regressions with instruments for R: the call, what R keeps, and sets from stored fits."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.r.bridge import answer
from dpstats.r.seeds import close_seed, open_seed

RNG = np.random.default_rng(3)
Z, HIDDEN, LUCK = RNG.normal(size=(3, 5000))
D = 0.6 * Z + HIDDEN + LUCK
COLUMNS = {"y": 0.5 * D + HIDDEN, "d": D, "z": Z}
DATA = {name: {"kind": "double", "data": values.tobytes()} for name, values in COLUMNS.items()}


@pytest.fixture
def block():
    name = open_seed(1.0)
    yield name
    close_seed(name)


def test_the_call_is_that_of_python(block):
    found = answer("iv", {"formula": "y ~ 1 | d ~ z", "data": DATA, "epsilon": 4, "block": block})
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv(dp.RFormula("y ~ 1 | d ~ z"), COLUMNS, epsilon=4)
    (value,) = found["value"]
    assert value["names"] == ["(Intercept)", "d"] and value["model"] == "IV-2SLS"
    assert value["estimate"] == fit.params.tolist()
    known, (ends,) = value["instruments"], fit.anderson_rubin().intervals
    assert known["set"] == list(ends) and known["f"] == fit.first_stage.fvalue
    assert (known["formula"], known["endogenous"], known["names"]) == ("y ~ 1 | d ~ z", "d", ["z"])
    assert value["uncertainty"]["strength"] == [pytest.approx(known["f"] ** 0.5)]
    assert not any("Anderson" in note for note in value["notes"])  # R writes its own


def test_other_levels_and_tests_are_answered_from_the_text(block):
    found = answer("iv", {"formula": "y ~ 1 | d ~ z", "data": DATA, "epsilon": 4, "block": block})
    state = found["value"][0]["state"]
    fit = dp.DPIVResults.from_json(state)
    for level in (0.5, 0.99):
        said = answer("anderson_rubin", {"state": state, "level": level})["value"]["sets"][0]
        assert said == list(fit.anderson_rubin(1 - level).intervals[0])
    tested = answer("f_test", {"state": state, "hypotheses": ["d = 0"]})["value"]
    assert tested["p_value"] == fit.pvalues["d"]
    assert answer("anderson_rubin", {"state": "no text", "level": 0.9})["error"] == "ArgumentError"


def test_what_is_refused_costs_nothing():
    for formula in ("y ~ d", "y ~ 1 | d ~ nowhere"):
        said = answer("iv", {"formula": formula, "data": DATA, "epsilon": 1})
        assert said["error"] in ("FormulaError", "ArgumentError")


def test_groups_tell_first_stages_and_sets_of_some_at_other_levels(block):
    data = {**DATA, "g": {"kind": "factor", "data": np.tile([1, 2], 2500).astype("int32").tobytes(),
                          "levels": ["a", "b"]}}  # fmt: skip
    call = {"formula": "y ~ 1 | d ~ z", "data": data, "epsilon": 4, "by": "g", "block": block}
    (value,) = answer("iv", call)["value"]
    by = dp.DPIVGroupResults.from_json(value["state"])
    known, stages = value["instruments"], by.first_stage
    assert (known["formula"], known["names"]) == ("y ~ 1 | d ~ z", ["z"])
    assert known["estimate"] == stages.estimate.tolist() and known["f"] == stages.fvalue.tolist()
    assert known["sets"] == [np.ravel(found.intervals).tolist() for found in by.anderson_rubin()]
    (second,) = answer("anderson_rubin", {"state": value["state"], "level": 0.9, "places": [2.0]})[
        "value"
    ]["sets"]
    assert second == np.ravel(by.anderson_rubin(0.1)["b"].intervals).tolist()
