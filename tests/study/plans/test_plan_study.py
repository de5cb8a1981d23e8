"""Plans of studies: they cost what a run costs, read nothing private, and are near the run."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.study import Study
from tests.checks.study_plans import PAPER, law, made, widths

OWN = """
data = "people.csv"
bounds = { age = [18, 90], wage = [0, 200] }
[guesses]
n = 3000
[models.main]
formula = ["wage ~ age", "age ~ wage"]
method = "adassp"
neighbors = "replace_one"
epsilon = 3
[models.lines]
formula = "wage ~ age"
method = "noisy_stats"
epsilon = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    law(6000, 1).to_csv(folder / "stand_in.csv", index=False)
    law(6000, 2).to_csv(folder / "people.csv", index=False)
    (folder / "study.toml").write_text(PAPER)
    return folder


@pytest.fixture(scope="module")
def planned(folder):
    call = {"data": folder / "stand_in.csv", "repetitions": 3, "progress": False}
    return dp.plan_study(folder / "study.toml", **call)


def test_the_plan_is_near_a_run_on_other_rows_of_the_same_law(planned, folder):
    models = Study.read(folder / "study.toml").models
    with dp.testing.insecure_seed(3):
        ran = {model.name: model.call(folder / "people.csv", progress=False) for model in models}
    own = planned.frame[planned.frame["epsilon"] == 2].set_index(["table", "term"])
    run = widths(ran).reindex(own.index)
    assert len(own) == 17 and run.notna().all()
    error = (own["width"] / run - 1).abs()
    assert error.groupby("table").median().max() < 0.25 and error.median() < 0.1


def test_the_plan_charges_what_the_run_charges_to_the_digit(planned, folder):
    ledger = dp.Ledger.create(folder / "l", dataset="p", epsilon=2, data=folder / "people.csv")
    dp.run_study(folder / "study.toml", folder / "out", ledger=ledger)
    own = planned.frame[planned.frame["epsilon"] == 2].groupby("table", sort=False)
    assert own["table_epsilon"].first().tolist() == ledger.requests()["epsilon"].tolist()
    assert own["share"].first().tolist() == pytest.approx([0.2, 0.5, 0.3])
    assert planned.spent[2.0] == ledger.spent == (pytest.approx(2), 5e-7)


def test_each_epsilon_is_spent_as_a_whole(planned):
    assert planned.epsilons == (0.5, 1, 2, 4, 8)
    for epsilon, (spent, delta) in planned.spent.items():
        assert spent == pytest.approx(epsilon, rel=1e-6) and spent <= epsilon and delta == 5e-7


def test_nothing_private_is_read_and_nothing_is_spent(folder, tmp_path):
    """The study's data need not be there; its own file is refused as a stand-in."""
    (tmp_path / "study.toml").write_text(PAPER)
    plan = dp.plan_study(tmp_path / "study.toml", epsilon=2, n=1000, repetitions=1, progress=False)
    assert plan.n == 1000 and [path.name for path in tmp_path.iterdir()] == ["study.toml"]
    (folder / "link.csv").symlink_to(folder / "people.csv")
    for data in ("people.csv", "link.csv", "p*.csv"):
        with pytest.raises(dp.ArgumentError, match="is the study's own data"):
            dp.plan_study(folder / "study.toml", data=folder / data)


def test_widths_without_privacy_are_those_of_others(planned, folder):
    frame = pd.read_csv(folder / "stand_in.csv")
    frame["smoker"] = frame["smoker"].astype(int)
    own = planned.frame.drop_duplicates(["table", "term"]).set_index(["table", "term"])
    without = own["nonprivate_width"]
    ols = smf.ols("wage ~ age + C(region)", frame).fit().conf_int()
    logit = smf.logit("smoker ~ age", frame).fit(disp=0).conf_int()
    for name, table in (("main", ols), ("smoking", logit)):
        assert without[name].to_numpy() == pytest.approx((table[1] - table[0]).to_numpy(), rel=0.02)
    mean = 2 * 1.96 * frame["wage"].sem()
    assert without["Table 1", "wage: mean"] == pytest.approx(mean, rel=0.02)


def test_the_epsilons_for_widths_lie_where_the_ratios_cross(planned):
    needed = [planned.epsilon_for(ratio) for ratio in (1.1, 1.25, 1.5)]
    assert needed == sorted(needed, reverse=True)
    for table in (None, "main"):
        frame = planned.frame if table is None else planned.frame.query("table == @table")
        for ratio in (1.1, 1.25, 1.5):
            epsilon = planned.epsilon_for(ratio, table=table)
            after = frame[(frame["epsilon"] >= epsilon) & frame["ratio"].notna()]
            assert ((after["ratio"] <= ratio).groupby(after["epsilon"]).mean() >= 0.5).all()
    assert planned.epsilon_for(1.25, 0.9) > planned.epsilon_for(1.25)
    assert planned.epsilon_for(1.001) == np.inf and planned.epsilon_for(1e6, table="main") == 0.5
    for wrong in ({"ratio": 1}, {"ratio": 2, "fraction": 0}, {"ratio": 2, "table": "mian"}):
        with pytest.raises(dp.ArgumentError):
            planned.epsilon_for(**wrong)
    for wrong in (0, -1, "1"):
        with pytest.raises(dp.ArgumentError, match="finite epsilon > 0"):
            planned.promise(wrong)


