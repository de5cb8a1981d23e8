"""Errors come before a row is read; afterwards every table gives a result of the same form."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.engines import Table
from dpstats.engines.columns import kinds
from dpstats.engines.labels import categories
from dpstats.noise import Noise
from tests.checks.totality import (
    GROUPS,
    SETTINGS,
    STATUSES,
    TABLES,
    Read,
    check_numbers_alone,
    check_whole_or_nothing,
    closed,
    form,
    statuses,
    table,
    watched,
)

WIDE = [name for name, entry in dp.METHODS.items() if not entry.single_regressor]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_table_gives_a_result_of_the_same_form(method, fit, setting, caplog, capfd):
    expected = form(fit(TABLES["plain"], method, **SETTINGS[setting]))
    for name, data in TABLES.items():
        with watched(caplog, capfd):
            result = fit(data, method, **SETTINGS[setting])
            assert form(result) == expected, name
            assert statuses(result) <= STATUSES, name


@pytest.mark.parametrize("name", ["plain", "all missing", "no rows", "huge", "no listed group"])
def test_every_table_gives_a_summary(method, fit, name, caplog, capfd):
    with watched(caplog, capfd):
        for setting in ("declared", "grouped"):
            assert str(fit(TABLES[name], method, **SETTINGS[setting]).summary())


@pytest.mark.parametrize("selector", dp.SELECTORS)
@pytest.mark.parametrize("setting", ["declared", "grouped, estimated"])
def test_every_table_allows_a_selection(method, fit, selector, setting, caplog, capfd):
    bounds = {"x": (0, 1), "y": (0, 1), "z": (0, 1)}
    more = {"formula": "y ~ x + z", "bounds": bounds, "select": selector, "k": 1}
    choices = set()
    for name in ("plain", "no rows", "huge"):
        with watched(caplog, capfd):
            result = fit(TABLES[name], method, **(more | SETTINGS[setting]))
        assert result.selected in (("x",), ("z",)), name
        assert result.params.shape[-1] == 2 and statuses(result) <= STATUSES, name
        events = [event for event in result.privacy.events if "of" in event.step.split()]
        choices.add(tuple((e.step, e.cost) for e in events if "range" not in e.step)[:1])
    assert len(choices) == 1


@pytest.mark.parametrize("missing", ["groups missing", "no rows"])
@pytest.mark.parametrize("label", ["string", "category", "Int64", "boolean"])
def test_no_label_at_all_gives_an_empty_result(fit, missing, label, caplog, capfd):
    data = TABLES[missing].assign(group=pd.Series([None] * len(TABLES[missing]), dtype=label))
    with watched(caplog, capfd):
        result = fit(data, "noisy_stats", by="group")
        assert (len(result), list(result.status)) == (0, [])
        assert result.params.shape == (0, 2) and result.bse.shape == (0, 2)
        assert list(result.frame.columns) == [
            "group",
            "term",
            "estimate",
            "std_error",
            "lower",
            "upper",
            "status",
        ]
        assert len(result.p25) == 0 and "0 groups" in result.summary()


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("rows", [0, 1, 3, 12])
def test_wide_designs_with_few_rows(name, fit, rows, caplog, capfd):
    formula = "y ~ x + I(x**2) + I(x**3) + np.exp(x) + C(group) * x"
    with watched(caplog, capfd):
        result = fit(TABLES["plain"][:rows], name, formula=formula, levels={"group": GROUPS})
    assert len(result.params) == 9 and statuses(result) <= STATUSES
    check_whole_or_nothing(result)


EXTREME = [(-1e308, 1e308), (1e308, 1.7e308), (0, 1.7e308), (-5e-324, 5e-324), (1, 1 + 2**-52)]


@pytest.mark.parametrize("bounds", EXTREME, ids=str)
def test_extreme_bounds_are_refused_or_work_for_every_table(method, fit, bounds, caplog, capfd):
    outcomes = set()
    for name in ("plain", "huge", "no rows", "infinite"):
        with watched(caplog, capfd):
            try:
                with dp.testing.insecure_seed(4):
                    result = fit(TABLES[name], method, bounds={"x": bounds, "y": bounds})
                assert result.status != "ok" or np.isfinite(result.params).all()
                outcomes.add("result")
            except dp.ArgumentError:
                outcomes.add("refused")
    assert len(outcomes) == 1


@pytest.mark.parametrize("name", WIDE)
def test_terms_near_the_end_of_double_range_are_refused_or_work(name, fit, caplog, capfd):
    outcomes = set()
    for rows in ("plain", "huge", "no rows"):
        bounds = {"x": (709, 709.7), "y": (0, 1)}
        with watched(caplog, capfd):
            try:
                result = fit(TABLES[rows], name, formula="y ~ np.exp(x)", bounds=bounds)
                check_whole_or_nothing(result)
                outcomes.add("result")
            except dp.ArgumentError:
                outcomes.add("refused")
    assert len(outcomes) == 1


STRANGE = [
    (np.nan, 0.5),
    (np.inf, -np.inf),
    (1e300, -1e300),
    (2.0**60, 5e-324),
]


BY = {"by": "group", "groups": GROUPS, "epsilon": 4.0}
OUTCOME = {"formula": "I((y > 0.5) * 1) ~ x", "bounds": {"I((y > 0.5) * 1)": (0, 1)}}
LINKED = {
    "outcomes": (dp.dp_logit, OUTCOME),
    "outcomes, offset": (dp.dp_logit, {**OUTCOME, "offset": "z"}),
    "counts": (dp.dp_poisson, {"formula": "y ~ x"}),
    "counts, exposure": (dp.dp_poisson, {"formula": "y ~ x", "exposure": "z"}),
    "counts, bounds": (dp.dp_poisson, {"formula": "y ~ x", "bounds": {"x": (0, 1)}}),
}


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_every_table_gives_groups_of_outcomes_and_counts(name, neighbors, caplog, capfd):
    verb, call = LINKED[name]
    call = {**call, "neighbors": neighbors, **BY}
    expected = form(verb(data=TABLES["plain"], **call))
    for kind, data in TABLES.items():
        if kind == "bool response" and verb is dp.dp_logit:
            continue  # whose type the term refuses, whatever its rows are
        with watched(caplog, capfd):
            result = verb(data=data, **call)
            assert form(result) == expected, kind
            assert statuses(result) <= STATUSES and str(result.summary()), kind


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("row", STRANGE, ids=str)
def test_one_strange_row_changes_nothing_but_numbers_of_groups_with_links(
    name, row, monkeypatch, caplog, capfd
):
    verb, call = LINKED[name]
    counts, neighbour, outcomes = counted(monkeypatch), TABLES["plain"].copy(), []
    neighbour.loc[4, ["x", "y"]] = row
    with watched(caplog, capfd):
        for data in (TABLES["plain"], neighbour):
            counts.clear()
            with dp.testing.insecure_seed(4):
                result = verb(data=data, **call, **BY)
            steps = [(event.step, event.cost) for event in result.privacy.events]
            outcomes.append((form(result), statuses(result), dict(counts), steps))
    check_numbers_alone(*outcomes)


def counted(monkeypatch) -> Counter:
    """How often each kind of noise is asked for."""
    counts = Counter()
    for kind in ("add", "choose", "choose_each", "sample"):
        original = getattr(Noise, kind)

        def spy(self, *arguments, kind=kind, original=original):
            counts[kind] += 1
            return original(self, *arguments)

        monkeypatch.setattr(Noise, kind, spy)
    return counts


def observed(fit, data, method, setting, counts):
    """The outcome of a call: its form, its statuses, its draws and what they cost."""
    counts.clear()
    try:
        result = fit(data, method, **SETTINGS[setting])
    except Exception as error:
        return [type(error), str(error)], None, None, None
    events = [(event.step, event.mechanism, event.cost) for event in result.privacy.events]
    return form(result), statuses(result), dict(counts), events


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("row", STRANGE, ids=str)
def test_one_strange_row_changes_nothing_but_numbers(
    method, fit, row, setting, monkeypatch, caplog, capfd
):
    counts, neighbour = counted(monkeypatch), TABLES["plain"].copy()
    neighbour.loc[4, ["x", "y"]] = row
    with watched(caplog, capfd):
        with dp.testing.insecure_seed(4):
            first = observed(fit, TABLES["plain"], method, setting, counts)
        with dp.testing.insecure_seed(4):
            second = observed(fit, neighbour, method, setting, counts)
    check_numbers_alone(first, second)


@pytest.mark.parametrize("setting", ["declared", "estimated"])
def test_one_row_more_changes_nothing_but_numbers(method, fit, setting, monkeypatch):
    if "add_remove" not in dp.METHODS[method].neighbors:
        pytest.skip("proven for replacing a row only")
    counts, plain = counted(monkeypatch), TABLES["plain"]
    outcomes = []
    for data in (plain, plain[:-1], pd.concat([plain, table([1e300], [np.inf])])):
        with dp.testing.insecure_seed(4):
            outcomes.append(observed(fit, data, method, setting, counts))
    for other in outcomes[1:]:
        check_numbers_alone(outcomes[0], other)


TRANSFORMED = {"formula": "y ~ np.log(x)", "bounds": None}
REFUSED = [
    *({"epsilon": value} for value in (0, -1, float("nan"), float("inf"), "1", None, 10**400)),
    *({"delta": value} for value in (-1, 0.7, "small")),
    *({"method": value} for value in ("ols", None, ["adassp"])),
    *({"neighbors": value} for value in ("bounded", ["add_remove"], 1)),
    {"missing": "raise"},
    *({"formula": text} for text in ("y", "y ~", 3, "y + x", "y ~ x.mean()", "y ~ open('f') + x")),
    *({"formula": text, "bounds": None} for text in ("y ~ w", "y ~ s", "y ~ drawn", "known ~ x")),
    TRANSFORMED,
    *({"formula": text, "bounds": None} for text in ("y ~ C(x)", "y ~ C(x, Sum)")),
    {"formula": "y ~ np.log(x)"},
    *({"bounds": value} for value in ([("x", (0, 1))], {"x": 1}, {"x": (1, 0)}, {"w": (0, 1)})),
    *({"bounds": {"x": pair}} for pair in ((0, float("inf")), (0, 10**400), ("a", "b"), (0, 1, 2))),
    *({"levels": value} for value in (["a"], {"w": ["a"]}, {"x": "ab"}, {"x": [1, 1]})),
    *({"levels": {"x": value}} for value in ([], [[1], [2]])),
    *({"x_new": value} for value in ("a", [float("nan")], {"w": [1]}, np.ones((2, 2)), [None])),
    *({"x_new": value} for value in ({"x": [[1]]}, pl.DataFrame({"w": [1]}))),
    *({"by": value} for value in ("w", 3, "x", "y", "z")),
    *({"by": value} for value in ([], ["s", "w"], ["s", "s"], ["s", 3], ["s", "x"])),
    {"by": ["s", "known"], "groups": ["a"]},
    *({"formula": value} for value in ([], ["y ~ x", "y ~ x"], ["y ~ x", "y ~"])),
    *({"formula": f"y ~ x | {text}"} for text in ("w", "known + s", "s^known", "x", "y", "C(s)")),
    *(
        {"formula": "y ~ x | s"} | more
        for more in (
            {"cov_type": "HC3"},
            {"x_new": [0.5]},
            {"by": "s"},
        )
    ),
    {"by": "s", "n_jobs": 0},
    {"x_new": pd.DataFrame({"x": [0.1, 0.2]}, index=["x", "Intercept"])},
    *({"by": "s", "groups": value} for value in ("ab", [], ["a", "a"], {"a"}, [["a"], ["b"]])),
    {"groups": ["a"]},
    *({"row_norm": value} for value in (-1, 0, "1", True, float("inf"))),
    {"budget": 1},
    {"unknown_option": 1},
    *({"select": value} for value in ("best", ["kendall"], "kendall")),
    *({"select": "lasso", "formula": "y ~ x + z", "k": k} for k in (0, 2, True, 0.5, "all")),
    *(
        {"select": "lasso", "formula": "y ~ x + z", "k": 1, "select_share": s}
        for s in (0, 0.9, "a")
    ),
    {"select_share": 0.1},
    *({"weights": value} for value in ("w", "z", "s", 3, ["x"], np.ones(8))),
    *({"weights": "z", "bounds": {"x": (0, 1), "y": (0, 1), "z": z}} for z in ((-1, 1), (1, 0), 2)),
    *({"trim_weights": value} for value in (0.5, "a")),
    *({"subset": text} for text in (3, "w > 1", "x >", "x", "x.mean() > 0", "s != 'a'", "x > 'a'")),
    *({"subset": text} for text in ("known == 'c'", "s > 1", "center(x) > 0", "open('f') == 1")),
    *({"data": value} for value in (None, 3, "file.csv", [1, 2], {"x": [1], "y": [1, 2]})),
]


@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: str(bad).split("\n")[0][:60])
def test_bad_arguments_are_refused_before_a_row_is_read(fit, bad):
    for method, entry in dp.METHODS.items():
        if bad == TRANSFORMED and entry.ranges.marginals:
            continue  # the range of x is estimated
        budget = dp.Budget(1000, 1e-3)
        call = {"data": closed(), "method": method, "budget": budget} | bad
        with pytest.raises(dp.ArgumentError) as raised:
            fit(**call)
        assert len(str(raised.value)) > 20, method
        assert budget.spent == (0, 0), method


BAD_GROUPS = [
    *({"by": value} for value in ("w", 3, "x", "z", [], ["s", "s"])),
    *({"by": "s", "groups": value} for value in ("ab", [], ["a", "a"], {"a"}, [["a"], ["b"]])),
    *({"by": "s", "n_jobs": value} for value in (0, "all", True)),
    *({"by": "s", "unit": "known", "max_groups": value} for value in (0, 1.5)),
    *({"groups": ["a"]}, {"unit": "known", "max_groups": 2}, {"by": "s", "max_groups": 2}),
    *({"by": "s", "group_by": "s"}, {"by": "s", "epsilon": 0}, {"by": "s", "method": "auto"}),
]


@pytest.mark.parametrize("bad", BAD_GROUPS, ids=str)
def test_bad_groups_of_outcomes_and_counts_are_refused_before_a_row_is_read(bad):
    for verb, call in LINKED.values():
        budget = dp.Budget(1000, 1e-3)
        with pytest.raises(dp.ArgumentError):
            verb(data=closed(), budget=budget, **{"epsilon": 1, **call, **bad})
        assert budget.spent == (0, 0)
        with pytest.raises(Read):
            verb(data=closed(), epsilon=1, by="s", **call)


@pytest.mark.parametrize("delta", [0, 1e-5])
def test_what_does_not_fit_the_budget_is_refused_before_a_row_is_read(method, fit, delta):
    budget = dp.Budget(1 if delta or dp.METHODS[method].guarantee == "pure" else 1000, delta)
    for more in ({}, {"by": "s"}, {"bounds": None}):
        with pytest.raises(dp.BudgetError, match="epsilon=.* does not fit"):
            fit(closed(), method, budget=budget, **more)
    assert budget.spent == (0, 0)


def test_relations_do_not_mix_in_a_budget(method, fit, line):
    budget, (relation, *_) = dp.Budget(1000, 1e-3), dp.METHODS[method].neighbors
    fit(line, method, budget=budget)
    other = {"add_remove": "replace_one", "replace_one": "add_remove"}[relation]
    takes_other = [name for name, entry in dp.METHODS.items() if other in entry.neighbors]
    spent = budget.spent
    for name in takes_other:
        with pytest.raises(dp.BudgetError, match=f"under neighbors='{relation}'"):
            fit(closed(), name, budget=budget, neighbors=other)
    assert budget.spent == spent


@pytest.mark.parametrize("setting", [{}, {"bounds": None}, {"by": "known"}, {"by": "s"}], ids=str)
def test_a_good_call_does_read_and_is_charged(method, fit, setting, promise):
    budget = dp.Budget(1000, 1e-3)
    with pytest.raises(Read):
        fit(closed(), method, budget=budget, **setting)
    assert budget.spent == promise(method)


@pytest.mark.parametrize("place", ["batches", "labels", "codes"])
def test_checks_ask_the_table_for_types_alone(method, fit, monkeypatch, place):
    def refuse(*arguments, **keywords):
        raise Read

    monkeypatch.setattr(Table, place, refuse)
    for module, name in ((kinds, "numbers"), (categories, "factorize"), (categories, "match")):
        monkeypatch.setattr(module, name, refuse)
    listed = [] if place == "labels" else [{"by": "known"}, {"by": "s", "groups": ["a"]}]
    for good in [{"by": "s"}, *listed]:
        with pytest.raises(Read):
            fit(closed(), method, **good)
        with pytest.raises(dp.ArgumentError):
            fit(closed(), method, **good, unknown_option=1)
