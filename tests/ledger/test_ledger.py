"""One process and one ledger: states, limits, replay, approval, and what is refused."""

import copy
import pickle
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import ArgumentError, BudgetError, LedgerError
from dpstats.ledger import store
from dpstats.ledger.tables import VERSION
from dpstats.privacy import GDP, ApproxDP, PureDP
from dpstats.results.store.groups import groups_to_dict


def test_a_call_is_reserved_before_a_row_is_read_and_stored_before_it_is_shown(
    make, ols, monkeypatch
):
    ledger = make()
    seen = []

    def spy(*arguments):
        seen.append(ledger.requests()["state"].tolist())
        raise ValueError

    monkeypatch.setattr("dpstats.run.charge.fit_single", spy)
    with pytest.raises(dp.InternalError):
        ols(ledger)
    monkeypatch.undo()
    assert seen == [["reserved"]]
    res = ols(ledger, 0.25)
    assert ledger.requests()["state"].tolist() == ["failed", "released"]
    assert ledger.spent == (0.75, 0.0) and ledger.remaining == (0.25, 5e-7)
    assert ledger.result(2).params.equals(res.params)
    assert ledger.verify().ok


def test_a_name_that_is_too_long_is_told_so(make):
    ledger = make()
    for argument in ("dataset", "fingerprint"):
        with pytest.raises(dp.ArgumentError, match=f"{argument} to have at most 200 .*, got 201$"):
            make(**{argument: "a" * 201})
    with pytest.raises(dp.ArgumentError, match="analyst to have at most 200 .*, got 201$"):
        ledger.allocate("a" * 201, 0.1)


def test_what_does_not_fit_is_refused_and_leaves_no_trace(make, reserve):
    ledger = make()
    reserve(ledger, 0.6)
    with pytest.raises(BudgetError, match=r"epsilon=0\.5 does not fit: the budget of 'families'"):
        reserve(ledger, 0.5)
    assert len(ledger.requests()) == 1 and ledger.spent == (0.6, 0.0)
    with pytest.raises(BudgetError, match="for neighbors='replace_one'"):
        reserve(ledger, 0.1, neighbors="add_remove")
    with pytest.raises(
        BudgetError, match="pass neighbors='replace_one' without unit= and a method"
    ):
        reserve(ledger, 0.1, neighbors="replace_one of person")
    reserve(ledger, 0.4)
    assert ledger.remaining == (0.0, 0.0) and ledger.verify().ok


def test_the_rule_is_that_of_budgets(make, reserve):
    ledger, budget = make(delta=1e-5, set_aside=4e-6), dp.Budget(1.0, 1e-5, "gdp", 4e-6)
    for cost in (GDP(0.05), PureDP(0.02), ApproxDP(0.03, 3e-6), GDP(0.1), ApproxDP(0.01, 2e-6)):
        outcomes = []
        for each in (ledger, budget):
            try:
                reserve(each, cost, neighbors="replace_one")
                outcomes.append("granted")
            except BudgetError as error:
                outcomes.append(str(error).replace("the budget of 'families'", "the budget"))
        assert outcomes[0] == outcomes[1]
        assert (ledger.spent, ledger.remaining) == (budget.spent, budget.remaining)
    assert len(budget.calls) == 4 == len(ledger.requests("reserved"))


def test_half_of_delta_is_set_aside_unless_said(make, path):
    assert make(delta=1e-5).dataset.limit.set_aside == 5e-6
    path.unlink()
    assert make(delta=1e-5, composition="sum").dataset.limit.set_aside == 0.0


def test_what_cannot_be_allocated_or_opened_is_refused_in_words(make):
    ledger = make()
    for delta in ("z", [1], float("nan")):
        with pytest.raises(ArgumentError, match="expected delta in"):
            ledger.allocate("anna", 1, delta)
    with pytest.raises(ArgumentError, match="expected path to be the path of a file, got ''"):
        dp.Ledger("")


