"""Exchange all rows of a person in whole calls, and check how far queries move."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from dpstats.call.arguments import make_request
from dpstats.engines.units import PARTS
from dpstats.estimators import GENERALIZED
from dpstats.estimators.least_squares.dense import clipped_rows, robust_covariance
from dpstats.estimators.least_squares.within import absorbed_units
from dpstats.estimators.least_squares.within import units as within_units
from dpstats.estimators.newton import absorbed_units as newton_effects
from dpstats.estimators.newton import noisy_logit, noisy_newton
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.estimators.newton.within import unit_deviations
from dpstats.numerics import Rows, Sensitivity
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import RELATIONS
from dpstats.range_estimation import estimate, quantiles
from dpstats.rows import PrivacyUnit
from dpstats.rows.privacy_unit import ONE
from dpstats.run.prepare import prepare
from dpstats.run.single import fit_single
from tests.checks.replay import check_neighbours

BOUNDS = {"x": (0, 10), "y": (-5, 5), "w": (0, 4)}


def calls(settings, ending="", **more):
    """Calls by what sets them apart, for both relations."""
    return {
        f"{method}, {neighbors}, {'bounds' if bounds else 'none'}, {max_rows}, {epsilon}, {weights}"
        + ending: {
            "method": method,
            "neighbors": neighbors,
            "bounds": {n: BOUNDS[n] for n in ("x", "y") * bounds + ("w",) * (weights is not None)},
            "max_rows": max_rows,
            "weights": weights,
            "epsilon": epsilon,
            **more,
        }
        for method, bounds, max_rows, epsilon, weights in settings
        for neighbors in RELATIONS
    }


CALLS = calls((
    ("adassp", True, 1, 2.0, None),
    ("adassp", True, 3, 300.0, "w"),
    ("adassp", False, 1, 300.0, None),
    ("ssp", True, 1, 300.0, None),
    ("shrunken", True, 1, 300.0, None),
    ("shrunken", True, 3, 2.0, "w"),
    ("shrunken", False, 1, 300.0, None),
    ("shrunken_pure", True, 1, 2.0, None),
    ("shrunken_pure", False, 3, 300.0, None),
    ("noisy_newton", True, 3, 2.0, None),
    ("noisy_newton", False, 1, 2.0, None),
    ("noisy_newton", False, 3, 2.0, "w"),
    ("noisy_newton", False, 1, 300.0, None),
))  # fmt: skip
PANELS = {
    f"{method}, {neighbors}, {'bounds' if bounds else 'none'}, {max_rows}, {epsilon} | id": {
        "formula": "y ~ x | id",
        "method": method,
        "neighbors": neighbors,
        "bounds": {n: BOUNDS[n] for n in ("x", "y") * bounds},
        "max_rows": max_rows,
        "epsilon": epsilon,
    }
    for method, bounds, max_rows, epsilon in (
        ("adassp", True, 1, 2.0),
        ("adassp", True, 3, 300.0),
        ("ssp", True, 1, 300.0),
        ("adassp", False, 1, 300.0),
        ("noisy_newton", False, 1, 2.0),
        ("noisy_newton", True, 3, 300.0),
        ("noisy_newton_pure", False, 3, 2.0),
    )
    for neighbors in RELATIONS
}
FACTORS = calls(
    (
        ("adassp", True, 1, 300.0, None),
        ("adassp", False, 3, 300.0, "w"),
        ("ssp", True, 3, 2.0, None),
        ("shrunken", True, 1, 300.0, None),
        ("shrunken_pure", False, 3, 2.0, "w"),
        ("noisy_newton", True, 1, 300.0, None),
    ),
    ", factor",
    formula="y ~ x + C(g)",
    levels={"g": [0, 1, 2]},
)
OUTCOME = "I((y > -1.5) * 1)"
LOGITS = calls(
    (("noisy_logit", False, 1, 2.0, None), ("noisy_logit", False, 3, 300.0, "w")),
    formula=f"{OUTCOME} ~ x",
    methods=GENERALIZED,
)
for one in LOGITS.values():
    one["bounds"][OUTCOME] = 0, 1
COUNT = "np.abs(y)"  # rows with a negative count are not in use
COUNTS = calls(
    (("noisy_poisson", False, 1, 2.0, None), ("noisy_poisson", False, 3, 300.0, "w")),
    formula=f"{COUNT} ~ x",
    methods=GENERALIZED,
)
for one in COUNTS.values():
    one["bounds"][COUNT] = 0, 1e9
CALLS |= PANELS | FACTORS | LOGITS | COUNTS


def person(rng, name, rows):
    """Rows of one person, some of them far out of every range, missing or infinite."""
    kind = rng.integers(4)
    values = rng.uniform(-1, 1, (rows, 2)) * (10.0 ** rng.integers(-3, 9) if kind == 3 else 1)
    frame = pd.DataFrame(values, columns=["x", "y"]) * [5, 4] + [5, 0]
    if kind == 2:  # the same extreme row again and again
        frame[:] = [[1e6, -1e6], [0, 5], [10, 5], [np.inf, 0]][rng.integers(4)]
    frame.loc[rng.random(rows) < 0.1, "y"] = np.nan
    frame["w"] = rng.uniform(0, 5, rows)
    return frame.assign(id=name, g=rng.integers(0, 3, rows))


def table(people):
    return pd.concat(people, ignore_index=True) if people else person(None, 0, 0)


def pairs(seed, neighbors, most=30, same_groups=False):
    """Two tables that differ in all rows of one person; the second has its rows in another order.

    Under replace-one a person has rows in use in both, and with groups in the same ones.
    """
    rng = np.random.default_rng(seed)
    people = [person(rng, k, int(rng.integers(1, most))) for k in range(int(rng.integers(2, 40)))]
    for one in people:
        one.loc[one.index[0], ["y", "w"]] = 1.0
    others = people[1:]
    if neighbors == "replace_one":
        new = person(rng, 0, len(people[0]) if same_groups else int(rng.integers(1, most)))
        new.loc[0, ["x", "y", "w"]] = [1.0, 1.0, 1.0]
        if same_groups:
            used = people[0]["y"].notna()
            new = new.assign(g=people[0]["g"], y=new["y"].fillna(0.0).where(used))
        others = [new, *others]
    return table(people), table(others).sample(frac=1, random_state=seed)


def fit(request, noise):
    return fit_single(prepare(request, noise), noise).release


def requests(frames, epsilon=2.0, formula="y ~ x", **call):
    call = {"levels": None, "x_new": None, "row_norm": None, "options": {}, **call}
    return [
        make_request(formula, frame, epsilon=epsilon, delta=None, missing="drop", unit="id", **call)
        for frame in frames
    ]


def check(call, seeds=range(6)):
    """Replay pairs; return the largest distance over sensitivity by step."""
    reached: dict[str, float] = {}
    for seed in seeds:
        one, other = requests(pairs(seed, call["neighbors"]), **call)
        found = check_neighbours(partial(fit, one), partial(fit, other), one.cost, seed)
        reached = {step: max(found[step], reached.get(step, 0.0)) for step in found} | {
            step: ratio for step, ratio in reached.items() if step not in found
        }
    return reached


def whole_parts(unit, units):
    """Each row counts for all of max_rows rows."""
    return np.full(len(units), ONE // unit.max_rows)


def clip_before_summing(scores, limit, rows):
    """Rows' scores are clipped, and added up after."""
    alone = replace(rows, parts=np.ones(len(rows)), units=np.arange(len(rows)))
    s, norms = scores.of_units(limit, alone)
    s = np.trunc(s * (1 - 2.0**-30) / np.maximum(norms, 1.0))
    return np.add.reduceat(s, rows.unit_starts, axis=1) if len(rows) else s


