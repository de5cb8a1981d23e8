"""Studies: dry and real runs, tables, and what is refused."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.results.record.record import verify_record
from dpstats.results.restored_calls import from_text

STUDY = """
data = "line.csv"
rows = 400

[bounds]
x = [0, 1]
y = [0, 1]
z = [0, 1]

[levels]
kind = ["u", "v"]

[models.main]
formula = "y ~ x"
method = "noisy_stats"
epsilon = 4

[models.areas]
formula = ["y ~ x", "z ~ x"]
method = "noisy_stats"
epsilon = 2
by = "area"
groups = ["a0", "a1"]

[models.kinds]
formula = "y ~ C(kind)"
method = "adassp"
neighbors = "replace_one"
epsilon = 1
delta = 1e-6
"""
TABLES = """
[tables.lines]
models = ["main", "kinds"]
labels = ["(1)", "(2)"]

[tables."one column"]
models = ["kinds"]
"""
NAMES = ["main", "areas: y ~ x", "areas: z ~ x", "kinds"]


@pytest.fixture
def folder(tmp_path, line):
    line.to_csv(tmp_path / "line.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture
def ledger(folder):
    return dp.Ledger.create(
        folder / "f.ledger", dataset="lines", epsilon=7.0, delta=1e-6, composition="sum",
        neighbors="replace_one", fingerprint="2024",
    )  # fmt: skip


def released(folder):
    return from_text((folder / "release.json").read_text())


def test_a_study_is_charged_at_once_and_its_record_written(folder, ledger):
    out = dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert verify_record(out) == () and list(released(out)) == NAMES
    assert ledger.spent == pytest.approx((7.0, 1e-6)) and ledger.verify().ok
    assert ledger.requests()["state"].tolist() == ["released"] * 3
    assert ledger.requests()["epsilon"].tolist() == pytest.approx([4.0, 2.0, 1.0])
    first = ledger.requests()["created"]
    assert (pd.to_datetime(first).diff().dropna() < pd.Timedelta(seconds=1)).all()
    for name, result in released(out).items():
        labels = getattr(result, "labels", None)
        assert result.privacy.private and labels == (("a0", "a1") if "areas" in name else None)
    assert set(json.loads((out / "results.json").read_text())["results"]) == {
        "output_0", "output_1", "output_2", "output_3",
    }  # fmt: skip


def test_an_equal_run_costs_nothing(folder, ledger):
    first = dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    again = dp.run_study(folder / "study.toml", folder / "again", ledger=ledger)
    assert (again / "release.json").read_text() == (first / "release.json").read_text()
    assert ledger.spent == pytest.approx((7.0, 1e-6)) and len(ledger.requests()) == 3


def test_a_dry_run_without_a_ledger_opens_no_data(folder):
    (folder / "line.csv").unlink()
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    assert list(released(out)) == NAMES
    assert not any(result.privacy.private for result in released(out).values())
    assert "NOT PRIVATE" in (out / "index.html").read_text()
    again = dp.run_study(folder / "study.toml", folder / "again", dry_run=True)
    assert (again / "release.json").read_text() == (out / "release.json").read_text()


REFUSING = {
    "small": ({"epsilon": 6.9}, "epsilon=1 does not fit"),
    "elsewhere": ({"data": "other.csv"}, "this ledger is for other data"),
    "other": ({"neighbors": "add_remove"}, "neighbors='add_remove'"),
}


def test_a_dry_run_checks_its_ledger_and_changes_nothing(folder, ledger, monkeypatch):
    """What a run would refuse is refused: budget, data, relation; no row is read of what fits."""
    study = folder / "study.toml"
    before = ledger.verify()
    monkeypatch.setattr("dpstats.engines.streams.stream.Stream.total", None)  # a pass over the file
    out = dp.run_study(study, folder / "fits", dry_run=True, ledger=ledger)
    assert list(released(out)) == NAMES and "NOT PRIVATE" in (out / "index.html").read_text()
    assert ledger.verify() == before and ledger.spent == (0, 0) and not len(ledger.requests())
    (folder / "other.csv").write_text("x,y,z,area,kind\n")
    monkeypatch.chdir(folder)
    for name, (more, said) in REFUSING.items():
        call = {"dataset": "d", "epsilon": 9.0, "composition": "sum", "neighbors": "replace_one"}
        refusing = dp.Ledger.create(f"{name}.ledger", **call | more)
        with pytest.raises(dp.BudgetError, match=said):
            dp.run_study(study, folder / "out", dry_run=True, ledger=refusing)
        assert refusing.verify().ok and refusing.spent == (0, 0) and not (folder / "out").exists()
    (folder / "line.csv").unlink()
    with pytest.raises(dp.ArgumentError, match="no file"):
        dp.run_study(study, folder / "out", dry_run=True, ledger=ledger)


def test_a_dry_run_counts_what_the_store_answers_and_what_waits(folder, ledger):
    """What was released costs nothing again; what waits for approval is counted, and not asked."""
    dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    dp.run_study(folder / "study.toml", folder / "again", dry_run=True, ledger=ledger)
    waiting = dp.Ledger.create(folder / "w.ledger", dataset="d", epsilon=7.0, composition="sum",
                               neighbors="replace_one", approval=True)  # fmt: skip
    dp.run_study(folder / "study.toml", folder / "dry", dry_run=True, ledger=waiting)
    assert not len(waiting.requests())
    with pytest.raises(dp.BudgetError, match="request 1 waits"):
        dp.run_study(folder / "study.toml", folder / "no", ledger=waiting)
    waiting.deny(2)
    with pytest.raises(dp.BudgetError, match="request 2 was denied"):
        dp.run_study(folder / "study.toml", folder / "no", dry_run=True, ledger=waiting)


def test_tables_stand_in_the_record(folder):
    """The same in a dry run, by headings of the file's or by the models' names."""
    (folder / "study.toml").write_text(STUDY + TABLES)
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    frame = pd.read_csv(out / "table_1_lines.csv")
    assert frame["result"].unique().tolist() == ["(1)", "(2)"]
    for label, name in (("(1)", "main"), ("(2)", "kinds")):
        estimates = frame[frame["result"] == label].set_index("term")["estimate"]
        assert np.array_equal(
            estimates[list(released(out)[name].names)], released(out)[name].params
        )
    assert "kinds" in (out / "table_2_one_column.txt").read_text()
    page = (out / "index.html").read_text()
    assert page.index("<h2>lines</h2>") < page.index("<h2>one column</h2>") < page.index("<h2>main")
    assert verify_record(out) == ()


@pytest.mark.parametrize("terms", ['["x"]', "{ x = 3 }", "3"])
def test_terms_of_another_type_are_refused_under_their_name(folder, terms):
    (folder / "study.toml").write_text(STUDY + f'[tables.t]\nmodels = ["main"]\nterms = {terms}\n')
    with pytest.raises(dp.ArgumentError, match=r"^expected tables\.t\.terms to map terms to texts"):
        dp.run_study(folder / "study.toml", folder / "out", dry_run=True)


def test_terms_of_a_table_may_be_predictions_and_what_a_selection_leaves_out(folder):
    study = """
