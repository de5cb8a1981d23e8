"""Noisy Newton steps broken on purpose: each defect must be caught by a check of the real tests.

In the manner of test_mutations.py; the checks are replays of the worst rows, of rows with factors
and of the distributions of columns.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.call import Request
from dpstats.errors import BudgetError
from dpstats.estimators import METHODS
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.row_sums import sums as newton_sums
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.steps import clusters, group_response, sizes, squared_loss
from dpstats.estimators.newton.steps import queries as newton_queries
from dpstats.estimators.newton.steps import rounds as newton_rounds
from dpstats.estimators.newton.steps import whitening as newton_whitening
from dpstats.numerics import KeySums, kernels, score_loops, whitening
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.range_estimation import estimate, marginals
from dpstats.range_estimation import quantiles as middles
from tests.checks import noisy_sums
from tests.checks.bounded_products import WITHIN, check_within
from tests.checks.breaks import (
    counts_before_noise,
    exact_quantiles,
    full_share,
    larger_costs,
    larger_second,
    numpy_with,
    on,
    one_bin_moves,
    smaller,
    smaller_spread,
    without_limit,
)
from tests.checks.groups import check_groups_spend
from tests.checks.marginals import check_marginals
from tests.checks.mutants import Mutant, both_tests, over, patched
from tests.checks.newton_clusters import check_clusters
from tests.checks.noisy_newton import check_factors
from tests.checks.replay import cases_of
from tests.checks.replayed import check_worst

ADDED = on(check_worst, "noisy_newton", neighbors=ADD_REMOVE)
REPLACED = on(check_worst, "noisy_newton", neighbors=REPLACE_ONE)
RELATIONS = {ADD_REMOVE: ADDED, REPLACE_ONE: REPLACED}


def scores_of(change):
    """Sums of scores whose residuals and norms are others when they are clipped."""

    def mutate(original):
        def sums(self, limit, cut, weight, given):
            total = np.zeros(len(self.eta) + 1, dtype=object)
            for rows, left, norms in self.blocks(given):
                squares = weight * np.minimum(np.abs(left) / cut, 1) ** 2
                left, norms = change(left, norms, limit)
                scores = np.vstack([rows * (left / np.maximum(norms, limit)), squares])
                whole = np.trunc(scores * newton_sums._ONE * newton_sums.MARGIN)
                total += np.array([sum(map(int, row)) for row in whole.tolist()], dtype=object)
            return total

        return sums

    return patched(Scores, "sums", mutate)


def unclipped(left, norms, limit):
    """A score has the length it has."""
    return left, np.minimum(norms, limit)


def weighted_on_one_side(left, norms, limit):
    """Residuals are weighted, and the norms by which scores are cut are not."""
    return 2 * left, norms


def clipped_alone(left, norms, limit):
    """The limit is applied to the residual, not to the score."""
    return left, np.abs(left)


def exact_products(original):
    """The sums before noise are what is whitened by."""

    def release(step, sums, bound, *rest, **more):
        _, deviation = original(step, sums, bound, *rest, **more)
        return sums.astype(float) * bound * PRODUCT_UNIT, deviation

    return release


def exact_counts(original):
    """Limits are chosen from counts before noise."""

    def counts(self, step, work, cost, *one):
        found = original(self, step, work, cost, *one)
        return replace(found, values=self.total(work).astype(float))

    return counts


def limit_of_the_largest(original):
    """The limit is the largest score of all rows."""

    def release(self, step, at, limit, *rest):
        def largest(rows):
            return max([limit, *(norms.max() for _, _, norms in at.blocks(rows))])

        return original(self, step, at, self.total(largest), *rest)

    return release


def one_row_more(original):
    """Queries of neighbours that differ in the values of one row are bounded for one row more."""

    def release(self, *given):
        problem = replace(self.problem, neighbors=ADD_REMOVE)
        return original(replace(self, problem=problem), *given)

    return release


def of_one_relation(name, problem_at):
    """A function is told this relation, whatever is asked for."""

    def of(original):
        def call(*given, **more):
            given = list(given)
            given[problem_at] = (
                name
                if isinstance(given[problem_at], str)
                else replace(given[problem_at], neighbors=name)
            )
            return original(*given, **more)

        return call

    return of


def heavier(name, value):
    """The diagonal, or what is off it, has a weight that the sensitivity does not have."""

    def mutate(monkeypatch):
        where = np.where

        def weights(condition, first, second):
            if isinstance(first, int) and (first, second) == (70, 99):
                first, second = (value, 99) if name == "diagonal" else (70, value)
            return where(condition, first, second)

        numpy_with(indicator_basis, where=weights)(monkeypatch)

    return mutate


def fewer_free(original):
    """Products of two factors are taken to be zero in every row, and released as they are."""

    def release(step, sums, bound, free, *rest, **more):
        known = free.copy()
        known[:3, 3:5] = known[3:5, :3] = False
        matrix, deviation = original(step, sums, bound, known, *rest, **more)
        matrix[~known] = (sums * bound * PRODUCT_UNIT).astype(float)[~known]
        return matrix, deviation

    return release


def long_rows(rows, squares, bound, *_):
    """Rows of X'X are not shortened, but for those that no integer holds."""
    return np.trunc(np.clip(rows / np.sqrt(bound), -99, 99) * 2.0**20)


