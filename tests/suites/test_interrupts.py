"""Whatever ends a call, and whenever, neither what is raised nor anything else leads to rows."""

import gc
import inspect
from functools import partial
from itertools import count, cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import tracebacks
from dpstats.run import charge
from tests.checks.interrupts import check_leads_to_no_rows, interrupted, moments
from tests.checks.leaks import arrays_of

ROWS = 1239  # of its own, so that no other test's table is found
FEW = 300  # less than any group or half of the rows
SPENT = "the budget of this call counts as spent"
UNIT = {"x": (0, 1), "y": (0, 1)}
GROUPS = {"by": "place", "groups": ["north", "south"]}
ols, logit, poisson, iv = (partial(verb, epsilon=8) for verb in
                           (dp.dp_ols, dp.dp_logit, dp.dp_poisson, dp.dp_iv))  # fmt: skip
# Calls of data and a budget, and how many lines apart they are interrupted.
CALLS = {
    "sums": (partial(ols, "y ~ x", method="noisy_moments", bounds=UNIT), 101),
    "groups": (partial(ols, "y ~ x", method="noisy_stats", bounds=UNIT, **GROUPS), 151),
    "formulas": (partial(ols, ["y ~ x", "x ~ y"], method="noisy_moments", bounds=UNIT), 151),
    "selection": (partial(ols, "y ~ x + z", method="adassp", select="kendall", k=1), 503),
    "default": (partial(ols, "y ~ x"), 503),
    "absorbed": (partial(ols, "y ~ x | place"), 503),
    "persons": (partial(ols, "y ~ x", unit="person", max_rows=2), 503),
    "outcomes": (partial(ols, ["y ~ x", "z ~ x"], missing="listwise"), 1009),
    "logit": (partial(logit, "hit ~ x"), 503),
    "logit groups": (partial(logit, "hit ~ x", **GROUPS), 1009),
    "poisson": (partial(poisson, "visits ~ x"), 503),
    "poisson groups": (partial(poisson, "visits ~ x", **GROUPS), 1009),
    "glm": (partial(dp.dp_glm, "hit ~ x", family="binomial", epsilon=8), 2003),
    "iv": (partial(iv, "y ~ [x ~ z]"), 1009),
    "iv absorbed": (partial(iv, "y ~ [x ~ z] | place"), 1009),
    "describe": (partial(dp.dp_describe, columns=["x", "hit"], epsilon=8), 503),
    "describe groups": (partial(dp.dp_describe, columns=["x", "hit"], epsilon=8, **GROUPS), 1009),
    "suggestion": (partial(dp.suggest_schema), 7),
}
STUDY = """
data = "rows.csv"
types = { x = "number", hit = "boolean" }
[[describe]]
columns = ["x"]
epsilon = 1
[[logit]]
formula = "hit ~ x"
epsilon = 1
"""


