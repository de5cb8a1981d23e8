"""The command line: every door, its message and its exit code."""

import errno
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.cli import commands, outputs

BOUNDS = ["--bounds", "kid_rank=0,1", "--bounds", "parent_rank=0,1"]
FORMULA = "kid_rank ~ parent_rank"
FIT = ["fit", "people.csv", FORMULA, "--method", "adassp", "--epsilon", "1", *BOUNDS]
BY = ["by", "people.csv", FORMULA, "--method", "exp_theil_sen", "--epsilon", "16", *BOUNDS]
CELL = [*BY, "--by", "cell", "-o", "out.csv"]
PLAN = ["plan", FORMULA, "--n", "200", "--methods", "adassp", "--repetitions", "20", *BOUNDS]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with a few files."""
    people = dp.datasets.oi_microdata()
    people = people[people["cell"] <= 4].reset_index(drop=True)
    people["region"] = np.where(people["cell"] % 2 == 0, "east", "west")
    people["urban"] = people["cell"] > 2
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "binary.parquet").write_bytes(b"\x00\x01\x02")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.json").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replaced(argv, *pairs):
    """argv with the value that follows each option exchanged."""
    argv = list(argv)
    for option, value in pairs:
        argv[argv.index(option) + 1] = value
    return argv


def fitting(formula, *more):
    """A fit of another formula with bounds on the response only."""
    head = ["fit", "people.csv", formula, "--method", "adassp", "--epsilon", "1"]
    return [*head, "--bounds", "kid_rank=0,1", *more]


def refused(argv, capsys, folder, code=2) -> str:
    """Run argv, check that it fails as a shell user expects, and return the message."""
    before = sorted(folder.rglob("*"))
    assert cli.main(argv) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("dpstats: error: ")
    assert shown.err.count("\n") == 1 and shown.err.endswith("\n")
    assert sorted(folder.rglob("*")) == before
    return shown.err.removeprefix("dpstats: error: ").rstrip()


def by_cell(formula, *more) -> list[str]:
    """A call by groups that asks for a picture."""
    return [*CELL[:2], formula, *CELL[3:], *more, "--plot", "out.png"]


WRONG = {
    "unknown command": (["frobnicate"], "invalid choice: 'frobnicate'"),
    "unknown option": ([*FIT, "--bogus", "3"], "unrecognized arguments: --bogus 3"),
    "abbreviated option": ([*FIT, "--row", "3"], "unrecognized arguments: --row 3"),
    "no formula": (["fit", "people.csv"], "arguments are required: FORMULA"),
    "no epsilon": (["fit", "d", "f", "--method", "adassp"], "are required: --epsilon"),
    "epsilon 0": (replaced(FIT, ("--epsilon", "0")), "epsilon > 0, got 0"),
    "epsilon negative": (replaced(FIT, ("--epsilon", "-1")), "epsilon > 0, got -1"),
    "epsilon nan": (replaced(FIT, ("--epsilon", "nan")), "epsilon > 0, got nan"),
    "epsilon infinite": (replaced(FIT, ("--epsilon", "inf")), "epsilon > 0, got inf"),
    "epsilon text": (replaced(FIT, ("--epsilon", "abc")), "invalid float value: 'abc'"),
    "delta 0": ([*FIT, "--delta", "0"], "adassp needs delta > 0"),
    "delta for a pure method": ([*CELL, "--delta", "0.1"], "leave delta out"),
    "unknown method": (
        replaced(FIT, ("--method", "magic")),
        "method to be one of auto, noisy_newton",
    ),
    "unknown relation": ([*FIT, "--neighbors", "all"], "expected neighbors to be one of"),
    "unproven relation": (
        replaced([*CELL, "--neighbors", "add_remove"], ("--method", "noisy_stats")),
        "for --neighbors 'replace_one'",
    ),
    "missing file": (["fit", "no.csv", *FIT[2:]], "there is no file no.csv"),
    "folder as data": (["fit", "folder", *FIT[2:]], "folder is a folder; name its files, as in"),
    "empty file": (["fit", "empty.csv", *FIT[2:]], "empty.csv cannot be read"),
    "not what it says": (["fit", "binary.parquet", *FIT[2:]], "binary.parquet"),
    "missing column": (fitting("kid_rank ~ age"), "no column 'age'; look up its name in the first"),
    "bounds without =": ([*FIT, "--bounds", "0,1"], "expected --bounds column=low,high"),
    "bounds with one number": ([*FIT, "--bounds", "x=0"], "column=low,high, got 'x=0'"),
    "bounds with three numbers": ([*FIT, "--bounds", "x=0,1,2"], "got 'x=0,1,2'"),
    "bounds with text": ([*FIT, "--bounds", "x=0,b"], "got 'x=0,b'"),
    "bounds with a gap": ([*FIT, "--bounds", "x=0,"], "got 'x=0,'"),
    "bounds reversed": (replaced(FIT, ("--bounds", "kid_rank=1,0")), "low < high, got (1, 0)"),
    "bounds nan": (replaced(FIT, ("--bounds", "kid_rank=0,nan")), "--bounds kid_rank to be finite"),
    "bounds twice": ([*FIT, "--bounds", "kid_rank=0,2"], "--bounds names kid_rank twice"),
    "bounds on no column": ([*FIT, "--bounds", "cel=0,9"], "names 'cel', which is no column"),
    "string column": (fitting("kid_rank ~ region"), "--levels 'region=a,b,...'"),
    "levels of no column": ([*FIT, "--levels", "cel=1,2"], "did you mean 'cell'?"),
    "levels without =": ([*FIT, "--levels", "east,west"], "expected --levels column=a,b"),
    "levels of the wrong type": (
        fitting("kid_rank ~ C(cell)", "--levels", "cell=a", "--types", "cell=integer"),
        "got 'a'",
    ),
    "an unknown type": ([*FIT, "--types", "cell=whole"], "expected --types cell to be one of"),
    "two types": ([*FIT, "--types", "cell=number,string"], "expected --types column=kind"),
    "undeclared column": (fitting("kid_rank ~ cell"), "--types 'cell=number'"),
    "range to be declared": (fitting("kid_rank ~ exp(cell)"), "--bounds 'cell=low,high'"),
    "unknown function": (fitting("kid_rank ~ foo(cell)"), "foo() is not a known function"),
    "power written ^": (fitting("kid_rank ~ parent_rank^2"), "write I(parent_rank ** 2)"),
    "no formula at all": (fitting("kid_rank"), "as in y ~ x1 + x2"),
    "any Python": (fitting("kid_rank ~ __import__('os').system('x')"), "__import__('os')"),
    "row norm of bounded columns": (
        replaced([*CELL, "--row-norm", "1"], ("--method", "exp_theil_sen")),
        "exp_theil_sen takes --bounds, not --row-norm=1",
    ),
    "row norm 0": ([*FIT, "--row-norm", "0"], "expected --row-norm in (0, 1e+100], got 0"),
    "points without a name": (
        fitting("kid_rank ~ parent_rank + cell", "--x-new", "1"),
        "--x-new column=value for each of parent_rank, cell",
    ),
    "points of the wrong type": ([*FIT, "--x-new", "a"], "parent_rank holds numbers, got 'a'"),
    "points that are nan": ([*FIT, "--x-new", "nan"], "NaN or an infinite value"),
    "points of unequal number": (
        [*FIT, "--x-new", "parent_rank=1,2", "--x-new", "cell=1"],
        "every column as many values",
    ),
    "points lacking a column": (
        [
            *FIT[:2],
            "kid_rank ~ parent_rank + cell",
            *FIT[3:],
            "--bounds",
            "cell=1,9",
            "--x-new",
            "cell=1",
        ],
        "no column parent_rank; add it with --x-new",
    ),
    "unknown method option": ([*FIT, "--option", "k=3"], "adassp has no option 'k'"),
    "bad method option": ([*CELL, "--option", "k=0"], "whole number >= 1, got 0"),
    "option of dp_ols": ([*FIT, "--option", "epsilon=9"], "epsilon is no --option"),
    "option without =": ([*FIT, "--option", "k"], "expected --option name=value, got 'k'"),
    "result ending": ([*FIT, "-o", "out.csv"], "ending in .json, .txt, got out.csv"),
    "result folder missing": ([*FIT, "-o", "no/out.json"], "there is no folder no"),
    "result is a folder": ([*FIT, "-o", "folder.json"], "folder.json is a folder"),
    "picture ending": ([*FIT, "--plot", "out.gif"], "--plot: expected a name ending in .png"),
    "picture folder missing": ([*FIT, "--plot", "no/out.png"], "there is no folder no"),
    "picture of two regressors": (
        by_cell("kid_rank ~ parent_rank + cell"),
        "--plot needs a formula with one numeric regressor",
    ),
    "picture of levels": (
        by_cell("kid_rank ~ cell", "--levels", "cell=1,2"),
        "--plot needs a formula with one numeric regressor",
    ),
    "picture under a row norm": (
        by_cell(FORMULA, "--row-norm", "2"),
        "--plot needs a formula with one numeric regressor",
    ),
    "picture without p25": ([*CELL, "--x-new", "0.5", "--plot", "o.png"], "leave out --x-new"),
    "no group column": ([*BY, "-o", "out.csv"], "are required: --by"),
    "no result file": ([*BY, "--by", "cell"], "are required: -o"),
    "missing group column": ([*BY, "--by", "tract", "-o", "out.csv"], "no column 'tract'"),
    "result over the data": (
        replaced(CELL, ("-o", "people.csv")),
        "-o and --plot, got people.csv twice",
    ),
    "result over one of several files of data": (
        replaced(["by", "p*.csv", *CELL[2:]], ("-o", "people.csv")),
        "-o and --plot, got people.csv twice",
    ),
    "result over the list of groups": (
        replaced([*CELL, "--groups-file", "empty.csv"], ("-o", "empty.csv")),
        "-o and --plot, got empty.csv twice",
    ),
    "groups of the wrong type": (
        [*CELL, "--types", "cell=integer", "--groups", "a,b"],
        "cell holds numbers, got 'a'",
    ),
    "groups twice": ([*CELL, "--groups", "1,1"], "none twice"),
    "groups empty": ([*CELL, "--groups", ""], "at least one label"),
    "groups both ways": ([*CELL, "--groups", "1", "--groups-file", "x"], "not allowed with"),
    "groups of several columns": (
        [*CELL, "--by", "region", "--groups", "1"],
        "list the combinations of cell, region in --groups-file",
    ),
    "lines of the wrong length": (
        [*CELL, "--by", "region", "--groups-file", "people.csv"],
        "expected cell,region on each line of --groups-file, got",
    ),
    "group column twice": ([*CELL, "--by", "region,cell"], "by to name one column or a list"),
    "no threads": ([*CELL, "--n-jobs", "0"], "n_jobs to be a whole number >= 1"),
    "groups file missing": ([*CELL, "--groups-file", "no.txt"], "cannot read no.txt"),
    "plan without n": (["plan", FORMULA, "--methods", "adassp"], "are required: --n"),
    "plan of sizes without groups": (
        [*PLAN, "--n", "5,6", "--epsilon", "1"],
        "name their column with --by",
    ),
    "plan of half a row": ([*PLAN, "--n", "5.5", "--epsilon", "1"], "whole number of rows, got"),
    "plan with a bad share": ([*PLAN, "--epsilon", "1", "--within-share", "a"], "--within-share"),
    "plan of persons without rows": (
        [*PLAN, "--epsilon", "1", "--unit", "id"],
        "expected --rows-per-person with --unit",
    ),
    "plan of persons with odd rows": (
        [*PLAN, "--epsilon", "1", "--unit", "id", "--rows-per-person", "1,x"],
        "a mean or to list whole numbers, got '1,x'",
    ),
    "plan of an odd number of clusters": (
        [*PLAN, "--epsilon", "1", "--clusters", "2.5"],
        "expected --clusters to be one number or to list whole numbers, got '2.5'",
    ),
    "plan of clusters without their number": (
        [
            *PLAN,
            "--methods",
            "auto",
            "--epsilon",
            "1",
            "--option",
            "cov_type=cluster",
            "--cluster",
            "g",
        ],
        "expected --clusters with --cluster 'g'",
    ),
    "plan without epsilon": (PLAN, "without it give --target-width"),
    "plan with a bad epsilon": ([*PLAN, "--epsilon", "1,a"], "--epsilon to list numbers, got"),
    "plan without bounds": (
        [*PLAN[:-2], "--epsilon", "1"],
        "--bounds 'parent_rank=low,high' for a number or --levels 'parent_rank=a,b,...'",
    ),
    "plan with an unknown method": (
        [*replaced(PLAN, ("--methods", "adassp,magic")), "--epsilon", "1"],
        "expected method to be one of noisy_newton",
    ),
    "plan with an unknown coefficient": (
        [*PLAN, "--epsilon", "1", "--truth", "x=1"],
        "truth names 'x'; expected names among: Intercept, parent_rank",
    ),
    "plan with two values": (
        [*PLAN, "--epsilon", "1", "--truth", "parent_rank=1,2"],
        "expected --truth coefficient=value, got 'parent_rank=1,2'",
    ),
    "plan with a bad spread": ([*PLAN, "--epsilon", "1", "--x-sd", "parent_rank=a"], "--x-sd"),
    "plan with a term alone": (
        [*PLAN, "--epsilon", "1", "--term", "p25"],
        "--term 'p25' goes with --target-width; give both",
    ),
    "plan written twice": (
        [*PLAN, "--epsilon", "1", "-o", "a.csv", "--plot", "b.gif"],
        "--plot: expected a name ending in .png",
    ),
    "demo epsilon": (["demo", "--epsilon", "-2"], "epsilon > 0, got -2"),
    "demo folder is a file": (["demo", "--out", "people.csv"], "cannot make people.csv"),
}


@pytest.mark.parametrize(("argv", "message"), WRONG.values(), ids=WRONG)
def test_refusal(argv, message, capsys, folder, monkeypatch):
    """One line, exit code 2, no file, and nothing private was drawn."""
    monkeypatch.setattr("dpstats.run.charge.Noise", None)
    assert message in refused(argv, capsys, folder)


def test_result_folder_not_writable(capsys, folder, monkeypatch):
    def denied(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(outputs.tempfile, "TemporaryFile", denied)
    monkeypatch.setattr(commands, "dp_ols", None)
    message = refused([*FIT, "-o", "out.json"], capsys, folder)
    assert message == "-o: cannot write out.json: Permission denied"


def test_matplotlib_missing(capsys, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(commands, "dp_ols", None)
    assert "dpstats[plot]" in refused([*FIT, "--plot", "out.png"], capsys, folder)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "dpstats: error: interrupted\n"),
        (dp.InternalError("a\ndefect"), 1, "dpstats: error: a defect\n"),
        (ValueError("0.123"), 1, "dpstats: error: stopped with ValueError, a defect of dpstats\n"),
    ],
)
def test_interruptions_and_defects(error, code, line, capsys, monkeypatch):
    def stop(*arguments, **keywords):
        raise error

    monkeypatch.setattr(commands, "dp_ols", stop)
    assert cli.main(FIT) == code
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("ledger", [["--ledger", "f.ledger"], ["--ledger=f.ledger"]])
@pytest.mark.parametrize("place", ["", " after 4 of 6 groups"])
@pytest.mark.parametrize("more", ["", "; the budget of this call counts as spent"])
def test_an_interruption_says_that_what_a_ledger_reserved_is_spent(
    ledger, place, more, capsys, monkeypatch
):
    def stop(*arguments, **keywords):
        raise KeyboardInterrupt(f"interrupted{place}{more}")

    monkeypatch.setattr(commands, "dp_ols", stop)
    dp.Ledger.create("f.ledger", dataset="people", epsilon=1.0, delta=1e-5)
    assert cli.main([*FIT, *ledger]) == 130
    assert capsys.readouterr().err == (
        f"dpstats: error: interrupted{place}; what `dpstats ledger show` lists as reserved is "
        "spent\n"
    )


def run(argv, capsys) -> str:
    assert cli.main(argv) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_fit_prints_the_summary(capsys):
    out = run(FIT, capsys)
    assert "Differentially Private Regression Results" in out
    assert "Private:                   yes" in out


def test_fit_writes_a_result_that_can_be_restored(capsys, folder):
    out = run([*FIT, "-o", "out.json", "--plot", "out.PNG"], capsys)
    result = dp.DPResults.from_json((folder / "out.json").read_text())
    assert result.privacy.epsilon == 1 and result.privacy.private
    assert str(result.summary()) in out
    assert (folder / "out.PNG").read_bytes().startswith(b"\x89PNG")


def test_fit_draws_the_coefficients_of_several_regressors(capsys, folder):
    types = [
        "--types",
        "cell=number",
        "--types",
        "parent_rank=number",
        "--types",
        "kid_rank=number",
    ]
    call = fitting("kid_rank ~ parent_rank + cell", *types)
    run([*call, "--plot", "out.png"], capsys)
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


def test_fit_writes_the_summary_as_text(capsys, folder):
    out = run([*FIT, "-o", "out.txt"], capsys)
    assert (folder / "out.txt").read_text() == out


def test_an_existing_result_is_replaced(capsys, folder):
    (folder / "out.json").write_text("old")
    run([*FIT, "-o", "out.json"], capsys)
    assert json.loads((folder / "out.json").read_text())["method"] == "adassp"


def test_the_package_is_called_as_asked(capsys, monkeypatch, folder):
    """Numbers, levels, points and options arrive as dp_ols wants them."""
    seen = {}

    def record(formula, data, **call):
        seen.update(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "dp_ols", record)
    more = ["--levels", "region=east, west", "--levels", "cell=1,2", "--levels", "urban=false,true"]
    points = ["--x-new", "parent_rank=-.5,1", "--x-new", "region=east,west"]
    types = ["--types", "cell=integer", "--types", "urban=boolean"]
    options = ["--option", "k=3", "--option", "output_range=-0.5,1.5", "--option", "name=all"]
    rest = ["--delta", "1e-5", "--row-norm", "2", "--neighbors", "add_remove"]
    bounds = ["--bounds", "np.where(cell == 2, 1, 0)=-1,1e3"]
    assert cli.main([*FIT, *bounds, *more, *types, *points, *options, *rest]) == 130
    assert seen["bounds"]["np.where(cell == 2, 1, 0)"] == (-1, 1000)
    assert seen["levels"] == {
        "region": ("east", "west"),
        "cell": (1, 2),
        "urban": (False, True),
    }
    assert seen["x_new"].to_dict("list") == {"parent_rank": [-0.5, 1], "region": ["east", "west"]}
    assert list(seen["x_new"].index) == [
        "parent_rank=-.5 region=east",
        "parent_rank=1 region=west",
    ]
    assert (seen["k"], seen["output_range"], seen["name"]) == (3, (-0.5, 1.5), "all")
    assert (seen["delta"], seen["row_norm"], seen["neighbors"]) == (1e-5, 2, "add_remove")


def test_negative_values_may_follow_an_option(capsys, folder):
    bounds = ["--bounds", "kid_rank=-1,1", "--bounds", "parent_rank=-1,1"]
    run([*FIT[:7], *bounds, "--x-new", "-1,0.5", "-o", "out.json"], capsys)
    content = json.loads((folder / "out.json").read_text())
    assert content["schema"]["kid_rank"] == {"low": -1.0, "high": 1.0}
    assert list(content["predictions"]) == ["parent_rank=-1", "parent_rank=0.5"]


def test_string_column_with_levels(capsys, folder):
    argv = fitting("kid_rank ~ region", "--levels", "region=east,west", "-o", "out.json")
    run(argv, capsys)
    content = json.loads((folder / "out.json").read_text())
    assert list(content["params"]) == ["Intercept", "region[T.west]"]


def test_by_writes_every_group(capsys, folder):
    out = run([*CELL, "--plot", "out.pdf"], capsys)
    assert "4 groups: 4 ok" in out
    frame = pd.read_csv("out.csv")
    assert list(frame) == ["cell", "term", "estimate", "std_error", "lower", "upper", "status"]
    assert frame["cell"].unique().tolist() == [1, 2, 3, 4]
    assert frame["estimate"].notna().all()
    assert (folder / "out.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_groups_absent_from_the_data_are_present_in_the_table(ending, capsys, folder):
    (folder / "groups.txt").write_bytes(ending.join(["\ufeff2", " 999 ", "", "1"]).encode())
    run([*CELL, "--groups-file", "groups.txt"], capsys)
    from_file = pd.read_csv("out.csv")
    run([*CELL, "--groups", "2,999,1"], capsys)
    listed = pd.read_csv("out.csv")
    for frame in (from_file, listed):
        assert frame["cell"].unique().tolist() == [2, 999, 1]
        assert set(frame.loc[frame["cell"] == 999, "status"]) == {"too_few_rows"}


def test_plan_writes_its_table_and_its_picture(capsys, folder):
    more = ["--epsilon", "0.5,4", "--truth", "parent_rank=0.3", "--sd", "0.1"]
    out = run([*PLAN, *more, "-o", "plan.csv", "--plot", "plan.png"], capsys)
    assert "Forecast of kid_rank ~ parent_rank for 200 rows" in out
    frame = pd.read_csv("plan.csv")
    assert set(frame["method"]) == {"adassp", "ols (not private)"}
    assert frame.loc[frame["term"] == "parent_rank", "truth"].eq(0.3).all()
    assert (folder / "plan.png").stat().st_size > 10_000


def test_plan_is_called_as_asked(capsys, monkeypatch):
    seen = {}

    def record(formula, **call):
        seen.update(call, formula=formula)
        raise KeyboardInterrupt

    monkeypatch.setattr("dpstats.cli.planning.plan", record)
    points = ["--x-new", "a=-1,2", "--x-new", "g=1,2"]
    more = ["--methods", "adassp, tukey", "--target-width", "0.1", "--term", "a", "--delta", "1e-5",
            "--x-sd", "a=0.2", "--neighbors", "replace_one", "--levels", "g=1,2",
            "--levels", "h=u,v"]  # fmt: skip
    argv = ["plan", "y ~ a + g + h", "--n", "7", "--bounds", "a=-1,1", *more, *points]
    assert cli.main([*argv, "--x-new", "h=u,v"]) == 130
    assert (seen["n"], seen["methods"], seen["epsilon"]) == (7, ["adassp", "tukey"], None)
    assert (seen["target_width"], seen["term"], seen["delta"]) == (0.1, "a", 1e-5)
    assert (seen["x_sd"], seen["neighbors"]) == ({"a": 0.2}, "replace_one")
    assert seen["levels"] == {"g": (1, 2), "h": ("u", "v")} and seen["bounds"] == {"a": (-1, 1)}
    assert seen["x_new"].to_dict("list") == {"a": [-1, 2], "g": [1, 2], "h": ["u", "v"]}


GROUPED = {
    "groups": (["--by", "g", "--n", "40,900"], {"by": "g", "n": [40, 900]}),
    "equal groups": (
        ["--by", "g, h", "--n", "40", "--groups", "7"], {"by": ["g", "h"], "n": 40, "groups": 7}
    ),
    "absorbed": (
        ["--n", "40", "--groups", "7", "--within-share", "0.3"], {"groups": 7, "within_share": 0.3}
    ),
    "by column": (
        ["--n", "40", "--groups", "7", "--within-share", "a=0.3", "--within-share", "y=0.4"],
        {"within_share": {"a": 0.3, "y": 0.4}, "by": None},
    ),
    "persons": (
        ["--n", "40", "--unit", "id", "--rows-per-person", "2.5", "--icc", "0.2", "--max-rows",
         "3"],
        {"unit": "id", "rows_per_person": 2.5, "icc": 0.2, "max_rows": 3, "max_groups": None},
    ),
    "persons by group": (
        ["--n", "40", "--groups", "7", "--by", "g", "--unit", "id", "--rows-per-person", "1,4",
         "--max-groups", "2"],
        {"by": "g", "rows_per_person": [1, 4], "max_groups": 2, "max_rows": None},
    ),
    "clusters": (
        ["--n", "40", "--option", "cov_type=cluster", "--cluster", "g", "--clusters", "8"],
        {"cov_type": "cluster", "cluster": "g", "clusters": 8},
    ),
    "clusters by size": (["--n", "40", "--clusters", "30,10,10"], {"clusters": [30, 10, 10]}),
}  # fmt: skip


@pytest.mark.parametrize("case", GROUPED)
def test_plan_takes_guesses_of_groups(case, monkeypatch):
    seen = {}

    def record(formula, **call):
        seen.update(call)
        raise KeyboardInterrupt

    monkeypatch.setattr("dpstats.cli.planning.plan", record)
    more, expected = GROUPED[case]
    assert cli.main(["plan", "y ~ a", "--methods", "adassp", "--epsilon", "1", *more]) == 130
    assert {name: seen[name] for name in expected} == expected


def test_a_plan_of_groups_is_written_and_has_no_page(capsys, folder):
    call = [*PLAN, "--epsilon", "2", "--by", "town", "--groups", "3"]
    out = run([*call, "-o", "plan.csv", "--plot", "plan.png"], capsys)
    assert "Forecast of kid_rank ~ parent_rank by town" in out
    assert pd.read_csv("plan.csv")["groups"].tolist() == [3] * 8
    assert cli.main([*call, "--html", "plan.html"]) == 2
    assert "leave by out and give n= the rows of one group" in capsys.readouterr().err
    assert not (folder / "plan.html").exists()


@pytest.mark.parametrize("by", [["--by", "region, urban"], ["--by", "region", "--by", "urban"]])
def test_groups_of_several_columns(by, capsys):
    by = [*by, "--types", "urban=boolean"]
    run([*BY, *by, "-o", "out.csv", "--n-jobs", "1"], capsys)
    frame = pd.read_csv("out.csv")
    assert list(frame)[:3] == ["region", "urban", "term"] and len(frame) == 4 * 4
    Path("groups.txt").write_text('north,true\n"east" , false\n\n')
    run([*BY, *by, "--groups-file", "groups.txt", "-o", "out.csv"], capsys)
    frame = pd.read_csv("out.csv")[["region", "urban", "status"]].drop_duplicates()
    assert frame.to_numpy().tolist() == [["north", True, "too_few_rows"], ["east", False, "ok"]]


def test_a_comma_in_the_name_of_a_group_column(capsys):
    people = pd.read_csv("people.csv").rename(columns={"region": "a,b"})
    people.to_csv("people.csv", index=False)
    run([*BY, "--by", "a,b", "--by", "cell", "-o", "out.csv"], capsys)
    assert list(pd.read_csv("out.csv"))[:3] == ["a,b", "cell", "term"]


def test_group_labels_that_are_text(capsys):
    argv = [*BY, "--by", "region", "--groups", "east,north", "-o", "out.csv"]
    run(argv, capsys)
    assert pd.read_csv("out.csv")["region"].unique().tolist() == ["east", "north"]


def test_methods_are_listed(capsys):
    out = run(["methods"], capsys)
    for name in dp.METHODS:
        assert f"\n{name}" in out
    assert max(map(len, out.splitlines())) <= 120
    assert {"guarantee", "neighbours", "paper"} <= set(out.splitlines()[0].split())


def test_long_names_of_methods_are_listed_whole(capsys, monkeypatch):
    name = "least_squares_with_a_long_name"
    long = replace(dp.METHODS["adassp"], name=name)
    monkeypatch.setitem(dp.METHODS, name, long)
    lines = run(["methods"], capsys).splitlines()
    (row,) = [line for line in lines if line.startswith(name)]
    starts = [line.index("epsilon") for line in lines if line.startswith(("adassp ", "ops "))]
    assert {row.index("epsilon"), *starts} == {lines[0].index("guarantee")}


def test_demo(capsys, folder):
    out = run(["demo", "--out", "new/demo"], capsys)
    frame = pd.read_csv("new/demo/cells.csv")
    assert frame["cell"].nunique() == 111
    assert set(frame["term"]) == {"Intercept", "parent_rank", "p25", "p75"}
    assert (folder / "new/demo/cells.png").stat().st_size > 10_000
    assert "comparison possible only because these people are fictitious" in out
    assert "of 111, p75 in " in out


def test_demo_counts_cells_within_one_standard_error(capsys):
    """Without noise to speak of, every cell's line is the median of lines, close to OLS."""
    out = run(["demo", "--epsilon", "1e5"], capsys)
    line = next(line for line in out.splitlines() if "20 people or more" in line)
    p25, p75 = (int(part.split("in ")[1].split(" of ")[0]) for part in line.split(","))
    frame = pd.read_csv("out/cells.csv").pivot(index="cell", columns="term", values="estimate")
    people = dp.datasets.oi_microdata()
    ols = dp.evaluate.ols_reference(
        FORMULA,
        people,
        by="cell",
        bounds={"kid_rank": (0, 1), "parent_rank": (0, 1)},
        public=True,
    ).set_index(["cell", "term"])
    large = people.groupby("cell").size() >= 20
    for name, count in (("p25", p25), ("p75", p75)):
        of = ols.xs(name, level="term")
        near = (frame[name] - of["estimate"]).abs() <= of["std_error"]
        assert near[large].sum() == count > 0.8 * large.sum()


