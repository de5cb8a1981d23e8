"""by=: every requested group is there, each is the fit of its own rows, and the report says why."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from tests.checks.groups import AREAS, seeded, squeezed, words

# Labels are read before a method sees a row, so one method stands for all.
LABELLED = "noisy_stats"
BOUNDED = [name for name, entry in dp.METHODS.items() if entry.ranges.needed]


@pytest.mark.parametrize("rows", [0, 1, 2, 40])
def test_every_requested_group_is_there_whatever_the_data(method, fit, line, rows):
    result = fit(line[:rows], method, by="area", groups=["none", *AREAS[::-1]])
    assert result.labels == ("none", "a2", "a1", "a0")
    assert list(result.params.index) == list(result.status.index) == list(result.labels)
    assert result.frame.groupby("area", sort=False).size().tolist() == [4] * 4
    assert len(result) == 4


def test_groups_that_are_not_requested_are_left_out(method, fit, line):
    if dp.METHODS[method].ranges.marginals:
        pytest.skip("estimates distributions of all rows, as others do ranges")
    listed = seeded(fit, line, method, by="area", groups=["a1"])
    alone = seeded(fit, line[line["area"] == "a1"], method, by="area", groups=["a1"])
    assert listed.frame.equals(alone.frame)
    assert listed.labels == ("a1",)


def test_labels_come_from_the_categories_the_list_or_the_data(fit, line):
    typed = line.assign(area=pd.Categorical(line["area"], categories=["a2", "far", "a0", "a1"]))
    assert fit(typed, LABELLED, by="area").labels == ("a2", "far", "a0", "a1")
    assert fit(typed, LABELLED, by="area", groups=["a1", "far"]).labels == ("a1", "far")
    assert fit(line, LABELLED, by="area").labels == ("a0", "a1", "a2")
    for labels in (np.array(["a1", "a0"]), ("a1", "a0"), pd.Index(["a1", "a0"])):
        assert fit(line, LABELLED, by="area", groups=labels).labels == ("a1", "a0")


LABELS = {
    "int": [7, 30, -1],
    "large int": [2**60 + 1, 2**60, 5],
    "float": [0.5, 2.0, -1.5],
    "str": ["north", "10", "2"],
    "bool": [True, False],
    "date": [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type(fit, line, name):
    values = LABELS[name]
    column = pd.Series([values[i % len(values)] for i in range(len(line))])
    data = line.assign(label=column)
    listed = seeded(fit, data, LABELLED, by="label", groups=sorted(values))
    assert listed.labels == tuple(sorted(values))
    assert all(type(label) is type(values[0]) for label in listed.labels)
    assert set(listed.frame["label"]) == set(values)
    assert listed.params.loc[values[0]].size == 2
    if name != "float":
        for same in (data, pl.from_pandas(data)):
            assert seeded(fit, same, LABELLED, by="label").frame.equals(listed.frame)


def test_labels_that_are_tuples(fit, line):
    pairs = [("IL", 1), ("IL", 2), ("NC", 1)]
    data = line.assign(pair=pd.Series([pairs[i % 3] for i in range(len(line))]))
    result = fit(data, LABELLED, by="pair", groups=pairs)
    assert result.labels == tuple(pairs)
    assert set(result.frame["pair"]) == set(pairs)
    assert "3 groups" in result.summary()
    with pytest.raises(dp.ArgumentError, match="nothing declares the type of by='pair'"):
        fit(data, LABELLED, by="pair")


@pytest.mark.parametrize("dtype", ["string", "category", object])
def test_rows_without_a_label_belong_to_no_group(fit, line, dtype):
    missing = line["area"].astype(dtype)
    missing[::5] = None
    labelled = line[missing.notna()].assign(area=missing.dropna())
    types = {"area": "string"} if dtype is object else None
    result = seeded(fit, line.assign(area=missing), LABELLED, by="area", types=types)
    assert result.labels == ("a0", "a1", "a2")
    assert result.frame.equals(seeded(fit, labelled, LABELLED, by="area", types=types).frame)


def numbers(one) -> np.ndarray:
    return np.r_[one.params.to_numpy(), one.predictions.to_numpy(), one.bse.to_numpy()]


@pytest.fixture
def one_by_one(monkeypatch):
    """No groups in one go, which test_many compares, so that seeded noise comes in one order."""
    plain = {name: replace(method, each=None) for name, method in dp.METHODS.items()}
    monkeypatch.setattr("dpstats.call.method_choice.METHODS", plain)


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("bounds", [{"x": (0, 1), "y": (0, 1)}, None], ids=["declared", "none"])
def test_one_group_is_the_fit_of_its_rows(method, fit, line, bounds, enough):
    if dp.METHODS[method].ranges.grouped is not None:
        pytest.skip("releases more of a group's response, and less of what groups share")
    data, more = line.assign(area="a0"), {"bounds": bounds, "epsilon": 60} | enough(method)
    single = seeded(fit, data, method, **more)
    result = seeded(fit, data, method, by="area", groups=["a0"], **more)
    assert result.statuses == (single.status,) == ("ok",)
    row = np.r_[result.params.loc["a0"], result.predictions.loc["a0"], result.bse.loc["a0"]]
    np.testing.assert_array_equal(row, numbers(single))
    assert result.privacy.events == single.privacy.events


@pytest.mark.usefixtures("one_by_one")
def test_each_group_is_the_fit_of_its_rows_in_turn(method, fit, line):
    if dp.METHODS[method].ranges.marginals:
        pytest.skip("estimates distributions of all rows, as others do ranges")
    result = seeded(fit, line, method, by="area", groups=AREAS)
    with dp.testing.insecure_seed(6):
        for area in AREAS:
            single = fit(line[line["area"] == area], method)
            row = [result.params.loc[area], result.predictions.loc[area], result.bse.loc[area]]
            np.testing.assert_array_equal(np.concatenate(row), numbers(single))
            assert result.status[area] == single.status


def test_the_order_of_rows_moves_no_row_to_another_group(fit, line):
    shuffled = line.sample(frac=1, random_state=2)
    results = [seeded(fit, data, "adassp", by="area") for data in (line, shuffled)]
    assert results[0].frame.equals(results[1].frame)


def test_groups_follow_their_lines_as_epsilon_grows(method, fit, limit, enough):
    rng = np.random.default_rng(8)
    x, level = rng.uniform(size=240), np.repeat([0.1, 0.3, 0.5], 80)
    y = level + 0.4 * x + rng.normal(0, 0.01, 240)
    data = pd.DataFrame({"area": np.repeat(AREAS, 80), "x": x, "y": y})
    result = seeded(fit, data, method, epsilon=1e6, by="area", groups=AREAS, **enough(method))
    for area, rows in data.groupby("area"):
        expected, error = limit(method, rows["x"], rows["y"], [0.25, 0.75])
        np.testing.assert_allclose(result.predictions.loc[area], expected, atol=2 * error)


def test_the_report_says_what_the_groups_rest_on(method, fit, line):
    typed = line.assign(area=line["area"].astype("category"))
    listed = "the list of area labels is public"
    present = "the labels of area present in the data are treated as public"
    for relation in dp.METHODS[method].neighbors:
        for data, groups, said, unsaid in (
            (line, AREAS, listed, present),
            (typed, None, listed, present),
            (line, None, present, listed),
        ):
            result = fit(data, method, by="area", groups=groups, neighbors=relation)
            assumptions, printed = result.privacy.assumptions, squeezed(result.summary())
            text = "; ".join(assumptions)
            assert "each row belongs to one area" in text
            assert "together cost what one group costs" in text
            assert said in text and unsaid not in text
            fixed = "the area of each row, and so each group's number of rows" in text
            assert fixed == (relation == "replace_one")
            assert all(squeezed(assumption) in printed for assumption in assumptions)


def test_groups_cost_what_one_group_costs(method, fit, line, enough):
    for bounds in ({"x": (0, 1), "y": (0, 1)}, None):
        more = {"bounds": bounds, "epsilon": 200} | enough(method)
        single = seeded(fit, line.assign(area="a0"), method, **more)
        result = seeded(fit, line, method, by="area", groups=AREAS, **more)
        report = result.privacy
        assert set(result.statuses) == {"ok"}
        if dp.METHODS[method].ranges.grouped is None:
            assert [e.step for e in report.events] == [e.step for e in single.privacy.events]
            assert [e.cost for e in report.events] == [e.cost for e in single.privacy.events]
        assert report.limit.covers([event.cost for event in report.events])
        assert sum(share for _, share in report.shares()) == pytest.approx(1)
        assert report.spent == pytest.approx((report.epsilon, report.delta), rel=1e-4)


@pytest.mark.parametrize("name", BOUNDED)
def test_estimated_ranges_are_bought_once_for_all_groups(name, fit, line):
    report = seeded(fit, line, name, bounds=None, epsilon=200, by="area").privacy
    ranges = [(e, share) for e, share in report.shares() if "range" in e.step or "order" in e.step]
    steps = [event.step for event, _ in ranges]
    assert len(steps) == len(set(steps)) and {step[-4:] for step in steps} == {"of x", "of y"}
    assert sum(share for _, share in ranges) == pytest.approx(dp.METHODS[name].ranges.bought(True))


@pytest.mark.parametrize("name", BOUNDED)
def test_without_a_range_every_group_says_so(name, fit, line):
    result = seeded(fit, line, name, bounds=None, epsilon=0.01, by="area", groups=AREAS)
    if dp.METHODS[name].ranges.everywhere or dp.METHODS[name].ranges.marginals:
        released = {"ok", "imprecise", "not_identified", "constant"}
        assert set(result.statuses) <= released and (
            name == "ssp" or result.params.notna().all(axis=None)
        )
    else:
        assert result.statuses == ("no_range",) * 3
        assert result.params.isna().all(axis=None) and result.frame["estimate"].isna().all()
        assert result.privacy.spent[0] < 0.01
        assert "declare bounds=" in words(result.summary()) and "3 no_range" in result.summary()


def test_the_worst_noise_of_each_step_is_listed(fit, line):
    sizes = line[(line["area"] != "a0") | (np.arange(300) < 30)]
    result = seeded(fit, sizes, "noisy_stats", epsilon=50, by="area", groups=AREAS)
    with dp.testing.insecure_seed(6):
        singles = [fit(sizes[sizes["area"] == a], "noisy_stats", epsilon=50) for a in AREAS]
    scales = [[event.scale for event in single.privacy.events] for single in singles]
    worst = [max(step) for step in zip(*scales, strict=True)]
    assert worst and [event.scale for event in result.privacy.events] == worst


def test_a_budget_is_charged_once_for_all_groups(method, fit, line, promise):
    budget = dp.Budget(*promise(method))
    fit(line, method, by="area", groups=AREAS, budget=budget)
    assert budget.spent == promise(method)


def test_groups_that_took_different_steps_spent_no_more_than_the_guarantee():
    """One group goes on with sums and the other with pairs; the table of steps has both."""
    rng = np.random.default_rng(1)
    x = np.r_[rng.uniform(size=4000), rng.normal(0.5, 0.01, 4000)]
    data = {"g": np.repeat(["wide", "narrow"], 4000), "x": x, "y": 0.3 + 0.4 * x}
    bounds = {"x": (0, 1), "y": (0, 1)}
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", data, by="g", method="by_spread", epsilon=1, bounds=bounds)
    steps = {event.step for event in result.privacy.events}
    assert {"median of predictions at x_new[0]", "sums of u, v and products"} <= steps
    assert result.privacy.spent == (1, 0)
