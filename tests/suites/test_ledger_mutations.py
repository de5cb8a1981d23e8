"""Break what keeps a ledger right, one line at a time, and expect the checks to fail."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.call import facts
from dpstats.errors import BudgetError, LedgerError
from dpstats.ledger import accounts, sources, store, verification
from dpstats.privacy import GDP, Composition, costs
from dpstats.study import shares
from tests.checks.composed import exact_delta
from tests.checks.facts import ROLES, ROWS, check_kinds_are_told_apart
from tests.checks.ledger_files import check_files
from tests.checks.mutants import Mutant, both_tests, over, patched
from tests.checks.study_shares import (
    check_calls_are_checked_together,
    check_shares_above_1_are_refused,
    check_squares_add_up,
)

CALL = {"method": "noisy_stats", "epsilon": 0.5, "bounds": {"x": (0, 1), "y": (0, 1)}}


def kinds(role):
    """Calls that declare another kind of a column have other keys."""
    texts = [str(i % 3) for i in range(ROWS)]
    people = {name: texts for name in "yxwg"} | {"number": np.arange(ROWS) % 3}
    check_kinds_are_told_apart(people, ROLES[role])


def temporary(check):
    """Run a check with a ledger and three files in a folder of its own."""

    def run():
        with tempfile.TemporaryDirectory() as name:
            folder, line = Path(name), dp.simulate.line(60, seed=1)
            files = {each: folder / f"{each}.csv" for each in ("own", "twin")}
            for path in files.values():
                line.to_csv(path, index=False)
            check(partial(made, folder), files)

    return run


def made(folder, **more):
    call = {"dataset": "d", "epsilon": 2.0, "neighbors": "replace_one", "fingerprint": "1"} | more
    return dp.Ledger.create(folder / "d.ledger", **call)


def approvals(make, files):
    """What is approved for one file is not approved for another."""
    ledger = make(approval=True)
    for path in files.values():
        with pytest.raises(BudgetError, match="waits"):
            dp.dp_ols("y ~ x", path, budget=ledger, **CALL)
    ledger.approve(1)
    with pytest.raises(BudgetError, match="waits"):
        dp.dp_ols("y ~ x", files["twin"], budget=ledger, **CALL)


def log(make, files):
    """Without its log the file has what was spent."""
    ledger = make()
    dp.dp_ols("y ~ x", files["own"], budget=ledger, **CALL)
    copied = ledger.path.with_name("copy.ledger")
    copied.write_bytes(ledger.path.read_bytes())
    assert dp.Ledger(copied).spent == (0.5, 0.0)


def moved(make, files):
    """A call is not charged to a file that is no longer where the ledger was."""
    ledger = make()
    ledger.path.rename(ledger.path.with_name("old.ledger"))
    with pytest.raises(LedgerError, match="moved, removed or replaced"):
        dp.dp_ols("y ~ x", files["own"], budget=ledger, **CALL)


def overwritten(make, files):
    """A call is not charged to a file that another ledger was copied over."""
    ledger, other = make(), files["own"].parent / "other"
    other.mkdir()
    content = made(other).path.read_bytes()
    ledger.path.write_bytes(content)
    with pytest.raises(LedgerError, match="was overwritten"):
        dp.dp_ols("y ~ x", files["own"], budget=ledger, **CALL)


def triggers(make, files):
    """A trigger that is gone is found."""
    ledger = make()
    with ledger._store.writing() as connection:
        connection.execute("DROP TRIGGER audit_delete_is_refused")
    assert not ledger.verify().ok


def dry(make, files):
    """A dry run of what does not fit is refused, and spends nothing."""
    text = f"data = '{files['own']}'\nbounds = {{ x = [0, 1], y = [0, 1] }}\n"
    for name in "ab":
        text += f'[models.{name}]\nformula = "y ~ x"\nmethod = "noisy_stats"\nepsilon = 1.5\n'
    study = files["own"].with_name("study.toml")
    study.write_text(text)
    ledger = make()
    with pytest.raises(BudgetError, match="does not fit"):
        dp.run_study(study, study.with_name("out"), ledger=ledger, dry_run=True)
    assert ledger.spent == (0, 0)


def left():
    """No more calls are promised than are admitted."""
    budget = dp.Budget(2.0, 0.0)
    frame = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 1, 50)})
    dp.dp_ols("y ~ x", frame, budget=budget, **CALL)
    for _ in range(budget.calls_left):
        dp.dp_ols("y ~ x", frame, budget=budget, **CALL)


def tiny():
    """The mu of a tiny epsilon does not exceed its delta."""
    for epsilon, delta in ((1e-9, 1e-300), (1e-8, 1e-15), (1e-7, 1e-30)):
        assert exact_delta(GDP.of(epsilon, delta).mu, epsilon) <= delta


files = temporary(lambda make, paths: check_files(make(), paths))
MUTANTS = {
    "key: no kinds": Mutant(
        patched(facts, "_columns", lambda f: lambda request: {}), partial(kinds, "unit"),
        AssertionError,
    ),
    "key: no kinds beside the formula": Mutant(
        patched(facts, "_columns", lambda f: lambda r: {n: f(r)[n] for n in r.schema}),
        over(kinds, ["weights", "unit", "subset"]), AssertionError,
    ),
    "key: no kinds of group columns": Mutant(
        patched(facts, "_type", lambda f: lambda *a: {**f(*a), "kind": ""}), partial(kinds, "by"),
        AssertionError,
    ),
    "source: other files are admitted": Mutant(
        patched(accounts, "check_source", lambda f: lambda *a: None), files, pytest.fail.Exception
    ),
    "source: only the first file is compared": Mutant(
        patched(
            sources,
            "_difference",
            lambda f: lambda *both: f(*(sources.Source(s.files[:1], s.columns) for s in both)),
        ),
        files,
        pytest.fail.Exception,
    ),
    "source: never bound": Mutant(
        patched(accounts, "bind_first", lambda f: lambda *a: None), files, pytest.fail.Exception
    ),
    "source: not in the key": Mutant(
        patched(accounts, "identity", lambda f: lambda *a: []), temporary(approvals),
        pytest.fail.Exception,
    ),
    "store: what is written stays in the log": Mutant(
        patched(
            store.Store,
            "writing",
            lambda f: lambda self, settled=True: self._transaction("BEGIN IMMEDIATE"),
        ),
        temporary(log),
        AssertionError,
    ),
    "store: any file is the one that was opened": Mutant(
        patched(
            store,
            "_file_number",
            lambda f: lambda path: f(path) if path.name.endswith("-shm") else 0,
        ),
        temporary(moved),
        pytest.fail.Exception,
    ),
    "store: what the file lost is not missed": Mutant(
        patched(store, "_holds", lambda f: lambda *a: True), temporary(overwritten),
        pytest.fail.Exception,
    ),
    "verify: triggers are not compared": Mutant(
        patched(verification, "_rules", lambda f: lambda connection: []), temporary(triggers),
        AssertionError,
    ),
    "dry run: each model is checked alone": Mutant(
        patched(accounts, "write_total", lambda f: lambda *a: None), temporary(dry),
        pytest.fail.Exception,
    ),
    "calls left: one too many": Mutant(
        patched(Composition, "calls_left", lambda f: lambda *a: f(*a) + 1), left, BudgetError
    ),
    "delta: two terms are subtracted whatever they are": Mutant(
        patched(costs, "_SMALL_MU", lambda f: 0.0), tiny, AssertionError
    ),
    "shares: roots of squares": Mutant(
        patched(GDP, "part", lambda original: lambda self, share: GDP(self.mu * share**0.25)),
        check_squares_add_up,
        AssertionError,
    ),
    "shares: each entry has the whole": Mutant(
        patched(GDP, "part", lambda original: lambda self, share: self),
        check_squares_add_up,
        AssertionError,
    ),
    "shares: above 1": Mutant(
        patched(shares, "ROUNDING", lambda original: 2.0),
        check_shares_above_1_are_refused,
        pytest.fail.Exception,
    ),
    "study: calls that exceed its epsilon": Mutant(
        patched(Composition, "admits", lambda original: lambda self, total: True),
        check_calls_are_checked_together,
        pytest.fail.Exception,
    ),
}  # fmt: skip

test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
