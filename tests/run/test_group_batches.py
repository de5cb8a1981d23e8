"""Groups fitted together: the same releases as one by one, bit for bit, under the same noise."""

import re
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Each, InMemory
from dpstats.estimators.lines import theil_sen
from dpstats.noise import Noise, RankTable, exponential_compiled
from dpstats.numerics import Box, Moments, Rows
from dpstats.privacy import ADD_REMOVE, PureDP
from dpstats.run import group_batches
from dpstats.testing import insecure_seed
from tests.checks.group_batches import check_agreement, people
from tests.checks.recording import unit_problem

TOGETHER = [name for name, method in METHODS.items() if method.each is not None]
UNIT = {"x": (0, 1), "y": (0, 1)}
ONE = 1 << 24


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("n", [2, 3, 40, 400])
@pytest.mark.parametrize("decimals", [None, 1])
def test_a_group_gets_the_release_that_exact_integers_alone_would_draw(name, n, decimals):
    check_agreement(name, n, decimals)


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 40])
def test_it_does_so_where_the_number_of_rows_is_private(name, n):
    check_agreement(name, n, 1, neighbors=ADD_REMOVE)


@pytest.mark.parametrize("name", ["exp_theil_sen", "wide_theil_sen"])
def test_nothing_but_numbers_tells_which_groups_were_fitted_together(name):
    """With 512 rows a group is, with 513 it is not, and that number is private here."""

    def all_but_estimates(sizes):
        data = people(sizes)
        found = dp.dp_ols(
            "y ~ x", data, method=name, epsilon=1, bounds=UNIT, by="g", groups=range(len(sizes)),
            neighbors=ADD_REMOVE,
        ).to_dict()  # fmt: skip
        assert found.pop("estimates") and found["stack"].pop("params")
        return found

    alike = all_but_estimates([512, 100])
    for sizes in ([513, 100], [513, 600], [0, 1]):
        assert all_but_estimates(sizes) == alike


def undivided(*arguments, divisors, **more):
    return RankTable(*arguments, **more)


def test_a_table_that_is_not_divided_by_its_pairs_shows_as_disagreement(monkeypatch):
    monkeypatch.setattr(theil_sen, "RankTable", undivided)
    with pytest.raises(AssertionError):
        check_agreement("exp_theil_sen", 40, 1, neighbors=ADD_REMOVE)


