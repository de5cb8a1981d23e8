"""Tell from released numbers that responses lie at the ends of their declared bounds."""

import math

import numpy as np

from dpstats.evidence import LinkEvidence, SumsEvidence
from dpstats.inference import Estimate
from dpstats.schema import UNLIMITED

# The outermost twentieth of the range at either end is |v| > 0.9, on the scale of [-1, 1].
_END = 0.9
_SHOWN = 0.5  # of the rows
_ERRORS = 3.0  # standard errors that the noise is given
_NEAR = 0.03  # of the range, between an end and a mean that is said to lie at it


def responses_at_the_ends(result) -> float:
    """Bound from below the share of responses in the outermost twentieth of either end, or beyond.

    A value outside its bounds counts as the nearer bound, v^2 = 1, where v in [-1, 1] is the
    response on the scale of its bounds. As v^2 <= c^2 + (1 - c^2) 1{|v| > c},

        P(|v| > c) >= (E v^2 - c^2) / (1 - c^2),

    and the sum of v^2 and the number of rows are released, with noise that is allowed for. A
    response of zeros and ones has v^2 = 1 by nature; there (E v)^2 <= E v^2 stands in, which is
    large at one end only. 0 where the sums were not released.

    Guarantee. Post-processing of releases, so it costs nothing.
    """
    sums, design = result.release.evidence, result.design()
    low, high = design.response_bounds
    if not isinstance(sums, SumsEvidence) or sums.y_scale is None:
        return 0.0
    centred = math.isclose(sums.y_scale, (high - low) / 2)
    rows, error = result.fit_statistics.loc["nobs"]
    most = rows + _ERRORS * (0.0 if math.isnan(error) else error)
    if not centred or design.intercept is None or sums.weighted_rows is not None or not most > 0:
        return 0.0
    _, of_cross, of_square = sums.scales
    if (low, high) == (0.0, 1.0):
        mean = (abs(sums.cross[design.intercept]) - _ERRORS * of_cross) / most
        square = max(mean, 0.0) ** 2
    else:
        square = (float(sums.square) - _ERRORS * of_square) / most
    return min(max((square - _END**2) / (1 - _END**2), 0.0), 1.0)


def released_mean(result) -> tuple[str, Estimate]:
    """Return the mean of the response, or what else is released of its size, and what it is.

    That is what the evidence of the release or of its auxiliary fit tells; else the prediction in
    the middle of the ranges of all columns.
    Its error is NaN where it was not released. NaN where there is neither.

    Guarantee. Post-processing of releases, so it costs nothing.
    """
    response = result.parsed_formula.response
    said = f"the released mean of {response}"
    for release in filter(None, (result.release, result.release.companion)):
        mean = release.evidence.mean()
        if mean is not None:
            return said, mean
    return f"{response} as predicted in the middle of all ranges", Estimate(_in_the_middle(result))


def _in_the_middle(result) -> float:
    """Predict in the middle of the ranges, on average over levels, or NaN.

    It is NaN where a column has no range and where effects are absorbed.
    """
    design = result.design()
    limited = all(kind != UNLIMITED for kind in result.schema.values())
    if not limited or result.parsed_formula.absorbed is not None:
        return math.nan
    row = design.low / 2 + design.high / 2
    for block in design.layout.blocks:
        row[block.columns] = block.coding.mean(axis=0)
    return float(row @ result.release.params)


def _note_on_the_mean(result) -> list[str]:
    """Ask for the unit of the response where its released mean is at an end of its bounds."""
    low, high = result.design().response_bounds
    said, mean = released_mean(result)
    near = _NEAR * (high - low)
    end, side = (low, "lower") if mean.value < low / 2 + high / 2 else (high, "upper")
    value = mean.value if math.isnan(mean.error) else np.clip(mean.value, low, high)
    if not abs(value - end) <= near or mean.error > near:
        return []
    return [
        f"{said}, {mean.value:.4g}, lies within {_NEAR:.0%} of the {side} end of its declared "
        f"bounds ({low:g}, {high:g}): check its unit and bounds" + _unless_rare(low, high)
    ]


def _unless_rare(low: float, high: float) -> str:
    """Allow for a response of zeros and ones, whose mean may lie anywhere in its bounds."""
    return ", unless it is 0 or 1 and nearly always the same" if (low, high) == (0, 1) else ""


def note_on_the_ends(result) -> list[str]:
    """Note that half of the responses, or their released mean, lie at the ends of the bounds.

    Of estimated ranges other notes speak.
    """
    if isinstance(result.release.evidence, LinkEvidence):
        return []  # its response has no unit
    read = result.parsed_formula.response_variables
    if any(name in result.estimated or result.schema[name] == UNLIMITED for name in read):
        return []
    share = responses_at_the_ends(result)
    if share < _SHOWN:
        return _note_on_the_mean(result)
    low, high = result.design().response_bounds
    return [
        f"at least {math.floor(100 * share)}% of the responses lie in the outermost twentieth of "
        f"their bounds [{low:g}, {high:g}] at either end, or beyond them, where they count as the "
        "bound: see that the bounds are in the units of the data" + _unless_rare(low, high)
    ]