def test_the_total_binds_over_all_analysts_whatever_is_allocated(make, reserve, path):
    steward = make()
    steward.allocate("anna", 0.8)
    steward.allocate("ben", 0.8)
    anna, ben = dp.Ledger(path, "anna"), dp.Ledger(path, "ben")
    reserve(anna, 0.7)
    assert anna.remaining[0] == pytest.approx(0.1) and ben.remaining[0] == pytest.approx(0.3)
    with pytest.raises(BudgetError, match="the allocation of 'anna' is epsilon=0.8"):
        reserve(anna, 0.2)
    with pytest.raises(BudgetError, match="the budget of 'families' is epsilon=1,"):
        reserve(ben, 0.5)
    steward.allocate("anna", 0.9)
    reserve(anna, 0.2)
    frame = steward.analysts().set_index("analyst")
    assert frame.loc["anna", "spent_epsilon"] == pytest.approx(0.9)
    assert frame.loc["ben", "calls"] == 0 and steward.spent[0] == pytest.approx(0.9)
    assert steward.verify().ok


def test_analysts_who_are_unknown_or_unnamed_are_refused(make, reserve, path):
    steward = make()
    with pytest.raises(BudgetError, match="no budget is allocated to 'anna'"):
        reserve(dp.Ledger(path, "anna"), 0.1)
    steward.allocate("anna", 0.5)
    with pytest.raises(BudgetError, match="say who you are"):
        reserve(steward, 0.1)
    assert steward.spent == (0, 0)


def test_the_steward_is_answered_without_an_allocation_where_nothing_is_charged(make, ols, path):
    steward = make(approval=True, fingerprint="2024")
    steward.allocate("anna", 1.0)
    with pytest.raises(BudgetError, match="say who you are"):
        ols(steward)
    assert len(steward.requests()) == 0
    anna = dp.Ledger(path, "anna")
    with pytest.raises(BudgetError, match="request 1 waits"):
        ols(anna)
    steward.approve(1)
    assert ols(anna).params.equals(ols(steward).params)
    for other in (steward, dp.Ledger(path, "zoe")):
        with pytest.raises(BudgetError, match="say who you are|allocated to 'zoe'"):
            ols(other, 0.25)
    with pytest.raises(BudgetError, match="no budget is allocated to 'zoe'"):
        ols(dp.Ledger(path, "zoe"))
    assert steward.spent == (0.5, 0.0) and len(steward.requests()) == 1 and steward.verify().ok


RESULTS = {
    "single": {},
    "points": {"x_new": [0.1, 0.9]},
    "groups": {"by": "area", "groups": ["a0", "a1", "a9"]},
    "several": {"formula": ["y ~ x", "z ~ x"], "bounds": {c: (0, 1) for c in "xyz"}},
    "grouped and several": {
        "formula": {"one": "y ~ x", "two": "z ~ x"},
        "bounds": {c: (0, 1) for c in "xyz"},
        "by": ["area", "kind"],
    },
    "selected": {
        "formula": "y ~ x + z", "method": "adassp", "select": "kendall", "k": 1, "delta": 1e-6,
        "bounds": {c: (0, 1) for c in "xyz"}, "neighbors": "replace_one",
    },
    "companion": {"method": "exp_theil_sen", "companion": "noisy_moments"},
    "estimated": {"method": "adassp", "bounds": None, "neighbors": "replace_one"},
}  # fmt: skip


def shown(result):
    """Everything that a result shows, as text."""
    if isinstance(result, dict):
        return {name: shown(part) for name, part in result.items()}
    return str(result), str(getattr(result, "frame", "")), repr(result.privacy)


@pytest.mark.parametrize("name", RESULTS)
def test_an_equal_call_is_answered_from_the_store_at_no_cost(make, ols, name):
    ledger = make(delta=1e-5, epsilon=3.0, fingerprint="2024-06-30")
    first = ols(ledger, 1.0, **RESULTS[name])
    spent = ledger.spent
    again = ols(ledger, 1.0, **RESULTS[name])
    assert shown(again) == shown(first)
    assert ledger.spent == spent and len(ledger.requests()) == 1
    other = ols(ledger, 0.5, **RESULTS[name])
    assert shown(other) != shown(first) and len(ledger.requests()) == 2
    assert ledger.verify().ok