def test_the_summary_says_what_matters(planned):
    text = planned.summary()
    assert text.startswith("Which epsilon for study.toml: 3 tables, 17 intervals, 6,000 rows")
    said = " ".join(text.split())
    for part in ("2*", "even share", "hidden intervals", "half of the intervals", "widest at",
                 "at most 88%", "that the person is in the table or not", "taken as public",
                 "No private data were read, nothing is spent"):  # fmt: skip
        assert part in said, part
    assert repr(planned) == text and "<table" in planned._repr_html_()


def test_even_shares_bring_medians_nearer_to_one_another(folder):
    call = {"data": folder / "stand_in.csv", "epsilon": 0.7, "progress": False}
    text = PAPER.replace("epsilon = 2", "epsilon = 0.7")
    (folder / "uneven.toml").write_text(text)
    before = dp.plan_study(folder / "uneven.toml", **call)
    even = before.tables["even_share"]
    for old, share in zip(("0.2", "0.5"), even, strict=False):
        text = text.replace(f"share = {old}", f"share = {share}")
    (folder / "even.toml").write_text(text)
    after = dp.plan_study(folder / "even.toml", **call)
    assert even.sum() == pytest.approx(1) and before.repetitions == 9
    spread = [np.ptp(np.log(plan.tables[0.7] ** 2 - 1)) for plan in (before, after)]
    assert spread[1] < 0.6 * spread[0]


