"""Privacy broken on purpose: each defect must be caught by a check the real tests use.

A mutant changes one thing with monkeypatch: a sensitivity, a clip, a share of the budget,
a scale. Every entry of MUTANTS names the check that must raise; the same checks must
pass when nothing is broken. Only the mutants of drawn noise draw from the operating
system; they are off by a factor of two or more, where a check sees 2%.
"""

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np

from dpstats.call import Request
from dpstats.errors import BudgetError
from dpstats.estimators.depth import tukey
from dpstats.estimators.least_squares import adassp, boosted_adassp
from dpstats.estimators.least_squares.dense import clipped_rows, noisy_sums, robust_covariance
from dpstats.estimators.least_squares.dense import scaled_rows as rows
from dpstats.estimators.least_squares.factors import BlockBasis
from dpstats.estimators.least_squares.factors import sums as block_sums
from dpstats.estimators.lines import (
    by_spread,
    gradient_descent,
    noisy_intercept,
    noisy_moments,
    noisy_stats,
    pairwise_ranks,
    simple_regression,
    smooth_theil_sen,
    theil_sen,
    theil_sen_rows,
)
from dpstats.estimators.lines import pairwise as pairs_module
from dpstats.estimators.risk import adaops, noisy_sgd, ops_objpert
from dpstats.noise import (
    Noise,
    NoisyValues,
    Query,
    RankQuery,
    exact_samplers,
    noise_grid,
    random_sources,
    tukey_depth,
)
from dpstats.noise import noise as noise_module
from dpstats.numerics import Sensitivity, clipping, code_sums, coordinates, kernels
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE, Event, PureDP
from dpstats.range_estimation import estimate
from dpstats.range_estimation import quantiles as middles
from dpstats.selection import kendall, lasso
from tests.checks.block_least_squares import check_slopes
from tests.checks.block_sums import check_reached as check_corners
from tests.checks.breaks import (
    KENDALL,
    LASSO,
    WORST_ADASSP,
    WORST_SHRUNKEN,
    both_relations,
    choices,
    counts_before_noise,
    exact_quantiles,
    full_share,
    larger_costs,
    numpy_with,
    on,
    one_bin_moves,
    pure_ranges,
    random_rows,
    smaller,
    smaller_spread,
    squares,
    without_limit,
    worst_squares,
)
from tests.checks.composed import reference_delta
from tests.checks.exact_samplers import (
    NARROW,
    ONE_BELOW,
    check_exact,
    check_theil_sen,
    check_theil_sen_of_one_more,
    steps,
)
from tests.checks.fresh_noise import check_coarse_grid, check_fresh
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.pairwise import check_matchings
from tests.checks.passes import Summed
from tests.checks.replay import Violation
from tests.checks.replayed import (
    check_line,
    check_middles,
    check_ranges,
    check_ties,
    check_worst,
)
from tests.checks.shrunken import check_composite


def matchings():
    """The structure of the matchings drawn."""
    for n in (4, 5, 10, 11):
        check_matchings(n, 2)


def exact_sampling():
    """The exact distribution of a few step functions."""
    for heights in ([5, 2, 0, -3], [7, 3, 1, -1, -1, -6], [-1, -1, -5, -50], [9] * 20 + [-9] * 20):
        check_exact(steps(heights), len(heights), 0.3)


def guarantee():
    """delta of GDP.of by an integral."""
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-6), (10.0, 1e-9)):
        if reference_delta(GDP.of(epsilon, delta).mu, epsilon) > delta:
            raise Violation("mu is larger than epsilon and delta allow")


def small_grid(monkeypatch):
    """Three bits of scale, so that small integers are rounded."""
    monkeypatch.setattr(noise_grid, "_SCALE_BITS", 3)


def tiny_theil_sen():
    """End to end on tiny tables, by exact probabilities."""
    tables = [((0.0, 0.25), (0.5, 0.375), (1.0, 0.5), end) for end in ((0.25, 0.0), (0.25, 1.0))]
    for options in ({}, {"k": 1}):
        check_theil_sen(tables, 1.0, {**options, "output_range": (0.25, 0.875)}, (), (0.25, 0.25))


def one_row_more():
    """The same for a row added."""
    check_theil_sen_of_one_more(ONE_BELOW, [3], 1.0, NARROW, (0.25, 0.25))


def coarse_theil_sen(monkeypatch):
    """Predictions on multiples of 1/8."""
    for module in (theil_sen, theil_sen_rows):
        monkeypatch.setattr(module, "BITS", 3)
        monkeypatch.setattr(module, "ONE", 8)


def pairs_not_listed(monkeypatch):
    """Entries of all pairs selected by rank, however few rows there are."""
    monkeypatch.setattr(smooth_theil_sen, "_LISTED_ROWS", 0)


gaussian_ranges = both_relations(check_ranges, GDP.of(8.0, 1e-6))
PURE_MIDDLES = both_relations(check_middles, PureDP(2.0))
GDP_MIDDLES = both_relations(check_middles, GDP.of(8.0, 1e-6).part(1 / 4))


def fresh_laplace():
    check_fresh(1.0, PureDP(0.5))


def fresh_gaussian():
    check_fresh(1.0, GDP(0.5))


# ---------------------------------------------------------------- how things are broken


def smaller_rank(monkeypatch):
    """The factor 2 of the rank sensitivity is dropped."""
    monkeypatch.setattr(
        theil_sen,
        "RankQuery",
        lambda step, imbalance, size, sensitivity, divisor: RankQuery(
            step, imbalance, size, sensitivity / 2, divisor
        ),
    )