def only_entries(rows, squares, bound, *_):
    """Each entry is cut to the bound, not the row."""
    return np.trunc(np.clip(rows / np.sqrt(bound), -1, 1) * 2.0**20)


def lost_codes(original):
    """Numbers alone decide on how long a row is."""

    def capped(rows, squares, *rest):
        return original(rows, np.maximum(squares - 2, 0), *rest)

    return capped


def squared_weights(original):
    """The squared norm of a single row is held against the bound times its squared weight."""
    return lambda rows, parts: original(rows, parts) ** 2


def neighbour_too(original):
    """A row is whitened with a part of the row before it."""

    def whitened(*given):
        original(*given)
        out = given[-1]
        out[:, 1:] = (out[:, 1:] + out[:, :-1]) / 2
        return (out**2).sum(axis=0)

    return whitened


def shares(**changed):
    """Other fractions of the budget than those that add up to 1."""

    def mutate(monkeypatch):
        monkeypatch.setattr(newton_rounds, "GAUSSIAN", replace(newton_rounds.GAUSSIAN, **changed))

    return mutate


def exact_rows(original):
    """The number of rows finds its way out."""

    def counted(self, rows, cost):
        released = original(self, rows, cost)
        return replace(released, total=released.total + 1e-9 * rows[0])

    return counted


def all_of_each_column(original):
    """The first histogram of a column takes all of the column's part, and so does the last."""

    def histograms(what, total, bins, costs, *rest):
        part = {"order of magnitude": 0.25, "histogram": 0.25, "neighbourhood": 0.12}.get(
            what, 0.63
        )
        whole = {name: cost.part(1 / part) for name, cost in costs.items()}
        return original(what, total, bins, whole, *rest)

    return histograms


def codes_twice(original):
    """A row is added up twice where its codes are."""

    def products(*given):
        original(*given)
        original(*given)

    return products


def kernel(name, make):
    return patched(kernels, name, make)


def loop(name, make):
    return patched(score_loops, name, make)


def measured(make):
    return patched(squared_loss.SquaredLoss, "measured", make)


def queries(name, make):
    return patched(newton_queries.Queries, name, make)


def response(name, make):
    return patched(squared_loss, name, make)


def unclipped_responses(original):
    """Responses far out count as they are, but for those that no integer holds."""

    def sums(reference, limit, rows):
        y = rows.response
        v = np.clip((y - reference.y_center) / (limit * reference.y_scale), -8, 8)
        return np.trunc(np.array([v.sum(), (v**2).sum()]) * 2.0**20).astype(np.int64).astype(object)

    return sums


def private_center(original):
    """The response is measured from the mean before noise."""

    def scale(self, problem, has_constant, total, rows, *rest):
        after = original(self, problem, has_constant, total, rows, *rest)
        before = problem.reference
        mean = total(partial(squared_loss._sums, before, 4.0))[0] / 2.0**18 / rows
        center = before.y_center + before.y_scale * float(mean)
        return replace(after, reference=replace(after.reference, y_center=center))

    return scale


def sums(name, make):
    return patched(newton_sums, name, make)


def robust(neighbors):
    """The worst rows of fits with robust errors, whose products of scores are released."""
    found = cases_of(METHODS["noisy_newton"])
    cases = [replace(c, options={"cov_type": "HC1"}) for c in found]
    return over(check_worst, [c for c in cases if c.problem.neighbors == neighbors][:4])


def longer_scores(times):
    """Scores are clipped at so many times the limit for their products."""

    def mutate(original):
        def clipped(self, limit, rows):
            for s in original(self, times * limit, rows):
                yield np.trunc(times * s)

        return clipped

    return patched(Scores, "clipped", mutate)


