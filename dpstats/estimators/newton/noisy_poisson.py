"""Estimate a Poisson regression by noisy Newton steps on clipped scores (this package)."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.logistic_position import Position
from dpstats.estimators.newton.poisson_queries import PoissonQueries, mean_count
from dpstats.estimators.newton.poisson_release import Fitted, release_of
from dpstats.estimators.newton.poisson_steps import PoissonSteps
from dpstats.estimators.newton.queries import RowQueries
from dpstats.estimators.newton.release import constant_of
from dpstats.estimators.newton.rounds import RESPONSE_WEIGHT
from dpstats.estimators.newton.sizes import check_levels, number_of_rows, rows_for_scales
from dpstats.estimators.newton.whitening import whitened
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

_MARGINALS = 0.185
_PARTS = {
    "number": 0.005, "mean": 0.02, "gram": 0.13, "leverages": 0.015, "start": 0.05,
    "first tail": 0.03, "second": 0.08, "tail": 0.08, "third": 0.11, "fourth": 0.14,
    "fifth": 0.17, "hessian": 0.04, "last hessian": 0.09,
}  # fmt: skip
_SCORE_PRODUCTS = 0.08
_LAST_STEPS, _LARGE_MU = 6, 10.0
_LEAST_DEVIATIONS = 2.0


def release(passes: Passes, problem: Problem, cost: GDP, noise: Noise) -> Release:
    basis, whole = IndicatorBasis.of(problem), cost
    cost = cost.part(1 - _SCORE_PRODUCTS)
    parts = {name: cost.part(part) for name, part in _PARTS.items()}
    rough = RowQueries(basis, passes.sum, problem, noise)
    given = passes.sum(partial(number_of_rows, weighted=problem.weighted))
    counted = rough.number(given, parts["number"])
    rows = max(counted.total, 2 * counted.noise)
    mean, error = mean_count(rough, rows, parts["mean"])
    unit = max(mean, _LEAST_DEVIATIONS * error)
    whitening, tail = whitened(rough, parts["gram"], parts["leverages"], rows)
    center = 0.0 if basis.has_constant else -math.log(unit)
    queries = PoissonQueries(
        basis, passes.sum, problem, noise, whitening.map, center, unit
    )
    steps = PoissonSteps(queries, whitening, rows, counted.part, tail)
    position = steps.start(parts["start"])
    scores = steps.tail(position, parts["first tail"])
    position = steps.second(position, scores, parts["second"])
    scores = steps.tail(position, parts["tail"])
    lasts = [parts[name] for name in ("third", "fourth", "fifth")]
    limit = steps.limit(scores, math.sqrt(sum(part.mu**2 for part in lasts)))
    for part in lasts[:2]:
        hessian = steps.hessian(position, limit, parts["hessian"])
        position = steps.step(position, hessian, limit, part)
    hessian, last = steps.hessian(position, limit, parts["last hessian"]), lasts[2]
    times = _LAST_STEPS if last.mu > _LARGE_MU else 1
    for _ in range(times):
        position = steps.step(position, hessian, limit, last.part(1 / times))
    products = steps.products(position, scores, whole.part(_SCORE_PRODUCTS))
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center), problem, cost, _MARGINALS, RESPONSE_WEIGHT
    )
    fitted = Fitted(
        position, hessian, whitening.map, center + math.log(unit), counted, rows, (mean, error), 1.0,
        min(scores.beyond(limit) / scores.rows, 1.0), products,
        np.zeros(1), np.zeros(1), few, bias=steps.bias(position, hessian, scores, limit),
    )
    return release_of(fitted, basis, problem)


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    check_levels("dp_poisson", problem)


METHOD = Method(
    "noisy_poisson",
    "this package; noisy M-estimation as in Avella-Medina, Bradshaw and Loh 2023, section 3",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="robust, with the noise and the clipped excess included",
    release=release,
    fixed_size_summary=True,
    check=_check,
    ranges=Ranges(_MARGINALS, marginals=True, response=RESPONSE_WEIGHT),
    takes=frozenset({"units", "weights"}),
)
