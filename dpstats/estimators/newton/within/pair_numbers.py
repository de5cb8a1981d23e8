"""Count rows and pairs of groups by releases, and divide large groups, before sums over pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import (
    Method,
    Passes,
    Problem,
    Ranges,
    Release,
    in_whole_keys,
    mapped,
)
from dpstats.estimators.newton.row_sums.pair_rows import as_pairs
from dpstats.estimators.newton.steps import Clusters, Counted
from dpstats.estimators.newton.steps.rounds import RESPONSE_WEIGHT
from dpstats.estimators.newton.steps.sizes import ROWS_PER_NOISE
from dpstats.estimators.newton.within.group_parts import (
    in_parts,
    labels_for_pairs,
    labels_for_variances,
)
from dpstats.estimators.newton.within.group_sizes import GroupSizes
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.inference import ENOUGH_CLUSTERS
from dpstats.noise import Noise, noise_deviation
from dpstats.numerics import Rows
from dpstats.privacy import Cost

_ABSORBED = (
    "the labels of the absorbed column stay private; a row whose label is missing is left out"
)
FEW = (
    "the rows of groups with others are too few at this epsilon for the scales of the columns to "
    "be known, so intervals are unbounded; raise epsilon"
)
_NOTE = "the effects of the absorbed column are not released"
_CLUSTERED = "standard errors are clustered by it"
_ROBUST = _CLUSTERED + ", which holds for errors of different variances too"
_IN_PARTS = (
    "standard errors hold for errors of different variances that are independent: they are "
    "clustered by parts of groups, of which each row drew one of {:,} by chance"
)


class Shares(NamedTuple):
    """Hold the fractions of a cost that releases beside the steps take.

    They are of the distributions of differences, the numbers of rows and pairs, the norm of the
    groups' sizes, the mean square of each response and the scores of groups.
    """

    sizes: float
    numbers: float
    norm: float
    response: float
    clusters: float

    def spent(self, weighted: bool, responses: int, clustered: bool) -> float:
        """Return what all of them add up to; with weights there are two norms."""
        spent = self.sizes + self.numbers + self.norm * (1 + weighted) + self.response * responses
        return spent + self.clusters * clustered


class Paired(NamedTuple):
    """Hold passes over rows by the groups whose pairs are taken, and their numbers as released.

    ``weight`` is that of all pairs, ``number`` that of rows, and ``clusters`` the effective number
    of groups. Each is divided by ``labels``; where these make ``parts``, parts are the clusters.
    """

    passes: Passes
    weight: Counted
    number: Counted
    clusters: Clusters
    labels: int
    parts: bool

    def note(self, asked: str | None, clustered: bool) -> str:
        """Say what standard errors hold for, and why where that was not ``asked`` for."""
        return f"{_NOTE}; {self._errors(asked, clustered)}"

    def _errors(self, asked: str | None, clustered: bool) -> str:
        if self.parts:
            return _IN_PARTS.format(self.labels)
        if asked == "HC1":
            return _ROBUST
        if clustered:
            return _CLUSTERED
        as_good_as = f"the rows lie in groups as good as {self.clusters.number:.0f} of one size"
        few = f", as {as_good_as}" if asked is None else ""
        return f"standard errors take errors as independent and of one variance{few}"


def by_groups(passes: Passes) -> Passes:
    """Return passes over rows of whole groups, whose numbers are their keys.

    Rows have no codes, and the keys of their labels as ``clusters``.
    """
    return mapped(in_whole_keys(passes), _numbered)


def _numbered(rows: Rows) -> Rows:
    assert rows.keys is not None, "rows come with keys"
    keys = np.unique(rows.keys, return_inverse=True)[1]
    return replace(rows, codes=np.empty((len(rows), 0)), keys=keys, clusters=rows.keys)


def paired(
    groups: Passes, problem: Problem, cost: Cost, noise: Noise, shares: Shares, in_parts_if: str
) -> Paired:
    r"""Release the numbers of rows and pairs and how even groups are, and divide groups by labels.

    Groups are divided into parts that are clusters of robust errors
    (:func:`~dpstats.estimators.newton.within.group_parts.labels_for_variances`) "always", "if few"
    or "never".

    Guarantee. The cost of ``numbers`` and of norms in ``shares``, by
    :class:`~dpstats.estimators.newton.within.pair_queries.PairQueries`. Where pairs are many, each
    row draws a label, among a number that follows from what was released, by a key that is drawn
    independent of the data (:func:`~dpstats.estimators.newton.within.group_parts.labels_of`). For
    any key neighbours have the same labels of the rows that they share: of equal rows one more, or
    one less, is the last of them. So each release from the parts is as private as for other groups,
    and averaging over keys keeps that. It does not matter where rows are either: a group is all
    rows of a label, which are in one piece, and what it adds is exact.
    """
    queries, sizes = PairQueries.over(groups, problem, noise), groups.sum(GroupSizes.of)
    weight, number = queries.numbers(sizes, cost.part(shares.numbers))
    norms = cost.part(shares.norm * (1 + sizes.weighted))
    norm, noise_of_norm, norm_of_rows = queries.norms_of_sizes(sizes, norms)
    # sums of scores are cut by their mean length, which too many clusters would make too short
    clusters = Clusters.of(number, norm + noise_of_norm * sizes.weighted, noise_of_norm)
    of_pairs = norm_of_rows, number.number / 2 if sizes.weighted else weight.total
    labels, parts = labels_for_pairs(*of_pairs), 1
    if in_parts_if == "always" or in_parts_if == "if few" and clusters.number < ENOUGH_CLUSTERS:
        parts = labels_for_variances(clusters, *of_pairs)
        labels = max(labels, parts)
    key = noise.key() if labels > 1 else 0
    divided = mapped(groups, partial(in_parts, labels, key))
    if parts > 1:
        divided = mapped(divided, _parts_as_units)
        clusters = clusters.divided(labels, number.total)
    return Paired(as_pairs(divided), weight, number, clusters, labels, parts > 1)


def _parts_as_units(rows: Rows) -> Rows:
    return replace(rows, units=rows.keys)


def absorbing(
    plain: Method,
    release: Callable[..., Release],
    cov_types: Sequence[str],
    check: Callable[[Problem, Mapping[str, Any]], None],
    standard_errors: str,
) -> Method:
    """Describe what a method does with a column whose effects are absorbed by pairs of rows.

    ``cov_type`` is one of ``cov_types``, or None, by which the groups decide.
    """
    word = option_checks.word("cov_type", *cov_types)
    return replace(
        plain,
        standard_errors=standard_errors,
        release=release,
        fixed_size_summary=False,
        options={"cov_type": (None, lambda value: value if value is None else word(value))},
        check=check,
        assumptions=(_ABSORBED,),
        ranges=Ranges(share=0.0, needed=False),
        takes=frozenset({"absorbed clusters", "weights"}),
    )


def fewest(queries: PairQueries, columns: int, responses: int, cost: Cost) -> float:
    """Return the fewest pairs, by their weight, with which intervals are shown.

    ``cost`` is that of the distributions of so many columns and responses.
    As for rows (:mod:`~dpstats.estimators.newton.noisy_newton`), of which one moves as many times
    less. With a sensitivity of counts alone slopes of 1,729 rows were covered in .59 of fits.
    """
    part = cost.part(1 / (columns + RESPONSE_WEIGHT * responses))
    far = queries.score_sensitivity
    return ROWS_PER_NOISE[columns > 1] * noise_deviation(part, far, far)
