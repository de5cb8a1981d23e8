"""dp_describe: refusals before a row is read, every door, budgets, and nothing of a row after."""

import gc
import json
import re
import traceback

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.describe import release
from dpstats.engines import Table
from dpstats.run.describe import facts
from tests.checks.descriptions import request_of
from tests.checks.leaks import check_holds_nothing, check_reaches_no_rows, confidential, pickled

N = 4000


def people(n=N) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n), "wage": rng.lognormal(3, 0.5, n),
        "region": pd.Categorical(rng.choice(["a", "b"], n)), "name": rng.choice(["x", "y"], n),
        "female": rng.random(n) < 0.5, "born": pd.Timestamp("2000-01-01"),
    })  # fmt: skip


def described(data, columns=("age", "region"), **more) -> dp.DPDescription:
    with dp.testing.insecure_seed(3):
        return dp.dp_describe(data, list(columns), **{"epsilon": 1, **more})


REFUSED = {
    "epsilon": ({"epsilon": 0}, "epsilon"),
    "delta": ({"delta": 0}, "leave delta out for 1e-6"),
    "column": ({"columns": ["agee"]}, "agee"),
    "columns": ({"columns": []}, "columns"),
    "no columns": ({"columns": None}, "columns to name what to describe, .*the columns are age, "),
    "twice": ({"columns": ["age", "age"]}, "none twice"),
    "text": ({"columns": ["name"]}, 'levels={"name"'),
    "dates": ({"columns": ["born"]}, "born holds dates or times; make a column of days"),
    "unit": ({"unit": 3}, "unit to name a column"),
    "max_rows": ({"max_rows": 2}, "add unit="),
    "max_groups": ({"unit": "name", "max_groups": 2}, "groups of by="),
    "weights": ({"weights": "wage"}, "must be public"),
    "negative": ({"weights": "wage", "bounds": {"wage": (-1, 5)}}, "begin at 0"),
    "trim_weights": ({"trim_weights": 2}, "add weights="),
    "neighbors": ({"neighbors": "replace_one"}, "add_remove"),
    "relation": ({"neighbors": "swap"}, "swap"),
    "missing": ({"missing": "keep"}, "column by column"),
    "min": ({"statistics": ["min"]}, r"quantiles=\(0.01, 0.99\)"),
    "nunique": ({"statistics": ["mean", "nunique"]}, "levels="),
    "statistic": ({"statistics": ["median"]}, "median"),
    "quantile": ({"quantiles": [0.0]}, "quantiles"),
    "quantiles": ({"quantiles": [0.5, 0.5]}, "none twice"),
    "by": ({"by": "name"}, "list them in groups"),
    "by two": ({"by": ["name", "female"]}, "one column, .* paste their labels into one"),
    "by itself": ({"by": "age", "groups": [20]}, "among the columns"),
    "groups": ({"groups": ["x"]}, "name it with by="),
    "bounds": ({"bounds": {"wages": (0, 1)}}, "wages"),
    "both": ({"bounds": {"age": (0, 1)}, "levels": {"age": [1, 2]}}, "both name"),
    "far": ({"bounds": {"age": (0, 1e70)}}, "tighten"),
    "alpha": ({"alpha": 0}, "alpha"),
    "budget": ({"budget": 1}, "Ledger"),
    "percentiles": (
        {"percentiles": [0.1]},
        r"argument percentiles=.*quantiles=\(0.1, 0.9\)",
    ),
    "include": ({"include": "all"}, "has no argument include='all'; name the columns"),
    "eps": ({"eps": 1}, "has no argument eps=1; give epsilon="),
    "misspelt": ({"subsets": "age > 20"}, "did you mean subset=?"),
    "option": ({"foo": 1}, r"has no argument foo=1; help\(dpstats.dp_describe\) lists"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_are_refused_before_a_row_is_read(name, monkeypatch):
    arguments, message = REFUSED[name]

    def read(*_):
        raise AssertionError("a row was read")

    monkeypatch.setattr(Table, "batches", read)
    arguments = {"columns": ["age"], "epsilon": 1, **arguments}
    with pytest.raises(dp.ArgumentError, match=message):
        dp.dp_describe(people(), **arguments)


def test_every_door_gives_the_same_figures(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    data = people()
    table = pa.Table.from_pandas(data)
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=700)
    data.to_csv(tmp_path / "people.csv", index=False)
    first = described(data, ("age", "wage"), by="region", groups=["a", "b"])
    doors = {
        "dict": {name: data[name].to_numpy() for name in ("age", "wage")}
        | {"region": data["region"].astype(str).astype("string")},
        "arrow": table,
        "parquet": tmp_path / "people.parquet",
    }
    for name, door in doors.items():
        found = described(door, ("age", "wage"), by="region", groups=["a", "b"])
        assert repr(found.figures) == repr(first.figures), name
    of_text = {"types": {"age": "integer", "wage": "number", "region": "string"}}
    found = described(tmp_path / "people.csv", ("age", "wage"), by="region", groups=["a", "b"],
                      **of_text)  # fmt: skip
    assert repr(found.figures) == repr(first.figures)


def test_quantiles_may_be_an_array():
    listed = described(people(), quantiles=[0.1, 0.9]).frame
    pd.testing.assert_frame_equal(described(people(), quantiles=np.array([0.1, 0.9])).frame, listed)
    pd.testing.assert_frame_equal(
        described(people(), quantiles=np.float32(0.5)).frame,
        described(people(), quantiles=0.5).frame,
    )


def test_a_subset_uses_its_rows_alone():
    data = people()
    found = described(data, subset="female == True", epsilon=1e6).frame
    n = found.query("statistic == 'n'")["estimate"]
    np.testing.assert_allclose(n, data["female"].sum(), atol=0.1)


def test_a_budget_is_charged_once_and_refuses_what_does_not_fit():
    budget = dp.Budget(epsilon=1.2)
    described(people(), budget=budget)
    assert budget.spent[0] == pytest.approx(1, rel=1e-6)
    with pytest.raises(dp.BudgetError):
        described(people(), budget=budget)


def test_a_ledger_stores_a_description_and_answers_it_again(tmp_path):
    named = {"dataset": "people", "fingerprint": "2024", "epsilon": 4, "delta": 1e-5}
    ledger = dp.Ledger.create(tmp_path / "people.ledger", **named)
    first, again = (
        dp.dp_describe(people(), ["age"], epsilon=1, by="female", budget=ledger) for _ in range(2)
    )
    spent = ledger.spent
    assert repr(again.figures) == repr(first.figures) and spent[0] < 1.5
    dp.dp_describe(people(), ["age"], epsilon=1, by="female", quantiles=0.5, budget=ledger)
    assert ledger.spent > spent


def test_calls_that_count_rows_differently_are_different_to_a_ledger():
    """What a ledger knows a call by has every argument that the release depends on."""
    weights = {"weights": "wage", "bounds": {"wage": (0, 90)}}
    calls = [
        {}, {"unit": "name"}, {"unit": "name", "max_rows": 2}, {"unit": "age"}, weights,
        {**weights, "trim_weights": 20}, {**weights, "unit": "name"}, {"histogram": True},
        {"bounds": {"wage": (0, 80)}, "weights": "wage"}, {"by": "female"},
        {"by": "female", "unit": "name"}, {"by": "female", "unit": "name", "max_groups": 2},
    ]  # fmt: skip
    told = [
        json.dumps(facts(request_of(people(), ["region"], 1.0, **call))["call"]) for call in calls
    ]
    assert len({*told}) == len(calls)


@pytest.mark.parametrize("more", [{}, {"by": "place", "groups": ["north", "south"]}])
def test_a_description_holds_no_row(more):
    found = dp.dp_describe(confidential(), ["x", "y"], epsilon=4, **more)
    for text in (repr(found), found.to_json(), found.to_html(), found.frame.to_csv()):
        check_holds_nothing(text)
    check_holds_nothing(pickled(found))
    check_reaches_no_rows(found)


@pytest.mark.parametrize("error", [ValueError("0.123456789"), KeyboardInterrupt()])
def test_a_defect_and_an_interrupt_carry_no_rows(error, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setattr(release, "of_number", fails)
    budget = dp.Budget(epsilon=5)
    kind = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else dp.InternalError
    with pytest.raises(kind, match="counts as spent") as caught:
        dp.dp_describe(confidential(), ["x", "y"], epsilon=4, budget=budget)
    assert budget.spent[0] == pytest.approx(4, rel=1e-6)
    text = "".join(traceback.format_exception(caught.value))
    assert not re.search("123456789", text.replace(str(error), "" if kind is ValueError else "#"))
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    own = [frame for frame in frames if "dpstats" in frame.f_code.co_filename]
    own = [frame for frame in own if "tests" not in frame.f_code.co_filename]
    gc.collect()
    assert own
    check_reaches_no_rows(*(list(frame.f_locals.values()) for frame in own))


@pytest.mark.parametrize(
    ("rows", "epsilon", "said"),
    [
        (60, 1, "how far answer may reach is not seen"),
        (9000, 4, "could hide far values, such as codes"),
    ],
)
def test_what_noise_hides_is_said_with_what_rules_it_out(rows, epsilon, said):
    answers = pd.DataFrame({"answer": np.random.default_rng(1).integers(1, 8, rows)})
    shown = described(answers, ["answer"], epsilon=epsilon).summary()
    assert said in " ".join(shown.split())
    bounded = described(answers, ["answer"], epsilon=epsilon, bounds={"answer": (1, 7)}).summary()
    assert said not in " ".join(bounded.split())


@pytest.mark.parametrize(
    "more",
    [{}, {"by": "female"}, {"unit": "person"}, {"weights": "w", "bounds": {"w": (0, 1)}}],
    ids=str,
)
def test_counts_that_are_asked_for_alone_have_the_whole_budget(more):
    data = people().assign(person=np.arange(N) // 2, w=0.5)
    data.loc[::10, "wage"] = np.nan
    data.loc[::4, "region"] = None
    each = 2 if more.keys() & {"unit", "weights"} else 1  # two rows a person, or weights of 0.5
    exact = described(data, ["wage", "region"], epsilon=1e6, statistics=["n"], **more).frame
    for keys, rows in data.groupby("female") if "by" in more else [(None, data)]:
        own = exact if keys is None else exact[exact["female"] == keys]
        wanted = [f(rows[c]) / each for c in ("wage", "region") for f in (_present, _missing)]
        assert own["statistic"].tolist() == ["n", "missing"] * 2
        assert own["estimate"].tolist() == pytest.approx(wanted, abs=0.1)
    alone = described(data, ["wage", "region"], statistics=["missing", "n"], **more)
    with_means = described(data, ["wage", "region"], statistics=["n", "mean"], **more).frame
    ratio = with_means["std_error"][0] / alone.frame["std_error"][0]
    assert ratio > 3 and len(alone.privacy.events) == 1
    assert alone.privacy.events[0].cost == alone.privacy.limit
    assert "parentheses" not in alone.summary()
    assert alone.table().shape == ((1, 2) if "by" in more else (2, 2))
    assert dp.DPDescription.from_json(alone.to_json()) == alone


def _present(column) -> int:
    return column.notna().sum()


def _missing(column) -> int:
    return column.isna().sum()


def test_a_ledger_tells_counts_alone_from_all_figures(tmp_path):
    call = {"dataset": "d", "epsilon": 4, "fingerprint": "1"}
    ledger, data = dp.Ledger.create(tmp_path / "d.ledger", **call), people(500)
    for _ in range(2):
        counts = dp.dp_describe(data, ["age"], epsilon=1, statistics=["n"], budget=ledger)
    every = dp.dp_describe(data, ["age"], epsilon=1, budget=ledger)
    assert len(counts.figures) == 2 < len(every.figures)
    assert [entry["state"] for _, entry in ledger.requests().iterrows()] == ["released"] * 2


def test_a_constant_column_is_not_said_to_have_few_rows():
    """That its values are alike is no more told than that they are few."""
    shown = described(people().assign(age=7), ["age"]).summary()
    assert "as where rows are few or nearly all have one value, so" in " ".join(shown.split())