def count_rows(bins, batch):
    """A histogram counts each row as one."""
    return ONE * COUNTS(bins, {name: column for name, column in batch.items() if name != PARTS})


COUNTS = estimate.bin_counts


def in_full(squares):
    """Rows count as one each in a sum of squared scores."""

    def found(*rule_and_rows):
        *rule, rows = rule_and_rows
        return squares(*rule, replace(rows, parts=np.ones(len(rows))))

    return found


def rows_in_number(rows):
    return np.full(2, len(rows) << ENTRY_BITS, dtype=object)


def other_center(deviations, rows):
    """All rows of a batch have one centre, their mean, and not the mean of their unit."""
    z = deviations.box.integers(rows.numbers, rows.response)
    center = np.rint(z.mean(axis=0)) if len(z) else 0.0
    return (z - center).T, SCALED(deviations, rows)[1]


def rows_as_scores(blocks, theta, cut):
    """Rows count in full in the scores of their unit."""
    blocks = list(blocks)
    whole = (block._replace(parts=np.ones_like(block.parts)) for block in blocks)
    scores, _ = WEIGHTED(whole, theta, cut)
    return scores, WEIGHTED(blocks, theta, cut)[1]


def less_all_means(rows):
    """Rows of a batch have the mean of all of them taken off, and not that of their unit."""
    mean = rows.numbers.mean(axis=0), rows.response.mean()
    found = replace(rows, numbers=rows.numbers - mean[0], response=rows.response - mean[1])
    sizes = np.bincount(rows.unit_order, minlength=1)
    return replace(found, codes=np.empty((len(rows), 0)))[sizes[rows.unit_order] > 1]


def numbers_of_rows(rows):
    """Rows are counted in place of units."""
    return np.array([len(rows) << ENTRY_BITS] * 3, dtype=object)


def squares_of_rows(cut, rows):
    """Squares of the response count in full."""
    return MEAN_SQUARES(cut, replace(rows, parts=np.ones(len(rows))))


def sizes_of_rows(values, edges, rows):
    """Rows count in full in a histogram of deviations."""
    return SIZES(values, edges, replace(rows, parts=np.ones(len(rows))))


