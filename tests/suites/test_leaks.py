"""Nothing of a confidential row survives a call: in text, in pickles, in memory or in errors."""

import copy
import gc
import pickle
import re
import traceback
import types
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.engines import Table
from dpstats.estimators.contract import Each
from tests.checks.interrupts import our_frames
from tests.checks.leaks import (
    NAME,
    PLANTED,
    N,
    arrays_of,
    check_holds_nothing,
    check_reaches_no_rows,
    confidential,
    pickled,
    printed,
)
from tests.checks.passes import failing

WIDE = [name for name, entry in dp.METHODS.items() if not entry.single_regressor]
CALLS = ["bounds", "no_bounds", "no_range", "constant", "groups", "groups_no_range", "missing"]
CALLS += [f"select {name}" for name in dp.SELECTORS]
FORBIDDEN = [
    *("resid fittedvalues wresid ssr mse_resid".split()),
    *("fvalue f_pvalue aic bic llf".split()),
]


def run(fit, call, method, data):
    """One of CALLS; "constant" may end in a released failure."""
    groups = {"by": "place", "groups": ["north", "south", "east"]}
    if call == "constant":
        data["x"] = PLANTED
    if call == "missing":
        data.loc[5:60, "x"] = np.nan
    if call.startswith("select"):
        data, more = data.assign(z=1 - data["x"]), {"select": call.split()[1], "k": 1}
        return fit(data, method, formula="y ~ x + z", bounds=None, epsilon=8, **more)
    return {
        "bounds": lambda: fit(data, method),
        "no_bounds": lambda: fit(data, method, bounds=None, epsilon=8),
        "no_range": lambda: fit(data, method, bounds=None, epsilon=1e-3),
        "constant": lambda: fit(data, method, epsilon=0.1),
        "groups": lambda: fit(data, method, epsilon=2, **groups),
        "groups_no_range": lambda: fit(data, method, bounds=None, epsilon=1e-3, **groups),
        "missing": lambda: fit(data, method),
    }[call]()


def test_the_search_finds_what_is_planted():
    for content in (f"x = {PLANTED}", f"no level {NAME}", pickle.dumps(np.array([PLANTED]))):
        with pytest.raises(AssertionError):
            check_holds_nothing(content)


@pytest.mark.parametrize(
    "hide",
    [
        lambda rows: {"a": [rows]},
        lambda rows: rows[:2],
        lambda rows: pd.Series(rows),
        lambda rows: lambda: rows,
        lambda rows: rows.tolist(),
        lambda rows: Table.from_data({"x": rows}),
        lambda rows: types.SimpleNamespace(rows=rows),
    ],
)
def test_the_walk_finds_hidden_rows(hide):
    with pytest.raises(AssertionError):
        check_reaches_no_rows(hide(np.zeros(N)))


@pytest.fixture
def silence(caplog, capfd, recwarn):
    """Fail when anything was logged, warned of or written to a stream."""
    caplog.set_level(0)
    warnings.simplefilter("always")
    yield
    assert not caplog.records
    assert not [str(warning.message) for warning in recwarn]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call", CALLS)
def test_results_hold_only_releases(method, fit, call, silence):
    result = run(fit, call, method, confidential())
    check_holds_nothing(printed(result))
    check_holds_nothing(pickled(result))
    check_reaches_no_rows(result)


@pytest.mark.parametrize("call", ["no_bounds", "constant", "groups"])
def test_seeded_results_hold_only_releases(method, fit, call, silence):
    with dp.testing.insecure_seed(1):
        result = run(fit, call, method, confidential())
    check_holds_nothing(printed(result))
    check_holds_nothing(pickled(result))
    check_reaches_no_rows(result)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
@pytest.mark.parametrize("epsilon", [1e-3, 2.0])
def test_groups_of_outcomes_and_counts_hold_only_releases(family, epsilon, silence):
    rows = confidential().assign(hit=lambda data: data["y"] > 0.5)
    formula, groups = (
        {"binomial": "hit ~ x", "poisson": "y ~ x"}[family],
        ["north", "south", "east"],
    )
    call = {"family": family, "by": "place", "groups": groups, "epsilon": epsilon}
    result = dp.dp_glm(formula, rows, **call)
    for one in (result, *(fit for _, fit in result.items())):
        check_holds_nothing(printed(one))
        check_holds_nothing(pickled(one))
        check_reaches_no_rows(one)


