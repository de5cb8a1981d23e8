"""Spark DataFrames: sums as in memory to the last unit, groups fitted by workers, no row here."""

import datetime
import json
import operator
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.engines.open_table import open_table
from dpstats.engines.spark import table as engine
from dpstats.engines.spark import tasks
from dpstats.engines.tables import Table
from dpstats.engines.units import UNIT
from dpstats.errors import Defect
from dpstats.schema import Labels, Numeric
from tests.checks.passes import failing

REQUIRED = bool(os.environ.get("DPSTATS_REQUIRE_SPARK"))
LEVELS = {"g": ["u", "v"]}
BOUNDS = {"x": (0, 1), "y": (0, 1)}
N = 600
SUMS = [name for name, method in dp.METHODS.items() if method.fixed_size_summary]


def missing() -> str:
    """What these tests lack, or an empty string."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark, from pip install 'dpstats[spark]'"
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    return "" if java else "a Java runtime, such as Debian's default-jre-headless"


if missing() and not REQUIRED:
    pytest.skip(f"the Spark tests need {missing()}", allow_module_level=True)


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    builder = SparkSession.builder.master("local[2]").config(map=settings)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = rng.uniform(size=N).round(3)
    frame = pd.DataFrame({"x": x, "y": 0.2 + x / 2 + rng.normal(0, 0.1, N).round(3)})
    frame["g"] = rng.choice(["u", "v", "w"], N)
    frame["area"] = rng.integers(0, 4, N)
    frame.loc[rng.choice(N, 20), "x"] = np.nan
    return frame


@pytest.fixture(scope="module")
def make(session):
    """A Spark DataFrame of a pandas one, in a few partitions."""

    def made(frame, partitions=3):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        return session.createDataFrame(table).repartition(partitions)

    return made


@pytest.fixture(scope="module")
def rows(make, people):
    return make(people)


def fit(data, method="adassp", formula="y ~ x", epsilon=3, bounds=BOUNDS, **more):
    return dp.dp_ols(formula, data, method=method, epsilon=epsilon, bounds=bounds, **more)


def seeded(data, *args, **more):
    with dp.testing.insecure_seed(8):
        return fit(data, *args, **more)


@pytest.mark.parametrize(("bounds", "partitions"), [(BOUNDS, 5), (None, 1)])
def test_sums_are_those_in_memory_to_the_last_unit(make, people, bounds, partitions):
    more = {"formula": "y ~ x * C(g)", "levels": LEVELS, "bounds": bounds}
    here, there = (seeded(data, **more) for data in (people, make(people, partitions)))
    assert here == there and here.privacy == there.privacy


@pytest.mark.parametrize("method", SUMS)
def test_methods_on_sums_need_no_rows(rows, people, method):
    assert seeded(rows, method) == seeded(people, method)


@pytest.mark.parametrize("method", ["adassp", "noisy_moments"])
def test_a_second_pass_starts_from_what_the_first_released(rows, people, method):
    here, there = (seeded(data, method, epsilon=50, cov_type="HC1") for data in (people, rows))
    assert here == there and here.cov_type == "HC1"


@pytest.mark.parametrize("label", ["g", "area"])
def test_absorbed_groups_spread_over_partitions_are_those_in_memory(make, people, label):
    formula = f"y ~ x | {label}"
    for data in (people, people[:0]):
        here, there = (seeded(d, formula=formula) for d in (data, make(data)))
        assert here == there
    groups = {"by": "area", "groups": [0, 1, 7]}
    if label == "g":
        there = fit(make(people), formula=formula, epsilon=1e6, **groups)
        here = fit(people, formula=formula, epsilon=1e6, **groups)
        np.testing.assert_allclose(here.params[:2], there.params[:2], atol=1e-3)


WEIGHED = {"weights": "area", "bounds": {"area": (0, 3)}}
PAIRS = {
    "HC1": {"cov_type": "HC1"},
    "weights": {**WEIGHED, "neighbors": "replace_one"},
    "weights and HC1": {**WEIGHED, "cov_type": "HC1"},
    "cluster": {"cov_type": "cluster", "cluster": "id", "formula": "y ~ x | id"},
    "delta 0": {"delta": 0},
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_absorbed_groups_are_those_in_memory(make, people, name):
    """Of rows of which many are equal, in three groups and in a hundred, and some in none."""
    data = people.assign(id=np.arange(N) // 6, x=people["x"].round(1), y=people["y"].round(1))
    data.loc[::50, "g"] = None
    call = {"formula": "y ~ x | g", "epsilon": 60, "bounds": None, **PAIRS[name]}
    here, there = (seeded(table, "auto", **call) for table in (data, make(data)))
    assert here == there and here.privacy == there.privacy and np.isfinite(here.bse).all()
    robust = "HC1" if "HC1" in name or "weights" in name else here.cov_type
    assert here.method.startswith("noisy_newton") and here.cov_type == robust


@pytest.mark.parametrize("rows", [0, 1])
def test_pairs_of_no_rows_are_those_in_memory(make, people, rows):
    call = {"formula": "y ~ x | g", "cov_type": "HC1", **WEIGHED}
    here, there = (seeded(table, "auto", **call) for table in (people[:rows], make(people[:rows])))
    assert here == there and here.privacy == there.privacy


def test_instruments_with_absorbed_effects_are_those_in_memory(make, people):
    data = people.assign(z=people["x"] + 0.1, d=people["x"] + people["y"])
    found = []
    for table in (data, make(data)):
        with dp.testing.insecure_seed(8):
            found.append(dp.dp_iv("y ~ [d ~ z] | area", table, epsilon=60, cov_type="HC1"))
    assert found[0] == found[1] and found[0].privacy == found[1].privacy


def test_effects_of_persons_by_steps_are_those_in_memory(make, people):
    data = people.assign(id=np.arange(len(people)) // 3)
    call = {"formula": "y ~ x | id", "unit": "id", "epsilon": 60}
    here, there = (seeded(table, "noisy_newton", **call) for table in (data, make(data)))
    assert here == there and np.isfinite(here.bse).all()


def test_weights_and_a_subset_are_those_in_memory(rows, people):
    more = {
        "weights": "area", "subset": "x > 0.3 | g == 'u'", "bounds": {**BOUNDS, "area": (0, 3)},
        "cov_type": "HC1", "epsilon": 500,
    }  # fmt: skip
    here, there = (seeded(data, "adassp", **more) for data in (people, rows))
    assert here == there and here.privacy == there.privacy and here.cov_type == "HC1"
    grouped = {**more, "by": "g", "groups": ["u", "v", "none"], "epsilon": 1e6}
    here, there = (fit(data, **grouped) for data in (people, rows))
    difference = here.params.loc[["u", "v"]] - there.params.loc[["u", "v"]]
    assert np.abs(difference).to_numpy().max() < 1e-2 and list(here.status) == list(there.status)


@pytest.mark.parametrize("more", [
    {}, {"by": "g", "groups": ["u", "v"], "subset": "x > 0.2"}, {"unit": "area"},
    {"weights": "y", "bounds": {"y": (0, 1)}, "histogram": True},
])  # fmt: skip
def test_descriptions_are_those_in_memory(rows, people, more):
    columns = ["x"] if "by" in more or "unit" in more else ["x", "area", "g"]
    call = {"epsilon": 4, "levels": LEVELS, **more}
    found = []
    for data in (people, rows):
        with dp.testing.insecure_seed(8):
            found.append(dp.dp_describe(data, columns, **call))
    assert repr(found[0].figures) == repr(found[1].figures)
    assert found[0].bars == found[1].bars and found[0].privacy == found[1].privacy


def test_no_rows_and_strange_names(make, people):
    odd = {"x": "a.b`c", "y": "y"}
    frame = people.rename(columns=odd)
    formula = "y ~ Q('a.b`c')"
    bounds = {"a.b`c": (0, 1), "y": (0, 1)}
    for data in (frame, frame[:0]):
        here, there = (seeded(d, formula=formula, bounds=bounds) for d in (data, make(data)))
        assert here == there


EXCHANGED = {
    "x": (pa.float64(), [None, float("nan"), float("inf"), -0.0, 1e308]),
    "g": (pa.string(), [None, "", "undeclared", "x" * 100_000, "\0"]),
    "d": (pa.date32(), [None, datetime.date.max, datetime.date.min, datetime.date(2021, 1, 1)]),
}


@pytest.mark.parametrize("column", EXCHANGED)
def test_one_exchanged_cell_is_read_as_in_memory(session, people, column):
    """The neighbour suite shows there that it changes no other row and stops no call."""
    days = [datetime.date(2020, 1, 1 + i % 2) for i in range(N)]
    table = pa.table({**{n: people[n] for n in ("x", "y", "g")}, "d": pa.array(days)})
    levels = {"g": ["u", "v"], "d": [days[0], days[1], datetime.date(2022, 2, 2)]}
    dtype, cells = EXCHANGED[column]
    for cell in cells:
        column_cells = pa.concat_arrays(
            [pa.array([cell], dtype), table[column].combine_chunks()[1:].cast(dtype)]
        )
        changed = table.set_column(table.column_names.index(column), column, column_cells)
        more = {"formula": "y ~ x + C(g) + C(d)", "levels": levels}
        there = session.createDataFrame(changed).repartition(3)
        assert seeded(changed, **more) == seeded(there, **more)


def test_groups_of_dates_are_those_of_date(make, people):
    days = [datetime.date(2020, 1, 1 + i % 2) for i in range(N)]
    rows = make(people.assign(d=pd.Series(days, dtype=pd.ArrowDtype(pa.date32()))))
    listed = [days[1], datetime.date(2022, 2, 2), days[0]]
    assert fit(rows, by="d", groups=listed).labels == tuple(listed)
    assert fit(rows, by="d").labels == (days[0], days[1])
    with pytest.raises(dp.ArgumentError, match="a column of type date"):
        fit(rows, by="d", groups=["2020-01-01"])


@pytest.mark.parametrize("more", [{}, {"method": "noisy_newton", "formula": "y ~ x | g"}], ids=str)
def test_only_summaries_come_here(make, people, monkeypatch, more):
    """As many bytes at a time come to the driver whatever the number of rows."""
    came = []

    def loads(data):
        came.append(len(data))
        return pickle.loads(data)

    monkeypatch.setattr(tasks, "pickle", SimpleNamespace(loads=loads, dumps=pickle.dumps))
    sizes = []
    for frame in (people, pd.concat([people] * 30)):
        came.clear()
        fit(make(frame, 2), **more)
        sizes.append(max(came))
    assert sizes[1] - sizes[0] < 100 < sizes[0]


OTHERS = [name for name in dp.METHODS if name not in SUMS]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        *(({"method": name}, f"{name} needs all rows in one place") for name in OTHERS),
        ({"select": "kendall", "k": 1, "formula": "y ~ x + area"}, "compares rows"),
        ({"by": ["area", "nosuch"]}, "no column 'nosuch'"),
    ],
    ids=str,
)
def test_what_needs_the_rows_is_refused(rows, more, message):
    budget = dp.Budget(epsilon=5, delta=1e-5)
    with pytest.raises(dp.ArgumentError, match=message):
        fit(rows, budget=budget, **more)
    assert budget.spent == (0.0, 0.0)


def test_groups_with_doubtful_noise_are_refused(rows, monkeypatch):
    with pytest.raises(dp.ArgumentError, match="insecure_seed does not reach"):
        seeded(rows, by="area")
    assert not open_table(rows).speculates
    monkeypatch.setattr(engine.SparkTable, "speculates", True)
    with pytest.raises(dp.ArgumentError, match="two tasks may draw noise"):
        fit(rows, by="area")


@pytest.mark.parametrize(
    ("setting", "doubtful"), [("TRUE", True), ("true", True), ("False", False)]
)
def test_speculation_is_seen_however_it_is_written(setting, doubtful):
    session = SimpleNamespace(conf={"spark.speculation": setting})
    table = SimpleNamespace(_data=SimpleNamespace(sparkSession=session))
    assert engine.SparkTable.speculates.fget(table) == doubtful


@pytest.mark.parametrize(("method", "groups"), [("adassp", None), ("exp_theil_sen", [3, 9, 1])])
def test_groups_are_those_in_memory(rows, people, method, groups):
    """With so little noise that the fits agree, and with the same report."""
    more = {"by": "area", "groups": groups, "epsilon": 1e6}
    here, there = (fit(data, method, **more) for data in (people, rows))
    assert here.labels == there.labels == tuple(groups or range(4))
    present = [label for label in here.labels if label != 9]
    difference = here.params.loc[present] - there.params.loc[present]
    assert np.abs(difference).to_numpy().max() < 1e-2
    assert list(here.status) == list(there.status)
    assert here.privacy == there.privacy and there.privacy.private


@pytest.mark.parametrize("model", ["logit", "poisson"])
@pytest.mark.parametrize("more", [
    {}, {"groups": [3, 9, 1]}, {"weights": "w", "bounds": {"w": (0, 2)}, "subset": "g != 'w'"},
    {"offset": "o"},
], ids=str)  # fmt: skip
def test_groups_of_other_models_are_those_in_memory(make, people, model, more):
    """Of one release of scales for all, with so little noise that the fits of each group agree."""
    data = people.assign(up=people["y"] > 0.45, w=people["y"] + 0.5, o=people["x"] / 2)
    verb, response = (dp.dp_logit, "up") if model == "logit" else (dp.dp_poisson, "w")
    call = {"by": "area", "levels": {"g": ["u", "v", "w"]}, "epsilon": 1e8, **more}
    here, there = (verb(f"{response} ~ x", data=rows, **call) for rows in (data, make(data)))
    assert here.labels == there.labels and list(here.status) == list(there.status)
    present = [label for label in here.labels if label != 9]
    assert here.params.loc[present].notna().to_numpy().all()
    difference = here.params.loc[present] - there.params.loc[present]
    assert np.abs(difference).to_numpy().max() < 1e-2
    assert costs(here) == costs(there) and there.privacy.private


def costs(result):
    """How often a step had a cost.

    Limits, and so sensitivities, follow from what was released before, and so does the order of
    columns of which few rows or many are seen.
    """
    return Counter((event.step, event.mechanism, event.cost) for event in result.privacy.events)


def test_pairs_in_groups_are_those_in_memory(make, people):
    """A group is on one worker, which compares its rows."""
    more = {"formula": "y ~ x | g", "by": "area", "method": "noisy_newton", "epsilon": 1e6}
    here, there = (fit(data, **more) for data in (people, make(people)))
    assert np.abs(here.params - there.params).to_numpy().max() < 1e-2
    assert list(here.status) == list(there.status) and costs(here) == costs(there)


@pytest.mark.parametrize("groups", [None, [("u", 3), ("z", 9), ("v", 0)]])
def test_groups_of_several_columns_are_those_in_memory(make, people, groups):
    """With so little noise that the fits agree, and with the same report."""
    some = people.assign(g=people["g"].where(people["x"] > 0.1))
    more = {"by": ["g", "area"], "groups": groups, "epsilon": 1e6, "method": "noisy_moments"}
    here, there = (fit(data, **more) for data in (some, make(some)))
    assert here.labels == there.labels and len(here) == (3 if groups else 12)
    assert here.statuses == there.statuses
    ok = here.status == "ok"
    assert ok.sum() == (2 if groups else 12)
    assert np.abs(here.params - there.params)[ok].to_numpy().max() < 1e-2
    assert here.privacy == there.privacy
    assert here.frame.dtypes.equals(there.frame.dtypes)


def test_groups_without_a_released_range(rows):
    result = fit(rows, by="area", bounds=None, epsilon=1e-3)
    assert result.labels == (0, 1, 2, 3) and set(result.status) == {"not_identified"}


def test_each_group_has_noise_of_its_own(make):
    """Laplace noise of scale 1 / (epsilon n), independent over 400 equal groups.

    The mean of |noise| over the scale is 1 +- 0.05; five deviations are a false alarm in a
    million. Equal draws would show workers that share a state.
    """
    frame = pd.DataFrame({"area": np.repeat(np.arange(400), 2), "x": 0.5, "y": 0.5})
    noise = fit(make(frame, 2), "noisy_intercept", by="area", epsilon=2).params["Intercept"] - 0.5
    assert noise.nunique() == 400
    assert abs(np.abs(noise).mean() * 2 * 2 - 1) < 0.25


def test_an_error_in_a_task_shows_no_value(make, capfd):
    """The error and what Spark logs hold neither 1 / 8.1 nor its first digits."""
    table = open_table(make(pd.DataFrame({"x": [1 / 8.1]}), 1))

    def boasting(batch):
        if len(batch["x"]):
            raise ValueError(f"{batch['x'][0]}")
        return 0

    with pytest.raises(Defect, match="^ValueError on a worker$") as caught:
        table.total({"x": Numeric(0, 1)}, boasting)
    shown = "".join(capfd.readouterr())
    assert str(1 / 8.1)[:6] not in str(caught.getrepr(showlocals=True)) + shown


@pytest.mark.parametrize("groups", [[3, 1], None])
def test_a_group_that_fails_is_named_if_its_label_is_public(rows, groups, monkeypatch):
    method = dp.METHODS["noisy_intercept"]
    broken = replace(method, release=failing(operator.itemgetter("no such thing")))
    monkeypatch.setitem(dp.METHODS, "noisy_intercept", broken)
    place = "the group [31]" if groups else "a group"
    with pytest.raises(dp.InternalError, match=f"stopped with IndexError in {place} on a worker;"):
        fit(rows, "noisy_intercept", by="area", groups=groups)


def test_workers_without_this_package_are_refused(session, rows, monkeypatch):
    monkeypatch.setattr(session.sparkContext, "pythonExec", "no-such-python")
    with pytest.raises(dp.ArgumentError, match="PYSPARK_PYTHON"):
        fit(rows)


def test_workers_under_another_python_are_refused(rows, monkeypatch):
    monkeypatch.setattr(engine, "sys", SimpleNamespace(version_info=(2, 7)))
    with pytest.raises(dp.ArgumentError, match="PYSPARK_PYTHON"):
        fit(rows)


@pytest.mark.parametrize("by", [None, "g"])
def test_a_call_opens_parses_and_learns_once(session, people, by, steps):
    grouped = {} if by is None else {"by": by, "groups": ["u", "v"]}
    dp.dp_ols("y ~ x", session.createDataFrame(people), method="adassp", epsilon=8, bounds=BOUNDS,
              **grouped)  # fmt: skip
    assert steps == {"opened": 1, "parsed": 1, "learned": 1}


LEDGER = {"dataset": "people", "epsilon": 5.0, "delta": 1e-5, "fingerprint": "2024"}
CALLS = {
    "fit": {"formula": "y ~ x"},
    "by": {"formula": "y ~ x", "by": "area", "groups": [0, 1, 2, 3]},
    "several": {"formula": ["y ~ x", "y ~ x + C(g)"], "levels": LEVELS},
    "estimated": {"formula": "y ~ x", "bounds": None},
}


@pytest.mark.parametrize("name", CALLS)
def test_a_ledger_is_charged_for_rows_on_workers(rows, name, tmp_path):
    """The result is stored as it is shown; the equal call is answered from the store."""
    ledger = dp.Ledger.create(tmp_path / "people.ledger", **LEDGER)
    first = fit(rows, budget=ledger, **CALLS[name])
    assert ledger.requests()["state"].tolist() == ["released"]
    assert ledger.spent == pytest.approx((3.0, 1e-6))
    again = fit(rows, budget=ledger, **CALLS[name])
    shown = [str(each.frame) if name == "by" else str(each) for each in (first, again)]
    assert shown[0] == shown[1] and ledger.spent == pytest.approx((3.0, 1e-6))
    with pytest.raises(dp.BudgetError, match=r"epsilon=6 does not fit"):
        fit(rows, budget=ledger, **CALLS[name] | {"epsilon": 6})
    assert ledger.verify().ok and len(ledger.requests()) == 1


def test_what_fails_on_a_worker_counts_as_spent(rows, tmp_path, monkeypatch):
    broken = replace(dp.METHODS["adassp"], release=failing(operator.itemgetter("no such thing")))
    monkeypatch.setitem(dp.METHODS, "adassp", broken)
    ledger = dp.Ledger.create(tmp_path / "people.ledger", **LEDGER)
    with pytest.raises(dp.InternalError):
        fit(rows, budget=ledger)
    assert ledger.requests()["state"].tolist() == ["failed"]
    assert ledger.spent == pytest.approx((3.0, 1e-6)) and ledger.verify().ok


KILLED = """
import json, os, signal, sys
import dpstats as dp
from dpstats.ledger import store
from pyspark.sql import SparkSession