data = "line.csv"
bounds = { x = [0, 1], y = [0, 1], z = [0, 1] }
epsilon = 4
[[ols]]
name = "chosen"
formula = "y ~ x + z"
select = "lasso"
k = 1
[[ols]]
name = "points"
formula = "y ~ x"
x_new = { x = [0.5] }
[tables.t]
models = ["chosen", "points"]
terms = { x = "Rank", z = "Other", 0 = "At the middle" }
"""
    (folder / "study.toml").write_text(study)
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    text = (out / "table_1_t.txt").read_text()
    assert "At the middle" in text and ("Rank" in text or "Other" in text)


def test_several_formulas_of_a_model_are_columns_of_a_table(folder):
    study = STUDY.replace('by = "area"', "").replace('groups = ["a0", "a1"]', "")
    (folder / "study.toml").write_text(study + '[tables.t]\nmodels = ["areas"]\n')
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    columns = pd.read_csv(out / "table_1_t.csv")["result"].unique().tolist()
    assert columns == ["areas: y ~ x", "areas: z ~ x"]


def test_outcomes_of_the_same_rows_are_columns_that_cost_what_one_call_does(folder):
    split = """formula = ["y ~ x", "z ~ x"]
method = "noisy_stats"
epsilon = 2
by = "area"
groups = ["a0", "a1"]"""
    together = 'formula = ["y ~ x", "z ~ x"]\nmissing = "listwise"\nepsilon = 2'
    assert split in STUDY
    study = STUDY.replace(split, together) + '[tables.t]\nmodels = ["areas"]\n'
    (folder / "study.toml").write_text(study)
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    columns = pd.read_csv(out / "table_1_t.csv")["result"].unique().tolist()
    assert columns == ["areas: y ~ x", "areas: z ~ x"]
    assert "they have epsilon = 2 and delta" in (out / "table_1_t.txt").read_text()
    assert verify_record(out) == ()


def test_what_does_not_fit_together_is_refused_as_a_whole(folder, ledger, reserve_some):
    reserve_some(ledger)
    with pytest.raises(dp.BudgetError, match="epsilon=1 does not fit"):
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert ledger.requests()["state"].tolist() == ["released"] and not (folder / "out").exists()


@pytest.fixture
def reserve_some(folder):
    def spend(ledger):
        dp.dp_ols("z ~ y", folder / "line.csv", method="noisy_stats", epsilon=0.5, budget=ledger,
                  bounds={"z": (0, 1), "y": (0, 1)})  # fmt: skip

    return spend


def test_a_failure_leaves_no_folder_and_counts_as_spent(folder, ledger, monkeypatch):
    def stop(*arguments):
        raise ValueError("0.123456789")

    monkeypatch.setattr("dpstats.run.charge.fit_groups", stop)
    with pytest.raises(dp.InternalError):
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert ledger.requests()["state"].tolist() == ["released", "failed", "failed"]
    assert ledger.spent == pytest.approx((7.0, 1e-6)) and not (folder / "out").exists()


@pytest.mark.parametrize(
    ("fingerprint", "said"),
    [("2024", "a run into another folder is answered"), (None, r"ledger.result\(n\) returns")],
)
def test_a_record_that_cannot_be_written_says_where_the_results_are(
    folder, monkeypatch, fingerprint, said
):
    ledger = dp.Ledger.create(
        folder / "f.ledger", dataset="lines", epsilon=7.0, delta=1e-6, composition="sum",
        neighbors="replace_one", fingerprint=fingerprint,
    )  # fmt: skip

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("dpstats.results.record.record._fill", full)
        with pytest.raises(dp.ArgumentError, match=f"No space left.*the budget is spent.*{said}"):
            dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == []
    assert isinstance(ledger.result(1), dp.DPResults)
    if fingerprint is not None:
        assert dp.run_study(folder / "study.toml", folder / "again", ledger=ledger).exists()
    assert ledger.spent == pytest.approx((7.0, 1e-6))


BAD = {
    "no TOML": "data = ",
    "unknown entry": STUDY.replace("rows = 400", "colour = 1"),
    "no data": STUDY.replace('data = "line.csv"', ""),
    "no models": 'data = "line.csv"',
    "data that is not there": STUDY.replace("line.csv", "nosuch.csv"),
    "no epsilon": STUDY.replace("epsilon = 4", ""),
    "epsilon 0": STUDY.replace("epsilon = 4", "epsilon = 0"),
    "another budget": STUDY.replace("epsilon = 4", "epsilon = 4\nbudget = 3"),
    "more rows than memory": STUDY.replace("rows = 400", "rows = 1000000000000"),
    "no formula in a list": STUDY.replace('["y ~ x", "z ~ x"]', "[]"),
    "a formula that is a number": STUDY.replace('["y ~ x", "z ~ x"]', "[3]"),
    "unknown option": STUDY.replace("epsilon = 4", "epsilon = 4\nbogus = 3"),
    "unknown method": STUDY.replace("adassp", "nosuch"),
    "unknown column": STUDY.replace("y ~ C(kind)", "y ~ nosuch"),
    "wrong bounds": STUDY.replace("z = [0, 1]", "z = [1, 0]"),
    "a model that is no table": STUDY.replace("[models.main]", "[models]\nmain = 3\n[models.x]"),
    "levels that are no table": STUDY.replace('[levels]\nkind = ["u", "v"]', "[levels.kind]"),
    "table of an unknown model": STUDY + '[tables.t]\nmodels = ["nosuch"]\n',
    "table of groups": STUDY + '[tables.t]\nmodels = ["areas"]\n',
    "table of nothing": STUDY + "[tables.t]\nmodels = []\n",
    "table without models": STUDY + '[tables.t]\nlabels = ["a"]\n',
    "table with a label too many": STUDY + '[tables.t]\nmodels = ["main"]\nlabels = ["a", "b"]\n',
    "table with one label twice": STUDY + '[tables.t]\nmodels = ["main", "main"]\n',
    "table with another entry": STUDY + '[tables.t]\nmodels = ["main"]\ntitle = "a"\n',
    "table with an unknown term": STUDY + '[tables.t]\nmodels = ["main"]\nterms = { X = "a" }\n',
    "tables that are none": 'tables = 3\n' + STUDY,
    "unit": STUDY.replace("rows = 400", 'unit = "person"'),
    "unit of a model": STUDY.replace("epsilon = 4", 'epsilon = 4\nunit = "person"'),
    "publication": STUDY + '[publication]\nname = "x"\n',
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_study_that_cannot_run_is_refused_before_anything_is_spent(folder, ledger, name):
    (folder / "study.toml").write_text(BAD[name])
    before = ledger.verify()
    with pytest.raises(dp.ArgumentError) as raised:
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert len(str(raised.value)) > 15
    assert ledger.verify() == before and not (folder / "out").exists()


def test_results_of_one_name_are_refused(folder):
    """A formula that occurs twice in a model, or a model named as a result of another is."""
    twice = STUDY.replace('["y ~ x", "z ~ x"]', '["y ~ x", "y ~ x"]')
    other = STUDY.replace("[models.kinds]", '[models."areas: y ~ x"]')
    for text in (twice, other):
        (folder / "study.toml").write_text(text)
        with pytest.raises(dp.ArgumentError, match="several results named 'areas: y ~ x'"):
            dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
        assert not (folder / "out").exists()


PERSONS = """
data = "panel.csv"
unit = "person"
bounds = { x = [0, 1], y = [-3, 4] }
types = { person = "integer", tract = "string" }
[models.main]
formula = "y ~ x"
method = "adassp"
epsilon = 4
[models.areas]
formula = "y ~ x"
by = "tract"
groups = ["a", "b"]
method = "adassp"
max_rows = 2
epsilon = 4
"""


def test_a_study_clusters_errors_by_a_column(folder):
    rng = np.random.default_rng(0)
    tract = rng.integers(0, 40, 2000)
    x = rng.uniform(size=2000)
    y = x + rng.normal(size=40)[tract] / 4 + rng.normal(size=2000) / 4
    pd.DataFrame({"tract": tract, "x": x, "y": y}).to_csv(folder / "tracts.csv", index=False)
    (folder / "study.toml").write_text("""