def test_every_field_of_groups_is_stored(line, fit):
    result = fit(line, "noisy_stats", by="area", groups=["a0"])
    named = {field.name for field in fields(result)}
    assert {*groups_to_dict(result)} == {*named, "dialect"}  # that of the formula


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.11},
        {"bounds": {"x": (0, 2), "y": (0, 1)}},
        {"formula": "y ~ z", "bounds": {"z": (0, 1), "y": (0, 1)}},
        {"method": "exp_theil_sen"},
        {"x_new": [0.5]},
        {"by": "area", "groups": ["a0"]},
        {"by": "area", "groups": ["a1"]},
    ],
    ids=str,
)
def test_a_call_that_differs_is_another_call(make, ols, change):
    ledger = make(fingerprint="2024")
    ols(ledger, 0.1)
    call = {"epsilon": 0.1} | change
    ols(ledger, **call)
    assert len(ledger.requests("released")) == 2


def test_without_a_fingerprint_every_call_is_released_anew(make, ols):
    ledger = make(epsilon=100.0)
    first, second = ols(ledger, 50.0), ols(ledger, 50.0)
    assert not first.params.equals(second.params) and ledger.spent == (100.0, 0.0)


def test_labels_of_any_kind_survive_the_store(make, ols, line):
    days = [datetime(2024, 1, 1 + i % 3) for i in range(len(line))]
    line["day"] = pd.Categorical(days)
    ledger = make(epsilon=9.0, fingerprint="2024")
    call = {"budget": ledger, "method": "noisy_stats", "epsilon": 1, "by": "day",
            "bounds": {"x": (0, 1), "y": (0, 1)}}  # fmt: skip
    first, again = dp.dp_ols("y ~ x", line, **call), dp.dp_ols("y ~ x", line, **call)
    assert again.labels == first.labels
    assert np.array_equal(again.estimates, first.estimates, equal_nan=True)


def test_calls_wait_for_approval(make, ols, path):
    steward = make(approval=True, fingerprint="2024")
    steward.allocate("anna", 1.0)
    anna = dp.Ledger(path, "anna")
    for _ in range(2):
        with pytest.raises(BudgetError, match="request 1 waits for approval"):
            ols(anna)
    assert steward.spent == (0, 0) and steward.requests("requested")["id"].tolist() == [1]
    steward.deny(1)
    with pytest.raises(BudgetError, match="request 1 was denied"):
        ols(anna)
    steward.approve(1)
    ols(anna)
    assert steward.requests()["state"].tolist() == ["released"] and steward.spent == (0.5, 0.0)
    ols(anna)  # the stored result
    with pytest.raises(BudgetError, match="request 2 waits"):
        ols(anna, 0.25)
    for act in (steward.approve, steward.deny):
        with pytest.raises(ArgumentError, match="request 1 is released"):
            act(1)
        with pytest.raises(ArgumentError, match="no request 9"):
            act(9)
    assert steward.verify().ok


def test_an_approved_call_runs_once(make, reserve):
    ledger = make(approval=True)
    with pytest.raises(BudgetError, match="waits"):
        reserve(ledger, 0.1)
    ledger.approve(1)
    reserve(ledger, 0.1)
    with pytest.raises(BudgetError, match="request 2 waits"):
        reserve(ledger, 0.1)


BAD = {
    "dataset": ["", "two\nlines", 5],
    "epsilon": [0, -1, np.inf, "1"],
    "delta": [1, -1e-9],
    "neighbors": ["both", None],
    "composition": ["pld", 1],
    "set_aside": [0.1],
    "fingerprint": ["", 7],
    "approval": ["yes", 1],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_leave_no_file(make, path, name):
    for value in BAD[name]:
        with pytest.raises(ArgumentError):
            make(**{name: value})
        assert [*path.parent.iterdir()] == []


def test_files_that_exist_are_not_overwritten_and_others_are_no_ledgers(make, path, tmp_path):
    make()
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="never overwritten"):
        make(epsilon=50.0)
    assert path.read_bytes() == before
    with pytest.raises(LedgerError, match="no such file"):
        dp.Ledger(tmp_path / "nosuch.ledger")
    assert not (tmp_path / "nosuch.ledger").exists()
    (tmp_path / "text").write_text("a text of some length, which is no data base at all\n" * 50)
    (tmp_path / "empty").touch()
    for name in ("text", "empty"):
        with pytest.raises(LedgerError, match="not a ledger"):
            dp.Ledger(tmp_path / name)