MEAN_SQUARES, SIZES = unit_deviations._squares, unit_deviations._by_size


def quartered(deviations, neighbors):
    """A quarter of the sensitivity."""
    return Sensitivity(tuple(bound / 4 for bound in SENSITIVITY(deviations, neighbors).l2))


SENSITIVITY = within_units.UnitDeviations.sensitivity


def degrees_of_rows(cls, rows, problem):
    """The degrees of freedom count rows in full."""
    return replace(UNIT_SUMS(rows, problem), extra=len(rows) << ENTRY_BITS)


SCALED, UNIT_SUMS = within_units.UnitDeviations.scaled, within_units.UnitSums.of
NUMBER_OF_ROWS = property(len)
WEIGHTED = robust_covariance.weighted_scores
PANEL = PANELS["adassp, add_remove, bounds, 3, 300.0 | id"]
ROUNDS = PANELS["noisy_newton, add_remove, none, 1, 2.0 | id"]
NEWTON, SUMS, LOGIT, POISSON = (
    CALLS[f"{name}, add_remove, none, 1, {epsilon}, None"]
    for name, epsilon in (
        ("noisy_newton", 2.0),
        ("adassp", 300.0),
        ("noisy_logit", 2.0),
        ("noisy_poisson", 2.0),
    )
)
SHRUNKEN, PURE = (
    CALLS[f"{name}, add_remove, none, {rows}, 300.0, None"]
    for name, rows in (("shrunken", 1), ("shrunken_pure", 3))
)
REPLACED = {
    "rows count in full and are shrunken": (PrivacyUnit, "parts", whole_parts, SHRUNKEN),
    "rows count in full, epsilon alone": (PrivacyUnit, "parts", whole_parts, PURE),
    "the number is that of rows, shrunken": (Rows, "count", NUMBER_OF_ROWS, SHRUNKEN),
    "rows count in full": (PrivacyUnit, "parts", whole_parts, SUMS),
    "rows count in full in rounds": (PrivacyUnit, "parts", whole_parts, NEWTON),
    "rows count in full in a logit": (PrivacyUnit, "parts", whole_parts, LOGIT),
    "rows count in full among counts": (PrivacyUnit, "parts", whole_parts, POISSON),
    "scores of counts are clipped before they are summed": (
        Scores, "clipped_units", clip_before_summing, POISSON,
    ),
    "the sum of parts is that of rows in a logit": (
        noisy_logit, "number_of_rows", rows_in_number, LOGIT,
    ),
    "a histogram counts rows": (estimate, "bin_counts", count_rows, SUMS),
    "a histogram counts rows in rounds": (estimate, "bin_counts", count_rows, NEWTON),
    "a quantile counts rows": (quantiles, "counts", count_rows, NEWTON),
    "scores are clipped before they are summed": (
        Scores, "clipped_units", clip_before_summing, NEWTON,
    ),
    "rows of the second pass count in full": (
        robust_covariance, "_weighted_squares", in_full(robust_covariance._weighted_squares), SUMS,
    ),
    "the number is that of rows": (Rows, "count", NUMBER_OF_ROWS, SUMS),
    "the sum of parts is that of rows": (
        noisy_newton, "number_of_rows", rows_in_number, NEWTON,
    ),
    "clipped rows are counted": (
        clipped_rows, "whole_weights", lambda parts: np.full(len(parts), ONE), SUMS,
    ),
    "rows count in full around a mean": (PrivacyUnit, "parts", whole_parts, PANEL),
    "rows have the mean of all rows": (
        within_units.UnitDeviations, "scaled", other_center, PANEL,
    ),
    "the degrees of freedom are those of rows": (
        within_units.UnitSums, "of", classmethod(degrees_of_rows), PANEL,
    ),
    "rows count in full around a mean in rounds": (PrivacyUnit, "parts", whole_parts, ROUNDS),
    "rows have the mean of all rows in rounds": (
        newton_effects, "deviations", less_all_means, ROUNDS,
    ),
    "rows are counted in place of units": (unit_deviations, "_numbers", numbers_of_rows, ROUNDS),
    "squares around a mean count in full": (unit_deviations, "_squares", squares_of_rows, ROUNDS),
    "deviations count in full": (unit_deviations, "_by_size", sizes_of_rows, ROUNDS),
    "a quarter of the sensitivity is stated": (
        within_units.UnitDeviations, "sensitivity", quartered, PANEL,
    ),
}  # fmt: skip


def replacing(target, name, value):
    """Replace an attribute, or an entry of a mapping."""

    def mutate(monkeypatch):
        put = monkeypatch.setitem if isinstance(target, dict) else monkeypatch.setattr
        put(target, name, value)

    return mutate


def unclipped_persons(monkeypatch):
    """Rows that count in full do no harm to what is clipped as a sum, and else they do."""
    monkeypatch.setattr(absorbed_units, "weighted_scores", rows_as_scores)
    monkeypatch.setattr(absorbed_units, "clipped_scores", lambda scores, norm: scores)
