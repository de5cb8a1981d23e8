"""``dpstats describe``, ``logit``, ``poisson``, ``iv``: calls as asked, files, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.cli import verbs

DESCRIBE = ["describe", "people.csv", "age", "smoker", "--epsilon", "4", "--bounds", "age=18,90",
            "--types", "smoker=boolean"]  # fmt: skip
LOGIT = ["logit", "people.csv", "smoker ~ age", "--epsilon", "4", "--bounds", "age=18,90",
         "--types", "smoker=boolean"]  # fmt: skip
IV = ["iv", "people.csv", "wage ~ [age ~ near]", "--epsilon", "4", "--types", "age=number",
      "--types", "near=number", "--types", "wage=number"]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 90, 4000)
    people = {
        "age": age,
        "smoker": rng.random(4000) < age / 100,
        "sex": rng.choice(["f", "m"], 4000),
        "near": age + rng.normal(size=4000),
        "wage": age / 2 + rng.normal(size=4000),
    }
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def seeded():
    with dp.testing.insecure_seed(1):
        yield


def test_a_description_is_printed_and_written_by_its_ending(folder, capsys, seeded):
    for ending in (".csv", ".json", ".txt", ".tex", ".html", ".md", ".docx", ".xlsx"):
        assert cli.main([*DESCRIBE, "-o", f"out{ending}"]) == 0, capsys.readouterr().err
        assert "smoker: True" in capsys.readouterr().out
    frame = pd.read_csv("out.csv")
    means = frame.loc[frame["statistic"] == "mean", "estimate"]
    assert means.item() == pytest.approx(54, abs=2)
    restored = dp.DPDescription.from_json((folder / "out.json").read_text())
    assert restored.privacy.epsilon == 4.0 and restored.quantiles == (0.25, 0.5, 0.75)
    starts = {".tex": "\\begin{center}\n\\begin{tabular}", ".html": "<table", ".md": "|"}
    for ending, start in starts.items():
        assert (folder / f"out{ending}").read_text().startswith(start)


def test_a_library_that_is_missing_is_told_before_the_budget_is_spent(monkeypatch, capsys):
    ledger = dp.Ledger.create("f.ledger", dataset="people", epsilon=9, delta=1e-5)
    monkeypatch.setattr("dpstats.cli.outputs.find_spec", lambda name: None)
    for ending in (".docx", ".xlsx"):
        assert cli.main([*DESCRIBE, "--ledger", "f.ledger", "-o", f"out{ending}"]) == 2
        assert "pip install 'dpstats[tables]'" in capsys.readouterr().err
    assert ledger.spent == (0, 0)


def test_a_description_is_asked_as_typed(monkeypatch):
    asked = {}

    def describe(data, columns, **call):
        asked.update(call, columns=columns)
        return "a table"

    monkeypatch.setattr(verbs, "dp_describe", describe)
    more = ["--by", "sex", "--groups", "f, m", "--quantiles", "0.1,0.9", "--alpha", "0.1",
            "--subset", "age > 25", "--neighbors", "add_remove", "--delta", "1e-7",
            "--levels", "sex=f,m", "--unit", "id", "--max-rows", "3", "--max-groups", "2",
            "--weights", "w", "--trim-weights", "4", "--histogram",
            "--statistics", "n, missing"]  # fmt: skip
    assert cli.main([*DESCRIBE, *more]) == 0
    assert asked == {
        "columns": ["age", "smoker"], "by": "sex", "groups": ["f", "m"], "quantiles": [0.1, 0.9],
        "alpha": 0.1, "subset": "age > 25", "neighbors": "add_remove", "delta": 1e-7,
        "epsilon": 4.0, "bounds": {"age": (18.0, 90.0)}, "levels": {"sex": ("f", "m")},
        "types": {"smoker": "boolean"}, "budget": None, "unit": "id", "max_rows": 3,
        "max_groups": 2, "weights": "w", "trim_weights": 4.0, "histogram": True,
        "statistics": ["n", "missing"],
    }  # fmt: skip


def test_a_description_of_counts_alone_has_no_other_figures(folder, capsys):
    assert cli.main([*DESCRIBE, "--statistics", "n", "-o", "out.csv"]) == 0, capsys.readouterr().err
    assert set(pd.read_csv("out.csv")["statistic"]) <= {"n", "missing", "count"}


def test_histograms_of_a_description_are_written_and_drawn(folder, capsys):
    more = ["-o", "table.json", "--plot", "table.png", "--weights", "wage", "--unit", "sex",
            "--bounds", "wage=0,90", "--types", "wage=number", "--types", "sex=string"]  # fmt: skip
    assert cli.main([*DESCRIBE, *more]) == 0, capsys.readouterr().err
    found = dp.DPDescription.from_json((folder / "table.json").read_text())
    assert set(found.histogram["variable"]) == {"age", "smoker"}
    assert found.privacy.unit == "sex" and (folder / "table.png").stat().st_size > 1000
    assert cli.main([*DESCRIBE, "-o", "other.json"]) == 0
    assert not dp.DPDescription.from_json((folder / "other.json").read_text()).bars


def test_a_logit_is_fitted_written_and_drawn(folder, capsys, seeded):
    more = ["--option", "cov_type=HC1", "--x-new", "30,60", "-o", "fit.json", "--plot", "fit.png"]
    assert cli.main([*LOGIT, *more]) == 0, capsys.readouterr().err
    assert "Logit" in capsys.readouterr().out and (folder / "fit.png").stat().st_size > 1000
    fit = dp.DPResults.from_json((folder / "fit.json").read_text())
    assert fit.cov_type == "HC1" and fit.params["age"] == pytest.approx(0.045, abs=0.02)
    assert 0 < fit.predictions.iloc[0] < fit.predictions.iloc[1] < 1


def test_counts_are_fitted_and_written(folder, capsys, seeded):
    frame = pd.read_csv("people.csv")
    frame["visits"] = np.random.default_rng(1).poisson(np.exp(0.02 * frame["age"]))
    frame.to_csv("people.csv", index=False)
    argv = ["poisson", "people.csv", "visits ~ age", "--epsilon", "4", "--bounds", "age=18,90",
            "--types", "visits=number", "-o", "fit.json"]  # fmt: skip
    assert cli.main(argv) == 0, capsys.readouterr().err
    assert "Poisson" in capsys.readouterr().out
    fit = dp.DPResults.from_json((folder / "fit.json").read_text())
    assert fit.params["age"] == pytest.approx(0.02, abs=0.01) and fit.method == "noisy_poisson"


def test_offsets_and_exposures_are_columns(folder, capsys, seeded):
    rng, frame = np.random.default_rng(1), pd.read_csv("people.csv")
    frame["years"] = rng.uniform(0.5, 9, len(frame))
    frame["visits"] = rng.poisson(frame["years"] * np.exp(frame["near"] / 100))
    frame.to_csv("people.csv", index=False)
    numbers = [f"--types={name}=number" for name in ("age", "visits", "years", "near")]
    argv = ["poisson", "people.csv", "visits ~ age", "--epsilon", "1e6", *numbers, "-o", "fit.json"]
    assert cli.main([*argv, "--exposure", "years"]) == 0, capsys.readouterr().err
    fit = dp.DPResults.from_json((folder / "fit.json").read_text())
    assert "offset(log(years)) is added" in capsys.readouterr().out
    assert fit.params["age"] == pytest.approx(0.01, abs=5e-4)
    assert cli.main([*LOGIT, *numbers, "--offset", "near"]) == 0, capsys.readouterr().err
    assert "offset(near) is added" in capsys.readouterr().out


def test_groups_of_outcomes_and_counts_are_fitted_and_written(folder, capsys):
    frame = pd.read_csv("people.csv")
    frame["visits"] = np.random.default_rng(1).poisson(np.exp(0.02 * frame["age"]))
    frame.to_csv("people.csv", index=False)
    counts = ["poisson", "people.csv", "visits ~ age", "--epsilon", "4",
              "--bounds", "age=18,90", "--types", "visits=number"]  # fmt: skip
    verbs_of = {"noisy_logit": LOGIT, "noisy_poisson": counts, "noisy_instruments": IV}
    for method, argv in verbs_of.items():
        kind = dp.DPIVGroupResults if argv is IV else dp.DPGroupResults
        more = ["--by", "sex", "--groups", "m,f,x", "--n-jobs", "1"]
        for ending in ("json", "csv", "txt"):
            assert cli.main([*argv, *more, "-o", f"by.{ending}"]) == 0, capsys.readouterr().err
            assert "3 groups" in capsys.readouterr().out
        by = kind.from_json((folder / "by.json").read_text())
        assert by.labels == ("m", "f", "x") and by.method == method
        assert pd.read_csv("by.csv")["sex"].unique().tolist() == ["m", "f", "x"]
        assert "3 groups" in (folder / "by.txt").read_text()


def test_a_regression_with_instruments_is_fitted_and_written(folder, capsys, seeded):
    assert cli.main([*IV, "-o", "fit.json", "--plot", "fit.png"]) == 0, capsys.readouterr().err
    shown = " ".join(capsys.readouterr().out.split())
    assert "IV-2SLS" in shown and "Anderson-Rubin 95% set of the coefficient of age" in shown
    fit = dp.DPIVResults.from_json((folder / "fit.json").read_text())
    assert fit.params["age"] == pytest.approx(0.5, abs=0.1) and fit.first_stage.fvalue > 100
    assert (folder / "fit.png").stat().st_size > 1000


def test_errors_of_verbs_are_clustered_by_a_column(folder, capsys):
    frame = pd.read_csv("people.csv")
    frame["town"] = [f"t{i % 40}" for i in range(len(frame))]
    frame.to_csv("people.csv", index=False)
    more = ["--cluster", "town", "--types", "town=string"]
    for argv in (LOGIT, IV):
        assert cli.main([*argv, *more, "--option", "cov_type=cluster"]) == 0
        assert "Clusters:" in capsys.readouterr().out
        assert cli.main([*argv, *more]) == 2
        assert "--option cov_type=cluster" in capsys.readouterr().err


def test_verbs_charge_a_ledger(capsys):
    ledger = dp.Ledger.create("f.ledger", dataset="people", epsilon=9, delta=1e-5)
    for argv in (DESCRIBE, LOGIT, [*IV[:4], "0.5", *IV[5:]]):
        assert cli.main([*argv, "--ledger", "f.ledger"]) == 0, capsys.readouterr().err
    assert ledger.requests()["method"].tolist() == ["describe", "noisy_logit", "noisy_instruments"]
    assert json.loads(json.dumps(ledger.spent))[0] > 4


WRONG = {
    "no column": ([*DESCRIBE[:2], "income", *DESCRIBE[4:]], "no column 'income'"),
    "text without levels": ([*DESCRIBE, "--by", "sex"], "in --groups or --levels"),
    "groups without by": ([*DESCRIBE, "--groups", "a"], "name it with --by"),
    "by of nothing": ([*DESCRIBE, "--by", "tract", "--groups", "a"], "no column 'tract'"),
    "quantiles": ([*DESCRIBE, "--quantiles", "median"], "--quantiles to list numbers"),
    "quantiles beyond": ([*DESCRIBE, "--quantiles", "2"], "quantiles in"),
    "statistics": ([*DESCRIBE, "--statistics", "n,min"], "that of one row; ask for --quantiles"),
    "no statistic": ([*DESCRIBE, "--statistics", "n,"], "--statistics"),
    "relation": ([*DESCRIBE, "--neighbors", "replace_one"], "dpstats describe is proven for"),
    "ending": ([*DESCRIBE, "-o", "out.pdf"], "-o: expected a name ending in"),
    "over the data": ([*DESCRIBE, "-o", "people.csv"], "different files"),
    "response": ([*LOGIT[:2], "age ~ smoker", *LOGIT[3:]], "age"),
    "option": ([*LOGIT, "--option", "tau=3"], "no option 'tau'; it has: cov_type"),
    "option of the method": ([*LOGIT, "--cov-type", "HC1"], "write --option cov_type=VALUE"),
    "covariance": ([*LOGIT, "--option", "cov_type=HC3"], "cov_type"),
    "groups of a logit without by": ([*LOGIT, "--groups", "f,m"], "--by"),
    "file of groups without by": ([*IV, "--groups-file", "people.csv"], "name it with --by"),
    "misspelt option": ([*LOGIT, "--option", "subst=3"], "did you mean --subset?"),
    "budget": ([*LOGIT, "--budget", "a.ledger"], "kept in a ledger here, --ledger FILE"),
    "picture of groups with instruments": ([*IV, "--by", "sex", "--plot", "a.png"], "--by"),
    "picture of groups": ([*LOGIT, "--by", "sex", "--plot", "a.png"], "leave it out with --by"),
    "table of one fit": ([*LOGIT, "-o", "fit.csv"], "-o: expected a name ending in .json, .txt"),
    "threads": ([*LOGIT, "--by", "sex", "--n-jobs", "0"], "n_jobs"),
    "no instruments": ([*IV[:2], "wage ~ age", *IV[3:]], "instruments in brackets"),
    "weights": ([*IV, "--weights", "near"], "--bounds"),
    "absorbed": ([*LOGIT[:2], "smoker ~ age | sex", *LOGIT[3:]], "write C(sex) with --levels"),
    "absorbed units with instruments": (
        [*IV[:2], "wage ~ [age ~ near] | sex", *IV[3:], "--unit", "sex"],
        "not proven for instruments",
    ),
    "no number": (IV[:5], "--types"),
    "no epsilon": (["logit", "people.csv", "smoker ~ age"], "--epsilon"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_ends_in_one_line_and_writes_nothing(name, folder, capsys):
    argv, said = WRONG[name]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert cli.main(argv) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("dpstats: error: ") and shown.err.count("\n") == 1
    assert said in shown.err and shown.out == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