data = "tracts.csv"
bounds = { x = [0, 1], y = [-3, 4] }
types = { tract = "integer" }
[models.main]
formula = "y ~ x"
cov_type = "cluster"
cluster = "tract"
epsilon = 4
""")
    dp.run_study(folder / "study.toml", folder / "dry", dry_run=True)
    ledger = dp.Ledger.create(folder / "t.ledger", dataset="t", epsilon=20, delta=1e-4)
    dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    main = from_text((folder / "out" / "release.json").read_text())["main"]
    assert main.cov_type == "cluster"
    assert main.fit_statistics.loc["clusters", "estimate"] == pytest.approx(40, rel=0.3)


def test_a_study_of_persons_protects_each_with_all_rows(folder):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(300), 4)
    frame = pd.DataFrame({"person": person, "x": rng.uniform(size=1200)})
    frame["y"] = frame["x"] + rng.normal(size=300)[person] / 2
    frame["tract"] = np.where(person % 2, "a", "b")
    frame.to_csv(folder / "panel.csv", index=False)
    (folder / "study.toml").write_text(PERSONS)
    dp.run_study(folder / "study.toml", folder / "dry", dry_run=True)
    rows = dp.Ledger.create(folder / "rows.ledger", dataset="p", epsilon=20, delta=1e-4)
    with pytest.raises(dp.BudgetError, match="add_remove of person"):
        dp.run_study(folder / "study.toml", folder / "out", ledger=rows)
    assert not (folder / "out").exists()
    persons = dp.Ledger.create(
        folder / "persons.ledger", dataset="p", epsilon=20, delta=1e-4, unit="person"
    )
    dp.run_study(folder / "study.toml", folder / "out", ledger=persons)
    main = from_text((folder / "out" / "release.json").read_text())["main"]
    assert (main.privacy.unit, main.privacy.max_rows, main.cov_type) == ("person", 1, "cluster")
    page = (folder / "out" / "index.html").read_text()
    assert "all rows of each person" in page and "count for 2 rows in all" in page


@pytest.mark.parametrize("old", ["z = [0, 1]", 'groups = ["a0", "a1"]', 'kind = ["u", "v"]'])
def test_a_dry_run_needs_declarations(folder, old):
    (folder / "study.toml").write_text(STUDY.replace(old, ""))
    with pytest.raises(dp.ArgumentError, match="a dry run"):
        dp.run_study(folder / "study.toml", folder / "out", dry_run=True)


def test_synthetic_rows_keep_to_the_declarations(folder):
    from dpstats.study import Study
    from dpstats.study.synthetic import synthetic_rows

    frame = synthetic_rows(Study.read(folder / "study.toml"))
    assert len(frame) == 400 and {*frame} == {"x", "y", "z", "kind", "area"}
    assert frame[["x", "y", "z"]].min().min() >= 0 and frame[["x", "y", "z"]].max().max() <= 1
    assert {*frame["area"]} == {"a0", "a1"} and {*frame["kind"]} == {"u", "v"}
    assert abs(np.corrcoef(frame["x"], frame["y"])[0, 1]) < 0.2


def test_the_folder_is_checked_before_anything_is_spent(folder, ledger):
    (folder / "out").mkdir()
    for out in ("out", "no/out"):
        with pytest.raises(dp.ArgumentError):
            dp.run_study(folder / "study.toml", folder / out, ledger=ledger)
    with pytest.raises(dp.ArgumentError, match="expected dry_run to be True or False, got 'a'"):
        dp.run_study(folder / "study.toml", folder / "new", ledger=ledger, dry_run="a")
    with pytest.raises(dp.ArgumentError, match=r"a dpstats\.Ledger"):
        dp.run_study(folder / "study.toml", folder / "new", ledger=dp.Budget(1))
    assert ledger.spent == (0, 0)


@pytest.mark.parametrize("out", ["x" * 300, *["/proc/out"] * os.path.isdir("/proc")])
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_spent(folder, ledger, out):
    with pytest.raises(dp.ArgumentError, match=f"^cannot write .*{out}: .*; name another folder"):
        dp.run_study(folder / "study.toml", folder / out, ledger=ledger)
    assert ledger.spent == (0.0, 0.0)


def test_the_shell_runs_studies(folder, ledger, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert cli.main(["run", "study.toml", "-o", "out"]) == 2
    assert "--dry-run" in capsys.readouterr().err
    assert cli.main(["run", "study.toml", "-o", "dry", "--dry-run"]) == 0
    assert cli.main(["run", "study.toml", "-o", "out", "--ledger", "f.ledger"]) == 0
    assert cli.main(["verify", "out"]) == 0 and ledger.spent[0] == pytest.approx(7.0)
    assert cli.main(["run", "study.toml", "-o", "out", "--ledger", "f.ledger"]) == 2


def test_a_study_weighs_and_chooses_rows(folder):
    """The columns beside the formula take their part in what models share, and in a dry run."""
    text = STUDY.split("[models.main]")[0].replace(
        "[levels]", "w = [0, 5]\nage = [0, 99]\n\n[levels]"
    )
    text += """
