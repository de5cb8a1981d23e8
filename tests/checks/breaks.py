"""Break sensitivities, costs and noise in ways that several suites of mutants share."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from dpstats.estimators import METHODS
from dpstats.noise import (
    Noise,
    Query,
    ScoreQuery,
)
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP
from dpstats.range_estimation import estimate
from dpstats.range_estimation import quantiles as middles
from tests.checks.mutants import over, patched
from tests.checks.replay import BOUNDS, cases_of
from tests.checks.replayed import check_random, check_ranges, check_worst
from tests.checks.robust_covariance import CASES as TWICE
from tests.checks.robust_covariance import PLAIN, check_squares, check_worst_square
from tests.checks.selections import check_choices


def some(name, **wanted):
    """Cases of a method whose bounds are not symmetric, of the kind wanted."""
    wanted = {"row_norm": None, "estimated": False, **wanted}
    options = wanted.pop("options", None)
    return [
        case
        for case in cases_of(METHODS[name])
        if case.problem.low[-1] != BOUNDS[0][0][0]
        and options in (None, case.options)
        and all(getattr(case.problem, key) == value for key, value in wanted.items())
    ]


def on(check, name, **wanted):
    """A check over some cases of a method as it is when the check runs."""
    return lambda: over(check, some(name, **wanted))()


def random_rows(case):
    """The random replay check."""
    check_random(case, 16)


def both_relations(check, limit):
    """A check of what is drawn within a limit, for either relation."""
    return over(lambda neighbors: check(neighbors, limit), (ADD_REMOVE, REPLACE_ONE))


# The second release of robust standard errors: random rows, and those that move it most.
squares, worst_squares = over(check_squares, TWICE), over(check_worst_square, PLAIN)
pure_ranges = both_relations(check_ranges, PureDP(8.0))


def smaller(module, factor=0.5, step=""):
    """Queries of a module state a fraction of their sensitivity."""

    def mutate(monkeypatch):
        def query(name, *args, **kwargs):
            made = Query(name, *args, **kwargs)
            if not name.startswith(step):
                return made
            shrunk = {k: getattr(made, k) for k in ("l1", "l2")}
            return replace(made, **{k: v and v * factor for k, v in shrunk.items()})

        monkeypatch.setattr(module, "Query", query)

    return mutate


def numpy_with(module, **functions):
    """numpy as one module sees it, with some functions replaced."""

    def mutate(monkeypatch):
        monkeypatch.setattr(module, "np", SimpleNamespace(**{**vars(np), **functions}))

    return mutate


def without_limit(mutate):
    """The mutant, in a package that no longer enforces its limits."""

    def both(monkeypatch):
        mutate(monkeypatch)
        monkeypatch.setattr(Noise, "_record", lambda self, event: self.events.append(event))

    return both


def full_share(cost_type):
    """Every part of a cost is the whole cost."""
    return patched(cost_type, "part", lambda original: lambda self, share: self)


def counts_before_noise(module):
    """What a module reads off histograms it reads off the counts before noise."""

    def mutate(monkeypatch):
        counts, noisy = {}, module.histograms

        def query(step, values, **kwargs):
            counts[step] = np.array(values, dtype=float)
            return Query(step, values, **kwargs)

        def exact(what, *rest):
            found = noisy(what, *rest).items()
            return {name: replace(h, counts=counts[h.event.step]) for name, h in found}

        monkeypatch.setattr(estimate, "Query", query)
        monkeypatch.setattr(module, "histograms", exact)

    return mutate


def smaller_spread(monkeypatch):
    """Quantiles state half of how far one score can rise above another."""

    def query(step, scores, spread, unit):
        return ScoreQuery(step, scores, spread // 2, unit)

    monkeypatch.setattr(middles, "ScoreQuery", query)


def larger_costs(original):
    """Middle and spread each take more than their part."""

    def choose(total, noise, neighbors, one, what, quantiles, costs, *rest):
        more = {name: cost.part(3 / 2) for name, cost in costs.items()}
        return original(total, noise, neighbors, one, what, quantiles, more, *rest)

    return choose


def exact_quantiles(original, exact="median"):
    """The spread is asked for about the median itself, not about the one released."""

    def choose(total, noise, neighbors, one, what, *rest):
        found = original(total, noise, neighbors, one, what, *rest)
        if what != exact:
            return found
        silent = SimpleNamespace(best=lambda query, cost: int(np.argmax(query.scores)))
        return original(total, silent, neighbors, one, what, *rest)

    return choose


def larger_second(original):
    """The closer median takes a part that the spread has too."""

    def choose(total, noise, neighbors, one, what, quantiles, costs, *rest):
        if what == "closer median":
            costs = {name: cost.part(2) for name, cost in costs.items()}
        return original(total, noise, neighbors, one, what, quantiles, costs, *rest)

    return choose


def one_bin_moves(original):
    """Replace-one is taken for add/remove."""
    return lambda *args: original(*args[:5], ADD_REMOVE, *args[6:])


def choices(name, **more):
    """The replay check of a selector under both relations."""

    def run():
        for neighbors in (ADD_REMOVE, REPLACE_ONE):
            check_choices(name, neighbors, **more)

    return run


WORST_ADASSP = on(check_worst, "adassp")
WORST_SHRUNKEN = on(check_worst, "shrunken")
KENDALL, LASSO = choices("kendall"), choices("lasso")


def times_the_last(original):
    """A row's other responses, or its endogenous regressor, depend on other rows."""

    def of_outcome(rows, place):
        found = original(rows, place)
        signs = np.sign(found.response[-1:]) if place else 1.0
        return replace(found, response=found.response * signs)

    return of_outcome
