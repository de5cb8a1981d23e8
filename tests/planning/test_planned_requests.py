"""The requests that a plan forecasts: what has to be declared, and what "auto" stands for."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.codebook import Schema
from dpstats.planning.planned_requests import (
    check_described,
    chosen_methods,
    no_rows,
    planned_cluster,
    planned_entries,
    planned_request,
)

DECLARED = Schema(bounds={"y": (0, 1), "x": (0, 1)}, levels={"g": ["a", "b"]})
CALL = {"formula": "y ~ x", "bounds": DECLARED.bounds, "levels": {}, "neighbors": None,
        "weights": None, "unit": None}  # fmt: skip


def test_a_variable_without_a_declaration_is_named_with_the_nearest_one():
    check_described("y ~ x + g", DECLARED.bounds, DECLARED.levels, None)
    with pytest.raises(dp.ArgumentError, match="without rows, xx is unknown; did you mean 'x'"):
        check_described("y ~ xx", DECLARED.bounds, DECLARED.levels, None)


def test_a_table_without_rows_has_all_that_is_declared():
    table = no_rows("y ~ x", DECLARED, "w", None)
    assert {name: column.dtype for name, column in table.items()} == {
        "y": float, "x": float, "w": float, "g": object,
    }  # fmt: skip
    assert not any(map(len, table.values()))


@pytest.mark.parametrize(
    ("delta", "unit", "levels", "expected"),
    [
        (None, None, {}, "noisy_newton"),
        (0, None, {}, "noisy_newton_pure"),
        (None, "id", {}, "noisy_newton"),
        (None, None, {"x": list(range(400))}, "adassp"),
    ],
)
def test_auto_is_what_the_call_would_take(delta, unit, levels, expected):
    call = {**CALL, "unit": unit, "levels": levels}
    entry = chosen_methods({"auto": {"method": "auto"}}, 10_000, True, delta, call)
    assert entry("auto", 1.0) == {"method": expected, "neighbors": "add_remove"}


def test_what_is_clustered_has_the_column_of_the_plan():
    methods = {"a": {"method": "auto"}, "b": {"method": "noisy_newton", "cov_type": "HC1"}}
    entries = planned_entries(methods, None, "cluster", "state")
    assert entries["a"] == {"method": "auto", "cov_type": "cluster", "cluster": "state"}
    assert entries["b"] == methods["b"]
    call = {**CALL, "data": no_rows("y ~ x", DECLARED, "state"), "x_new": None,
            "trim_weights": None, "max_rows": None}  # fmt: skip
    entry = chosen_methods(entries, 100, True, None, call)
    made = [planned_request(entry, None, call, label, 2.0) for label in "ab"]
    assert [request.cluster for request in made] == ["state", None]
    assert planned_cluster(made) == "state"


def test_one_column_of_clusters_is_drawn_for_errors_that_allow_for_them():
    methods = {name: {"method": "noisy_newton", "cov_type": "cluster", "cluster": name}
               for name in ("state", "firm")}  # fmt: skip
    call = {**CALL, "data": no_rows("y ~ x", DECLARED, "state", "firm"), "x_new": None,
            "trim_weights": None, "max_rows": None}  # fmt: skip
    entry = chosen_methods(methods, 100, True, None, call)
    made = [planned_request(entry, None, call, label, 2.0) for label in methods]
    with pytest.raises(dp.ArgumentError, match="clusters of one column, got state, firm"):
        planned_cluster(made)
    with pytest.raises(dp.ArgumentError, match='allow for clusters; add cov_type="cluster"'):
        planned_entries(None, "noisy_newton", "HC1", "state")
    with pytest.raises(dp.ArgumentError, match="expected methods= or method=, got"):
        planned_entries(["adassp"], "noisy_newton", None, None)


def test_the_request_is_that_of_the_call():
    entry = chosen_methods({"a": {"method": "adassp", "cov_type": "HC1"}}, 100, True, None, CALL)
    call = {**CALL, "data": no_rows("y ~ x", DECLARED), "x_new": None, "trim_weights": None,
            "max_rows": None}  # fmt: skip
    request = planned_request(entry, None, call, "a", 2.0)
    assert (request.method.name, request.epsilon) == ("adassp", 2.0)
    assert request.options["cov_type"] == "HC1"
    assert np.array_equal(request.design.high, [1, 1])
