"""What a validation service released is what was approved, and holds figures without privacy."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import dpstats as dp
from dpstats.results.record.record import verify_record
from dpstats.results.restored_calls import from_text


def check_held(path: Path) -> None:
    """Check that private intervals hold the figures without privacy, and are of use.

    40 of the 126 hold the noise alone and miss in 5% of cases, the others more seldom. In 250 runs
    of the tables 0 to 9 missed, 1.9 on average with variance 3.4; by a negative binomial law of
    these moments more than 18 do in one run of 200,000.
    """
    found = pd.read_csv(path)
    assert len(found) == 126
    assert found["twin"].between(found["lower"], found["upper"]).sum() >= 108
    width = found["upper"] - found["lower"]
    assert np.isfinite(width).sum() >= 110
    assert (width / (2 * 1.96 * found["twin_error"])).median() < 3


def epsilon_of(mu: float, delta: float) -> float:
    """The epsilon of mu-GDP at delta, by Dong, Roth and Su (2022), corollary 1."""
    return brentq(
        lambda e: norm.cdf(mu / 2 - e / mu) - np.exp(e) * norm.cdf(-mu / 2 - e / mu) - delta, 0, 50
    )


def check_charged(folder: Path, calls: int) -> None:
    """Check that the ledger charged what was approved, to the digit, and nothing else."""
    ledger = dp.Ledger(folder / "survey.ledger")
    ledger.export(folder / "all.json")
    audit = json.loads((folder / "all.json").read_text())["audit"]
    costs = {}
    for entry in audit:
        if entry["place"] == "requests":
            row = json.loads(entry["content"])
            cost = tuple(row[name] for name in ("epsilon", "delta", "cost", "facts"))
            costs.setdefault(row["id"], {})[entry["action"]] = cost
    assert len(costs) == calls
    for steps in costs.values():
        assert [*steps] == ["requested", "approved", "reserved", "released"]
        assert len({*steps.values()}) == 1 and steps["approved"][:2] == ("1.0", "1e-06")
    mu = [json.loads(steps["approved"][2])["mu"] for steps in costs.values()]
    epsilon, delta = ledger.spent
    assert delta == 5e-7 and epsilon == pytest.approx(epsilon_of(np.linalg.norm(mu), delta), 1e-6)
    assert ledger.requests()["state"].tolist() == ["released"] * calls and ledger.verify().ok


def check_release(folder: Path, ledger: dp.Ledger, requests: dict[str, int]) -> None:
    """Check that a release folder is whole and has the results that the ledger stored."""
    assert verify_record(folder) == ()
    results = from_text((folder / "release.json").read_text(encoding="utf-8"))
    assert [*results] == [*requests]
    for name, number in requests.items():
        stored = ledger.result(number)
        assert results[name].to_json() == stored.to_json() and stored.privacy.private
    outputs = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    assert [each["status"] for each in outputs.values()] == ["review"] * 3