def halved(*arguments, sensitivities, **more):
    return RankTable(*arguments, sensitivities=np.maximum(sensitivities // 2, 1), **more)


def unwidened(step, doubled, edges, first, size, reach, **more):
    return RankTable(step, doubled, edges, first, size, 0, **more)


def shifted(step, doubled, edges, first, size, reach, **more):
    return RankTable(step, doubled + 2, edges, first, size, reach, **more)


@pytest.mark.parametrize("broken", [halved, unwidened, shifted])
def test_what_is_wrong_with_a_table_shows_as_disagreement(broken, monkeypatch):
    monkeypatch.setattr(theil_sen, "RankTable", broken)
    with pytest.raises(AssertionError):
        check_agreement("wide_theil_sen", 40, 1)


@pytest.mark.parametrize("name", ["exp_theil_sen", "wide_theil_sen"])
@pytest.mark.parametrize("k", [1, 3, 30])
def test_matchings_are_drawn_alike(name, k):
    """Through dp_ols with two seeds alike: words are read in other places, so matchings decide."""
    for seed in range(5):
        data = people([20], seed)
        y = data["y"].to_numpy()
        method, problem = METHODS[name], unit_problem(name)
        rows = Rows(np.column_stack([np.ones(20), data["x"]]), y)
        asked = []
        with insecure_seed(seed):
            noise = Noise(PureDP(1.0))
            with mock.patch.object(noise, "choose_each", side_effect=_keep(asked)):
                method.each.release(rows, np.array([0, 20]), problem, PureDP(1.0), noise, k=k)
        with insecure_seed(seed):
            noise = Noise(PureDP(1.0))
            with mock.patch.object(noise, "choose", side_effect=_keep(asked)):
                method.release(InMemory(rows), problem, PureDP(1.0), noise, k=k)
        assert len(asked) == 4
        for table, query in zip(asked[:2], asked[2:], strict=True):
            assert table.sensitivities.tolist() == [query.sensitivity]
            for index in range(0, query.size, query.size // 97):
                at = exponential_compiled.imbalance(table.doubled, table.first + index, 0)
                assert at == query.imbalance(index)


def _keep(asked):
    def answer(query, cost):
        asked.append(query)
        return np.zeros(1, np.int64) if isinstance(query, RankTable) else 0

    return answer


def test_moments_of_groups_are_those_of_each_group():
    rng = np.random.default_rng(2)
    sizes = np.array([0, 3, 0, 1, 700, 0, 2, 0])
    edges = np.r_[0, np.cumsum(sizes)]
    X = np.column_stack([np.ones(edges[-1]), rng.uniform(-2, 2, edges[-1])])
    rows = Rows(X, rng.uniform(-2, 2, edges[-1]))
    box = Box.symmetric(np.array([1.0, -1.0]), np.array([1.0, 1.0]), -1.0, 1.0, 0)
    with mock.patch("dpstats.numerics.cross_products._ROWS_IN_INT64", 100):
        each = Moments.each(rows, edges, box).cross
    for g in range(len(sizes)):
        own = rows[edges[g] : edges[g + 1]]
        assert np.array_equal(each[:, :, g], Moments.of(own, box).cross)
    none = Moments.each(rows[:0], np.zeros(4, np.int64), box).cross
    assert none.tolist() == [[[0] * 3] * 3] * 3


@pytest.mark.parametrize("name", TOGETHER)
def test_the_number_of_threads_and_the_size_of_chunks_change_nothing(name):
    data = people([30, 0, 1, 25, 2, 40, 600, 3] * 3, decimals=2)
    found = []
    for n_jobs, chunk in ((1, 256), (3, 4)):
        with mock.patch.object(group_batches, "_CHUNK", chunk), insecure_seed(4):
            res = dp.dp_ols("y ~ x", data, by="g", method=name, epsilon=1e7, bounds=UNIT,
                            n_jobs=n_jobs, groups=range(24))  # fmt: skip
        found.append(res)
    assert found[0].statuses == found[1].statuses
    large = data["g"].map(data["g"].value_counts()).to_numpy()
    large = np.unique(data["g"][large >= 25])
    assert np.allclose(found[0].predictions.loc[large], found[1].predictions.loc[large], atol=0.05)
    assert found[0].privacy == found[1].privacy
    expected = "too_few_rows" if METHODS[name].neighbors[0] == "replace_one" else "ok"
    assert set(found[0].status[[1, 2]]) == {expected}


@pytest.mark.parametrize("name", TOGETHER)
def test_threads_draw_from_the_operating_system_and_reach_every_group(name):
    data = people([40] * 40)
    with mock.patch.object(group_batches, "_CHUNK", 8):
        fits = [
            dp.dp_ols("y ~ x", data, by="g", method=name, epsilon=1e6, bounds=UNIT, n_jobs=3)
            for _ in range(2)
        ]
    assert all(fit.privacy.private and set(fit.statuses) == {"ok"} for fit in fits)
    assert np.allclose(fits[0].predictions, fits[1].predictions, atol=0.05)
    assert not np.array_equal(fits[0].estimates, fits[1].estimates)


@pytest.mark.parametrize("unit", [None, "person"])
def test_processes_draw_from_the_operating_system_and_reach_every_group(unit):
    data = people([40, 3, 60, 50] * 5)
    call = {"by": "g", "method": "adassp", "epsilon": 1e7, "bounds": UNIT, "unit": unit}
    data["person"] = np.arange(len(data)) // 2
    one, two, three = (dp.dp_ols("y ~ x", data, n_jobs=n_jobs, **call) for n_jobs in (1, 2, 2))
    assert one.privacy.private and one.privacy == two.privacy == three.privacy
    assert one.statuses == two.statuses and one.labels == two.labels
    large = [g for g in range(20) if g % 4 != 1]
    for other in (two, three):
        assert np.allclose(one.predictions.loc[large], other.predictions.loc[large], atol=0.01)
    assert not (two.estimates == three.estimates).any()


def test_seeded_noise_takes_its_turns_whatever_the_number_of_processes():
    data, found = people([40] * 9), []
    for n_jobs in (1, 3):
        with insecure_seed(3):
            found.append(dp.dp_ols("y ~ x", data, by="g", epsilon=1, n_jobs=n_jobs).estimates)
    assert np.array_equal(*found, equal_nan=True)


def test_events_are_those_of_the_group_with_the_most_noise():
    """All pairs of n rows have sensitivity 2 (n - 1): the largest group tells."""
    data = people([5, 30, 12])
    res = dp.dp_ols("y ~ x", data, by="g", method="exp_theil_sen", epsilon=3, bounds=UNIT)
    assert [event.sensitivity for event in res.privacy.events] == [58, 58]
    assert [event.scale for event in res.privacy.events] == [2 * 58 / 1.5] * 2
    assert res.privacy.spent == (3.0, 0.0)


def test_too_few_rows_everywhere_spend_nothing():
    res = dp.dp_ols("y ~ x", people([1, 0, 1]), by="g", method="exp_theil_sen", epsilon=1,
                    bounds=UNIT, groups=[0, 1, 2])  # fmt: skip
    assert set(res.statuses) == {"too_few_rows"} and not res.privacy.events


@pytest.mark.parametrize(
    ("method", "groups", "place"),
    [
        ("exp_theil_sen", range(6), "the groups 4 to 5, after 4 of 6"),
        ("noisy_stats", range(6), "the group 5, after [0-5] of 6"),  # processes end in any order
        ("noisy_stats", None, "a group, after [0-5] of 6"),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_group_is_named_by_public_labels_only(method, groups, place, n_jobs):
    """The last group's rows stop the fit; its label is named where it was listed."""
    data = people([10] * 6)
    data.loc[data["g"] == 5, "x"] = 0.123456789

    def fail(given, *args, fit, **options):
        rows = given.rows if isinstance(given, InMemory) else given
        if np.any(rows.numbers == 0.123456789):
            raise ValueError("0.123456789")
        return fit(given, *args, **options)

    real, each = METHODS[method], METHODS[method].each
    fails = {"release": partial(fail, fit=real.release)}
    if each is not None:
        fails["each"] = replace(each, release=partial(fail, fit=each.release))
    with (
        mock.patch.object(group_batches, "_CHUNK", 2),
        mock.patch(
            "dpstats.call.method_choice.METHODS", {method: replace(METHODS[method], **fails)}
        ),
        pytest.raises(dp.InternalError) as caught,
    ):
        dp.dp_ols("y ~ x", data, by="g", groups=groups, method=method, epsilon=1, bounds=UNIT,
                  n_jobs=n_jobs)  # fmt: skip
    text = str(caught.value)
    assert re.search(f"ValueError in {place}", text) and "0.1234" not in text
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, "two"])
def test_n_jobs_is_a_whole_number(n_jobs):
    with pytest.raises(dp.ArgumentError, match="n_jobs"):
        dp.dp_ols("y ~ x", people([5]), by="g", method="exp_theil_sen", epsilon=1, bounds=UNIT,
                  n_jobs=n_jobs)  # fmt: skip


def test_an_interrupted_run_says_how_far_it_got():
    calls = []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    real = METHODS["noisy_moments"].each.release
    broken = dict(METHODS, noisy_moments=replace(METHODS["noisy_moments"], each=Each(interrupted)))
    with (
        mock.patch.object(group_batches, "_CHUNK", 2),
        mock.patch("dpstats.call.method_choice.METHODS", broken),
        pytest.raises(KeyboardInterrupt, match="after 4 of 6 groups"),
    ):
        dp.dp_ols("y ~ x", people([10] * 6), by="g", method="noisy_moments", epsilon=1, bounds=UNIT,
                  n_jobs=1)  # fmt: skip
