"""Persons of several rows and weights: what counts, figures at a large epsilon, coverage."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.weightstats import DescrStatsW

import dpstats as dp
from dpstats.describe.counting import Counting
from dpstats.engines.units import PARTS, UNIT
from dpstats.rows import PrivacyUnit, Weights
from tests.checks.descriptions import COUNTED, QUANTILES, check_counted, released
from tests.checks.recording import Recording


def panel(persons, seed=0, alike=0.8) -> pd.DataFrame:
    """Persons of 1 to 6 rows, more of them where x is large, and weights that go with x too."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=persons)
    rows = np.clip(np.round(2 + own + rng.random(persons)), 1, 6).astype(int)
    person = np.repeat(np.arange(persons), rows)
    x = 50 + 10 * (alike * own[person] + math.sqrt(1 - alike**2) * rng.normal(size=len(person)))
    data = pd.DataFrame({
        "id": person, "x": x, "hours": np.where(rng.random(len(x)) < 0.4, 40, np.round(x)),
        "g": pd.Categorical(np.where(x > 55, "high", "low")), "female": rng.random(len(x)) < 0.5,
        "w": np.clip(np.exp((x - 50) / 20), 0.2, 4.0),
    })  # fmt: skip
    data.loc[rng.random(len(x)) < 0.1, "hours"] = np.nan
    return data.sample(frac=1, random_state=seed).reset_index(drop=True)


def expected(data, weight, name) -> dict[str, float]:
    """Figures of the weighted rows by statsmodels."""
    kept = data[name].notna()
    stats = DescrStatsW(data.loc[kept, name], weights=weight[kept])
    order = np.argsort(data.loc[kept, name].to_numpy(), kind="stable")
    values, share = data.loc[kept, name].to_numpy()[order], weight[kept].to_numpy()[order]
    ranks = np.cumsum(share) / share.sum()
    found = {f"{100 * q:g}%": values[np.argmax(ranks >= q)] for q in QUANTILES}
    return found | {"n": stats.sum_weights, "mean": stats.mean, "sd": stats.std,
                    "missing": weight[~kept].sum()}  # fmt: skip


CALLS = {
    "persons": ({"unit": "id"}, lambda d, m: 1 / m),
    "two rows": ({"unit": "id", "max_rows": 2}, lambda d, m: np.minimum(1, 2 / m)),
    "weights": ({"weights": "w", "bounds": {"w": (0, 4)}}, lambda d, m: d["w"]),
    "trimmed": (
        {"weights": "w", "trim_weights": 2, "bounds": {"w": (0.5, 4)}},
        lambda d, m: d["w"].clip(0.5, 2),
    ),
    "both": (
        {"unit": "id", "weights": "w", "bounds": {"w": (0, 4)}},
        lambda d, m: d["w"] / m,
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("by", [None, "female"])
def test_a_large_epsilon_gives_the_figures_of_weighted_rows(name, by):
    call, weigh = CALLS[name]
    data = panel(8000)
    if by is not None and "unit" in call:
        call = {**call, "max_groups": 2}
    found, _ = released(data, ["x", "hours", "g"], 1e6, by=by, **call)
    for label, rows in [(None, data)] if by is None else data.groupby(by):
        weight = weigh(rows, rows.groupby("id")["x"].transform("size"))
        for column in ("x", "hours"):
            for statistic, value in expected(rows, weight, column).items():
                # parts are cut to whole numbers, so a rank at the edge of a bin may be in the next
                wrong = 0.1 if column == "x" and "%" in statistic else 0.003 * max(abs(value), 5)
                figure = found[label, column, statistic, None]
                assert figure.estimate == pytest.approx(value, abs=wrong), (column, statistic)
        share = weight[rows["g"] == "high"].sum() / weight.sum()
        assert found[label, "g", "share", "high"].estimate == pytest.approx(share, abs=1e-3)
        count = found[label, "g", "count", "high"].estimate
        assert count == pytest.approx(share * weight.sum(), rel=1e-3)


@pytest.mark.parametrize("name", COUNTED)
def test_what_counts_moves_the_query_as_far_as_stated_and_no_further(name):
    check_counted(name)


def test_parts_of_a_person_follow_from_its_rows_and_weights():
    batch = {UNIT: np.array([0, 0, 0, 1]), "w": np.array([4.0, 9.0, 1.0, 2.0])}
    found = Counting(PrivacyUnit("id"), Weights("w", 0.0, 4.0)).of(batch)[PARTS] / 2**20
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 12, 1 / 2], atol=2**-19)


