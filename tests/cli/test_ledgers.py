"""``dpstats ledger``, and fit and by that charge one."""

import json
import re

import pytest

import dpstats as dp
from dpstats import cli

CREATE = ["ledger", "create", "f.ledger", "--dataset", "families", "--epsilon", "10",
          "--neighbors", "replace_one", "--fingerprint", "2024"]  # fmt: skip
FIT = ["fit", "line.csv", "y ~ x", "--method", "noisy_stats", "--epsilon", "4", "--bounds",
       "x=0,1", "--bounds", "y=0,1", "--ledger", "f.ledger"]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, line):
    line.to_csv(tmp_path / "line.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(capsys):
    """Run a command that works; return what it prints."""

    def run(*argv):
        assert cli.main(list(argv)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(capsys):
    """Run a command that is refused; return its sentence."""

    def run(*argv):
        assert cli.main(list(argv)) == 2
        shown = capsys.readouterr()
        assert shown.err.startswith("dpstats: error: ") and shown.err.count("\n") == 1
        return shown.err

    return run


def test_a_steward_and_an_analyst_share_a_ledger(shell, refused, folder):
    assert "families" in shell(*CREATE, "--approval")
    assert "anna" in shell("ledger", "allocate", "f.ledger", "anna", "--epsilon", "5")
    assert "say who you are with --analyst" in refused(*FIT)
    anna = [*FIT, "--analyst", "anna", "-o", "out.json"]
    assert "request 1 waits for approval" in refused(*anna)
    assert not (folder / "out.json").exists()
    assert "requested" in shell("ledger", "requests", "f.ledger")
    whole = shell("ledger", "request", "f.ledger", "1")
    assert '"x": {"high": 1.0, "is": "Numeric", "low": 0.0}' in whole and "analyst: anna\n" in whole
    assert "no request 7" in refused("ledger", "request", "f.ledger", "7")
    assert "denied" in shell("ledger", "deny", "f.ledger", "1")
    assert "request 1 was denied" in refused(*anna)
    assert "approved" in shell("ledger", "approve", "f.ledger", "1")
    first = shell(*anna)
    assert shell(*anna) == first  # from the store
    stored = dp.Ledger("f.ledger").result(1)
    assert dp.DPResults.from_json((folder / "out.json").read_text()).params.equals(stored.params)
    assert "epsilon 4," in shell("ledger", "show", "f.ledger", "--plot", "s.png")
    assert (folder / "s.png").stat().st_size > 1000
    assert "no requests" in shell("ledger", "requests", "f.ledger", "--state", "failed")
    shell("ledger", "export", "f.ledger", "-o", "all.json")
    assert len(json.loads((folder / "all.json").read_text())["releases"]) == 1


def test_a_ledger_is_for_one_file_until_the_steward_moves_it(shell, refused, folder):
    shell(*CREATE, "--approval", "--data", "line.csv")
    assert "request 1 waits" in refused(*FIT)
    for command in (["requests", "f.ledger"], ["approve", "f.ledger", "1"], ["show", "f.ledger"]):
        assert str((folder / "line.csv").resolve()) in shell("ledger", *command)
    (folder / "line.csv").rename(folder / "moved.csv")
    moved = ["fit", "moved.csv", *FIT[2:]]
    assert "moved.csv; where its own data moved" in refused(*moved)
    assert "moved.csv, columns" in shell("ledger", "move", "f.ledger", "moved.csv")
    assert "x" in shell(*moved)
    assert dp.Ledger("f.ledger").requests()["state"].tolist() == ["released"]
    assert "there is no file" in refused("ledger", "move", "f.ledger", "line.csv")


def test_a_ledger_of_epsilon_alone_serves_the_default_and_counts_calls(shell, refused):
    create = ["ledger", "create", "f.ledger", "--dataset", "d", "--epsilon", "2"]
    fit = ["fit", "line.csv", "y ~ x", "--epsilon", "0.5", "--bounds", "x=0,1",
           "--types", "y=number", "--ledger", "f.ledger"]  # fmt: skip
    assert "limit:        epsilon 2, delta 1e-06" in shell(*create)
    shell(*fit)
    shown = shell("ledger", "show", "f.ledger")
    left = int(re.search(r"like the last \(epsilon 0.5, delta 1e-06\): (\d+) more", shown)[1])
    assert left == dp.Ledger("f.ledger").calls_left and 3 <= left <= 20
    for i in range(left):
        shell(*fit)
        assert dp.Ledger("f.ledger").calls_left == left - i - 1
    assert "epsilon=0.5 does not fit" in refused(*fit)
    pure = ["ledger", "create", "pure.ledger", "--dataset", "d", "--epsilon", "2", "--delta", "0"]
    shell(*pure)
    assert "make it with delta=1e-06 or more" in refused(*fit[:-1], "pure.ledger")


def test_groups_are_charged_to_the_ledger(shell, refused):
    shell(*CREATE)
    by = ["by", *FIT[1:], "--by", "area", "--groups", "a0,a1", "-o", "out.csv"]
    shell(*by)
    assert dp.Ledger("f.ledger").spent == (4.0, 0.0)
    assert "does not fit" in refused(*by[:6], "7", *by[7:])


def test_verify_says_so_and_fails_where_something_was_changed(shell, refused, capsys):
    shell(*CREATE)
    shell(*FIT)
    head = re.search(r"head ([0-9a-f]{64})", shell("ledger", "verify", "f.ledger"))[1]
    shell("ledger", "verify", "f.ledger", "--head", head)
    assert "the chain was replaced" in changed(
        ["ledger", "verify", "f.ledger", "--head", "0"], capsys
    )
    store = dp.Ledger("f.ledger")._store
    with store.writing() as connection:
        connection.execute("DROP TRIGGER releases_update_is_refused")
        connection.execute("UPDATE releases SET result = '{}'")
    shown = changed(["ledger", "verify", "f.ledger"], capsys)
    assert "releases row 1: result is not as the audit says" in shown


def changed(argv, capsys):
    """What a verification prints that ends with exit code 2."""
    assert cli.main(argv) == 2
    return capsys.readouterr().out


WRONG = {
    "no such ledger": (FIT, "no such file"),
    "analyst without a ledger": ([*FIT[:-2], "--analyst", "anna"], "name it with --ledger"),
    "ledger as output": ([*FIT[:-1], "out.json", "-o", "out.json"], "expected different files"),
    "epsilon 0": ([*CREATE[:6], "0", *CREATE[7:]], "epsilon > 0, got 0"),
    "relation": ([*CREATE[:8], "both"], "neighbors"),
    "rule": ([*CREATE, "--composition", "pld"], "composition"),
    "data as ledger": (["ledger", "show", "line.csv"], "not a ledger"),
    "folder as ledger": (["ledger", "show", "."], ". is a folder; name the ledger's file in it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_served_is_refused_and_makes_no_file(refused, folder, name):
    argv, message = WRONG[name]
    before = sorted(folder.iterdir())
    assert message in refused(*argv)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "argv",
    [
        ["ledger", "approve", "f.ledger", "7"],
        ["ledger", "requests", "f.ledger", "--state", "lost"],
        ["ledger", "export", "f.ledger", "-o", "f.ledger"],
        ["ledger", "show", "f.ledger", "--plot", "out.txt"],
        ["ledger", "allocate", "f.ledger", "", "--epsilon", "1"],
        [*FIT[:-2], "--neighbors", "add_remove", "--method", "adassp", "--ledger", "f.ledger"],
        CREATE,
    ],
    ids=str,
)
def test_a_refused_command_leaves_the_ledger_as_it_was(shell, refused, argv):
    shell(*CREATE)
    before = dp.Ledger("f.ledger").verify()
    refused(*argv)
    assert dp.Ledger("f.ledger").verify() == before