def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    u, y, z = rng.uniform(size=(3, ROWS))
    place = np.array(["north", "south", "east"])[rng.integers(3, size=ROWS)]
    return pd.DataFrame(
        {"x": (u + z) / 2, "y": y, "z": z, "hit": u + y > 1, "visits": rng.poisson(1 + u),
         "place": pd.array(place, dtype="string"), "person": np.arange(ROWS) // 2}
    )  # fmt: skip


FIRST: dict[str, str] = {}  # the first call of each function
for name, (call, _) in CALLS.items():
    FIRST.setdefault(call.func.__name__, name)
# Public functions whose data are declared public.
PUBLIC = ("plan_study",)


def given_data() -> set[str]:
    """The public functions that take data."""
    functions = {name: getattr(dp, name) for name in dp.__all__}
    functions = {name: one for name, one in functions.items() if inspect.isfunction(one)}
    takes = {name: set(inspect.signature(one).parameters) for name, one in functions.items()}
    return {name for name in takes if takes[name] & {"data", "columns"}} - {*PUBLIC}


def test_every_public_function_that_is_given_data_is_interrupted_below():
    assert set(FIRST) == given_data()


def check_ends_lead_to_no_rows(name: str, *kinds: type, apart: int = 1) -> list:
    """End a call at its moments, by each kind in turn; return what it raised and what it spent."""
    call, stride = CALLS[name]
    call(table())  # what is loaded and compiled at a first call
    ended = []
    for n, kind in zip(moments(call, table(), apart * stride), cycle(kinds), strict=False):
        budget = dp.Budget(1000, 1e-3)
        charged = call if call.func is dp.suggest_schema else partial(call, budget=budget)
        error, data = interrupted(charged, [table()], n, kind)
        if error is None:  # a fit whose noise took it to its end in fewer lines
            continue
        check_leads_to_no_rows(error, FEW)
        assert data() is None or (gc.collect() and data() is None), f"{name} keeps rows at {n}"
        ended.append((error, budget.spent[0]))
    assert len(ended) > 10
    return ended


def check_process_holds_no_rows() -> None:
    gc.collect()
    assert not arrays_of(ROWS)


def test_an_interrupt_at_any_moment_leads_to_no_rows_and_says_what_it_costs():
    """All calls in one test: the whole process is searched for rows, which takes long."""
    ended = {name: check_ends_lead_to_no_rows(name, KeyboardInterrupt) for name in CALLS}
    check_process_holds_no_rows()
    for name, ends in ended.items():
        assert all(str(error).startswith("interrupted") for error, _ in ends), name
        said = {(str(error).partition("; ")[2], spent > 0) for error, spent in ends}
        assert ("", False) in said and ("", True) not in said, name
        assert name == "suggestion" or (SPENT, True) in said, name


@pytest.mark.parametrize("name", FIRST.values())
def test_what_the_handler_of_another_signal_raises_leads_to_no_rows(name):
    ended = check_ends_lead_to_no_rows(name, SystemExit, TimeoutError, apart=3)
    assert not any("interrupted" in str(error) for error, _ in ended)


@pytest.mark.parametrize("call", [
    partial(dp.dp_ols, "y ~ place", epsilon=8),
    partial(dp.dp_logit, "hit ~ x", epsilon=8, budget=dp.Budget(1)),
    partial(dp.dp_describe, columns=["x", "nothing"], epsilon=8),
    partial(dp.dp_describe, columns=["x"], epsilon=8, budget=dp.Budget(1)),
    partial(dp.Ledger.create, __file__, dataset="a", epsilon=1),
])  # fmt: skip
def test_a_refusal_leads_to_no_rows(call):
    with pytest.raises(dp.DPStatsError) as refused:
        call(data=table())
    check_leads_to_no_rows(refused.value, FEW)


class Text(str):
    """Can be referred to weakly."""


def test_an_interrupted_study_leads_to_no_rows(tmp_path):
    table().to_csv(tmp_path / "rows.csv", index=False)
    study = Text(tmp_path / "study.toml")
    Path(study).write_text(STUDY)
    runs = count()

    def call(path):
        run = f"{path} {next(runs)}"
        ledger = dp.Ledger.create(f"{run}.ledger", dataset="a", epsilon=4)
        dp.run_study(path, run, ledger=ledger)

    call(study)
    some = moments(call, study, 4001)[::6]
    ended = [interrupted(call, [study], n, KeyboardInterrupt) for n in some]
    assert len([error for error, _ in ended if error is not None]) > 10
    check_process_holds_no_rows()


HELD: list = []
RESERVED = charge.reserved


def reserved_and_held(*arguments):
    HELD.append(arguments)
    return RESERVED(*arguments)


# What keeps rows when a call is broken so.
BREAKS = {
    "the traceback is kept": (tracebacks, "_alone", lambda error, _: error),
    "a request is kept": (charge, "reserved", reserved_and_held),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_call_is_noticed(name, monkeypatch):
    monkeypatch.setattr(*BREAKS[name])
    with pytest.raises(AssertionError):
        check_ends_lead_to_no_rows("logit", KeyboardInterrupt, apart=9)
        check_process_holds_no_rows()
    HELD.clear()


@pytest.mark.parametrize("verb", FIRST)
def test_a_verb_that_clears_no_frames_is_noticed(verb, monkeypatch):
    bare = getattr(dp, verb).__wrapped__
    call, stride = CALLS[name := FIRST[verb]]
    monkeypatch.setitem(CALLS, name, (partial(bare, *call.args, **call.keywords), stride))
    with pytest.raises(AssertionError):
        check_ends_lead_to_no_rows(name, KeyboardInterrupt, apart=9)