def test_it_draws_and_writes(planned, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    axes = planned.plot()
    assert [line.get_label() for line in axes.lines] == [*planned.tables.index, "not private"]
    np.testing.assert_allclose(axes.lines[1].get_ydata(), planned.tables.loc["main"].iloc[1:-1])
    planned.to_csv(tmp_path / "plan.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "plan.csv"), planned.frame)


def test_entries_with_epsilons_of_their_own_have_parts_of_the_sum(tmp_path):
    (tmp_path / "study.toml").write_text(OWN)
    plan = dp.plan_study(tmp_path / "study.toml", epsilon=[8], repetitions=2, progress=False)
    own = plan.frame.groupby(["table", "epsilon"])["table_epsilon"].first().unstack()
    assert (plan.epsilon, plan.epsilons, plan.shared) == (4, (4, 8), False)
    assert own.loc["lines"].tolist() == [1, 2]
    assert own.loc["main: wage ~ age"].tolist() == pytest.approx([3, 6])
    assert plan.spent[4.0][0] == pytest.approx(4) and "even_share" not in plan.tables
    assert plan.frame.query("table == 'lines'")["ratio"].isna().all()
    assert "no interval without privacy either" in plan.summary()
    law(3000, 1).to_csv(tmp_path / "people.csv", index=False)
    ledger = dp.Ledger.create(
        tmp_path / "l", dataset="p", epsilon=9, composition="sum", neighbors="replace_one"
    )
    dp.run_study(tmp_path / "study.toml", tmp_path / "out", ledger=ledger)
    assert ledger.spent == plan.spent[4.0]


def test_a_seed_gives_the_same_plan(tmp_path):
    (tmp_path / "study.toml").write_text(PAPER)
    call = {"n": 500, "epsilon": 1, "repetitions": 1, "progress": False}
    first, again, other = (
        dp.plan_study(tmp_path / "study.toml", seed=seed, **call) for seed in (0, 0, 1)
    )
    assert first.frame.equals(again.frame) and not first.frame.equals(other.frame)


def test_a_kind_without_responses_of_its_own_is_planned(tmp_path, monkeypatch):
    """Its columns are independent, and it is run like the others."""
    monkeypatch.setattr("dpstats.study.plans.rows.RESPONSES", {})
    plan = made(tmp_path, n=4000, epsilon=[8], repetitions=1)
    frame = plan.frame.query("epsilon == 8 and table != 'Table 1'")
    assert len(frame) == 5 and frame["ratio"].between(0.9, 1.5).all()


GROUPED = """
data = "people.csv"
bounds = { age = [18, 90] }
types = { smoker = "boolean", visits = "number" }
[guesses]
n = 8000
truth = { smoking = { age = 0.03 } }
[[logit]]
name = "smoking"
formula = "smoker ~ age"
by = "region"
groups = ["north", "south"]
epsilon = 4
[[poisson]]
name = "visits"
formula = "visits ~ age"
by = ["region", "sex"]
groups = [["north", "f"], ["south", "m"]]
bounds = { visits = [0, 20] }
epsilon = 4
"""


def test_groups_of_outcomes_and_counts_are_planned(tmp_path):
    plan = made(tmp_path, GROUPED, epsilon=[16], repetitions=2)
    frame = plan.frame.query("epsilon == 16").set_index(["table", "term"])
    labels = {"smoking": ["north", "south"], "visits": ["north, f", "south, m"]}
    terms = {name: [f"age, {label}" for label in own] for name, own in labels.items()}
    for name, own in terms.items():
        ratio = frame.loc[[(name, term) for term in own], "ratio"]
        assert len(ratio) == 2 and ratio.between(0.9, 2).all(), ratio


BAD = {
    "no rows": (PAPER.replace("n = 6000", ""), {}, "needs the number of rows"),
    "another guess": (PAPER.replace("n = 6000", "m = 3"), {}, "no entry 'm'"),
    "coefficients of no result": (PAPER, {"truth": {"mian": {"age": 1}}}, "truth names 'mian'"),
    "coefficients without result": (PAPER, {"truth": {"main": 3}}, "a mapping"),
    "an unknown coefficient": (PAPER, {"truth": {"main": {"agee": 1}}}, r"truth\['main'\] names"),
    "deviation of a column": (PAPER, {"sd": {"wage": 1}}, "sd names 'wage'"),
    "deviation of a logit": (PAPER, {"sd": {"smoking": 1}}, "sd names 'smoking'; .*among: main$"),
    "negative deviation": (PAPER, {"sd": {"main": -1}}, r"sd\['main'\] > 0"),
    "spread of no column": (PAPER, {"x_sd": {"agee": 1}}, "x_sd names 'agee'"),
    "range beyond the bounds": (PAPER, {"x_range": {"age": (0, 50)}}, "within its bounds"),
    "half a row": (PAPER, {"n": 0.5}, "n "),
    "no repetition": (PAPER, {"repetitions": 0}, "repetitions"),
    "epsilon 0": (PAPER, {"epsilon": [0, 1]}, "epsilon"),
    "no epsilon": (PAPER, {"epsilon": []}, r"numbers > 0, such as \[0.5, 1\], got \[\]$"),
    "column without bounds": (PAPER.replace("wage = [0, 200]", ""), {}, "bounds"),
    "an entry that a run refuses": (PAPER.replace('"HC1"', '"HC9"'), {}, "HC9"),
    "guesses beside a stand-in": (PAPER, {"data": law(10, 1), "sd": {"main": 1}}, "sd is for"),
    "an empty stand-in": (PAPER, {"data": law(0, 1)}, "stand-in is empty"),
    "a stand-in without a column": (PAPER, {"data": law(9, 1).drop(columns="age")}, "age"),
    "a sample of persons": ('unit = "state"\n' + PAPER, {"data": law(9, 1), "n": 20}, "leave n"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_planned_is_refused(name, tmp_path):
    text, more, message = BAD[name]
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(dp.ArgumentError, match=message):
        dp.plan_study(tmp_path / "study.toml", progress=False, **more)


def test_guesses_tell_nothing_of_instruments(tmp_path):
    """Guessed coefficients of any name were printed as such, and no row followed from them."""
    text = PAPER.replace("[[logit]]", "[[iv]]").replace("smoker ~ age", "wage ~ [age ~ educ]")
    text = text.replace("smoking = { age = 0.03 }\n", "").replace(
        "[bounds]", "[bounds]\neduc = [8, 20]"
    )
    plan = made(tmp_path, text, epsilon=[2], repetitions=1)
    assert "the columns of smoking are independent, so that instruments tell nothing" in str(plan)
    with pytest.raises(dp.ArgumentError, match="truth names 'smoking'; .* among: main$"):
        made(tmp_path, text, truth={"smoking": {"age": 1}})


@pytest.mark.parametrize("path", [3, None, ["a"], "a\0b"])
def test_what_is_no_path_is_refused(path, tmp_path):
    with pytest.raises(dp.ArgumentError, match="expected study to be the path of a file"):
        dp.plan_study(path)
    with pytest.raises(dp.ArgumentError, match="expected path to be the path of a file"):
        dp.run_study(path, tmp_path / "out", dry_run=True)


def test_hidden_intervals_are_counted(tmp_path):
    """Of 60 rows at a small epsilon nothing is shown, and the plan says so."""
    plan = made(tmp_path, n=60, epsilon=[0.1], repetitions=2)
    small = plan.frame.query("epsilon == 0.1 and table == 'main' and term == 'age'")
    assert small["shown"].item() == 0 and small["ratio"].item() == np.inf
    assert "hidden" in plan.summary() and plan.epsilon_for(1.25, table="main") == np.inf
