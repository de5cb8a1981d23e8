"""Say what a reader of a release should know: of ranges, clusters, weights, levels and noise."""

import numpy as np

from dpstats.estimators import METHODS
from dpstats.evidence import LinkEvidence, NewtonEvidence
from dpstats.formula.conditioning import collinear_columns
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.inference import ENOUGH_CLUSTERS
from dpstats.results.show.bounds_reached import note_on_the_ends
from dpstats.results.show.estimated_ranges import note_on_ranges
from dpstats.schema import Numeric

# a mean weight of more than this part of the largest one is said
_AT_THE_BOUND = 0.9


def release_notes(result, with_sets: bool = True) -> list[str]:
    """Write what there is to say of ranges, of columns whose noise is large, and of polynomials.

    ``with_sets`` adds confidence sets.
    """
    return [
        *note_on_ranges(result), *_scores_cut(result), *_of_clusters(result),
        *_weights_at_the_bound(result), *note_on_the_ends(result), *_collinear(result),
        *_hidden_levels(result), *_legendre(result), *getattr(result, "strength_notes", ()),
        *(getattr(result, "set_notes", ()) if with_sets else ()),
    ]  # fmt: skip


def _legendre(result) -> list[str]:
    """Say on which ranges poly() is orthogonal, whose columns elsewhere depend on the rows."""
    if "poly(" not in str(result.formula):
        return []
    ranges = result.design().polynomial_ranges(raw=False)
    if not ranges:
        return []
    listed = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, (low, high) in ranges.items())
    return [
        f"poly() is made of Legendre polynomials on a public range, {listed}, and lm's on the "
        "rows: the fitted values agree, the coefficients do not; raw_powers() gives those of powers"
    ]


def _collinear(result) -> list[str]:
    """Name columns that are nearly collinear on their box, where noise on sums is on columns."""
    method = METHODS.get(result.method)
    if method is None or not (method.fixed_size_summary and method.ranges.needed):
        return []
    if method.ranges.marginals or np.isnan(result.release.params).any():
        return []
    design = result.design()
    names = collinear_columns(design, orthogonal_basis(design) if "basis" in method.takes else None)
    if not names:
        return []
    return [
        f"on their ranges {', '.join(names)} are nearly collinear, so the noise counts for many "
        "times as much; poly(x, k) spans the powers of a column without that"
    ]


def _scores_cut(result) -> list[str]:
    """Write which part of the rows weighs less."""
    if not isinstance(result.evidence, NewtonEvidence):
        return []
    part = float(result.evidence.down_weighted)
    return [f"{part:.1%} of the rows had scores that were cut, and so count less"]


def _of_clusters(result) -> list[str]:
    """Say what the effective number of clusters means for standard errors."""
    if not is_clustered(result):
        return []
    number, shown = result.fit_statistics.loc["clusters", "estimate"], effective_clusters(result)
    if not np.isfinite(result.bse).any():  # as they are too few
        return [f"the effective number of clusters, of one size, is {shown}"]
    said = (
        f"standard errors are those of {shown} clusters of one size, the effective number; "
        f"intervals take Student's t with {max(number - 1, 1):.1f} degrees of freedom"
    )
    if number >= ENOUGH_CLUSTERS:
        return [said]
    return [f"{said}; with fewer than {ENOUGH_CLUSTERS} they may be too short"]


def _weights_at_the_bound(result) -> list[str]:
    """Say where nearly all rows count as the largest weight, as if there were no weights."""
    known = result.evidence
    if not isinstance(known, NewtonEvidence) or known.mean_weight is None:
        return []
    mean, noise = float(known.mean_weight), float(known.weighted_rows_error / known.weighted_rows)
    if mean - 2 * noise < _AT_THE_BOUND:
        return []
    return [
        f"weights are {mean:.0%} of the largest one on average, so rows count nearly alike: see "
        "that their bounds are in the units of the column"
    ]


def _hidden_levels(result) -> list[str]:
    """Name the levels whose effects have intervals wider than the range of the response.

    A level that is in no row, such as one that is misspelt, is one of them; whether it is in any is
    private, and only what is released is looked at here.
    """
    response = result.schema.get(result.parsed_formula.bare_response)
    if not isinstance(response, Numeric) or isinstance(result.evidence, LinkEvidence):
        return []
    ends = np.asarray(result.conf_int())
    wide = ends[:, 1] - ends[:, 0] > response.high - response.low
    levels = [result.names[j] for j in result.design().columns_of_levels() if wide[j]]
    if not levels:
        return []
    return [
        f"the noise hides the effects of {', '.join(levels)}, whose intervals are wider than the "
        "range of the response; a level that is in no row, which lm would leave out, looks the same"
    ]


def is_clustered(result) -> bool:
    """Tell whether standard errors allow for clusters that are not the privacy unit."""
    return "clusters" in result.fit_statistics.index


def effective_clusters(result) -> str:
    """Write the effective number of clusters, with the standard error of the noise in it."""
    number, error = result.fit_statistics.loc["clusters"]
    return f"{number:.1f} ({error:.2g})"