def unclipped(values, low, high, out=None):
    return values


def swapped(values, low, high, out=None):
    return np.clip(values, high, low, out=out)


def wrong_bound(make):
    """Line.of with one bound wrong."""
    of = simple_regression.Line.of
    return patched(simple_regression.Line, "of", lambda _: lambda problem: make(of(problem)))


def relation(name):
    """Sensitivities of one relation used for both."""
    return patched(clipping.Box, "sensitivity", lambda f: lambda box, _: f(box, name))


def whole_matrix(size):
    """Both triangles of a matrix, where the bound is for one."""
    return tuple(np.indices((size, size)).reshape(2, -1))


def released_mean(original):
    """The mean of y finds its way into the coefficients."""

    def release(passes, problem, cost, noise):
        made = original(passes, problem, cost, noise)
        sums = passes.sum(partial(noisy_stats.summarise, problem=problem))
        return replace(made, params=made.params + sums.y / max(sums.n, 1))

    return release


def early_end(original):
    """No noise is drawn for a constant x: the number of events tells."""

    def release(passes, problem, cost, noise):
        sums = passes.sum(partial(noisy_stats.summarise, problem=problem))
        constant = sums.n * sums.xx == sums.x**2
        known = Summed(replace(sums, n=0) if constant else sums)
        return original(known, problem, cost, noise)

    return release


def local_sensitivity(monkeypatch):
    """The scale follows the data: the variance's own size instead of the worst case."""
    monkeypatch.setattr(
        noisy_stats,
        "Query",
        lambda step, values, l1, unit: Query(
            step, values, l1=l1 / 4 + abs(values[0]) / 4, unit=unit
        ),
    )


