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


CELLS = ("anneliese", "quimper", "widowed", "quaestor")
# What a call may get wrong about the columns of a file; "none" is spelt like no cell.
UNNAMED = [
    "dp.dp_ols('none ~ x', 'rows.csv', epsilon=1)",
    "dp.dp_ols('none ~ .', 'rows.csv', epsilon=1)",
    "dp.dp_ols(dp.RFormula('none ~ .'), 'rows.csv', epsilon=1)",
    "dp.dp_ols('none ~ x | g', 'rows.csv', epsilon=1)",
    "dp.dp_ols('none ~ x', 'rows.csv', by='g', epsilon=1)",
    "dp.dp_ols(['none ~ x', 'z ~ x'], 'rows.csv', epsilon=1, missing='listwise')",
    "dp.dp_iv('none ~ x + [d ~ z]', 'rows.csv', epsilon=1)",
    "dp.dp_logit('none ~ x', 'rows.csv', epsilon=1, offset='z')",
    "dp.dp_poisson('none ~ x', 'rows.csv', epsilon=1, exposure='z')",
    "dp.dp_describe('rows.csv', columns=['none'], epsilon=1)",
    "dp.dp_describe('rows.csv', columns=['quimper'], bounds={'none': (0, 1)}, epsilon=1)",
    *(
        f"dp.dp_ols('quimper ~ 1', 'rows.csv', epsilon=1, bounds={{'quimper': (0, 1)}}, {more})"
        for more in (
            "weights='none'", "unit='none'", "by='none'", "subset='none > 1'",
            "cov_type='cluster', cluster='none'", "levels={'none': ['a']}",
            "types={'none': 'date'}",
        )
    ),
    "dp.dp_ols('quimper ~ 1', 'rows.csv', epsilon=1, bounds={'none': (0, 1)})",
    "dp.dp_logit('quimper ~ 1', 'rows.csv', epsilon=1, bounds={'quimper': (0, 1)}, offset='none')",
]  # fmt: skip
UNNAMED_IN_SHELL = [
    "fit rows.csv 'none ~ x' --epsilon 1", "logit rows.csv 'none ~ x' --epsilon 1 --by g",
    "by rows.csv 'quimper ~ 1' --epsilon 1 --by none --bounds quimper=0,1 -o o.csv",
    "fit rows.csv 'quimper ~ 1' --epsilon 1 --bounds none=0,1",
    "describe rows.csv none --epsilon 1", "iv rows.csv 'none ~ x + [d ~ z]' --epsilon 1",
]  # fmt: skip


@pytest.fixture
def without_names(tmp_path, monkeypatch):
    """A file whose first line is a row of texts, which nothing tells from names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(f"{','.join(CELLS)}\nb,c,d,e\n")


@pytest.mark.parametrize("call", UNNAMED)
def test_no_error_shows_the_first_line_of_a_text_file(call, without_names):
    """But for the columns that the call names itself."""
    with pytest.raises(dp.ArgumentError, match="none") as raised:
        eval(call, {"dp": dp})
    assert not [cell for cell in CELLS if cell in str(raised.value) and cell not in call]
    assert len(str(raised.value)) < LONGEST


@pytest.mark.parametrize("call", UNNAMED_IN_SHELL)
def test_no_error_of_a_command_shows_the_first_line_of_a_text_file(call, without_names):
    code, out, err = in_shell(call)
    assert (code, out) == (2, "") and "none" in err
    assert not [cell for cell in CELLS if cell in err and cell not in call]


@pytest.mark.parametrize(
    ("command", "entry", "said"),
    [
        ("run", '[[ols]]\nname = "a"', "[[ols]] needs formula; it takes: "),
        ("plan", '[[ols]]\nname = "a"', "[[ols]] needs formula; it takes: "),
        ("run", '[[ols]]\nname = "a"\nformula = "y ~ region"', 'levels={"region": [...]}'),
        ("plan", '[[ols]]\nname = "a"\nformula = "y ~ region"', "levels of 'region'"),
        (
            "run",
            '[[iv]]\nname = "a"\nformula = "y ~ [x ~ z]"\nby = "x"',
            "by='x' is in the formula",
        ),
    ],
)
def test_entries_of_a_study_are_named_as_they_stand_in_it(command, entry, said, ledger, tmp_path):
    """Not as options of a command."""
    shared = 'data = "people.csv"\nepsilon = 1\nbounds = {x = [0, 1], y = [0, 1], z = [0, 1]}'
    (tmp_path / "s.toml").write_text(f"{shared}\n{entry}\n")
    more = {"run": "-o out --ledger f.ledger", "plan": "--n 50"}[command]
    code, out, err = in_shell(f"{command} s.toml {more}")
    assert (code, out) == (2, "") and said in err and "--" not in err
    assert ledger.spent == (0, 0) and not (tmp_path / "out").exists()
