"""Check the sums of squared scores of fits with factors."""

import math
from dataclasses import replace

import numpy as np

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums
from dpstats.estimators.least_squares.factors import scores as block_scores
from dpstats.estimators.least_squares.factors.fit import least_squares_of
from dpstats.estimators.least_squares.factors.sums import release_block_sums
from dpstats.numerics import Slopes
from dpstats.privacy import GDP, RELATIONS, REPLACE_ONE
from tests.checks.block_sums import problem_of, rows
from tests.checks.recording import Recording
from tests.checks.replay import Case, Violation
from tests.checks.rows import rows_of


def asked(summary, problem, first):
    """The values and the sensitivity of the query about squared scores."""
    noise = Recording(GDP(1.0))
    with dp.testing.insecure_seed(1):
        block_scores.release_squares(summary, first, problem, GDP(1.0), noise)
    (query,) = noise.queries
    return np.array(query.values, dtype=object), query.l2


def first_release(problem, seed=1):
    """A first release of a few hundred rows at a large budget."""
    basis = BlockBasis.of(problem)
    X, y = rows(len(basis.sizes), basis.numbers, 400, seed)
    given = rows_of(*with_parts(problem, X, y, 1.0), problem)
    with dp.testing.insecure_seed(1):
        sums = release_block_sums(
            BlockSums.of(replace(given, units=None), basis),
            basis,
            problem.neighbors,
            GDP(100.0),
            Recording(GDP(100.0)),
        )
    first, _ = least_squares_of(sums, basis, problem)
    # so that a corner is beyond the cut
    return replace(first, evidence=replace(first.evidence, sigma2=1e-4))


def moved(problem, one, two):
    """How far the query moves between two tables, over its sensitivity."""
    first = first_release(problem)
    squares = block_scores.ScoreRule.after(first, problem, GDP(1.0)).squares
    summaries = [squares(rows_of(*part, problem)) for part in (one, two)]
    (a, l2), (b, _) = (asked(summary, problem, first) for summary in summaries)
    return math.sqrt(sum(int(d) ** 2 for d in a - b)) / l2


def with_parts(problem, X, y, parts, units=None):
    """Rows with the further columns of a problem."""
    more = [np.broadcast_to(parts, len(y))] if problem.in_parts else []
    more += [np.zeros(len(y)) if units is None else units] if problem.by_unit else []
    return np.column_stack([X, *more]), y


FORMS = {"rows": {}, "weights": {"weighted": True}, "units": {"weighted": True, "by_unit": True}}


def with_slopes(problem):
    """The two numbers are slopes at two of four codes of the first block."""
    slopes = Slopes(np.array([0, 1]), 0, np.array([0, 1, -1, -1]), 0.0, 2.0)
    return replace(problem, layout=replace(problem.layout, slopes=(slopes,)))


def check_call(method, neighbors, form, limit=1e4, cov_type=None, slopes=False):
    """With the answers frozen, neighbouring tables lead to the same queries and release."""
    problem = replace(problem_of(2, 2, neighbors), **FORMS[form])
    problem = with_slopes(problem) if slopes else problem
    chosen = {} if cov_type is None else {"cov_type": cov_type}
    case = Case(METHODS[method], problem, chosen, METHODS[method].cost(limit, 1e-6))
    X, y = rows(2, 2, 300, seed=4)
    weights = np.random.default_rng(1).choice([0.1, 0.5, 1.0], 301)
    units = np.arange(301) // 3
    if form == "units":
        weights = weights / 3
    X[::9, 2:], y[::7] = 1e300, -np.inf
    steps = set()
    for seed, size in enumerate((3, 60, 300)):
        one = with_parts(problem, X[:size], y[:size], weights[:size], units[:size])
        out = 3 if form == "units" else 1
        new = np.vstack([X[:size], X[-out:]]), np.append(y[:size], np.full(out, 1e300))
        parts = np.append(weights[:size], weights[-out:] if form == "units" else [7.0])
        order = np.append(units[:size], np.full(out, 1000))
        if neighbors == REPLACE_ONE:
            keep = np.r_[0 : size - out, size : size + out]
            new, parts, order = (new[0][keep], new[1][keep]), parts[keep], order[keep]
        steps |= set(case.check(one, with_parts(problem, *new, parts, order), seed))
    return steps


def check_mutant(form, cov_type):
    for neighbors in RELATIONS:
        check_call("adassp", neighbors, form, cov_type=cov_type)
    problem = replace(problem_of(2, 2), **FORMS[form])
    corner = np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([-1.0])
    one = with_parts(problem, *corner, 1.0)
    if moved(problem, one, with_parts(problem, corner[0][:0], corner[1][:0], 1.0)) > 1 + 1e-12:
        raise Violation("squared scores")
