"""The shell plans a study file as it plans a formula, and refuses what belongs to the other."""

import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from tests.checks.study_plans import PAPER, law

SHORT = ["plan", "study.toml", "--n", "400", "--epsilon", "1,4", "--repetitions", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(PAPER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_prints_what_python_does_and_writes_all_files(folder, capsys):
    pytest.importorskip("matplotlib")
    outputs = ["-o", "plan.csv", "--plot", "plan.png", "--html", "plan.html"]
    assert cli.main([*SHORT, *outputs]) == 0
    plan = dp.plan_study("study.toml", [1, 4], n=400, repetitions=1, progress=False)
    assert capsys.readouterr().out == f"{plan}\n"
    pd.testing.assert_frame_equal(pd.read_csv("plan.csv"), plan.frame)
    assert (folder / "plan.html").read_text() == plan.to_html()
    assert (folder / "plan.png").stat().st_size > 10_000


def test_a_stand_in_is_a_file(capsys):
    law(500, 1).to_csv("stand_in.csv", index=False)
    arguments = ["--data", "stand_in.csv", "--epsilon", "2", "--repetitions", "1", "--n", "500"]
    assert cli.main(["plan", "study.toml", *arguments]) == 0
    assert "rows of stand_in.csv, taken as public: 500" in capsys.readouterr().out


REFUSED = {
    "bounds": ([*SHORT, "--bounds", "age=0,1"], "--bounds is for the plan of one formula"),
    "a ledger": ([*SHORT, "--ledger", "l"], "--ledger is for the plan of one formula"),
    "its own data": ([*SHORT, "--data", "people.csv"], "is the study's own data"),
    "no file": (["plan", "other.toml"], "cannot read other.toml"),
    "odd rows": (["plan", "study.toml", "--n", "5.5"], "--n to be a whole number of rows"),
    "odd epsilon": (["plan", "study.toml", "--epsilon", "1,a"], "--epsilon to list numbers"),
    "another ending": ([*SHORT, "--html", "plan.txt"], "--html"),
    "a formula's stand-in": (["plan", "y ~ x", "--n", "9", "--data", "a.csv"], "plans of study"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_is_refused_in_one_line(name, folder, capsys):
    argv, message = REFUSED[name]
    assert cli.main(argv) == 2
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and not out
    assert [path.name for path in folder.iterdir()] == ["study.toml"]
