"""How many rows count, and how many rows and levels Newton steps take."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.errors import ArgumentError
from dpstats.estimators.newton.steps.sizes import (
    check_levels,
    has_shared_scales,
    number_of_rows,
    rows_for_scales,
)
from dpstats.numerics import Block, Rows
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from tests.checks.noisy_newton import factor_case


def test_rows_count_one_each_or_for_their_parts():
    plain = Rows(np.zeros((3, 0)), np.zeros(3))
    assert number_of_rows(plain).tolist() == [3]
    weighted = replace(plain, parts=np.array([0.5, 0.25, 1.0]))
    assert (number_of_rows(weighted) / 2**20).tolist() == [1.75, 3]


def test_more_noise_and_more_columns_ask_for_more_rows():
    def needed(columns, mu, neighbors=ADD_REMOVE, response=2.0, **more):
        problem = factor_case(neighbors).problem
        return rows_for_scales(columns, problem, GDP(mu), 0.2, response, **more)

    assert needed(2, 0.5) == pytest.approx(30 * np.sqrt(16) / 0.5)
    assert needed(2, 0.25) == pytest.approx(2 * needed(2, 0.5))
    assert needed(2, 0.5, REPLACE_ONE) == pytest.approx(np.sqrt(2) * needed(2, 0.5))
    assert needed(7, 0.5) > needed(2, 0.5) > needed(2, 0.5, response=0.0) > needed(1, 0.5)
    assert needed(2, 0.5, shared=True) == pytest.approx(2 / 3 * needed(2, 0.5))


def test_scales_are_shared_where_all_groups_show_them_clear_of_noise():
    problem = replace(factor_case(ADD_REMOVE).problem, grouped=True)
    clear = replace(problem, reference=replace(problem.reference, hidden=0.03))
    assert has_shared_scales(clear)
    assert not has_shared_scales(replace(clear, grouped=False))
    assert not has_shared_scales(problem)  # of two quantiles nothing is known
    hidden = replace(problem.reference, hidden=0.04)
    assert not has_shared_scales(replace(problem, reference=hidden))


def test_too_many_levels_are_refused_under_the_name_of_the_method():
    problem = factor_case(ADD_REMOVE).problem
    check_levels("noisy_newton", problem)
    many = Block(np.arange(1001), np.eye(1001))
    wide = replace(problem, layout=replace(problem.layout, blocks=(many,)))
    with pytest.raises(ArgumentError, match="at most 1,000 levels.* got 1,001; absorb"):
        check_levels("noisy_newton", wide)
    with pytest.raises(ArgumentError, match="dp_logit takes at most.*merge levels"):
        check_levels("dp_logit", wide)