path, place, call = sys.argv[1:]
settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
rows = session.createDataFrame([(i / 100, i / 200, i % 4) for i in range(100)], ["x", "y", "area"])
commit, count = store.commit, 0

def killing(connection):
    global count
    count += connection.total_changes > 0
    if f"before {count}" == place:
        os.kill(os.getpid(), signal.SIGKILL)
    commit(connection)
    if f"after {count}" == place:
        os.kill(os.getpid(), signal.SIGKILL)

ledger = dp.Ledger(path)
store.commit = killing
dp.dp_ols(data=rows, budget=ledger, method="adassp", epsilon=3, bounds={"x": (0, 1), "y": (0, 1)},
          **json.loads(call))
print("shown", flush=True)
"""


@pytest.mark.parametrize(
    ("name", "place", "states"),
    [
        ("fit", "before 2", ["reserved"]),  # after the workers have read their rows
        ("fit", "after 2", ["released"]),
        ("by", "after 1", ["reserved"]),
        ("by", "before 2", ["reserved"]),
    ],
)
def test_a_driver_that_is_killed_spends_at_most_once(name, place, states, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "people.ledger", **LEDGER)
    settings = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    call = [sys.executable, "-c", KILLED, str(ledger.path), place, json.dumps(CALLS[name])]
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ | settings)
    assert done.returncode == -signal.SIGKILL and "shown" not in done.stdout, done.stderr
    assert ledger.requests()["state"].tolist() == states and ledger.verify().ok
    assert ledger.spent == pytest.approx((3.0, 1e-6))


def squares(batch):
    """Whole numbers that change when a unit is split, merged or loses a row."""
    starts = np.flatnonzero(np.diff(batch[UNIT], prepend=-1))
    if not len(starts):
        return np.zeros(3, np.int64)
    sizes = np.diff(starts, append=len(batch[UNIT]))
    sums = np.add.reduceat(batch["x"].astype(np.int64), starts)
    return np.array([len(starts), (sizes**2).sum(), (sums**2).sum()])


X = {"x": Numeric(0, 9)}
IDS = {
    "floats": pa.array([0.0, -0.0, None, np.nan, np.inf, 5e-324, 1e300, 0.0] * 40),
    "integers": pa.array([2**63 - 1, 0, None, 1, -1] * 64, pa.int64()),
    "texts": pa.array(["", "a", None, "A", "a\0"] * 64),
    "dates": pa.array([datetime.date(2020, 1, 1), None, datetime.date.max, datetime.date.min] * 80),
    "decimals": pa.array(
        [Decimal(1), None, Decimal("2.5"), Decimal(-1)] * 80, pa.decimal128(20, 2)
    ),
    "nobody": pa.nulls(320, pa.string()),
    "no rows": pa.array([], pa.string()),
}


@pytest.mark.parametrize("kind", IDS)
def test_units_are_those_in_memory_however_their_ids_are_written(session, kind):
    rows = pa.table({"id": IDS[kind], "x": np.arange(len(IDS[kind])) % 10.0, "g": IDS[kind]})
    here = Table.from_data(rows).by_unit(X, "id").total(X, squares)
    spread = session.createDataFrame(rows).repartition(3)
    there = open_table(spread).by_unit(X, "id").total(X, squares)
    assert here.tolist() == there.tolist()


def squares_of_groups(batch):
    """Whole numbers that change when a group is split, merged or loses a row."""
    labelled = ~np.isnan(batch["id"])
    _, groups = np.unique(batch["id"][labelled], return_inverse=True)
    sums = np.bincount(groups, batch["x"][labelled])
    return np.array([labelled.sum(), (np.bincount(groups) ** 2).sum(), (sums**2).sum()])


@pytest.mark.parametrize("kind", IDS)
def test_groups_are_those_in_memory_however_their_labels_are_written(session, kind):
    rows = pa.table({"id": IDS[kind], "x": np.arange(len(IDS[kind])) % 10.0})
    schema = {**X, "id": Labels()}
    here = Table.from_data(rows).total(schema, squares_of_groups)
    spread = session.createDataFrame(rows).repartition(3)
    there = open_table(spread).by_label("id").total(schema, squares_of_groups)
    assert here.tolist() == there.tolist()


def test_a_large_unit_is_not_split_by_adaptive_plans(session, make):
    """One unit has nine rows of ten; Spark may split and join whatever is larger than 100 bytes."""
    rng = np.random.default_rng(1)
    ids = np.where(rng.uniform(size=20_000) < 0.9, 7, rng.integers(0, 500, 20_000))
    rows = pd.DataFrame({"id": ids, "x": rng.integers(0, 10, 20_000) * 1.0})
    here = Table.from_data(rows).by_unit(X, "id").total(X, squares)
    adaptive = {
        "enabled": "true",
        "advisoryPartitionSizeInBytes": "100",
        "coalescePartitions.minPartitionSize": "1",
        "skewJoin.skewedPartitionThresholdInBytes": "100",
        "skewJoin.skewedPartitionFactor": "1",
        "optimizeSkewsInRebalancePartitions.enabled": "true",
        "forceOptimizeSkewedJoin": "true",
    }
    settings = {f"spark.sql.adaptive.{name}": value for name, value in adaptive.items()}
    settings["spark.sql.execution.arrow.maxRecordsPerBatch"] = "300"
    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        there = open_table(make(rows, 8)).by_unit(X, "id").total(X, squares)
    finally:
        for name, value in before.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)
    assert here.tolist() == there.tolist()


def test_units_need_no_rows_here_and_refuse_what_does(make):
    rows = pd.DataFrame({"id": [1, 1], "x": [1.0, 1 / 8.1]})
    units = open_table(make(rows, 1)).by_unit(X, "id")
    for refused in (
        lambda: units.gathered(["x"]),
        lambda: units.batches(X),
        lambda: units.of_groups(["x"], ["id"], list),
    ):
        with pytest.raises(dp.ArgumentError, match=r"data\.toPandas"):
            refused()

    def boasting(batch):
        if len(batch["x"]):
            raise ValueError(f"{batch['x'][0]}")
        return 0

    with pytest.raises(Defect, match="^ValueError on a worker$"):
        units.total(X, boasting)
