"""Studies of several kinds: one budget by shares, every kind in the record, nothing lost."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

import dpstats as dp
from dpstats.results.record.record import verify_record
from dpstats.results.restored_calls import from_text
from dpstats.study import Study

PAPER = """
data = "people.csv"
rows = 2000
epsilon = 2

[bounds]
age = [18, 90]
wage = [0, 200]

[levels]
region = ["north", "south"]

[types]
smoker = "boolean"
educ = "integer"

[[describe]]
name = "Table 1"
columns = ["age", "wage", "smoker"]
by = "region"
share = 0.2

[[ols]]
name = "main"
formula = "wage ~ age + C(region)"
share = 0.5

[[logit]]
name = "smoking"
formula = "smoker ~ age"

[models.check]
formula = "wage ~ age"
cov_type = "HC1"

[publication]
name = "Wages"
data_curators = ["Office"]
intended_use = "A test"
data_product_region = "Nowhere"
registry_authors = ["A. Author"]

[tables.wages]
models = ["main", "check", "smoking"]
stars = true
terms = { age = "Years of life" }
notes = "Wages in dollars."
"""
NAMES = ["Table 1", "main", "smoking", "check"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 90, 5000)
    frame = pd.DataFrame({
        "age": age, "wage": 20 + age / 2 + rng.normal(size=5000),
        "smoker": rng.random(5000) < 0.2 + age / 200,
        "region": rng.choice(["north", "south"], 5000),
        "educ": rng.integers(8, 20, 5000),
    })  # fmt: skip
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(PAPER)
    return tmp_path


def make_ledger(folder, name="people.ledger", **more):
    call = {"dataset": "people", "epsilon": 2, "data": folder / "people.csv"} | more
    return dp.Ledger.create(folder / name, **call)


def released(folder):
    return from_text((folder / "release.json").read_text())


def test_a_paper_comes_from_one_budget(folder):
    """The ledger of epsilon 2 is spent to the digit, and each entry has its share of mu squared."""
    ledger = make_ledger(folder)
    out = dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert verify_record(out) == () and ledger.verify().ok
    results = released(out)
    assert list(results) == NAMES
    assert ledger.spent == pytest.approx((2.0, 5e-7), rel=1e-6) and ledger.spent[0] <= 2
    parts = [result.privacy.limit.mu**2 for result in results.values()]
    assert np.array(parts) / sum(parts) == pytest.approx([0.2, 0.5, 0.15, 0.15], rel=1e-6)
    assert [result.method for result in results.values()] == [
        "describe", "noisy_newton", "noisy_logit", "noisy_newton",
    ]  # fmt: skip
    assert results["main"].params["age"] == pytest.approx(0.5, abs=0.1)
    assert results["smoking"].params["age"] > 0
    table = pd.read_csv(out / "table_1_wages.csv")
    assert table["result"].unique().tolist() == ["main", "check", "smoking"]
    printed = (out / "table_1_wages.tex").read_text()
    assert "Years of life" in printed and "***" in printed and "Wages in dollars." in printed
    names = {path.name for path in out.iterdir()}
    assert {"1_Table_1.tex", "1_Table_1.csv", "2_main.csv", "3_smoking.csv"} <= names
    page = (out / "index.html").read_text()
    assert results["Table 1"].to_html() in page and "smoker ~ age" in page
    assert page.count("All together have epsilon=2 and delta=5e-07") == 1
    loss = yaml.safe_load((out / "registry.yaml").read_text())["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 2.0, "delta": 5e-7}
    outputs = json.loads((out / "results.json").read_text())["results"].values()
    assert [each["type"] for each in outputs] == [
        "table", "regression", "regression", "regression", "table",
    ]  # fmt: skip


def test_a_cut_off_run_is_repeated_for_what_is_missing(folder):
    """What the store has is answered from it, a description too; nothing is spent again."""
    ledger = make_ledger(folder, fingerprint="2024")
    first = dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    spent = ledger.spent
    again = dp.run_study(folder / "study.toml", folder / "again", ledger=ledger)
    assert (again / "release.json").read_text() == (first / "release.json").read_text()
    assert ledger.spent == spent and len(ledger.requests()) == 4


def test_a_dry_run_reads_nothing_and_says_so(folder):
    (folder / "people.csv").unlink()
    out = dp.run_study(folder / "study.toml", folder / "dry", dry_run=True)
    results = released(out)
    assert list(results) == NAMES and not any(each.privacy.private for each in results.values())
    counts = results["smoking"].fit_statistics
    assert counts.loc["nobs", "estimate"] == pytest.approx(2000, rel=0.2)
    assert results["Table 1"].by == "region"
    assert "All together" not in (out / "index.html").read_text()


def test_a_budget_that_does_not_cover_the_study_loses_nothing(folder):
    ledger = make_ledger(folder, epsilon=1.9)
    with pytest.raises(dp.BudgetError, match="does not fit"):
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert ledger.spent == (0, 0) and not len(ledger.requests()) and not (folder / "out").exists()


def test_entries_without_a_share_divide_what_is_left(folder):
    (folder / "study.toml").write_text(PAPER.replace("share = 0.5", "").replace("share = 0.2", ""))
    limit = dp.Budget(2, 5e-7)
    study = Study.read(folder / "study.toml")
    epsilons = {model.arguments["epsilon"] for model in study.models}
    assert len(epsilons) == 1 and {model.arguments["delta"] for model in study.models} == {5e-7}
    for model in study.models:
        model.call(folder / "people.csv", budget=limit)
    assert limit.spent[0] == pytest.approx(2, rel=1e-6)


BAD = {
    "shares above 1": (("share = 0.2", "share = 0.7"), "the shares of the study add up to 1.2"),
    "nothing left": (("share = 0.2", "share = 0.5"), "2 entries without share would have none"),
    "a share of 0": (("share = 0.2", "share = 0"), r"share of \[\[describe\]\] in \(0, 1\], got 0"),
    "a share that is a text": (("share = 0.2", 'share = "half"'), r"share of \[\[describe\]\]"),
    "epsilon beside the study's": (("share = 0.5", "epsilon = 1"), "has its own epsilon"),
    "delta of an entry": (("share = 0.5", "delta = 1e-6"), "has its own delta"),
    "a share of nothing": (("epsilon = 2", ""), "no epsilon to take it of"),
    "delta alone": (("epsilon = 2", "delta = 1e-6"), "delta without epsilon"),
    "no delta": (("epsilon = 2", "epsilon = 2\ndelta = 0"), "needs delta > 0"),
    "a pure method": (
        ("share = 0.5", 'method = "noisy_stats"'),
        "noise of noisy_stats in .* leave epsilon out at the top",
    ),
    "a method of its own delta": (
        ('formula = "wage ~ age"\ncov_type = "HC1"', 'formula = "wage ~ age"\nmethod = "tukey"'),
        "the noise of 'check' is not Gaussian",
    ),
    "another relation": (("share = 0.5", 'neighbors = "replace_one"'), "one neighbour relation"),
    "single brackets": (("[[logit]]", "[logit]"), r"write \[\[logit\]\] for each"),
    "a name that is a number": (('name = "main"', "name = 3"), "to be a text, got 3"),
    "one name twice": (('name = "main"', 'name = "smoking"'), "several results named 'smoking'"),
    "no columns": (('columns = ["age", "wage", "smoker"]', ""), "needs columns"),
    "a formula of a description": (('by = "region"', 'formula = "y ~ x"'), "no entry 'formula'"),
    "an unknown entry": (('by = "region"', "colour = 3"), "no entry 'colour'"),
    "stars that are symbols": (("stars = true", 'stars = "*"'), r"stars.*got '\*'"),
    "terms that are a list": (("terms = { age = \"Years of life\" }", 'terms = ["age"]'), "terms"),
    "notes that are a number": (('notes = "Wages in dollars."', "notes = 3"), "notes to be a text"),
    "a description in a table": (('["main", "check"', '["Table 1"'), "is a table already"),
    "an extreme": (('by = "region"', 'statistics = ["max"]'), "statistics names 'max'"),
    "a column that is not there": (('"age", "wage"', '"age", "income"'), "^Table 1: .*'income'"),
    "persons of several rows": (("rows = 2000", 'unit = "age"'), "rows of a person"),
    "clusters of a logit": (
        ('formula = "smoker ~ age"', 'formula = "smoker ~ age"\ncluster = "educ"'),
        "add cov_type=",
    ),
    "columns of a logit": (('name = "smoking"', 'name = "smoking"\ncolumns = ["age"]'), "columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_run_is_refused_before_anything_is_spent(folder, name):
    (old, new), said = BAD[name]
    assert old in PAPER
    (folder / "study.toml").write_text(PAPER.replace(old, new, 1))
    ledger = make_ledger(folder)
    before = ledger.verify()
    with pytest.raises(dp.ArgumentError, match=said):
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert ledger.verify() == before and not (folder / "out").exists()


def test_a_ledger_that_adds_epsilons_takes_no_shares(folder):
    ledger = make_ledger(folder, epsilon=20, delta=1e-4, composition="sum")
    with pytest.raises(dp.ArgumentError, match='composition="gdp"'):
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert ledger.spent == (0, 0)


def test_a_failure_leaves_no_folder_and_what_is_left_fails(folder, monkeypatch):
    def stop(*arguments):
        raise ValueError("0.123456789")

    monkeypatch.setattr("dpstats.run.describe.describe", stop)
    ledger = make_ledger(folder)
    with pytest.raises(dp.InternalError) as raised:
        dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    assert "0.123456789" not in str(raised.value) and not (folder / "out").exists()
    assert ledger.requests()["state"].tolist() == ["failed"] * 4


def test_progress_counts_entries(folder, capsys, monkeypatch):
    """Lines where there is no terminal; none where they are not asked for."""
    monkeypatch.setattr("dpstats.progress_bar._DELAY", 0.0)
    for out, progress in (("none", False), ("shown", True)):
        dp.run_study(folder / "study.toml", folder / out, dry_run=True, progress=progress)
        said = capsys.readouterr().err
        assert (said == "") is not progress
    assert [line.split(" (")[0] for line in said.splitlines()] == [
        "dry run: 25%", "dry run: 50%", "dry run: 75%", "dry run: 100%",
    ]  # fmt: skip


WITH_INSTRUMENTS = """
data = "people.csv"
rows = 2000
epsilon = 4
bounds = { age = [18, 90], wage = [0, 200], near = [-5, 100] }
[[ols]]
formula = "wage ~ age"
[[iv]]
formula = "wage ~ [age ~ near]"
share = 0.6
[tables.both]
models = ["ols", "iv"]
"""
IN_FIXESTS = WITH_INSTRUMENTS.replace("wage ~ [age ~ near]", "wage ~ 1 | age ~ near").replace(
    "rows = 2000", 'rows = 2000\nlanguage = "R"'
)


@pytest.mark.parametrize("text", [WITH_INSTRUMENTS, IN_FIXESTS])
def test_instruments_are_a_kind(folder, text):
    """The dry run, the run and its table, with the number of rows of each."""
    frame = pd.read_csv(folder / "people.csv")
    frame["near"] = frame["age"] + np.random.default_rng(1).normal(size=len(frame))
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "study.toml").write_text(text)
    dry = released(dp.run_study(folder / "study.toml", folder / "dry", dry_run=True))
    assert list(dry) == ["ols", "iv"] and isinstance(dry["iv"], dp.DPIVResults)
    ledger = make_ledger(folder, epsilon=4)
    out = dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    found = released(out)["iv"]
    assert found.params["age"] == pytest.approx(0.5, abs=0.05) and found.status == "ok"
    assert verify_record(out) == () and found.instrument_formula in text
    printed = (out / "table_1_both.txt").read_text()
    assert re.search(r"^N +\d+ \(\d+\) +\d+ \(\d+\)$", printed, re.MULTILINE)


COUNTS = """
data = "people.csv"
rows = 2000
epsilon = 3
bounds = { age = [18, 90] }
types = { visits = "number" }
[[poisson]]
formula = "visits ~ age"
"""


def test_counts_are_a_kind(folder):
    frame = pd.read_csv(folder / "people.csv")
    visits = np.random.default_rng(1).poisson(np.exp(0.02 * frame["age"]))
    frame.assign(visits=visits).to_csv(folder / "people.csv", index=False)
    (folder / "study.toml").write_text(COUNTS)
    ledger = make_ledger(folder, epsilon=4)
    found = released(dp.run_study(folder / "study.toml", folder / "out", ledger=ledger))["poisson"]
    assert found.method == "noisy_poisson" and ledger.spent[0] == pytest.approx(3)
    assert found.params["age"] == pytest.approx(0.02, abs=0.02)


def test_several_formulas_with_instruments_are_several_entries(folder):
    several = 'formula = ["wage ~ [age ~ educ]", "age ~ [wage ~ educ]"]'
    text = WITH_INSTRUMENTS.replace('formula = "wage ~ [age ~ near]"', several)
    (folder / "study.toml").write_text(text)
    with pytest.raises(dp.ArgumentError, match=r"\[\[iv\]\] takes one formula"):
        Study.read(folder / "study.toml")


IN_R = """
data = "people.csv"
epsilon = 1
language = "R"
bounds = { age = [18, 90], wage = [0, 200] }
types = { smoker = "boolean" }
[[describe]]
columns = "age"
subset = "age > 25 & !smoker"
[[logit]]
formula = "smoker ~ age + I(age^2)"
"""


def test_a_description_of_a_study_has_persons_weights_and_histograms(folder):
    """The unit of the study is that of its description; bounds of the weights come along."""
    more = 'columns = "age"\nweights = "wage"\nhistogram = true'
    text = IN_R.replace('columns = "age"', more).replace(
        "epsilon = 1", 'epsilon = 1\nunit = "educ"'
    )
    text = text.replace('smoker = "boolean"', 'smoker = "boolean", educ = "integer"')
    (folder / "study.toml").write_text(text)
    ledger = make_ledger(folder, unit="educ")
    results = released(dp.run_study(folder / "study.toml", folder / "out", ledger=ledger))
    found = results["describe"]
    assert found.privacy.unit == "educ" and found.bars
    assert "weighted by wage" in " ".join(found.privacy.assumptions)
    assert len([*(folder / "out").glob("*describe*.png")]) == 1


def test_a_study_of_r_has_its_kinds_too(folder):
    """Entries without names are named by their kinds."""
    (folder / "study.toml").write_text(IN_R)
    results = released(
        dp.run_study(folder / "study.toml", folder / "out", ledger=make_ledger(folder))
    )
    assert list(results) == ["describe", "logit"]
    assert results["logit"].names == ("(Intercept)", "age", "I(age^2)")
    assert "!smoker" in " ".join(results["describe"].privacy.assumptions)