def test_a_later_format_is_refused(make, path):
    make()
    with store.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(LedgerError, match="later version of dpstats"):
        dp.Ledger(path)


def pickled(ledger):
    return pickle.loads(pickle.dumps(ledger))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_spends_the_same_budget(make, reserve, duplicate):
    ledger = make()
    reserve(ledger, 0.6)
    other = duplicate(ledger)
    with pytest.raises(BudgetError):
        reserve(other, 0.6)
    reserve(other, 0.4)
    assert ledger.spent == (1.0, 0.0)


def test_seeded_releases_are_refused(make, ols):
    ledger = make()
    with dp.testing.insecure_seed(1), pytest.raises(BudgetError, match="insecure_seed"):
        ols(ledger)
    assert ledger.spent == (0, 0)


@pytest.mark.parametrize("statement", [
    "DELETE FROM audit", "UPDATE audit SET actor = 'x'", "DELETE FROM requests",
    "UPDATE requests SET epsilon = '0.1'", "UPDATE requests SET state = 'approved'",
    "UPDATE dataset SET epsilon = '9'", "DELETE FROM dataset", "DELETE FROM releases",
    "UPDATE releases SET result = ''", "DELETE FROM analysts",
])  # fmt: skip
def test_sqlite_itself_refuses_to_rewrite_history(make, ols, path, statement):
    ledger = make()
    ledger.allocate("anna", 1.0)
    ols(dp.Ledger(path, "anna"))
    connection = store.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()
    assert ledger.verify().ok


def test_network_file_systems_are_refused(make, monkeypatch, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    real = store._file_system
    monkeypatch.setattr(store, "_file_system", lambda path: real(path, str(mounts)))
    with pytest.raises(LedgerError, match=r"network file system \(nfs4\)"):
        make()
    assert real(tmp_path.parent, str(mounts)) == "ext4" and real(tmp_path, "/nosuch") is None


def test_a_clock_that_goes_back_changes_nothing(make, reserve, monkeypatch):
    ledger = make()
    for time in ("2031-01-01", "1999-01-01", "2000-01-01"):
        monkeypatch.setattr("dpstats.ledger.records.now", lambda time=time: time)
        reserve(ledger, 0.3)
    assert ledger.requests()["created"].tolist() == ["2031-01-01", "1999-01-01", "2000-01-01"]
    assert ledger.requests()["id"].tolist() == [1, 2, 3]
    with pytest.raises(BudgetError):
        reserve(ledger, 0.3)
    assert ledger.verify().ok


def test_a_file_of_format_1_is_brought_up_once_and_takes_the_data_of_its_next_call(tmp_path, ols):
    """Eight threads open it at once."""
    path = tmp_path / "old.ledger"
    shutil.copy(KEPT / "format1.ledger", path)
    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(lambda _: dp.Ledger(path), range(8)))
    with store.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchall() == [(VERSION,)]
    assert ledgers[0].verify().ok and "those of the first call" in ledgers[0].summary()
    ols(dp.Ledger(path, "anna"))
    frame = ledgers[0].requests()
    assert frame["data"].tolist() == ["not recorded"] * 3 + ["in memory"]
    assert "data:         in memory, columns x (number)" in ledgers[0].summary()
    assert ledgers[0].verify().ok


KEPT = Path(__file__).parent / "kept"


@pytest.mark.parametrize("name", sorted(file.name for file in KEPT.glob("*.ledger")))
def test_ledgers_of_earlier_versions_open_and_go_on(name, tmp_path, reserve):
    """Each format has a file in tests/ledger/kept; none of them is ever made anew."""
    shutil.copy(KEPT / name, tmp_path / name)
    ledger = dp.Ledger(tmp_path / name)
    assert ledger.verify().ok and ledger.spent == (12.5, pytest.approx(1e-7))
    assert ledger.requests()["state"].tolist() == ["released", "released", "reserved"]
    assert ledger.analysts()["spent_epsilon"].tolist() == [12.0, 0.5]
    for number in (1, 2):  # what was spent counts; results are read by the version that wrote them
        with pytest.raises(dp.ArgumentError, match="expected what to_json"):
            ledger.result(number)
    reserve(dp.Ledger(tmp_path / name, "anna"), 1.0)
    assert ledger.spent[0] == 13.5 and ledger.verify().ok
