"""A call that cannot be served is refused in one sentence, for nothing and without a row read."""

import re

import pytest

import dpstats as dp
from tests.checks.bad_calls import PYTHON, SHELL, called, in_shell, people
from tests.checks.totality import Closed

LONGEST = 320


def closed():
    """The same columns; the numbers cannot be read."""
    frame = people()
    numbers = {
        name: Closed(frame[name].to_numpy(), frame[name].isna().to_numpy()) for name in "xyz"
    }
    return numbers | {name: frame[name].array for name in ("region", "known", "one")}


def assert_a_sentence(text: str, named: str) -> None:
    """One line, not too short or long, that holds a text; no sentence follows another."""
    assert named in text
    assert 20 < len(text) < LONGEST and "\n" not in text
    assert not re.search(r"[a-z)]\. [A-Z]", text) and text[-1] != "."
    assert "np.float64" not in text and "dtype=" not in text


def test_there_are_a_hundred_and_each_once():
    calls = [call for call, _ in (*PYTHON, *SHELL)]
    assert len(calls) == len(set(calls)) and len(PYTHON) >= 100 and len(SHELL) >= 40


@pytest.mark.parametrize(("call", "named"), PYTHON, ids=[call for call, _ in PYTHON])
def test_a_bad_call_says_what_to_write_instead(call, named):
    budget = dp.Budget(9, 1e-3)
    with pytest.raises(dp.ArgumentError) as raised:
        called(call, closed(), budget)
    assert_a_sentence(str(raised.value), named)
    assert budget.spent == (0, 0)


def test_the_calls_without_their_fault_are_served():
    budget = dp.Budget(9, 1e-3)
    assert called("fit('y ~ x', df)", people(), budget).params.index.tolist() == ["Intercept", "x"]
    assert budget.spent[0] == pytest.approx(1)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("people.csv", index=False)
    return dp.Ledger.create("f.ledger", dataset="people", epsilon=9.0, delta=1e-3)


@pytest.mark.parametrize(("call", "named"), SHELL, ids=[call for call, _ in SHELL])
def test_a_bad_command_says_what_to_write_instead(call, named, ledger, tmp_path):
    charged = " --ledger f.ledger" * (call.startswith(("fit ", "by ")) and "--ledger" not in call)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = in_shell(call + charged)
    assert (code, out) == (2, "") and err.startswith("dpstats: error: ")
    assert_a_sentence(err.strip().removeprefix("dpstats: error: "), named)
    assert not re.search(r"bounds=|levels=|types=|method=|None|\bTrue\b", err)
    assert ledger.spent == (0, 0)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
