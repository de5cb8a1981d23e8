"""Check every query of every method on random and on the worst neighbouring tables."""

import math
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from dpstats.privacy import REPLACE_ONE
from dpstats.range_estimation import estimate, histogram
from tests.checks.replay import (
    Case,
    check_limit,
    check_neighbours,
    check_reached,
    line_rows,
    neighbour,
    row,
    run,
    strange_table,
    table,
)
from tests.checks.worst_rows import WORST, _pair

PAIRS = 10
SIZES = (0, 1, 2, 3, 4, 5, 9, 20)


def check_random(case, pairs=PAIRS):
    """Random strange tables and neighbours."""
    generator = np.random.default_rng(1)
    for seed in range(pairs):
        X, y = strange_table(generator, case.problem, int(generator.choice(SIZES)))
        other = neighbour(generator, case.problem, X, y)
        case.check((X, y), other, seed)


def check_line(case):
    """At a huge budget, rows on a line within the bounds give that line back."""
    enough = 1500 if case.method.name == "tukey" else 60
    rows, truth = line_rows(np.random.default_rng(2), case.problem, enough)
    limit = case.method.cost(1e7, 1e-6)
    rich = Case(case.method, case.problem, case.options, limit)
    check_limit(rich.fit(*table(rows, case.problem)), limit, truth)


def check_ties(case):
    """Rows on a prediction point or an end, all tied; one is replaced by a row out of range."""
    p = case.problem
    where = np.arange(len(p.low)) != p.intercept
    width, y_width = (p.high - p.low)[where], p.y_high - p.y_low
    for x in (p.x_new[0][where], p.x_new[1][where], p.low[where], p.high[where]):
        same = [row(p, x, y) for y in np.linspace(p.y_low, p.y_high, 6)]
        away = p.high[where] + 3 * width, p.low[where] - 3 * width, -x
        new = row(p, x, p.y_high), *(row(p, z, p.y_low - 3 * y_width) for z in away)
        pairs = [_pair(p, same, same[2], moved) for moved in new]
        case.check_each(pairs[0][0], [two for _, two in pairs])


def check_worst(case, seeds=12):
    """Every query of the method has a worst case, which comes close to its sensitivity."""
    # So that no bound is far from what it bounds, and few rows show a spread.
    rich = {"tukey": 10.0, "adaops": 100.0, "by_spread": 1000.0}
    rich |= dict.fromkeys(("noisy_newton", "noisy_newton_pure"), 100.0)
    if case.method.name in rich:
        case = replace(case, limit=case.method.cost(rich[case.method.name], 1e-6))
    best, wanted, asked = {}, {}, set()
    for step, one, two, share in WORST[case.method.name](case):
        wanted[step] = share
        for seed in range(seeds):
            ratios = case.check(one, two, seed)
            asked |= set(ratios)
            best[step] = max(best.get(step, 0.0), ratios.get(step, 0.0))
            if best[step] >= share:
                break
    for step, share in wanted.items():
        check_reached(step, best[step], share)
    assert asked == set(wanted), "a query without a known worst case"


def _ranges(columns, limit, neighbors, everywhere=False, careful=False):
    """Range estimation of these columns, as a function of the noise."""
    halves = [{k: v[:40] for k, v in columns.items()}, {k: v[40:] for k, v in columns.items()}]
    weights = dict.fromkeys(columns, 1.0)
    return lambda noise: estimate.estimate_ranges(
        lambda each: sum(map(each, halves)),
        weights,
        limit,
        noise,
        neighbors,
        everywhere,
        careful=careful,
    )


def check_ranges(neighbors, limit, careful=False):
    """All histograms of three columns, over random changes that reach the stated bounds.

    As many rows stand far out as are just taken for noise, so that one more would show in
    a range read off the counts themselves. The years need one histogram that zooms in.
    """
    generator = np.random.default_rng(4)
    columns = {
        "a": generator.uniform(5, 60, 800),
        "b": generator.normal(0, 1e-3, 800),
        "year": generator.integers(1950, 2021, 800).astype(float),
    }
    event = run(_ranges(columns, limit, neighbors), limit).asked[0].event
    chance = histogram.FALSE_BIN / (len(estimate.Dyadic().edges) - 1)
    laplace = event.mechanism == "laplace"
    threshold = event.scale * (-math.log(2 * chance) if laplace else norm.isf(chance))
    columns["a"][: int(threshold)] = 1e9
    far = [0.0, -0.0, 1e-300, 1e300, np.inf, -np.inf, 5.0, 60.0, -1e-3, 2.0**-40, *[1e9] * 5]
    best: dict[str, float] = {}
    for seed in range(40):
        new = {name: generator.choice([*far, *column[-5:]]) for name, column in columns.items()}
        kept = slice(None, -1 if neighbors == REPLACE_ONE else None)
        other = {name: np.append(column[kept], new[name]) for name, column in columns.items()}
        fits = (_ranges(data, limit, neighbors, careful=careful) for data in (columns, other))
        for step, ratio in check_neighbours(*fits, limit, seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    steps = [f"{what} of {name}" for what in ("order of magnitude", "range") for name in columns]
    assert set(best) == {*steps, "neighbourhood of year"}
    for step, ratio in best.items():
        check_reached(step, ratio)


def check_middles(neighbors, limit):
    """Ranges of few rows: a middle and a spread each, over changes that reach the stated bounds.

    The noisy counts may show enough rows by chance; those histograms move as stated too.
    """
    generator = np.random.default_rng(6)
    columns = {"a": generator.normal(60, 9, 30), "b": generator.lognormal(0, 3, 30)}
    columns = {name: np.append(column, 1e6) for name, column in columns.items()}
    far = [0.0, -0.0, 1e-300, 1e300, np.inf, -np.inf, 60.0, -1e-3, 2.0**-40, 1.0]
    best: dict[str, float] = {}
    for seed in range(30):
        new = {name: generator.choice([*far, *column[-5:]]) for name, column in columns.items()}
        kept = slice(None, -1 if neighbors == REPLACE_ONE else None)
        other = {name: np.append(column[kept], new[name]) for name, column in columns.items()}
        fits = (_ranges(data, limit, neighbors, True) for data in (columns, other))
        for step, ratio in check_neighbours(*fits, limit, seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    wanted = ("order of magnitude", "median", "spread")
    for step in (f"{what} of {name}" for what in wanted for name in columns):
        check_reached(step, best[step])