def more_squares(original):
    """The squares of residuals count twice beside the scores."""

    def clipped_sums(*given):
        found = original(*given)
        found[-1] *= 2
        return found

    return clipped_sums


def counted_twice(original):
    """A row stands in its bin twice."""
    return lambda *given: 2 * original(*given)


def heavy(neighbors):
    """The worst rows of the largest weight, and rows of weights beyond it."""
    found = [c for c in cases_of(METHODS["noisy_newton"]) if c.problem.y_high == 10.0]
    cases = [replace(c, problem=replace(c.problem, weighted=True)) for c in found]
    chosen = [c for c in cases if c.problem.neighbors == neighbors][:3]
    return over(noisy_sums.check_heavy, chosen)


def grouped(neighbors):
    """The worst rows of a group, whose response has a center and a scale of its own."""
    found = [c for c in cases_of(METHODS["noisy_newton"]) if c.problem.neighbors == neighbors]
    cases = [replace(c, problem=replace(c.problem, grouped=True)) for c in found[:3]]
    return over(check_worst, cases)


def far_centers(original):
    """Responses count at eight times the limit that noise is for."""

    def sums(reference, rows):
        with np.errstate(over="ignore"):
            v = np.clip((rows.response - reference.y_center) / reference.y_scale / 4, -8, 8)
        return np.array([int(np.trunc(v * 2.0**20).sum())], dtype=object)

    return sums


def exact_scale(original):
    """The scale of a group is read off the counts before noise."""

    def located(problem, has_constant, total, *rest):
        after = original(problem, has_constant, total, *rest)
        reference = problem.reference
        far = total(lambda rows: np.array([(rows.response > reference.y_center).sum()]))[0]
        own = replace(after.reference, y_scale=after.reference.y_scale * (1 + 1e-9 * far))
        return replace(after, reference=own)

    return located


def as_given(original):
    """A weight beyond the largest one counts as it is."""
    return lambda parts: np.trunc(np.nan_to_num(parts, posinf=1e6) * 2.0**20).astype(np.int64)


def cluster(name, make):
    return patched(clusters, name, make)


def sums_in_full(original):
    """The sums of clusters are clipped at eight times the length that noise is for."""
    return lambda sums, length: 64 * original(sums, 8 * length)


def times(factor):
    """What a row moves is stated as so many times as much."""
    return lambda original: lambda *given: factor * original(*given)


def rows_of_units(original):
    """The scores of the rows of a unit are clipped one by one, in the cluster of each."""

    def score_sums(clipped, p, rows):
        return original(clipped, p, replace(rows, units=None, parts=None))

    return score_sums


def counted_doubly(original):
    """A row is added to its cluster twice."""
    return classmethod(
        lambda _, keys, blocks, columns=1: original(keys, (2 * own for own in blocks), columns)
    )


def exact_number(original):
    """The number of clusters is used as it is."""

    def number(queries, counted, cost):
        found = original(queries, counted, cost)
        sums = queries.total(clusters.sizes).sums * 2.0**-20
        return replace(found, number=found.number + 1e-9 * float((sums**2).sum()))

    return number


def exact_length(original):
    """Sums are clipped by their mean length before noise."""
    return lambda queries, sums, cost: (
        original(queries, sums, cost) + 1e-9 * np.linalg.norm(sums.astype(float), axis=1).sum()
    )


