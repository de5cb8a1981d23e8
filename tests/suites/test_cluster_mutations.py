"""Clusters of logits, counts and instruments broken on purpose: each defect must be caught.

In the manner of test_mutations.py; the checks are replays of random and of the worst rows.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.newton.generalized.logistic_sums import LogisticRows
from dpstats.estimators.newton.instruments.joint_scores import JointScores
from dpstats.estimators.newton.row_sums import indicator_basis
from dpstats.estimators.newton.steps import clusters
from dpstats.estimators.newton.steps.clusters import ClusterQueries
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.breaks import smaller, without_limit
from tests.checks.joint_clusters import MODELS, check_random, check_worst
from tests.checks.mutants import Mutant, both_tests, patched

STEPS = {
    "norm of cluster sizes": clusters,
    "cluster lengths": clusters,
    "cluster products": indicator_basis,
}


def in_halves(original):
    """Sums of joint scores are clipped for each response by itself."""

    def clipped(sums, length):
        p = sums.shape[1] // 2
        none, scale = np.zeros_like(sums[:, :p]), length * 2.0**20
        halves = [np.hstack([sums[:, :p], none]), np.hstack([none, sums[:, p:]])]
        cut = sum(
            half
            * np.minimum(1, scale / np.maximum(np.linalg.norm(half.astype(float), axis=1), 1))[
                :, None
            ]
            for half in halves
        )
        v = np.trunc(cut.astype(float) / length).astype(np.int64).astype(object)
        return v.T @ v

    return clipped


def each_by_itself(original):
    """The scores of a unit's rows of y and of d are clipped by themselves."""

    def clipped(self, limit, rows):
        of_y, _ = self.y.of_units(limit * self.units[0], rows)
        of_d, _ = self.d.of_units(limit * self.units[1], rows.of_outcome(1))
        one = 2.0**20
        return np.vstack(
            [np.trunc(s / np.maximum(np.linalg.norm(s, axis=0) / one, 1)) for s in (of_y, of_d)]
        )

    return clipped


def row_by_row(original):
    """Rows of a unit are clipped one by one, and count in full."""

    def score_sums(clipped, p, rows):
        return original(clipped, p, replace(rows, units=None, parts=None))

    return score_sums


def all_of_it(original):
    """The number of clusters takes all of the budget."""
    return lambda queries, counted, cost: original(queries, counted, cost.part(1 / 0.06))


def unlimited(original):
    """Scores have the length of their row."""

    def blocks(self, rows):
        for block in original(self, rows):
            yield block._replace(weights=np.ones_like(block.weights))

    return blocks


def of_one(original):
    """A replaced row moves products as an added one does."""
    return property(lambda self: 1.0)


def worst(model, neighbors=ADD_REMOVE, **kind):
    return partial(check_worst, model, neighbors, **kind)


def some(model, **kind):
    return partial(check_random, model, ADD_REMOVE, **kind)


MUTANTS = {
    **{
        f"half the sensitivity of {step}, {model}": Mutant(smaller(module, step=step), worst(model))
        for step, module in STEPS.items()
        for model in MODELS
    },
    **{
        f"a row replaced moves products as one added does, {model}": Mutant(
            patched(ClusterQueries, "_times", of_one), worst(model, REPLACE_ONE)
        )
        for model in MODELS
    },
    "sums of joint scores clipped for each response": Mutant(
        patched(clusters, "clipped_products", in_halves), worst("instruments")
    ),
    "joint scores of units clipped for each response": Mutant(
        patched(JointScores, "_clipped_units", each_by_itself), worst("instruments", by_unit=True)
    ),
    **{
        f"scores of a unit clipped row by row, {model}": Mutant(
            patched(clusters, "score_sums", row_by_row), worst(model, by_unit=True)
        )
        for model in MODELS
    },
    "scores of a logit without a limit of leverage": Mutant(
        patched(LogisticRows, "blocks", unlimited), some("logit")
    ),
    "their number takes all of the budget": Mutant(
        without_limit(patched(clusters, "_released", all_of_it)), worst("logit")
    ),
}

test_a_mutant_is_caught, test_checks_pass_unbroken = both_tests(MUTANTS)
