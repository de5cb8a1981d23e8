"""Tell from released sums that most responses lie at the ends of their declared bounds."""

import math

# The outermost twentieth of the range at either end is |v| > 0.9, on the scale of [-1, 1].
_END = 0.9
_SHOWN = 0.5  # of the rows
_ERRORS = 3.0  # standard errors that the noise is given


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
    sums, design = result.release.statistics, result.design()
    low, high = design.response_bounds
    complete = {"square", "cross", "y_scale", "scales"} <= {*sums}
    centred = complete and math.isclose(sums["y_scale"], (high - low) / 2)
    rows, error = result.fit_statistics.loc["nobs"]
    most = rows + _ERRORS * (0.0 if math.isnan(error) else error)
    if not centred or design.intercept is None or "weighted_rows" in sums or not most > 0:
        return 0.0
    _, of_cross, of_square = sums["scales"]
    if (low, high) == (0.0, 1.0):
        mean = (abs(sums["cross"][design.intercept]) - _ERRORS * of_cross) / most
        square = max(mean, 0.0) ** 2
    else:
        square = (sums["square"] - _ERRORS * of_square) / most
    return min(max((square - _END**2) / (1 - _END**2), 0.0), 1.0)


def note_on_the_ends(result) -> list[str]:
    """Say it where it is so of half of the rows; of estimated ranges other notes speak."""
    if {*result.parsed_formula.response_variables} & {*result.estimated}:
        return []
    share = responses_at_the_ends(result)
    if share < _SHOWN:
        return []
    low, high = result.design().response_bounds
    return [
        f"at least {math.floor(100 * share)}% of the responses lie in the outermost twentieth of "
        f"their bounds [{low:g}, {high:g}] at either end, or beyond them, where they count as the "
        "bound: see that the bounds are in the units of the data"
    ]