def test_alone_it_prints_help(capsys):
    out = run([], capsys)
    assert out.startswith("usage: dpstats") and "commands:" in out


@pytest.mark.parametrize(
    "argv", [["--help"], ["fit", "--help"], ["by", "-h"], ["plan", "-h"], ["demo", "-h"]]
)
def test_help(argv, capsys):
    assert run(argv, capsys).startswith("usage: dpstats")


def test_version(capsys):
    assert run(["--version"], capsys) == f"dpstats {dp.__version__}\n"


def in_a_shell(*argv, stdout=subprocess.PIPE):
    """Run the program as a process of its own, wherever the package was imported from."""
    root = str(Path(dp.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "dpstats", *argv],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )


def test_as_a_process():
    done = in_a_shell(*FIT, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Differentially Private Regression Results" in done.stdout
    failed = in_a_shell(*FIT, "--epsilon", "none")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("dpstats: error: ") and failed.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
def test_a_reader_that_leaves_early():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = in_a_shell("methods", stdout=closed)
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_are_clustered_by_a_column(capsys, folder):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 40, 3000)
    x = rng.normal(size=3000)
    y = x + rng.normal(size=40)[group] / 2 + rng.normal(size=3000)
    pd.DataFrame({"x": x, "y": y, "g": group}).to_csv(folder / "tracts.csv", index=False)
    call = ["fit", "tracts.csv", "y ~ x", "--epsilon", "4", "--cluster", "g"]
    call += ["--types", "g=integer", "--types", "x=number", "--types", "y=number"]
    assert cli.main([*call, "--option", "cov_type=cluster"]) == 0
    printed = capsys.readouterr().out
    assert "Covariance Type:" in printed and "Clusters:" in printed and "P>|t|" in printed
    assert "--option cov_type=cluster" in refused(call, capsys, folder)


def test_a_full_disk_behind_standard_output_is_told(monkeypatch, capsys):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    assert cli.main(["methods"]) == 2
    assert capsys.readouterr().err == "dpstats: error: standard output: No space left on device\n"