@pytest.mark.parametrize("name", WIDE)
def test_an_undeclared_level_is_never_named(name, fit, silence):
    levels = {"place": ["north", "south"]}
    result = fit(confidential(), name, formula="y ~ x * place", levels=levels)
    check_holds_nothing(printed(result))
    check_holds_nothing(pickled(result))
    with pytest.raises(dp.ArgumentError) as raised:
        fit(confidential(), name, formula="y ~ x + place")
    check_holds_nothing("".join(traceback.format_exception(raised.value)))


def test_the_calls_above_reach_the_released_failures(fit):
    statuses = set()
    for seed in range(6):
        with dp.testing.insecure_seed(seed):
            statuses.add(run(fit, "constant", "noisy_stats", confidential()).status)
    statuses.add(run(fit, "no_range", "noisy_stats", confidential()).status)
    statuses |= set(run(fit, "groups_no_range", "noisy_stats", confidential()).status)
    statuses |= set(run(fit, "groups", "noisy_stats", confidential()).status)
    assert statuses == {"ok", "failed", "no_range", "too_few_rows"}


def test_the_search_of_the_process_finds_a_table():
    data = confidential(N + 1)
    assert arrays_of(N + 1) and len(data) == N + 1


def test_results_outlive_the_data(fit):
    rows = N + 2  # of its own, so that no other test's table is found
    data = {call: confidential(rows) for call in ("bounds", "no_bounds", "groups")}
    results = [run(fit, call, method, data[call]) for method in dp.METHODS for call in data]
    before = [printed(result) for result in results]
    del data
    gc.collect()
    assert not arrays_of(rows)
    assert [printed(result) for result in results] == before
    assert all(len(one.predict({"x": [0.1, 0.9]})) == 2 for one in results[::3])


@pytest.mark.parametrize("call", ["bounds", "no_range", "groups"])
def test_copies_are_the_same_result(method, fit, call):
    result = run(fit, call, method, confidential())
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        assert type(copied(result)) is type(result)
        assert repr(vars(copied(result))) == repr(vars(result))
    assert repr(copied(result)) == repr(result)


def test_what_was_never_released_is_refused_with_an_alternative(method, fit, line):
    result = fit(line, method)
    groups = fit(line, method, by="area", groups=["a0", "a1"])
    for name in FORBIDDEN:
        assert not hasattr(result, name) and not hasattr(groups, name)
        assert getattr(result, name, "none") == "none"
        with pytest.raises(dp.NotReleasedError, match=rf"^{name} .*: .*(params|predict|summary)"):
            getattr(result, name)


def test_other_names_do_not_exist_either(method, fit, line):
    result = fit(line, method)
    for name in ("residuals", "data", "X", "y", "n_rows", "_data", "__wrapped__"):
        assert not hasattr(result, name)
    with pytest.raises(AttributeError, match="'DPResults' object has no attribute 'parms'"):
        _ = result.parms


