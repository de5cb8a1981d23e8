"""Check that a ledger tells files apart, and refuses another one for nothing."""

import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import BudgetError

CALL = {"method": "noisy_stats", "epsilon": 0.1, "bounds": {"x": (0, 1), "y": (0, 1)}}
OTHER = "this ledger is for other data: .* `dpstats ledger move`"


def fit(data, ledger, formula="y ~ x", **more):
    return dp.dp_ols(formula, data, budget=ledger, **CALL | more)


def check_refused(ledger, data, match=OTHER, **more):
    """Nothing of the ledger is changed, and no stored result comes back."""
    before = ledger.verify()
    with pytest.raises(BudgetError, match=match):
        fit(data, ledger, **more)
    assert ledger.verify() == before


def check_files(ledger, files):
    """The first call is released; the same with another file is refused, with links it is not."""
    first = fit(files["own"], ledger)
    check_refused(ledger, files["twin"], match=r"own\.csv, not .*twin\.csv")
    check_refused(ledger, [files["own"], files["twin"]], match=r"their file .*twin\.csv is new;")
    check_refused(ledger, pd.read_csv(files["own"]), match=r"own\.csv, not in memory")
    link = files["own"].with_name("link.csv")
    link.symlink_to(files["own"])
    again, stored = fit(link, ledger), ledger.dataset.fingerprint is not None
    assert len(ledger.requests()) == (1 if stored else 2)
    assert again.params.equals(first.params) or not stored
    assert ledger.verify().ok
