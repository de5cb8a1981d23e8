"""Pairs of rows of one group broken on purpose: each defect must be caught by a real check."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.newton import absorbed, absorbed_instruments
from dpstats.estimators.newton.row_sums.pair_rows import PairRows
from dpstats.estimators.newton.within import (
    clusters_of_pairs,
    group_parts,
    group_sizes,
    largest_group,
    pair_numbers,
    pair_queries,
    pair_scales,
)
from dpstats.estimators.newton.within.clusters_of_pairs import GroupScores
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.numerics import PairGroups, group_sort, pairs
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.breaks import smaller, without_limit
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.pairs_within import (
    check_far_clusters,
    check_labels,
    check_labels_of_neighbours,
    check_order,
    check_random,
    check_tiny,
    check_worst,
    check_worst_clusters,
    check_worst_laplace,
    check_worst_lengths,
    check_worst_weights,
    instrument_case,
)

added, exchanged = partial(check_worst, ADD_REMOVE), partial(check_worst, REPLACE_ONE)
clusters, far_clusters = partial(check_worst_clusters, ADD_REMOVE), check_far_clusters
weights, laplace = (
    partial(check_worst_weights, ADD_REMOVE),
    partial(check_worst_laplace, ADD_REMOVE),
)
random_rows = partial(check_random, ADD_REMOVE, None, epsilon=1e4)
joint = partial(check_worst_clusters, ADD_REMOVE, units=(2.0, 0.5))
instruments = partial(check_random, ADD_REMOVE, None, case_of=instrument_case, epsilon=1e4)


def stated(name, value):
    """A sensitivity is this, whatever the relation."""
    return patched(PairQueries, name, lambda _: property(lambda self: value))


def all_twice(original):
    """Rows are listed twice in their groups."""

    def by_group(*given):
        order, edges = original(*given)
        return np.repeat(order, 2), edges

    return by_group


def undivided(original):
    """Pairs of a group of n rows have the weight 1 and not 1 / n."""

    def scores(*given):
        *_, (starts, *_), _ = given
        return original(*given) * np.diff(starts)[:, None]

    return scores


def twice_as_long(original):
    """Scores are clipped to twice the length that is stated."""
    return lambda columns, left, limit, *rest: 2 * original(columns, left, 2 * limit, *rest)


def by_root(original):
    """Pairs of a group of n rows have the weight 1 / sqrt n."""

    def counts(columns, left, limits, groups, one):
        total, (starts, totals, *rest) = 0, groups
        for g, n in enumerate(np.diff(starts)):
            own = (starts[g:], totals[g : g + 1], *rest)
            counted = original(columns, left, limits, own, one)
            total = total + (counted * math.sqrt(n)).astype(np.int64)
        return total

    return counts


def uncut(original):
    """Scores of groups are not cut to their length before they are multiplied."""

    def products(scores, length, rows):
        sums = scores.sums(rows) * (scores.limit / length)
        return np.trunc(sums.T @ sums).astype(np.int64).astype(object)

    return products


def labels_by_size(original):
    """The number of labels follows that of the rows, which is private."""

    def in_parts(labels, key, rows):
        return original(4 ** (1 + len(rows) % 2), key, rows)

    return in_parts


def places(original):
    """Rows are numbered where they stand, and not among their equals."""
    return lambda columns, hashes: np.arange(len(hashes), dtype=np.uint64)


def exact_weight(original):
    """The mean square is over the number of rows, and not the released one."""
    return lambda queries, weight, cost: original(queries, 1 + queries.total(len) / 2, cost)


def by_first(original):
    """Rows are in units of the first one of their group."""

    def along(rows, to):
        found = original(rows, to)
        starts = rows.groups[0]
        return found * np.repeat(1 + np.abs(found[:, starts[:-1]]), np.diff(starts), axis=1)

    return along


def sized_by_rows(original):
    """Sizes of differences are larger the more rows there are."""

    def release(queries, *rest):
        found = original(queries, *rest)
        return replace(found, points=found.points * (1 + queries.total(len) / 100))

    return release


def twice(original):
    """Pairs are counted twice."""
    return lambda *given: 2 * original(*given)


def twice_as_heavy(original):
    """Rows count for up to twice what a row may."""

    def groups(rows):
        starts, totals, parts, unit = original.func(rows)
        return starts, totals, 2 * parts, unit

    return property(groups)


def over_the_root(original):
    """Pairs are divided by the root of what their group counts for."""

    def groups(rows):
        starts, totals, *rest = original.func(rows)
        return (starts, np.maximum(np.sqrt(totals).astype(np.int64), 1), *rest)

    return property(groups)


def undivided_totals(original):
    """What groups count for is forgotten."""

    def of(*given):
        found = original(*given)
        return found._replace(totals=np.full_like(found.totals, found.unit))

    return staticmethod(of)


def exact_mean_weight(original):
    """The mean weight is not the released one."""

    def numbers(queries, sizes, cost):
        weight, number = original(queries, sizes, cost)
        return weight, replace(number, total=sizes.total / sizes.unit + 1 / max(sizes.rows, 1))

    return numbers


def longest(original):
    """A pair of two responses is taken to be as long as the longer one of its scores."""
    return property(lambda self: max(one.limit / one.unit for one in self.each))


def of_the_rows(original):
    """The unit of y's scores is of the rows."""

    def release(steps, scores, *rest):
        of_y, of_d = scores.each
        changed = replace(of_y, unit=of_y.unit * (1 + steps.queries.total(len) % 2))
        return original(steps, GroupScores((changed, of_d)), *rest)

    return release


