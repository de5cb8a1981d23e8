"""Batches are held where all fit; sums are the same, and results lead to no row."""

import gc
import weakref
from types import FunctionType, ModuleType

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.numerics import Rows
from dpstats.parallel_sum import total
from dpstats.rows.held import Held

BATCHES = [{"x": np.arange(3.0 * k, 3 * k + 3)} for k in range(40)]
BYTES = 40 * 3 * 8


class Table:
    """Count the passes over some batches."""

    def __init__(self, batches):
        self.batches, self.passes = batches, 0

    def total(self, each):
        self.passes += 1
        return total(each, iter(self.batches))


def listed(batch):
    return batch["x"].tolist()


@pytest.mark.parametrize(("most", "passes"), [(BYTES, 1), (BYTES - 1, 3), (0, 3)])
def test_what_fits_is_read_once_and_sums_are_the_same_in_the_same_order(most, passes):
    table = Table(BATCHES)
    held = Held(table.total, most)
    assert [held.sum(listed) for _ in range(3)] == [list(range(120))] * 3
    assert table.passes == passes


@pytest.mark.parametrize("most", [BYTES, 0])
def test_a_last_sum_lets_go_of_each_batch(most):
    table = Table([{"x": np.arange(3.0 * k, 3 * k + 3)} for k in range(40)])
    held, alive = Held(table.total, most), []
    held.sum(listed)
    batches = [weakref.ref(batch["x"]) for batch in table.batches]
    table.batches = [] if most else table.batches

    def count(batch):
        alive.append(sum(one() is not None for one in batches))
        return listed(batch)

    assert held.last_sum(count) == list(range(120))
    assert alive[-1] < 10 if most else alive[-1] == 40
    table.batches = BATCHES
    assert held.sum(listed) == list(range(120)) and table.passes == (2 if most else 3)


def test_nothing_is_held_of_a_table_that_does_not_fit():
    held = Held(Table(BATCHES).total, BYTES - 1)
    held.sum(listed)
    assert held._batches is None


def test_rows_count_with_all_of_their_roles():
    rows = Rows(np.ones((4, 2)), np.ones(4), codes=np.ones((4, 1)), parts=np.ones(4))
    table = Table([rows])
    size = 8 * (8 + 4 + 4 + 4)
    for most, passes in ((size, 1), (size - 1, 3)):
        held = Held(table.total, most)
        table.passes = 0
        assert [held.sum(len) for _ in range(2 if passes == 1 else 3)][-1] == 4
        assert table.passes == passes


def reached(thing):
    """Arrays that an object leads to, but not by way of modules, classes or functions."""
    seen, left = {}, [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, ModuleType | type | FunctionType):
            continue
        seen[id(one)] = one
        left += gc.get_referents(one)
    return [one for one in seen.values() if isinstance(one, np.ndarray)]


def line(n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=n)})


@pytest.mark.parametrize("options", [{}, {"cov_type": "HC1"}])
def test_no_row_is_reached_from_a_result(options):
    n = 30_011
    result = dp.dp_ols("y ~ x", line(n), epsilon=1, **options)
    held = Held(Table([{"x": np.ones(n)}]).total)
    held.sum(listed)
    assert n in {array.size for array in reached(held)}
    assert max(array.size for array in reached(result)) < 5_000


@pytest.mark.parametrize(
    "options", [{}, {"unit": "person", "max_rows": 2}], ids=["rows", "persons"]
)
def test_a_fit_reads_a_file_once_where_it_is_held_and_releases_the_same(
    tmp_path, monkeypatch, options
):
    from dpstats.engines.streams import Stream

    passes, frames, found = [], Stream._frames, []
    monkeypatch.setattr(Stream, "_frames", lambda *given: passes.append(1) or frames(*given))
    data = line(5_000).assign(person=np.arange(5_000) // 2)
    data.loc[::50, "x"], data.loc[::77, "y"] = np.inf, np.nan
    data.to_parquet(tmp_path / "rows.parquet")
    for most in (1 << 29, 0):
        monkeypatch.setattr(Held.__init__, "__defaults__", (most,))
        passes.clear()
        with dp.testing.insecure_seed(1):
            found.append(dp.dp_ols("y ~ x", tmp_path / "rows.parquet", epsilon=1, **options))
        # rows of persons are sorted on disk in one pass
        assert len(passes) == 1 if most or options else len(passes) > 8
    assert found[0].params.equals(found[1].params)


@pytest.mark.parametrize("fit", [dp.dp_logit, dp.dp_poisson])
def test_rows_are_mapped_once_where_they_are_held_and_the_release_is_the_same(monkeypatch, fit):
    from dpstats.estimators.newton import noisy_logit, noisy_poisson

    data, mapped, found = line(5_000), [], []
    data["y"] = (data["y"] > 0).astype(int)
    for module in (noisy_logit, noisy_poisson):
        of = module.mapped_rows
        monkeypatch.setattr(
            module, "mapped_rows", lambda *given, of=of: mapped.append(1) or of(*given)
        )
    for most in (1 << 29, 0):
        monkeypatch.setattr(Held.__init__, "__defaults__", (most,))
        with dp.testing.insecure_seed(1):
            found.append(fit("y ~ x", data, epsilon=1, bounds={"y": (0, 1)}))
    assert 1 + 9 <= len(mapped) <= 1 + 14
    assert found[0].params.equals(found[1].params)
