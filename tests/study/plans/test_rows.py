"""Rows of plans: a stand-in as it is or sampled, and rows drawn from guesses."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import dpstats as dp
from dpstats.engines import Table
from dpstats.schema import Numeric
from dpstats.study import Study
from dpstats.study.plans.guesses import Guesses
from dpstats.study.plans.rows import Guessed, StandIn
from tests.checks.study_plans import PAPER, law, made

RANGES = {"age": Numeric(-1e9, 1e9), "wage": Numeric(-1e9, 1e9)}


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(PAPER.replace("n = 6000\n", ""))
    return Study.read(tmp_path / "study.toml")


def values(table: Table) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(batch) for batch in table.batches(RANGES)], ignore_index=True)


def test_all_rows_of_a_stand_in_are_used_as_they_are(study):
    frame = law(50, 1)
    drawn = StandIn.of(study, frame, {})
    assert drawn.n == 50 and drawn.sentences() == ("rows of a table, taken as public: 50",)
    for model in study.models:
        found = values(drawn.call(model, [0])["data"])
        pd.testing.assert_frame_equal(found, frame[["age", "wage"]])


def test_another_number_of_rows_is_a_sample(study, tmp_path):
    law(50, 1).to_csv(tmp_path / "stand_in.csv", index=False)
    drawn = StandIn.of(study, tmp_path / "stand_in.csv", {"n": 400})
    model = study.models[0]
    first, again, other = (values(drawn.call(model, [seed])["data"]) for seed in (0, 0, 1))
    assert len(first) == 400 and first.equals(again) and not first.equals(other)
    pairs = {*map(tuple, first.round(9).to_numpy())}
    assert pairs <= {*map(tuple, law(50, 1)[["age", "wage"]].round(9).to_numpy())}
    assert "400 drawn with replacement" in drawn.sentences()[0] and len(drawn.sentences()) == 1


def test_clustered_errors_of_drawn_rows_are_known_to_be_too_wide(tmp_path):
    """A draw repeats what 500 rows sum to in a cluster by chance: 3 times the error at 4,000."""
    rng = np.random.default_rng(5)
    frame = law(500, 1).assign(firm=rng.integers(40, size=500).astype(str))
    clustered = PAPER.replace('"HC1"', '"cluster"\ncluster = "firm"').replace("n = 6000\n", "")
    (tmp_path / "study.toml").write_text(clustered)
    study = Study.read(tmp_path / "study.toml")
    assert len(StandIn.of(study, frame, {}).sentences()) == 1
    drawn = StandIn.of(study, frame, {"n": 4000})
    assert "up to 3 times too wide" in drawn.sentences()[1]

    def error(rows: pd.DataFrame) -> float:
        fit = sm.OLS.from_formula("wage ~ age", rows)
        return fit.fit(cov_type="cluster", cov_kwds={"groups": rows["firm"]}).bse["age"]

    for_all = dp.schema.Categorical(tuple(sorted(frame["firm"].unique())))
    found = []
    for seed in range(10):
        table = drawn.call(study.models[0], [seed])["data"]
        rows = [pd.DataFrame(batch) for batch in table.batches(RANGES | {"firm": for_all})]
        found.append(error(pd.concat(rows, ignore_index=True)))
    alone = [
        error(law(4000, seed).assign(firm=rng.integers(40, size=4000).astype(str)))
        for seed in range(10)
    ]
    assert 2 < np.mean(found) / np.mean(alone) < 3.5


def test_rows_from_guesses_keep_to_them(study):
    given = {"n": 20_000, "x_range": {"age": (20, 40)}, "sd": {"main": 5}}
    drawn = Guessed(study, Guesses.of(study, given))
    described, main, smoking = (drawn.call(each, [0])["data"] for each in study.models)
    for rows in (described, main, smoking):
        assert len(rows) == 20_000 and rows["age"].between(20, 40).all()
    for rows in (described, main):  # what the regression explains is explained in Table 1 too
        slope, at_0 = np.polyfit(rows["age"], rows["wage"], 1)
        assert slope == pytest.approx(0.5, abs=0.05)
        assert np.std(rows["wage"] - slope * rows["age"] - at_0) == pytest.approx(5, rel=0.05)
    assert (
        "wage" not in smoking
        and np.corrcoef(smoking["age"], smoking["smoker"].astype(int))[0, 1] > 0
    )
    spread = Guessed(study, Guesses.of(study, {"n": 20_000, "x_sd": {"age": 6}}))
    age = spread.call(study.models[1], [0])["data"]["age"]
    assert (age.mean(), age.std()) == (pytest.approx(54, abs=0.3), pytest.approx(6, rel=0.05))


def test_arguments_replace_guesses_of_the_file(tmp_path):
    plan = made(tmp_path, n=300, sd={"main": 1}, epsilon=2, repetitions=1)
    assert plan.n == 300 and "s.d. of residuals: main 1" in plan.summary()
    assert "guessed coefficients of main: age 0.5" in plan.summary()


def test_labels_of_persons_are_said_to_be_plain(tmp_path):
    text = PAPER.replace('formula = "wage ~ age + C(region)"', 'formula = "wage ~ age | state"')
    plan = made(tmp_path, text.replace('cov_type = "HC1"', ""), n=500, epsilon=2, repetitions=1)
    assert "about ten rows each and no effects" in " ".join(plan.said)


def test_a_stand_in_may_have_types_of_its_own(study):
    frame = law(2000, 1).assign(age=lambda rows: rows["age"].round().astype(int))
    for data in (frame, {name: frame[name].tolist() for name in frame}):
        plan = dp.plan_study(_written(study, data), 2, data=data, repetitions=1, progress=False)
        assert plan.n == 2000 and np.isfinite(plan.frame["width"]).mean() > 0.9


def _written(study, data):
    """The study file, with types for lists, which have none."""
    from pathlib import Path

    path = Path(study.data).with_name("study.toml")
    types = 'smoker = "boolean"\nage = "number"\nwage = "number"'
    path.write_text(PAPER.replace("n = 6000\n", "").replace('smoker = "boolean"', types))
    return path


@pytest.mark.parametrize(
    ("formula", "absorbs"), [("y ~ 1 | d ~ z", False), ("y ~ 1 | g | d ~ z", True)]
)
def test_a_plan_speaks_of_absorbed_groups_where_there_are_some(tmp_path, formula, absorbs):
    (tmp_path / "study.toml").write_text(
        'data = "people.csv"\nlanguage = "R"\nepsilon = 1\n'
        "bounds = { y = [0, 1], d = [0, 1], z = [0, 1] }\n"
        f'[[iv]]\nname = "main"\nformula = "{formula}"\n'
    )
    study = Study.read(tmp_path / "study.toml")
    said = " ".join(Guessed(study, Guesses.of(study, {"n": 100})).sentences())
    assert ("persons, clusters and absorbed groups" in said) == absorbs
    assert "instruments tell nothing; rows of a public stand-in tell more" in said