WILD = [
    {"x": -1e300, "hours": math.nan, "g": "high", "female": True, "w": 1e9},
    {"x": math.inf, "hours": -1e300, "g": None, "female": False, "w": 4.0},
    {"x": math.nan, "hours": 40.0, "g": "low", "female": True, "w": 1e-9},
]


@pytest.mark.parametrize("name", [*CALLS, "in two groups"])
@pytest.mark.parametrize("by", [None, "female"])
def test_a_person_more_moves_no_query_further_than_stated(name, by):
    """The second table answers with the noise of the first: queries differ by one person alone."""
    call, _ = CALLS["persons" if name == "in two groups" else name]
    if name == "in two groups" and by is not None:
        call = {**call, "max_groups": 2}
    data = panel(1500)
    more = pd.DataFrame(WILD if "unit" in call else WILD[:1]).assign(id=-1)
    more = pd.concat([data, more], ignore_index=True)
    more["g"] = pd.Categorical(more["g"], categories=["high", "low"])
    queries = []
    outputs = None
    for table in (data, more):
        _, noise = released(table, ["x", "hours", "g"], 2.0, outputs=outputs, by=by, **call)
        assert isinstance(noise, Recording)
        outputs = outputs or noise.outputs
        queries.append(noise.queries)
    assert [q.step for q in queries[0]] == [q.step for q in queries[1]]
    moves = []
    for one, other in zip(*queries, strict=True):
        if hasattr(one, "scores"):
            moved = np.array(other.scores, object) - np.array(one.scores, object)
            assert moved.max() - moved.min() <= one.spread
            continue
        moved = np.array(other.values, object) - np.array(one.values, object)
        moves.append(math.sqrt(sum(int(v) ** 2 for v in moved.ravel().tolist())) / one.l2)
    assert max(moves) <= 1 and moves[-1] > 0.4


def test_a_person_counts_in_the_groups_asked_for():
    data = pd.DataFrame({"id": [1, 1, 1, 2], "x": 1.0, "f": [True, True, False, False]})
    data = pd.concat([data.assign(id=data["id"] + 2 * i) for i in range(500)])
    for groups, wanted in [(1, (500, 500)), (2, (500, 1000))]:
        found, _ = released(data, ["x"], 1e6, by="f", unit="id", max_groups=groups)
        for label, n in zip((True, False), wanted, strict=True):
            assert found[label, "x", "n", None].estimate == pytest.approx(n, abs=0.1)


@pytest.mark.parametrize("name", ["persons", "weights", "both"])
def test_intervals_cover_where_rows_of_a_person_are_alike(name):
    """30 tables of 4,000 persons: of 30 intervals of 95% fewer than 24 cover once in 1,600 runs."""
    call, weigh = CALLS[name]
    whole = panel(300_000, 99, alike=1.0)
    truth = expected(whole, weigh(whole, whole.groupby("id")["x"].transform("size")), "x")
    covered = dict.fromkeys(("mean", "25%", "50%", "75%"), 0)
    for seed in range(30):
        data = panel(4000, seed, alike=1.0)
        found, _ = released(data, ["x", "hours", "g"], 1.0, seed=seed, **call)
        for statistic in covered:
            figure = found[None, "x", statistic, None]
            covered[statistic] += figure.lower <= truth[statistic] <= figure.upper
    assert min(covered.values()) >= 24, covered


def test_the_report_and_budgets_name_the_person():
    budget = dp.Budget(epsilon=3)
    found = dp.dp_describe(panel(3000), ["x"], epsilon=1, unit="id", budget=budget)
    assert found.privacy.unit == "id" and found.privacy.difference == "all rows of one id"
    assert any("all rows with one value of id together" in s for s in found.privacy.assumptions)
    weighted = dp.dp_describe(panel(3000), ["x"], epsilon=1, weights="w", bounds={"w": (0, 4)})
    assert any("weighted by w" in said for said in weighted.privacy.assumptions)
    with pytest.raises(dp.BudgetError, match="id"):
        dp.dp_describe(panel(3000), ["x"], epsilon=1, budget=budget)
