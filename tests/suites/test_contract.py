"""What every method promises, checked for each entry of METHODS."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dp
from dpstats.noise import Noise
from dpstats.privacy import RELATIONS
from tests.checks.passes import Measured
from tests.checks.recording import line_data
from tests.checks.replay import cases_of
from tests.checks.totality import check_whole_or_nothing

UNIT = {"x": (0, 1), "y": (0, 1)}
WIDE = [name for name, entry in dp.METHODS.items() if not entry.single_regressor]


def seeded(fit, *arguments, **keywords):
    with dp.testing.insecure_seed(3):
        return fit(*arguments, **keywords)


def released(result):
    """Everything that was released, as plain numbers and words."""
    content = result.to_dict()
    return {key: content[key] for key in ("params", "predictions", "cov", "status", "privacy")}


def test_sums_are_of_one_size_whatever_the_rows(method):
    """Where a method says so; only then do its rows stay where they are.

    x hardly varies, so that what chooses between methods takes the one that holds rows.
    """
    entry, case = dp.METHODS[method], cases_of(dp.METHODS[method])[0]
    largest = []
    for n in (100, 10_000):
        x, y = line_data(n)
        passes = Measured(case.rows(np.column_stack([np.ones(n), 0.5 + x / 1000]), y))
        entry.release(passes, case.problem, case.limit, Noise(case.limit), **case.options)
        largest.append(max(passes.sizes))
    assert entry.fixed_size_summary == (largest[1] - largest[0] < 100)


def test_large_epsilon_gives_the_estimate_without_noise(method, fit, line, limit, enough):
    result = seeded(fit, line, method, epsilon=1e6, **enough(method))
    expected, error = limit(method, line["x"], line["y"], [0.25, 0.75])
    np.testing.assert_allclose([result.p25, result.p75], expected, atol=error)
    slope = (expected[1] - expected[0]) / 0.5
    np.testing.assert_allclose(result.params, [expected[0] - slope / 4, slope], atol=4 * error)


@pytest.mark.parametrize("name", WIDE)
def test_large_epsilon_with_several_regressors(name, fit, line, enough):
    more = {"bounds": UNIT | {"z": (0, 1)}, "levels": {"kind": ["u", "v"]}} | enough(name)
    formula = "y ~ x + z + I(x**2) + kind"
    result = seeded(fit, line, name, formula=formula, epsilon=1e7, **more)
    columns = [line["kind"] == "v", line["x"], line["z"], line["x"] ** 2]
    X = np.column_stack([np.ones(len(line)), *columns]).astype(float)
    expected = np.linalg.lstsq(X, line["y"].to_numpy(), rcond=None)[0]
    assert list(result.params.index) == ["Intercept", "kind[T.v]", "x", "z", "I(x ** 2)"]
    # tukey: the median of models on twelve rows each. x and its square are nearly collinear:
    # too much for 200 steps, and the one row more that adaops guards against would decide.
    apart = {"tukey": 0.08, "noisy_sgd": 0.05, "adaops": 0.12}
    np.testing.assert_allclose(result.params, expected, atol=apart.get(name, 5e-3))


def test_asymmetric_bounds(method, fit, limit, enough):
    rng = np.random.default_rng(2)
    x = rng.uniform(-3, 1, 400)
    data = {"x": x, "y": 7 + 1.2 * x + rng.normal(0, 0.05, 400)}
    bounds = {"x": (-3, 1), "y": (2, 10)}
    result = seeded(fit, data, method, epsilon=1e6, bounds=bounds, **enough(method))
    expected, error = limit(method, x, data["y"], [-2, 0])
    np.testing.assert_allclose([result.p25, result.p75], expected, atol=8 * error)
    slope = (expected[1] - expected[0]) / 2
    np.testing.assert_allclose(result.params, [expected[1], slope], atol=8 * error)


def wild(line):
    """The table with rows far outside the unit square."""
    x, y = line["x"].to_numpy().copy(), line["y"].to_numpy().copy()
    x[:6], y[3:9] = [-5, 7, -1e300, np.inf, -np.inf, 2], [4, -3, np.inf, -np.inf, 1e300, 1.5]
    return x, y


@pytest.mark.parametrize("estimated", [False, True])
def test_rows_out_of_range_are_clipped(method, fit, line, estimated):
    x, y = wild(line)
    bounds = {"y": (0, 1)} if estimated else UNIT
    by_hand = {"x": x if estimated else np.clip(x, 0, 1), "y": np.clip(y, 0, 1)}
    result = seeded(fit, {"x": x, "y": y}, method, bounds=bounds)
    assert released(result) == released(seeded(fit, by_hand, method, bounds=bounds))


def test_rows_with_a_missing_value_are_left_out(method, fit, line):
    x, y = line["x"].to_numpy().copy(), line["y"].to_numpy().copy()
    x[::7], y[::11] = np.nan, np.nan
    whole = np.isfinite(x) & np.isfinite(y)
    result = seeded(fit, {"x": x, "y": y}, method)
    assert released(result) == released(seeded(fit, {"x": x[whole], "y": y[whole]}, method))
    assert result.public_rows in (None, int(whole.sum()))


def test_the_number_of_rows_shows_only_where_it_is_public(method, fit, line):
    for relation in dp.METHODS[method].neighbors:
        result = fit(line, method, neighbors=relation)
        public = relation == "replace_one"
        assert result.public_rows == (300 if public else None)
        rows, error = result.fit_statistics.loc["nobs"]
        if public:
            assert (result.nobs, rows, error) == (300, 300, 0)
        else:
            assert not error <= 0, "a number without noise is not released"
            assert np.isnan([result.nobs, rows]).all() or result.nobs == round(rows)


SMALL = {
    "one row": {"x": [0.3], "y": [0.4]},
    "no rows": {"x": np.zeros(0), "y": np.zeros(0)},
    "constant x": {"x": np.full(9, 0.5), "y": np.linspace(0, 1, 9)},
    "constant y": {"x": np.linspace(0, 1, 9), "y": np.full(9, 0.5)},
    "all infinite": {"x": np.full(9, np.inf), "y": np.full(9, -np.inf)},
    "all missing": {"x": np.full(9, np.nan), "y": np.full(9, np.nan)},
}


@pytest.mark.parametrize("name", SMALL)
def test_tables_that_determine_no_line_still_give_a_result(method, fit, name):
    result = seeded(fit, SMALL[name], method)
    numbers = [result.params, result.predictions]
    finite = all(np.isfinite(values).all() for values in numbers)
    assert finite or np.isnan(np.concatenate(numbers)).all()
    assert finite or (result.status != "ok" and result.reasons["params"])


@pytest.mark.parametrize("name", WIDE)
def test_fewer_rows_than_columns(name, fit, line):
    formula, bounds = "y ~ x + z + I(x**2) + I(z**2) + x:z", UNIT | {"z": (0, 1)}
    result = fit(line[:3], name, formula=formula, bounds=bounds)
    assert len(result.params) == 6
    check_whole_or_nothing(result)


@pytest.mark.parametrize("bounds", [UNIT, {"y": (0, 1)}, None], ids=["declared", "one", "none"])
def test_events_stay_within_the_budget_and_add_up_to_it(method, fit, line, bounds, promise, enough):
    result = seeded(fit, line, method, bounds=bounds, epsilon=200, **enough(method))
    report = result.privacy
    assert result.status == "ok"
    assert report.limit.covers([event.cost for event in report.events])
    assert sum(share for _, share in report.shares()) == pytest.approx(1, rel=1e-9)
    assert report.spent == pytest.approx((report.epsilon, report.delta), rel=1e-4)
    assert (report.epsilon, report.delta) == promise(method, 200)
    assert all(event.scale > 0 and event.sensitivity > 0 for event in report.events)


@pytest.mark.parametrize("selector", dp.SELECTORS)
@pytest.mark.parametrize("share", [None, 0.3])
def test_a_selection_is_paid_out_of_the_budget(method, fit, line, selector, share, enough):
    more = {"select": selector, "k": 1, "select_share": share} | enough(method)
    result = seeded(fit, line, method, formula="y ~ x + z", bounds=None, epsilon=200, **more)
    assert (result.status, result.selected) == ("ok", ("x",))
    report, own = result.privacy, sum(s for e, s in result.privacy.shares() if "term" in e.step)
    assert report.limit.covers([event.cost for event in report.events])
    assert sum(share for _, share in report.shares()) == pytest.approx(1, rel=1e-9)
    assert 0 < own <= (share or 0.05) * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name, one in dp.METHODS.items() if one.ranges.needed])
def test_estimated_ranges_have_the_order_of_the_data(name, fit, line):
    for seed in range(9):
        with dp.testing.insecure_seed(seed):
            result = fit(line, name, bounds={"y": (0, 1)}, epsilon=40)
        assert result.status != "no_range"
        assert -1 <= result.schema["x"].low < result.schema["x"].high <= 4


def test_the_report_is_derived_from_the_events(method, fit, line):
    report = fit(line, method).privacy
    doubled = replace(report, limit=report.limit.part(0.5)).shares()
    for (event, share), (same, twice) in zip(report.shares(), doubled, strict=True):
        assert same is event
        assert twice == pytest.approx(2 * share)
    fewer = replace(report, events=report.events[1:])
    assert fewer.spent[0] < report.spent[0]
    assert replace(report, events=()).spent == (0, 0)


def test_more_epsilon_is_less_noise(method, fit, line):
    reports = [seeded(fit, line, method, epsilon=epsilon).privacy for epsilon in (1, 2)]
    first = [report.events[0] for report in reports]
    assert first[0].step == first[1].step
    assert first[0].scale > 1.4 * first[1].scale


def noise_of(result) -> list:
    return [(event.step, event.sensitivity, event.scale) for event in result.privacy.events]


def test_another_relation_recalibrates_the_noise_or_is_refused(method, fit, line):
    proven = dp.METHODS[method].neighbors
    for relation in RELATIONS:
        if relation not in proven:
            with pytest.raises(dp.ArgumentError, match=f"proven for neighbors={proven[0]!r}"):
                fit(line, method, neighbors=relation)
    results = [fit(line, method, neighbors=relation) for relation in proven]
    assert [result.privacy.neighbors for result in results] == list(proven)
    assert fit(line, method).privacy.neighbors == proven[0]
    # noisy_intercept: one sum that moves by 2, or two sums that together move by 2
    if set(proven) == set(RELATIONS) and method != "noisy_intercept":
        assert noise_of(results[0]) != noise_of(results[1])


def test_replacing_a_row_moves_cross_products_further_than_adding_one(fit, line):
    added, replaced = (noise_of(fit(line, "adassp", neighbors=relation)) for relation in RELATIONS)
    moved = [second[1] / first[1] for first, second in zip(added, replaced, strict=True)]
    np.testing.assert_allclose(moved, [np.sqrt(2), 2, 1])


def test_an_unknown_relation_is_refused(method, fit, line):
    with pytest.raises(dp.ArgumentError, match="neighbors.*add_remove.*'bounded'"):
        fit(line, method, neighbors="bounded")


def test_a_delta_that_is_no_small_probability_is_refused(method, fit, line):
    for delta in (-1e-9, 0.5, 1, float("nan"), "1e-6", True):
        with pytest.raises(dp.ArgumentError, match="delta"):
            fit(line, method, delta=delta)


def test_delta_is_zero_exactly_where_the_method_is_pure(method, fit, line):
    pure = dp.METHODS[method].guarantee == "pure"
    with pytest.raises(dp.ArgumentError, match="delta"):
        fit(line, method, delta=1e-6 if pure else 0)
    assert fit(line, method).privacy.delta == (0 if pure else 1e-6)
    if not pure:
        assert fit(line, method, delta=1e-9).privacy.delta == 1e-9


def test_an_epsilon_that_is_no_positive_number_is_refused(method, fit, line):
    for epsilon in (0, -1, float("nan"), float("inf"), "1", None, True):
        with pytest.raises(dp.ArgumentError, match="epsilon"):
            fit(line, method, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [np.int64(4), np.float32(4), np.float64(4)])
def test_epsilon_may_come_from_numpy(method, fit, line, epsilon, promise):
    assert fit(line, method, epsilon=epsilon).privacy.epsilon == promise(method)[0]


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e9, 1e300, 10**400], ids=lambda e: str(e)[:5])
def test_an_extreme_epsilon_works_or_is_refused(method, fit, line, epsilon, promise):
    try:
        report = fit(line[:20], method, epsilon=epsilon).privacy
        assert report.epsilon == promise(method, epsilon)[0]
    except dp.ArgumentError as error:
        assert "epsilon" in str(error)


def test_options_are_checked_and_named(method, fit, line):
    options = dp.METHODS[method].options
    with pytest.raises(dp.ArgumentError, match="has no option 'windows'; it has: ") as error:
        fit(line, method, windows=3)
    assert all(name in str(error.value) for name in options)
    for name, (default, check) in options.items():
        check(default)
        with pytest.raises(dp.ArgumentError, match=name):
            fit(line, method, **{name: object()})
        same = [seeded(fit, line, method, **given) for given in ({}, {name: None})]
        assert released(same[0]) == released(same[1])


@pytest.mark.parametrize("k", [0, -1, 1.5, "some", True, [1]])
def test_k_is_a_number_of_matchings(fit, line, k):
    with pytest.raises(dp.ArgumentError, match='expected k to be "all" or a whole number >= 1'):
        fit(line, "exp_theil_sen", k=k)


@pytest.mark.parametrize("output_range", [(1, 0), (0, 0), (-4, 1), (0, 5), 1, "ab", (0, 1, 2)])
def test_output_range_is_a_pair(fit, line, output_range):
    with pytest.raises(dp.ArgumentError, match="expected output_range"):
        fit(line, "exp_theil_sen", output_range=output_range)


@pytest.mark.parametrize("formula", ["y ~ x + z", "y ~ 0 + x + z", "y ~ x * kind"])
def test_simple_methods_take_an_intercept_and_one_numeric_column(method, fit, line, formula):
    numbers = {"z"} & set(formula)
    more = {"bounds": UNIT | dict.fromkeys(numbers, (0, 1)), "levels": {"kind": ["u", "v"]}}
    more["levels"] = more["levels"] if "kind" in formula else None
    if dp.METHODS[method].single_regressor:
        with pytest.raises(dp.ArgumentError, match="an intercept and one numeric column"):
            fit(line, method, formula=formula, **more)
    else:
        assert len(fit(line, method, formula=formula, **more).params) >= 2


def test_the_order_and_index_of_rows_do_not_matter_to_the_cost(method, fit, line):
    shuffled = line.sample(frac=1, random_state=1)
    events = [seeded(fit, data, method).privacy.events for data in (line, shuffled)]
    assert [event.cost for event in events[0]] == [event.cost for event in events[1]]


@pytest.mark.parametrize("name", WIDE)
def test_the_report_names_what_is_taken_from_column_types(name, fit, line):
    typed = line.assign(kind=line["kind"].astype("category"))
    said = "the categories of kind, taken from the column type, are public"
    assert said in fit(typed, name, formula="y ~ x + kind").privacy.assumptions
    declared = fit(line, name, formula="y ~ x + kind", levels={"kind": ["u", "v"]})
    assert said not in declared.privacy.assumptions


def test_the_report_says_what_the_relation_takes_for_granted(method, fit, line):
    for relation in dp.METHODS[method].neighbors:
        said = "; ".join(fit(line, method, neighbors=relation).privacy.assumptions)
        assert "the guarantee is row-level" in said
        assert ("number of rows is public" in said) == (relation == "replace_one")
        assert ("number of rows is private" in said) == (relation == "add_remove")