[models.weighted]
formula = "y ~ x"
method = "adassp"
epsilon = 50
weights = "w"
trim_weights = 4
subset = "age > 25 & kind == 'u'"
"""
    (folder / "study.toml").write_text(text)
    out = dp.run_study(folder / "study.toml", folder / "out", dry_run=True)
    said = " ".join(released(out)["weighted"].privacy.assumptions)
    assert "rows are used where age > 25 & kind == 'u'" in said and "(trim_weights)" in said


def test_models_may_absorb_what_others_have_as_a_factor(folder):
    """Levels that models share are not those of an absorbed column."""
    text = STUDY.split("[models.main]")[0]
    for name, formula in (("absorbing", "y ~ x | kind"), ("plain", "y ~ x + kind")):
        text += f'[models.{name}]\nformula = "{formula}"\nmethod = "adassp"\nepsilon = 50\n\n'
    (folder / "study.toml").write_text(text)
    fits = released(dp.run_study(folder / "study.toml", folder / "out", dry_run=True))
    assert list(fits["absorbing"].params.index) == ["x"] and len(fits["plain"].params) > 2


IN_R = """
data = "line.csv"
language = "R"
bounds = { x = [0, 1], y = [0, 1] }
levels = { kind = ["u", "v"] }
[models.main]
formula = "y ~ x + I(x^2) + factor(kind)"
method = "adassp"
epsilon = 2
subset = "x > 0.1 & !(x > 0.9 & kind %in% c('u'))"
[models.other]
language = "Python"
formula = "y ~ np.sqrt(x)"
method = "adassp"
epsilon = 1
"""


def test_a_study_says_which_language_its_formulas_are_in(folder):
    (folder / "study.toml").write_text(IN_R)
    ledger = dp.Ledger.create(folder / "l", dataset="line", epsilon=9, delta=1e-5)
    for out, how in (("dry", {"dry_run": True}), ("out", {"ledger": ledger})):
        made = dp.run_study(folder / "study.toml", folder / out, **how)
        main = from_text((made / "release.json").read_text())["main"]
        assert main.names == ("(Intercept)", "x", "I(x^2)", "factor(kind)v")
        assert isinstance(main.formula, dp.RFormula)
    assert ledger.requests()["formula"].tolist()[1] == "y ~ np.sqrt(x)"


@pytest.mark.parametrize(
    ("language", "formula", "message"),
    [
        ("Python", "y ~ I(x^2)", 'as a formula of R it can be read: write language = "R"'),
        ("Python", "y ~ log(x + 1) + relevel(kind, 'v')", "formula of R"),
        ("R", "y ~ np.sqrt(x)", 'as a formula of Python it can be read: write language = "Python"'),
        ("R", "y ~ mean(x)", r"^models\.main: (?!.*language)"),
        ("r", "y ~ x", "expected language to be 'Python' or 'R', got 'r'"),
    ],
)
def test_a_formula_of_the_other_language_is_told(folder, language, formula, message):
    text = IN_R.replace("y ~ x + I(x^2) + factor(kind)", formula)
    (folder / "study.toml").write_text(text.replace('language = "R"', f'language = "{language}"'))
    with pytest.raises(dp.ArgumentError, match=message):
        dp.run_study(folder / "study.toml", folder / "dry", dry_run=True)
    assert not (folder / "dry").exists()