BAD = [
    {"bounds": {"x": (0, 1), "y": (1, 0)}},
    {"bounds": {"w": (0, 1)}},
    {"formula": "y ~ x + w"},
    {"formula": "y ~ x + place"},
    {"formula": "place ~ x"},
    {"formula": "y ~ x.mean()"},
    {"by": "w"},
    {"by": "place", "groups": "north"},
    {"by": "place", "groups": []},
    {"x_new": {"place": ["north"]}},
    {"x_new": [np.nan]},
    {"levels": {"x": [1, 1]}},
    {"epsilon": 0},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_errors_of_arguments_show_no_value(method, fit, bad, silence):
    with pytest.raises(dp.ArgumentError) as raised:
        fit(confidential(), method, **bad)
    check_holds_nothing("".join(traceback.format_exception(raised.value)))
    check_holds_nothing(pickle.dumps(raised.value))


# Where a step that sees rows is made to fail, and a call that passes there.
DEFECTS = {
    "sum": "bounds",
    "release": "groups",
    "dpstats.engines.columns.kinds.numbers": "bounds",
    "dpstats.engines.labels.categories.match": "groups",
    "dpstats.formula.Design.rows": "bounds",
    "dpstats.run.prepare.estimate_ranges": "no_bounds",
}


def fail(*arguments, **keywords):
    """A defect whose message and cause show rows."""
    try:
        raise KeyError(NAME)
    except KeyError as error:
        raise ValueError(f"{PLANTED} in {arguments}") from error


# The same steps of a method that estimates distributions of the columns.
MARGINALS = {
    "dpstats.formula.Design.rows": "dpstats.formula.Design.compact_rows",
    "dpstats.run.prepare.estimate_ranges": "dpstats.run.marginals.estimate_marginals",
}


# Releases of which the first sum fails, or all.
RELEASES = {"sum": failing(fail), "release": fail}


@pytest.fixture(params=DEFECTS)
def defect(request, method, fit, monkeypatch):
    """The error that a call ends in, and the budget it was charged to."""
    if request.param.endswith("estimate_ranges") and not dp.METHODS[method].ranges.needed:
        pytest.skip("no range is estimated for this method")
    if "." in request.param:
        marginals = MARGINALS if dp.METHODS[method].ranges.marginals else {}
        monkeypatch.setattr(marginals.get(request.param, request.param), fail)
    else:
        changed = replace(dp.METHODS[method], release=RELEASES[request.param])
        monkeypatch.setitem(dp.METHODS, method, changed)
    budget = dp.Budget(1000, 1e-3)
    with pytest.raises(dp.InternalError) as raised:
        charged = lambda *arguments, **more: fit(*arguments, budget=budget, **more)  # noqa: E731
        run(charged, DEFECTS[request.param], method, confidential())
    return raised.value, budget


def test_a_defect_shows_no_value(defect, silence):
    error, budget = defect
    assert error.__cause__ is None and error.__context__ is None
    message = "the fit stopped with ValueError; the budget of this call counts as spent"
    groups = r" in the groups? '\w+'( to 'east')?, after 0 of 3"
    assert re.sub(groups, "", str(error)) == message
    check_holds_nothing("".join(traceback.format_exception(error)))
    check_holds_nothing(pickle.dumps(error))
    assert budget.spent[0] > 0


def test_a_defect_carries_no_rows(defect):
    error, _ = defect
    check_reaches_no_rows(error.args, error.__dict__)
    assert our_frames(error)
    check_reaches_no_rows(*our_frames(error))


def test_a_defect_in_one_formula_carries_no_rows_of_the_next(monkeypatch, silence):
    monkeypatch.setattr("dpstats.run.charge.fit_single", fail)
    with pytest.raises(dp.InternalError) as raised:
        dp.dp_ols(["y ~ x", "x ~ y"], confidential(), method="noisy_moments", epsilon=1,
                  bounds={"x": (0, 1), "y": (0, 1)})  # fmt: skip
    check_reaches_no_rows(*our_frames(raised.value))


def test_an_interrupt_that_compiled_code_turned_into_an_error_is_one(fit, line, monkeypatch):
    def interrupted(*arguments, **more):
        raise SystemError from KeyboardInterrupt()

    alone, each = {"release": interrupted}, {"each": Each(interrupted)}
    for change, more in ((alone, {}), (each, {"by": "area", "groups": ["a0", "a1"]})):
        changed = replace(dp.METHODS["noisy_moments"], **change)
        monkeypatch.setitem(dp.METHODS, "noisy_moments", changed)
        with pytest.raises(KeyboardInterrupt, match=r"^interrupted.*; the budget"):
            fit(line, "noisy_moments", **more)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:  # an error of a call made here is none
        monkeypatch.setitem(dp.METHODS, "noisy_moments", replace(changed, release=fail))
        with pytest.raises(dp.InternalError):
            fit(line, "noisy_moments")