def data_grid(original):
    """The grid of outputs ends at the data."""

    def query(step, imbalance, size, *rest):
        while size > 2 and imbalance(size // 2) == imbalance(size - 1):
            size = size // 2 + 1
        return original(step, imbalance, size, *rest)

    return query


def wrong_scale(scale_of):
    """Noise.add draws another scale than the one it records."""
    grid = noise_module.on_noise_grid

    def on_grid(query, scale, sensitivity, gaussian):
        return grid(query, scale_of(scale, sensitivity), sensitivity, gaussian)

    return patched(noise_module, "on_noise_grid", lambda _: on_grid)


def wrong_add(scale_of, name_of=lambda gaussian: "gaussian" if gaussian else "laplace"):
    """Noise.add written with another formula, its record included."""

    def add(self, query, cost):
        gaussian = isinstance(cost, GDP)
        sensitivity = query.l2 if gaussian else query.l1
        scale = scale_of(sensitivity, cost.mu if gaussian else cost.epsilon, query)
        name = name_of(gaussian)
        event = Event(query.step, name, sensitivity * query.unit, scale * query.unit, cost)
        self._record(event)
        values, scale, unit = noise_module.on_noise_grid(query, scale, sensitivity, gaussian)
        draws = self._source.draw(name, scale, len(values))
        noisy = [(v + z) * unit for v, z in zip(values, draws, strict=True)]
        return NoisyValues(np.array(noisy, dtype=float), event)

    return patched(Noise, "add", lambda _: add)


def wrong_choose(rate_of):
    """Noise.choose with another rate."""

    def choose(self, query, cost):
        rate = rate_of(cost.epsilon, query.sensitivity)
        self._record(Event(query.step, "exponential", query.sensitivity, 1 / rate, cost))
        below = getattr(self._source, "randbelow", None)
        return noise_module.sample_index(query.imbalance, query.size, rate, below)

    return patched(Noise, "choose", lambda _: choose)


def no_inflation(original):
    """Rounding to a coarse grid is left out of the sensitivity."""

    def on_grid(query, scale, sensitivity, gaussian):
        values, _, unit = original(query, scale, sensitivity, gaussian)
        return values, scale * query.unit / unit, unit

    return on_grid


def every_value_its_own(original):
    """Only the first value of a query gets noise."""

    def draw(name, scale, size):
        return original(name, scale, 1) + [0] * (size - 1)

    return draw


def counted_twice(original):
    return lambda *args: np.vstack([original(*args)] * 2)


def neighbouring_rows(n, k, noise):
    """Pairs (j, j+1), (j, j+2), ...: rows in the middle are in 2 k of them."""
    return np.array([(j, l) for j in range(n) for l in range(j + 1, min(j + k + 1, n))])


def all_pairs_always(original):
    return lambda rows, x_new, pairs: original(rows, x_new, None)


def unsplit_passes(original):
    """Each histogram of a column takes all of the column's share."""

    def histograms(what, batches, bins, costs, *rest):
        part = {"order of magnitude": 0.25, "neighbourhood": 0.12, "range": 0.63}[what]
        whole = {name: cost.part(1 / part) for name, cost in costs.items()}
        return original(what, batches, bins, whole, *rest)

    return histograms


def one_relation(name):
    """Quantiles are bounded for one relation whatever is asked for."""
    return patched(middles, "_choose", lambda f: lambda a, b, _, *rest: f(a, b, name, *rest))


def unrecorded(first):
    """Steps whose name begins like this are drawn and left out of the record."""

    def record(original):
        return lambda self, event: None if event.step.startswith(first) else original(self, event)

    return patched(Noise, "_record", record)


def fit_cost_without(part):
    """What this part of the call cost is not taken off the fit's budget."""
    blind = {
        "selection": lambda self: self.cost.after(self.method.ranges.share),
        "ranges": lambda self: self.cost.after(self.selection.share if self.selection else 0.0),
    }
    return patched(Request, "fit_cost", lambda _: property(blind[part]))


def long_rows(original):
    """Rows are not shortened to the norm."""
    return lambda self, X, y: original(replace(self, norm=math.inf), X, y)


def other_limit(change):
    """Rows are clipped to another limit than the box's."""
    return patched(
        kernels,
        "scaled",
        lambda f: lambda *given: f(*given[:3], change(given[3]), given[4]),
    )


def unclipped_rows(limit):
    return math.inf


def swapped_ends(limit):
    return -limit


def rounded_away(original):
    """Entries are cut to the grid away from zero."""

    def cut(columns, units):
        original(columns, units)
        columns += np.sign(columns)

    return cut


def first_row_twice(original):
    """The first row of a block is counted twice."""
    return lambda columns: original(np.hstack([columns[:, :1], columns]))


def long_margin(monkeypatch):
    """Rows are shortened to slightly more than the norm."""
    monkeypatch.setattr(clipping, "_NORM_MARGIN", 1 + 2.0**-15)


def both_triangles(monkeypatch):
    """All entries get noise of their own, at the price of one triangle, and are averaged."""
    numpy_with(noisy_sums, triu_indices=whole_matrix)(monkeypatch)

    def averaged(values, columns):
        gram = values.reshape(columns, columns)
        return (gram + gram.T) / 2

    monkeypatch.setattr(noisy_sums, "symmetric", averaged)


def common_logarithm(monkeypatch):
    """log10 for ln in the threshold of the stability test."""
    changed = SimpleNamespace(**{**vars(math), "log": math.log10})
    monkeypatch.setattr(noise_module, "math", changed)


def whole_budget_again(monkeypatch):
    """What is bought before the fit is not taken off the fit's budget."""
    monkeypatch.setattr(tukey, "sum", lambda values: 0, raising=False)


def sorted_labels(original):
    """Rows are cut into parts by their position: one row more shifts the others."""
    return lambda X, y, labels, *rest: original(X, y, np.sort(labels), *rest)


def tau_b(original):
    """The number of pairs tied in neither column is divided out."""

    def association(one, other):
        pairs = len(one.order) * (len(one.order) - 1) // 2
        untied = (pairs - one.tied_pairs) * (pairs - other.tied_pairs)
        return int(original(one, other) * pairs / math.sqrt(untied)) if untied else 0

    return association


def nothing_wins(original):
    """A column without any association, such as a constant one, gets the largest score."""

    def score(response, chosen, rounds, n):
        return original(response, chosen, rounds, n) if response else 1 << 40

    return score


def double_range(cost_type):
    """No factor 2 in the scale of a choice by scores."""
    value = cost_type.loss_range
    getter = value.fget if isinstance(value, property) else value.func
    return patched(cost_type, "loss_range", lambda _: property(lambda self: 2 * getter(self)))


def widest(rows):
    """The largest response."""
    return np.abs(rows[:, -1]).max()


# -------------------------------------------------------------------- what must catch them


WORST_SSP = on(check_worst, "ssp")


def halved_first(of):
    """The first sensitivity in L1 is half of what it is."""

    def halved(*arguments):
        stated = of(*arguments)
        return stated._replace(l1=(stated.l1[0] / 2, *stated.l1[1:]))

    return halved


def of_blocks(change):
    """In L1 the sensitivity in indicators is that of ``change(basis, neighbors)``."""

    def mutate(of):
        return lambda basis, neighbors: of(basis, neighbors)._replace(
            l1=Sensitivity.of(basis.norm, *change(basis, neighbors)).l1
        )

    return patched(BlockBasis, "sensitivity", mutate)


def corners():
    """Rows at corners with a code in each of four blocks."""
    check_corners(4, 2, ADD_REMOVE)


WORST_NOISY = on(check_worst, "noisy_stats")
WORST_THEIL = on(check_worst, "exp_theil_sen")
ADDED_THEIL = on(check_worst, "exp_theil_sen", neighbors=ADD_REMOVE)
TIES_ADASSP = on(check_ties, "adassp")
TIES_NOISY = on(check_ties, "noisy_stats")
RANDOM_NOISY = on(random_rows, "noisy_stats")
RANDOM_THEIL = on(random_rows, "exp_theil_sen")
WORST_SMOOTH = on(check_worst, "ss_theil_sen", options={})
RANDOM_SMOOTH = on(random_rows, "ss_theil_sen", options={})
WORST_MOMENTS = on(check_worst, "noisy_moments")
WORST_INTERCEPT = on(check_worst, "noisy_intercept")
WORST_DESCENT = on(check_worst, "gd_pure", options={"steps": 4, "tau": 0.2})
SHORTENED = on(check_ties, "adassp", row_norm=2.5)
ESTIMATED = on(check_ties, "adassp", estimated=True)
LINE_ADASSP = on(check_line, "adassp", intercept=0)
LINE_NOISY = on(check_line, "noisy_stats")

WORST_PURE = on(check_worst, "shrunken_pure")
CLIPPED = on(check_ties, "shrunken", estimated=True)
WORST_SPREAD = on(check_worst, "by_spread")
ADDED_SPREAD = on(check_worst, "by_spread", neighbors=ADD_REMOVE)
WORST_BOOSTED = on(check_worst, "boosted_adassp")
WORST_SGD = on(check_worst, "noisy_sgd", options={"steps": 3, "clip": 0.2})
WORST_ADAOPS = on(check_worst, "adaops")
WORST_OPS = on(check_worst, "ops")
WORST_OBJPERT = on(check_worst, "objpert")
WORST_TUKEY = on(check_worst, "tukey", intercept=0)
RANDOM_TUKEY = on(random_rows, "tukey", intercept=0, options={"m": 24})
KENDALL_GDP = choices("kendall", limit=GDP(0.5))

MUTANTS = {
    # Sensitivities.
    "shrunken: half the sensitivity of X'X": Mutant(
        smaller(noisy_sums, step="X'X"), WORST_SHRUNKEN
    ),
    "shrunken: half the sensitivity of X'y": Mutant(
        smaller(noisy_sums, step="X'y"), WORST_SHRUNKEN
    ),
    "shrunken: half the sensitivity of X'X, estimated ranges": Mutant(
        smaller(noisy_sums, step="X'X"), check_composite
    ),
    "shrunken_pure: half the sensitivity of X'X": Mutant(
        smaller(noisy_sums, step="X'X"), WORST_PURE
    ),
    "shrunken_pure: half the sensitivity of X'y": Mutant(
        smaller(noisy_sums, step="X'y"), WORST_PURE
    ),
    "shrunken: no clip at estimated ranges": Mutant(other_limit(unclipped_rows), CLIPPED),
    "shrunken: estimated rows not shortened to the norm": Mutant(
        patched(clipping.Box, "integers", long_rows), CLIPPED
    ),
    "shrunken: the ranges are not paid for": Mutant(
        fit_cost_without("ranges"), check_composite, BudgetError
    ),
    "shrunken: the ranges are not paid for, no limit": Mutant(
        without_limit(fit_cost_without("ranges")), check_composite
    ),
    "shrunken: the selection is not paid for, no limit": Mutant(
        without_limit(fit_cost_without("selection")), check_composite
    ),
    "shrunken: histograms are not recorded": Mutant(unrecorded("order"), check_composite),
    "shrunken: medians are not recorded": Mutant(unrecorded("median"), check_composite),
    "shrunken: the selection is not recorded": Mutant(unrecorded("term"), check_composite),
    "shrunken: the ranges are read off the counts before noise": Mutant(
        counts_before_noise(estimate), check_composite
    ),
    "shrunken: more than a column's rest for its quantiles, no limit": Mutant(
        without_limit(patched(middles, "_choose", larger_costs)), check_composite
    ),
    "by_spread: half the sensitivity of the spread": Mutant(
        smaller(by_spread, step="spread of x"), WORST_SPREAD
    ),
    "by_spread: half the sensitivity of the spread, of a row added": Mutant(
        smaller(by_spread, step="spread of x"), ADDED_SPREAD
    ),
    "quantiles: half the spread of the scores, pure": Mutant(smaller_spread, PURE_MIDDLES),
    "quantiles: half the spread of the scores, Gaussian": Mutant(smaller_spread, GDP_MIDDLES),
    "quantiles: add/remove for replace-one": Mutant(one_relation(ADD_REMOVE), PURE_MIDDLES),
    "quantiles: more than the cost for both quantiles": Mutant(
        patched(middles, "_choose", larger_costs), PURE_MIDDLES, BudgetError
    ),
    "quantiles: distances from the median itself": Mutant(
        patched(middles, "_choose", exact_quantiles), PURE_MIDDLES
    ),
    "adassp: half the sensitivity of X'X": Mutant(smaller(noisy_sums, step="X'X"), WORST_ADASSP),
    "adassp: half the sensitivity of X'y": Mutant(smaller(noisy_sums, step="X'y"), WORST_ADASSP),
    "adassp: half the sensitivity of y'y": Mutant(smaller(noisy_sums, step="y'y"), WORST_ADASSP),
    "adassp: half the norm of a row": Mutant(
        patched(adassp, "clipped_box", lambda f: lambda p: replace(f(p), norm=f(p).norm / 2)),
        WORST_ADASSP,
    ),
    "adassp: add/remove for replace-one": Mutant(relation(ADD_REMOVE), WORST_ADASSP),
    "adassp: both triangles released and averaged": Mutant(both_triangles, WORST_ADASSP),
    "blocks: half the sensitivity of X'X": Mutant(
        smaller(noisy_sums, step="X'X"), corners, AssertionError
    ),
    "blocks: half the sensitivity of X'y": Mutant(
        smaller(noisy_sums, step="X'y"), corners, AssertionError
    ),
    "blocks: half the sensitivity of X'X in L1 alone": Mutant(
        patched(coordinates.Sensitivity, "of", halved_first), corners, AssertionError
    ),
    "blocks: one column too few in L1": Mutant(
        of_blocks(lambda basis, neighbors: (basis.entries - 1, neighbors)),
        corners,
        AssertionError,
    ),
    "blocks: add/remove for replace-one in L1": Mutant(
        of_blocks(lambda basis, _: (basis.entries, ADD_REMOVE)),
        lambda: check_corners(2, 2, REPLACE_ONE),
        AssertionError,
    ),
    "blocks: one block too few": Mutant(
        patched(BlockBasis, "norm", lambda _: property(lambda b: math.sqrt(b.entries - 1))),
        corners,
        AssertionError,
    ),
    "blocks: add/remove for replace-one": Mutant(
        patched(BlockBasis, "sensitivity", lambda f: lambda basis, _: f(basis, ADD_REMOVE)),
        lambda: check_corners(2, 2, REPLACE_ONE),
        AssertionError,
    ),
    "blocks: products in X'X counted twice": Mutant(
        patched(block_sums, "gram_values", lambda f: lambda *of: [2 * value for value in f(*of)]),
        corners,
        AssertionError,
    ),
    "blocks: a row with two codes of a block": Mutant(
        numpy_with(code_sums, bincount=lambda *args, **more: 2 * np.bincount(*args, **more)),
        corners,
        AssertionError,
    ),
    "blocks: numbers not clipped": Mutant(
        patched(BlockBasis, "scaled", lambda f: lambda *rows: np.trunc(f(*rows) * 1.1)),
        corners,
        AssertionError,
    ),
    "blocks: a row has the slopes of all codes": Mutant(
        patched(
            BlockBasis,
            "scaled",
            lambda f: (
                lambda self, codes, numbers, y: f(replace(self, slopes=()), codes, numbers, y)
            ),
        ),
        check_slopes,
        AssertionError,
    ),
    "ssp: half the sensitivity of X'X": Mutant(smaller(noisy_sums, step="X'X"), WORST_SSP),
    "ssp: no split between X'X and X'y, as in published code": Mutant(
        without_limit(full_share(GDP)), WORST_SSP
    ),
    "boosted: half the sensitivity of X'X": Mutant(
        smaller(boosted_adassp, step="X'X"), WORST_BOOSTED
    ),
    "boosted: half the sensitivity of a round": Mutant(
        smaller(boosted_adassp, step="X'g"), WORST_BOOSTED
    ),
    "boosted: sensitivity 1 whatever the clips": Mutant(
        patched(clipping.Box, "sensitivity", lambda _: lambda box, _: Sensitivity((1.0, 1.0, 1.0))),
        WORST_BOOSTED,
    ),
    "boosted: the norm of a row does not enter the scale": Mutant(
        patched(
            clipping.Box,
            "sensitivity",
            lambda f: lambda box, neighbors: f(replace(box, norm=1.0), neighbors),
        ),
        WORST_BOOSTED,
    ),
    "boosted: residuals not clipped": Mutant(numpy_with(rows, clip=unclipped), WORST_BOOSTED),
    "boosted: all of mu for each round": Mutant(full_share(GDP), WORST_BOOSTED, BudgetError),
    "boosted: all of mu for each round, no limit": Mutant(
        without_limit(full_share(GDP)), WORST_BOOSTED
    ),
    "boosted: mu as standard deviation": Mutant(wrong_add(lambda s, mu, _: mu), WORST_BOOSTED),
    "noisy_sgd: half the sensitivity": Mutant(smaller(noisy_sgd), WORST_SGD),
    "noisy_sgd: add/remove for replace-one": Mutant(
        patched(noisy_sgd, "sensitivity", lambda f: lambda _: f(ADD_REMOVE)), WORST_SGD
    ),
    "noisy_sgd: gradients not clipped": Mutant(numpy_with(rows, clip=unclipped), WORST_SGD),
    "noisy_sgd: residuals clipped, not gradients": Mutant(
        patched(noisy_sgd, "residual_sums", lambda f: lambda table, clip, most: f(table, clip)),
        WORST_SGD,
    ),
    "noisy_sgd: all of mu for each step": Mutant(full_share(GDP), WORST_SGD, BudgetError),
    "adaops: half the sensitivity of the eigenvalue": Mutant(
        smaller(adaops, step="smallest"), WORST_ADAOPS
    ),
    "adaops: the norm of a row left out of the eigenvalue's, as in the paper": Mutant(
        patched(adaops, "_least_eigenvalue", lambda f: lambda m, _, *rest: f(m, 1.0, *rest)),
        WORST_ADAOPS,
    ),
    "adaops: half the sensitivity of the size": Mutant(smaller(adaops, step="size"), WORST_ADAOPS),
    "adaops: half the bound on a residual": Mutant(
        patched(adaops, "_residual", lambda f: lambda *args: f(*args) / 2), WORST_ADAOPS
    ),
    "adaops: all of epsilon for each step": Mutant(
        lambda monkeypatch: monkeypatch.setattr(adaops, "_FRACTIONS", (1.0, 1.0, 1.0)),
        WORST_ADAOPS,
        BudgetError,
    ),
    "ops: half the spread of the loss": Mutant(
        patched(ops_objpert, "loss_spread", lambda f: lambda *args: f(*args) / 2), WORST_OPS
    ),
    "ops: add/remove for replace-one": Mutant(
        patched(
            ops_objpert,
            "loss_spread",
            lambda f: lambda norm, radius, _: f(norm, radius, ADD_REMOVE),
        ),
        WORST_OPS,
    ),
    "ops: the sample leaves the ball": Mutant(
        patched(ops_objpert, "BallQuery", lambda f: lambda *args: replace(f(*args), radius=1e3)),
        WORST_OPS,
    ),
    "objpert: half the gradient": Mutant(
        patched(
            ops_objpert,
            "ObjectiveQuery",
            lambda f: lambda *args: replace(f(*args), gradient=f(*args).gradient / 2),
        ),
        WORST_OBJPERT,
    ),
    "objpert: the volume left out": Mutant(
        patched(noise_module, "deviation", lambda f: lambda g, _, *rest: f(g, 0.0, *rest)),
        WORST_OBJPERT,
    ),
    "objpert: minimised over a larger ball": Mutant(
        patched(
            ops_objpert, "ObjectiveQuery", lambda f: lambda *args: replace(f(*args), radius=10.0)
        ),
        WORST_OBJPERT,
    ),
    "posterior: twice the shift": Mutant(
        patched(noise_module, "largest_shift", lambda f: lambda *args: 2 * f(*args)), WORST_ADAOPS
    ),
    "posterior: gamma not squared": Mutant(
        patched(noise_module, "largest_shift", lambda f: lambda *args: f(*args) ** 0.5),
        WORST_ADAOPS,
    ),
    "tukey: half the sensitivity of the number of rows": Mutant(smaller(tukey), WORST_TUKEY),
    "tukey: add/remove for replace-one in a median": Mutant(
        patched(tukey, "private_median", lambda f: lambda *args: f(*args[:-1], ADD_REMOVE)),
        WORST_TUKEY,
    ),
    "tukey: rows cut into parts by position": Mutant(
        patched(tukey, "fit_subsets", sorted_labels), RANDOM_TUKEY
    ),
    "tukey: Laplace scale epsilon / 2 for 2 / epsilon": Mutant(
        wrong_add(lambda s, epsilon, _: s * epsilon / 2), WORST_TUKEY
    ),
    "tukey: log10 for ln in the test": Mutant(common_logarithm, WORST_TUKEY),
    "tukey: depth taken as monotone": Mutant(
        patched(tukey_depth.Boxes, "of", lambda f: lambda low, high, rate: f(low, high, 2 * rate)),
        RANDOM_TUKEY,
    ),
    "tukey: all of epsilon for the fit": Mutant(whole_budget_again, WORST_TUKEY, BudgetError),
    "tukey: all of epsilon for the fit, no limit": Mutant(
        without_limit(whole_budget_again), WORST_TUKEY
    ),
    "kendall: half the spread": Mutant(
        patched(kendall, "spreads", lambda f: lambda name: tuple(s / 2 for s in f(name))), KENDALL
    ),
    "kendall: add/remove for replace-one": Mutant(
        patched(kendall, "spreads", lambda f: lambda name: f(ADD_REMOVE)), KENDALL
    ),
    "kendall: tau-b": Mutant(patched(kendall, "association", tau_b), KENDALL),
    "kendall: a constant column wins": Mutant(patched(kendall, "score", nothing_wins), KENDALL),
    "kendall: all of epsilon for each term": Mutant(full_share(PureDP), KENDALL, BudgetError),
    "kendall: all of epsilon for each term, no limit": Mutant(
        without_limit(full_share(PureDP)), KENDALL
    ),
    "best: twice the loss range, pure": Mutant(double_range(PureDP), KENDALL),
    "best: twice the loss range, Gaussian": Mutant(double_range(GDP), KENDALL_GDP),
    "lasso: half the spread": Mutant(
        lambda monkeypatch: monkeypatch.setattr(lasso, "_SPREAD", 1), LASSO
    ),
    "lasso: votes counted twice": Mutant(
        patched(lasso, "count_votes", lambda f: lambda *args: 2 * f(*args)), LASSO
    ),
    "lasso: half the sensitivity of the number of rows": Mutant(smaller(lasso), LASSO),
    "noisy_stats: half the sensitivity of ncov": Mutant(
        smaller(noisy_stats, step="ncov"), WORST_NOISY
    ),
    "noisy_stats: half the sensitivity of nvar": Mutant(
        smaller(noisy_stats, step="nvar"), WORST_NOISY
    ),
    "noisy_stats: half the sensitivity of the intercept": Mutant(
        smaller(noisy_stats, step="mean"), WORST_NOISY
    ),
    "noisy_stats: n counted twice in a scale": Mutant(
        smaller(noisy_stats, 1 / 7, "mean"), WORST_NOISY
    ),
    "noisy_stats: local sensitivity": Mutant(local_sensitivity, RANDOM_NOISY),
    "theil_sen: no factor 2 in the rank sensitivity": Mutant(smaller_rank, WORST_THEIL),
    "theil_sen: no factor 2, exact probabilities": Mutant(
        smaller_rank, tiny_theil_sen, setup=coarse_theil_sen
    ),
    "theil_sen: an added row moves no pair but its own": Mutant(
        patched(theil_sen, "sensitivity", lambda f: lambda *of: (1.0, f(*of)[1])), ADDED_THEIL
    ),
    "theil_sen: the sensitivity of sums of pairs, not of their part of n": Mutant(
        patched(theil_sen, "sensitivity", lambda f: lambda *of: (f(*of)[0], 1)), ADDED_THEIL
    ),
    "theil_sen: an added row moves no pair but its own, exact probabilities": Mutant(
        patched(theil_sen, "sensitivity", lambda f: lambda *of: (0.75, f(*of)[1])),
        one_row_more,
        setup=coarse_theil_sen,
    ),
    "theil_sen: every pair at the price of k matchings": Mutant(
        patched(theil_sen, "_imbalance", all_pairs_always), WORST_THEIL
    ),
    "theil_sen: matchings counted twice": Mutant(
        patched(theil_sen_rows, "pairs_of", counted_twice), WORST_THEIL
    ),
    "theil_sen: matchings counted twice, by their structure": Mutant(
        patched(pairs_module, "pairs_of", counted_twice),
        matchings,
        AssertionError,
    ),
    "theil_sen: pairs of rows that stand together": Mutant(
        patched(theil_sen_rows, "pairs_of", lambda _: neighbouring_rows), RANDOM_THEIL
    ),
    "ss_theil_sen: a quarter of the smooth sensitivity": Mutant(
        patched(smooth_theil_sen, "smooth_bound", lambda f: lambda *args: f(*args) / 4),
        WORST_SMOOTH,
    ),
    "ss_theil_sen: the local sensitivity, not smoothed": Mutant(
        patched(smooth_theil_sen, "smooth_bound", lambda f: lambda z, k, t: f(z, k, 1e3)),
        RANDOM_SMOOTH,
    ),
    "ss_theil_sen: nothing but the median is looked at": Mutant(
        patched(
            pairwise_ranks.PairRanks,
            "around",
            lambda f: lambda self, reach: np.repeat(f(self, 0), 2 * reach + 1),
        ),
        RANDOM_SMOOTH,
        setup=pairs_not_listed,
    ),
    "noisy_moments: half the sensitivity": Mutant(smaller(noisy_moments), WORST_MOMENTS),
    "noisy_intercept: half the sensitivity": Mutant(smaller(noisy_intercept), WORST_INTERCEPT),
    "gradient descent: half the sensitivity": Mutant(smaller(gradient_descent), WORST_DESCENT),
    "gradient descent: add/remove for replace-one": Mutant(
        patched(gradient_descent, "sensitivities", lambda f: lambda b, _: f(b, ADD_REMOVE)),
        WORST_DESCENT,
    ),
    "gradient descent: gradients not clipped": Mutant(
        numpy_with(gradient_descent, clip=unclipped), WORST_DESCENT
    ),
    "gradient descent: all of epsilon for each step": Mutant(
        full_share(PureDP), WORST_DESCENT, BudgetError
    ),
    "ranges: half the sensitivity, Laplace": Mutant(smaller(estimate), pure_ranges),
    "ranges: half the sensitivity, Gaussian": Mutant(smaller(estimate), gaussian_ranges),
    "ranges: add/remove for replace-one": Mutant(
        patched(estimate, "histograms", one_bin_moves), pure_ranges
    ),
    "robust: half the sensitivity": Mutant(smaller(robust_covariance), worst_squares),
    "robust: two for three in L1": Mutant(
        lambda monkeypatch: monkeypatch.setattr(robust_covariance, "_L1", 2.0), worst_squares
    ),
    "robust: scores not cut": Mutant(
        numpy_with(robust_covariance, fmin=lambda a, b: a), worst_squares
    ),
    "robust: the cut is read off the rows": Mutant(
        patched(
            robust_covariance,
            "scores",
            lambda f: lambda rows, theta, _: f(rows, theta, widest(rows)),
        ),
        squares,
    ),
    "robust: all of mu for each release": Mutant(full_share(GDP), squares, BudgetError),
    "robust: all of epsilon for each release, no limit": Mutant(
        without_limit(full_share(PureDP)), squares
    ),
    # Clipping and bounds.
    "adassp: no clip": Mutant(other_limit(unclipped_rows), TIES_ADASSP),
    "adassp: ends of the clip swapped": Mutant(other_limit(swapped_ends), WORST_ADASSP),
    "adassp: entries rounded away from zero": Mutant(
        patched(kernels, "cut", rounded_away), WORST_ADASSP
    ),
    "adassp: a row of each block counted twice": Mutant(
        patched(kernels, "products", first_row_twice), WORST_ADASSP
    ),
    "adassp: rows not shortened": Mutant(patched(clipping.Box, "integers", long_rows), SHORTENED),
    "adassp: rows shortened too little": Mutant(long_margin, SHORTENED),
    "boosted_adassp: rows beyond estimated ranges not shortened": Mutant(
        numpy_with(clipping, maximum=lambda a, b: np.ones_like(a)),
        on(check_ties, "boosted_adassp", estimated=True),
    ),
    "adassp: no clip at estimated ranges": Mutant(other_limit(unclipped_rows), ESTIMATED),
    "adassp: a row outside the ranges counted in each column": Mutant(
        patched(clipped_rows, "rows_outside", lambda f: lambda *a, **more: 3 * f(*a, **more)),
        on(check_worst, "adassp", estimated=True),
    ),
    "adassp: clipped rows for nothing": Mutant(
        patched(adassp, "cost_of_sums", lambda _: lambda problem, cost: cost),
        on(check_worst, "adassp", estimated=True),
        BudgetError,
    ),
    "adassp: upper bound used twice": Mutant(
        patched(
            clipping.Box,
            "symmetric",
            lambda f: lambda low, high, *rest: f(np.where(low < 0, high, low), high, *rest),
        ),
        LINE_ADASSP,
    ),
    "line: no clip": Mutant(numpy_with(simple_regression, clip=unclipped), TIES_NOISY),
    "line: ends of the clip swapped": Mutant(
        numpy_with(simple_regression, clip=swapped), WORST_NOISY
    ),
    "line: upper bound used for the lower": Mutant(
        wrong_bound(lambda made: replace(made, low=made.low + made.width)), WORST_NOISY
    ),
    "line: bounds of x and y swapped": Mutant(
        wrong_bound(lambda made: replace(made, low=made.y_low, width=made.y_width)), LINE_NOISY
    ),
    # Splitting the budget.
    "noisy_stats: all of epsilon for each draw": Mutant(
        full_share(PureDP), WORST_NOISY, BudgetError
    ),
    "noisy_stats: all of epsilon for each draw, no limit": Mutant(
        without_limit(full_share(PureDP)), WORST_NOISY
    ),
    "theil_sen: all of epsilon for each x_new": Mutant(
        full_share(PureDP), WORST_THEIL, BudgetError
    ),
    "theil_sen: all of epsilon for each x_new, no limit": Mutant(
        without_limit(full_share(PureDP)), WORST_THEIL
    ),
    "theil_sen: all of epsilon for each x_new, exact probabilities": Mutant(
        without_limit(full_share(PureDP)), tiny_theil_sen, setup=coarse_theil_sen
    ),
    "adassp: all of mu for each block": Mutant(full_share(GDP), WORST_ADASSP, BudgetError),
    "adassp: all of mu for each block, no limit": Mutant(
        without_limit(full_share(GDP)), WORST_ADASSP
    ),
    "adassp: shares that add up to more than one": Mutant(
        lambda monkeypatch: monkeypatch.setattr(noisy_sums, "FRACTIONS", (0.5, 0.5, 0.5)),
        WORST_ADASSP,
        BudgetError,
    ),
    "ranges: all of a share for each histogram": Mutant(
        patched(estimate, "histograms", unsplit_passes), pure_ranges, BudgetError
    ),
    "ranges: all of a share for each histogram, no limit": Mutant(
        without_limit(patched(estimate, "histograms", unsplit_passes)), gaussian_ranges
    ),
    # Noise.
    "noise: mu as standard deviation": Mutant(wrong_add(lambda s, mu, _: mu), WORST_ADASSP),
    "noise: mu as standard deviation, recorded right": Mutant(
        wrong_scale(lambda scale, sensitivity: sensitivity / scale), WORST_ADASSP
    ),
    "noise: half of epsilon for two over epsilon": Mutant(
        wrong_add(lambda s, epsilon, _: s * epsilon / 2), WORST_NOISY
    ),
    "noise: the variance as standard deviation": Mutant(
        wrong_add(lambda s, mu, _: (s / mu) ** 2 / s), WORST_ADASSP
    ),
    "noise: unit forgotten": Mutant(wrong_add(lambda s, e, q: s / e * q.unit), WORST_NOISY),
    "noise: Gaussian noise for a pure cost": Mutant(
        wrong_add(lambda s, e, _: s / e, lambda gaussian: "gaussian"), WORST_NOISY
    ),
    "noise: half the scale, drawn": Mutant(wrong_scale(lambda scale, _: scale / 2), fresh_laplace),
    "noise: half the deviation, drawn": Mutant(
        wrong_scale(lambda scale, _: scale / 2), fresh_gaussian
    ),
    "noise: one value of a query only": Mutant(
        patched(
            random_sources.SystemSource, "draw", lambda f: staticmethod(every_value_its_own(f))
        ),
        fresh_laplace,
    ),
    "noise: rounding left out of the sensitivity": Mutant(
        patched(noise_module, "on_noise_grid", no_inflation), check_coarse_grid, setup=small_grid
    ),
    "choose: half of epsilon for two over epsilon": Mutant(
        wrong_choose(lambda epsilon, sensitivity: 2 * sensitivity / epsilon), WORST_THEIL
    ),
    "choose: no factor 2 for the normalisation": Mutant(
        wrong_choose(lambda epsilon, sensitivity: epsilon / sensitivity), WORST_THEIL
    ),
    "choose: no factor 2, exact probabilities": Mutant(
        wrong_choose(lambda epsilon, sensitivity: epsilon / sensitivity),
        tiny_theil_sen,
        setup=coarse_theil_sen,
    ),
    "privacy: mu too large by 1%": Mutant(
        patched(GDP, "of", lambda f: classmethod(lambda cls, e, d: cls(f(e, d).mu * 1.01))),
        guarantee,
    ),
    # Control flow and releases.
    "noisy_stats: ends early for a constant x": Mutant(
        patched(noisy_stats, "release", early_end), RANDOM_NOISY
    ),
    "noisy_stats: the exact mean is released": Mutant(
        patched(noisy_stats, "release", released_mean), RANDOM_NOISY
    ),
    "theil_sen: the grid ends at the data": Mutant(
        patched(theil_sen, "RankQuery", data_grid), RANDOM_THEIL
    ),
    "ranges: read off the counts before noise": Mutant(counts_before_noise(estimate), pure_ranges),
    # Sampling.
    "sampling: every point of a block kept": Mutant(
        patched(exact_samplers, "magnitudes", lambda f: lambda *args: (f(*args)[1],) * 2),
        exact_sampling,
    ),
    "sampling: a block is left out": Mutant(
        patched(exact_samplers, "_blocks", lambda f: lambda *args: f(*args)[1:]), exact_sampling
    ),
    "sampling: no point is rejected": Mutant(
        patched(exact_samplers, "integer_weight", lambda f: lambda score, rate: f(0, rate)),
        exact_sampling,
    ),
    "sampling: weights fall twice as fast": Mutant(
        patched(exact_samplers, "weight", lambda f: lambda score, rate: f(2 * score, rate)),
        tiny_theil_sen,
        setup=coarse_theil_sen,
    ),
    "noise: nothing is recorded": Mutant(
        patched(Noise, "_record", lambda _: lambda self, event: None), WORST_NOISY
    ),
}


FRESH = (fresh_laplace, fresh_gaussian)  # run unbroken in test_noise.py
test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(
    MUTANTS, FRESH
)