CLUSTERED = {relation: partial(check_clusters, relation) for relation in (ADD_REMOVE, REPLACE_ONE)}
CLUSTERED_UNITS = partial(check_clusters, ADD_REMOVE, by_unit=True)
CLUSTER_STEPS = {
    "norm of cluster sizes": clusters,
    "cluster lengths": clusters,
    "cluster products": indicator_basis,
}
GROUPED = {ADD_REMOVE: grouped(ADD_REMOVE), REPLACE_ONE: grouped(REPLACE_ONE)}
HEAVY = {ADD_REMOVE: heavy(ADD_REMOVE), REPLACE_ONE: heavy(REPLACE_ONE)}
HEAVY_STEPS = dict.fromkeys(("number of rows", "leverages", "scores"), newton_queries)
HEAVY_STEPS |= dict.fromkeys(("X'X", "whitened"), indicator_basis)
ROBUST = {ADD_REMOVE: robust(ADD_REMOVE), REPLACE_ONE: robust(REPLACE_ONE)}
MUTANTS = {
    **{
        f"half the sensitivity of {step}, {relation}": Mutant(
            smaller(module, step=step), CLUSTERED[relation]
        )
        for step, module in CLUSTER_STEPS.items()
        for relation in CLUSTERED
    },
    "sums of clusters clipped too late": Mutant(
        cluster("clipped_products", sums_in_full), CLUSTERED[ADD_REMOVE]
    ),
    "products of clusters: the root of 2 for replace-one": Mutant(
        cluster("moved", times(2**-0.5)), CLUSTERED[REPLACE_ONE]
    ),
    "scores of clusters not clipped": Mutant(longer_scores(2.0**10), CLUSTERED[ADD_REMOVE]),
    "a unit clipped row by row, over several clusters": Mutant(
        cluster("score_sums", rows_of_units), CLUSTERED_UNITS
    ),
    "a row twice in its cluster": Mutant(
        patched(KeySums, "of", counted_doubly), CLUSTERED[ADD_REMOVE]
    ),
    "the number of clusters before noise": Mutant(
        cluster("_released", exact_number), CLUSTERED[ADD_REMOVE]
    ),
    "the length of sums before noise": Mutant(
        cluster("_length", exact_length), CLUSTERED[ADD_REMOVE]
    ),
    "scores for products not clipped": Mutant(longer_scores(2.0**10), ROBUST[ADD_REMOVE]),
    "scores for products clipped at twice the limit": Mutant(
        longer_scores(2.0), ROBUST[ADD_REMOVE]
    ),
    "products of scores: add/remove for replace-one": Mutant(
        patched(newton_queries, "release_products", of_one_relation(ADD_REMOVE, 6)),
        ROBUST[REPLACE_ONE],
    ),
    **{
        f"half the sensitivity of score products, {relation}": Mutant(
            smaller(indicator_basis, step="score products"), ROBUST[relation]
        )
        for relation in ROBUST
    },
    **{
        f"weights beyond the largest one, {name}": Mutant(
            patched(module, "whole_weights", as_given), HEAVY[ADD_REMOVE]
        )
        for name, module in {
            "their sum": sizes,
            "products and scores": newton_sums,
            "the response": squared_loss,
        }.items()
    },
    **{
        f"weights: half the sensitivity of {step}, {relation}": Mutant(
            smaller(module, step=step), HEAVY[relation]
        )
        for step, module in HEAVY_STEPS.items()
        for relation in HEAVY
        if (step, relation) != ("number of rows", REPLACE_ONE)
    },
    "squares of residuals counted twice": Mutant(loop("clipped_sums", more_squares), ADDED),
    "scores not clipped": Mutant(scores_of(unclipped), ADDED),
    "scores not clipped, replace-one": Mutant(scores_of(unclipped), REPLACED),
    "a row counted twice in score norms": Mutant(patched(Scores, "counts", counted_twice), ADDED),
    "a row counted twice in leverages": Mutant(
        patched(newton_whitening, "leverage_counts", counted_twice), ADDED
    ),
    "a row in two bins": Mutant(loop("above", lambda f: lambda *a: 2 * f(*a)), ADDED),
    "products of codes added twice": Mutant(kernel("code_products", codes_twice), check_factors),
    "rows of X'X on twice the grid": Mutant(
        kernel("cut_rows", lambda f: lambda rows, factors: f(rows, 2 * factors)), ADDED
    ),
    "a weight on the residual alone": Mutant(scores_of(weighted_on_one_side), ADDED),
    "the residual clipped for the score": Mutant(scores_of(clipped_alone), ADDED),
    "whitening from private sums": Mutant(
        patched(newton_queries, "release_products", exact_products), ADDED
    ),
    "limits from private counts": Mutant(queries("counts", exact_counts), check_factors),
    "a limit from the largest residual": Mutant(queries("scores", limit_of_the_largest), ADDED),
    "responses not clipped for their mean": Mutant(response("_sums", unclipped_responses), ADDED),
    "the center from private sums": Mutant(measured(private_center), ADDED),
    "the response's scale: add/remove for replace-one": Mutant(
        measured(of_one_relation(ADD_REMOVE, 1)), REPLACED
    ),
    "the number of rows as it is": Mutant(queries("number", exact_rows), ADDED),
    "histograms: add/remove for replace-one": Mutant(queries("counts", one_row_more), REPLACED),
    "scores: add/remove for replace-one": Mutant(queries("scores", one_row_more), REPLACED),
    "X'X: add/remove for replace-one": Mutant(
        patched(newton_queries, "release_products", of_one_relation(ADD_REMOVE, 6)), check_factors
    ),
    **{
        f"{what}, {part} X'X": Mutant(
            sums("_norm_parts", make), partial(check_within, part), AssertionError
        )
        for part in WITHIN
        for what, make in {
            "a unit's rows cut with their weights": lambda _: lambda rows, parts: parts,
            "single rows cut by more than their weights": squared_weights,
        }.items()
    },
    "rows of X'X not shortened": Mutant(sums("capped", lambda _: long_rows), ADDED),
    "entries of X'X shortened, not rows": Mutant(sums("capped", lambda _: only_entries), ADDED),
    "indicators left out of the length of a row": Mutant(sums("capped", lost_codes), check_factors),
    "the diagonal at the weight of what is off it": Mutant(heavier("diagonal", 99), ADDED),
    "twice for the root of 2 off the diagonal": Mutant(heavier("off", 140), check_factors),
    "products of two factors without noise": Mutant(
        patched(newton_queries, "release_products", fewer_free), check_factors
    ),
    "a row whitened with its neighbour's numbers": Mutant(
        patched(whitening, "whitened", neighbour_too), check_factors
    ),
    **{
        f"half the sensitivity of {step} of a group, {relation}": Mutant(
            smaller(group_response, step=step), check
        )
        for step in ("center of y", "distances of y")
        for relation, check in GROUPED.items()
    },
    "a row counted twice by its distance": Mutant(
        patched(group_response, "_counts", counted_twice), GROUPED[ADD_REMOVE]
    ),
    "responses of a group not clipped": Mutant(
        patched(group_response, "_sum", far_centers), GROUPED[ADD_REMOVE]
    ),
    "the scale of a group before noise": Mutant(
        response("located", exact_scale), GROUPED[ADD_REMOVE]
    ),
    "the response of a group not charged": Mutant(
        response("_LOCATED", lambda _: 1.5), GROUPED[ADD_REMOVE], ValueError
    ),
    "what all groups share not charged": Mutant(
        patched(Request, "fit_cost", lambda _: property(lambda self: self.cost)),
        check_groups_spend,
        AssertionError,
    ),
    "twice the budget of a round": Mutant(shares(rounds=(0.4, 0.4, 0.4)), ADDED, BudgetError),
    "twice the budget of a round, no limit": Mutant(
        without_limit(shares(rounds=(0.4, 0.4, 0.4))), ADDED
    ),
    "all of mu for each step": Mutant(full_share(GDP), ADDED, BudgetError),
    "all of mu for each step, no limit": Mutant(without_limit(full_share(GDP)), ADDED),
    "marginals: half the sensitivity": Mutant(smaller(estimate), check_marginals),
    "marginals: add/remove for replace-one": Mutant(
        patched(marginals, "histograms", one_bin_moves), check_marginals
    ),
    "marginals: half the spread of quantiles": Mutant(smaller_spread, check_marginals),
    "marginals: distances from the median itself": Mutant(
        patched(middles, "_choose", exact_quantiles), check_marginals
    ),
    "marginals: distances from the closer median itself": Mutant(
        patched(middles, "_choose", partial(exact_quantiles, exact="closer median")),
        check_marginals,
    ),
    "marginals: shapes from counts before noise": Mutant(
        counts_before_noise(marginals), check_marginals
    ),
    "marginals: a column's fractions unsplit": Mutant(
        patched(marginals, "histograms", all_of_each_column), check_marginals, BudgetError
    ),
    "marginals: a column's fractions unsplit, no limit": Mutant(
        without_limit(patched(marginals, "histograms", all_of_each_column)), check_marginals
    ),
    "marginals: more than the rest for quantiles, no limit": Mutant(
        without_limit(patched(middles, "_choose", larger_costs)), check_marginals
    ),
    "marginals: a closer median from the part of the spread, no limit": Mutant(
        without_limit(patched(middles, "_choose", larger_second)), check_marginals
    ),
}
STEPS = {
    "number of rows": newton_queries,
    "mean and mean square": squared_loss,
    "leverages": newton_queries,
    "score norms": newton_queries,
    "scores at zero": newton_queries,
    "scores": newton_queries,
    "X'X": indicator_basis,
    "whitened": indicator_basis,
}
MUTANTS |= {
    f"half the sensitivity of {step}, {relation}": Mutant(smaller(module, step=step), check)
    for step, module in STEPS.items()
    for relation, check in RELATIONS.items()
    if (step, relation) != ("number of rows", REPLACE_ONE)
}


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