def all_pairs(original):
    """A group of n rows counts for its n (n - 1) / 2 pairs."""

    def of_parts(rows):
        own = original(rows)
        return own * ((own >> 20) + 1) // 2

    return of_parts


ROOT = math.sqrt(1.25)
MUTANTS = {
    "pairs are not divided by the rows of their group": Mutant(
        patched(pairs, "scores", undivided), added
    ),
    "rows are listed twice in their groups": Mutant(
        patched(group_sort, "by_group", all_twice), random_rows
    ),
    "pairs are divided by the root of the rows": Mutant(patched(pairs, "counts", by_root), added),
    "the share of the old pairs is forgotten": Mutant(
        stated("score_sensitivity", math.hypot(1, 0.3)), added
    ),
    "the share of the old pairs is forgotten in products": Mutant(
        stated("positive_sensitivity", 1.0), added
    ),
    "products count as one under replace-one": Mutant(
        stated("positive_sensitivity", ROOT), exchanged
    ),
    "scores count as one under replace-one": Mutant(
        stated("score_sensitivity", math.hypot(1.5, 0.3)), exchanged
    ),
    "replacing within a group is all that is thought of": Mutant(
        stated("score_sensitivity", math.hypot(2.0, 0.3)), exchanged
    ),
    "Laplace noise is for a sensitivity in L2": Mutant(
        patched(PairQueries, "score_l1", lambda _: lambda queries, p: queries.score_sensitivity),
        laplace,
    ),
    "the share of the old pairs is forgotten in L1": Mutant(
        patched(PairQueries, "score_l1", lambda _: lambda queries, p: math.sqrt(p) + 0.3), laplace
    ),
    "scores are twice as long": Mutant(patched(pairs, "scores", twice_as_long), added),
    "half the sensitivity is stated": Mutant(smaller(pair_queries), added),
    "a group's score may move by one pair's": Mutant(
        patched(clusters_of_pairs, "moved", lambda f: lambda step, length: f(step / 1.5, length)),
        partial(check_worst_clusters, ADD_REMOVE, by=lambda *at: clusters_of_pairs.moved(*at)),
    ),
    "groups' scores are not cut": Mutant(
        patched(clusters_of_pairs, "_products", uncut), far_clusters
    ),
    "of two responses the longer score is the limit of both": Mutant(
        patched(GroupScores, "limit", longest), joint
    ),
    "two responses, lengths of groups": Mutant(
        smaller(clusters_of_pairs, 0.8), partial(check_worst_lengths, ADD_REMOVE)
    ),
    "the largest group and the sum of roots count as one number": Mutant(
        smaller(largest_group, math.sqrt(0.5)), added
    ),
    "all pairs of the largest group count as one": Mutant(
        patched(largest_group, "_of_parts", all_pairs), partial(check_tiny, ADD_REMOVE)
    ),
    "the unit of joint scores is of the rows": Mutant(
        patched(absorbed_instruments, "release_clusters", of_the_rows), instruments
    ),
    "rounds of each response take all of the budget": Mutant(
        without_limit(patched(absorbed_instruments, "_HALF", lambda _: 1.0)), instruments
    ),
    "labels follow the number of rows": Mutant(
        patched(pair_numbers, "in_parts", labels_by_size), check_labels
    ),
    "labels follow the places of rows": Mutant(
        patched(group_parts, "_counted", places), check_labels
    ),
    "equal rows are told apart by their places": Mutant(
        patched(group_parts, "_counted", places), check_labels_of_neighbours, AssertionError
    ),
    "a number of rows is not the released one": Mutant(
        patched(absorbed, "with_mean_square", exact_weight), random_rows
    ),
    "rows count for twice as much": Mutant(patched(PairRows, "groups", twice_as_heavy), weights),
    "pairs of weights are divided by the root of their sum": Mutant(
        patched(PairRows, "groups", over_the_root), weights
    ),
    "pairs are not divided by what their group counts for": Mutant(
        patched(PairGroups, "of", undivided_totals), weights
    ),
    "groups count for twice as much": Mutant(patched(group_sizes, "whole_weights", twice), weights),
    "the number of rows is forgotten beside weights": Mutant(
        smaller(pair_queries, math.sqrt(2 / 3), "degrees"), weights
    ),
    "a mean weight is not the released one": Mutant(
        patched(PairQueries, "numbers", exact_mean_weight),
        partial(check_random, ADD_REMOVE, "cluster", epsilon=1e4, weighted=True),
    ),
    "pairs are counted twice by their differences": Mutant(
        patched(pair_queries, "differences", twice), added
    ),
    "scales follow the number of rows": Mutant(
        patched(pair_scales, "release_sizes", sized_by_rows), random_rows
    ),
    "the first row of a group scales the others": Mutant(
        patched(PairRows, "along", by_first), check_order, error=AssertionError
    ),
}


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
