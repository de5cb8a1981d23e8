"""Check that a row moves neither a fit nor its companion further than stated."""

import numpy as np

from dpstats.estimators import METHODS, companion
from tests.checks.rank_margins import rows_of
from tests.checks.replay import (
    Case,
    neighbour,
    problem_of,
    run,
    table,
)


def check_pair(main, other):
    """Random neighbours of a method with a companion, which asks something of its own."""
    method = companion.with_companion(METHODS[main], METHODS[other], 0.4)
    generator = np.random.default_rng(4)
    problem = problem_of(1, (-3.0, 1.0), (2.0, 10.0), method.neighbors[0])
    options = {"m": 24} if main == "tukey" else {}
    options |= {"rounds": 3} if "rounds" in method.options else {}
    options |= {"steps": 4} if "steps" in method.options else {}
    case = Case(method, problem, options, method.cost(4.0, 1e-6))
    one = table(rows_of(case), problem)
    steps = set()
    for seed in range(4):
        steps |= set(case.check(one, neighbour(generator, problem, *one), seed))
    own = Case(METHODS[main], problem, options, method.cost(4.0, 1e-6))
    alone = {asked.step for asked in run(own.fit(*one), own.limit, seed=1).asked}
    assert steps - alone
