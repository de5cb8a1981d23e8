"""A ledger is for one data set: by its files and all their columns, or by the kinds in memory."""

import json
import shutil

import pytest

from dpstats.engines import Source
from dpstats.errors import ArgumentError, BudgetError
from dpstats.ledger.sources import described
from tests.checks.ledger_files import OTHER, check_files, check_refused, fit


@pytest.fixture
def files(tmp_path, line):
    """The steward's file, another with the same columns, and one with a column more."""
    paths = {name: tmp_path / f"{name}.csv" for name in ("own", "twin", "wider")}
    line.to_csv(paths["own"], index=False)
    line.assign(y=line["y"] / 2).to_csv(paths["twin"], index=False)
    line.assign(age=1).to_csv(paths["wider"], index=False)
    return paths


@pytest.mark.parametrize("bound", ["at creation", "by the first call"])
@pytest.mark.parametrize("fingerprint", [None, "2024"])
def test_another_file_is_refused_whether_or_not_the_call_is_stored(make, files, bound, fingerprint):
    ledger = make(fingerprint=fingerprint, data=files["own"] if bound == "at creation" else None)
    check_files(ledger, files)


def test_a_request_for_another_file_is_refused_before_it_is_entered(make, files):
    ledger = make(approval=True, data=files["own"])
    check_refused(ledger, files["twin"])
    assert len(ledger.requests()) == 0


def test_a_request_shows_its_file_and_its_approval_is_for_that_alone(make, files):
    """Before a ledger is bound it is the steward who chooses by what the request shows."""
    ledger = make(approval=True, fingerprint="2024")
    for name in ("twin", "own"):
        with pytest.raises(BudgetError, match="waits for approval"):
            fit(files[name], ledger)
    assert ledger.requests()["data"].tolist() == [str(files[n].resolve()) for n in ("twin", "own")]
    ledger.approve(2)
    with pytest.raises(BudgetError, match="request 1 waits"):
        fit(files["twin"], ledger)
    fit(files["own"], ledger)
    assert ledger.requests()["state"].tolist() == ["requested", "released"]
    ledger.approve(1)
    check_refused(ledger, files["twin"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,y,z\n0,0,0\n", "'area' is missing"),
        ("x,y,z,area,kind,age\n0,0,0,a,u,1\n", "'age' is new"),
    ],
)
def test_a_file_with_other_columns_is_refused(make, files, content, said):
    ledger = make(data=files["own"])
    files["own"].write_text(content)
    check_refused(ledger, files["own"], match=f"their column {said};")


def test_a_column_of_another_kind_is_refused(make, tmp_path, line):
    path = tmp_path / "own.parquet"
    line.to_parquet(path)
    ledger = make(data=path)
    line.assign(area=1.5).to_parquet(path)
    check_refused(ledger, path, match="'area' is number, not string")


def test_data_that_moved_are_answered_from_the_store(make, files, tmp_path):
    ledger = make(fingerprint="2024")
    first = fit(files["own"], ledger)
    moved = tmp_path / "archive.csv"
    shutil.move(files["own"], moved)
    check_refused(ledger, moved)
    ledger.move(moved)
    assert fit(moved, ledger).params.equals(first.params) and ledger.spent == (0.1, 0.0)
    ledger.move(files["wider"])
    assert fit(files["wider"], ledger).params.equals(first.params)
    with pytest.raises(ArgumentError, match="no file"):
        ledger.move(tmp_path / "nosuch.csv")
    ledger.export(tmp_path / "all.json")
    actions = [
        entry["action"] for entry in json.loads((tmp_path / "all.json").read_text())["audit"]
    ]
    assert actions.count("bound") == 1 and actions.count("moved") == 2 and ledger.verify().ok


def test_data_in_memory_are_compared_by_the_kinds_that_calls_have_used(make, line):
    ledger = make()
    fit(line[["x", "y"]], ledger)
    fit(line[["z", "y"]], ledger, "y ~ z", bounds={"z": (0, 1), "y": (0, 1)})
    texts = line.assign(z=line["z"].astype(str).astype("string"))
    check_refused(ledger, texts, match="'z' is string, not number")
    assert "x (number), y (number), z (number)" in ledger.summary()
    assert ledger.requests()["data"].tolist() == ["in memory"] * 2


def test_several_calls_at_once_are_about_one_data_set(make, path):
    from dpstats.ledger import Asked
    from dpstats.privacy import Call, PureDP

    asked = [
        Asked(Call(0.1, 0.0, PureDP(0.1)), "replace_one",
              {"formula": "y ~ x", "method": "any", "call": {}, "source": Source((file,), {})})
        for file in ("/a.csv", "/b.csv")
    ]  # fmt: skip
    ledger = make()
    with pytest.raises(BudgetError, match=OTHER):
        ledger.reserve_all(asked)
    assert ledger.spent == (0, 0) and "those of the first call" in ledger.summary()


def test_the_summary_names_the_data(make, files):
    ledger = make(data=files["own"])
    assert f"data:         {files['own'].resolve()}, columns x (text)" in ledger.summary()
    many = Source(("/a.csv",), {f"c{i}": "text" for i in range(9)} | {"odd\n": "text"})
    assert described(many).endswith("c5 (text), 4 more") and "\n" not in described(many)


def test_bad_data_leave_no_ledger(make, path, tmp_path):
    for data in (tmp_path / "nosuch.csv", 3):
        with pytest.raises(ArgumentError):
            make(data=data)
        assert not path.exists()
