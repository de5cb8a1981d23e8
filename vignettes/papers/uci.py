"""Cross-validated errors on the UCI sets (Wang 2018, Table 3)."""

import numpy as np

from benchmarks.table3 import EPSILON, FOLDS, PAPER, PRESENT, SETS, Row, table_row
from vignettes.papers.page import Study, number
from vignettes.papers.pictures import COLOURS, axes, legend, plain_log_ticks

# With 128 columns some methods take seconds a release.
LEFT_OUT = "gas"
PRINTED = set(PAPER.index.unique("method"))


def section(study: Study) -> None:
    """Write a table of errors, ours beside the paper's, and a picture of both."""
    repetitions = study.times(4)
    names = [name for name in SETS if study.there(f"uci_{name}") and name != LEFT_OUT]
    rows = {
        (name, method): table_row(name, method, repetitions, study.data)
        for name in names
        for method in PRESENT
    }
    study.page.write(
        "Small real tables (Wang 2018, Table 3)",
        f"Mean squared error of {FOLDS}-fold cross-validation at epsilon = {EPSILON} and the "
        f"paper's delta = min(10^-6, 1/n^2) on {len(names)} of the paper's 36 sets: y divided by "
        "its largest absolute value, columns standardised, rows of norm 1, no intercept; up to "
        f"{repetitions} repetitions. `trivial` predicts 0. In each pair, the paper's number comes "
        "first and ours second, over the folds with a release; `none` means that no fold had one. "
        f"The paper has no noisy_sgd. The set {LEFT_OUT}, with 128 columns, takes too long here; "
        "`python -m benchmarks table3` has it.",
    )
    names_of = ((m, f"{m}, paper", "ours" if m in PRINTED else f"{m}, ours") for m in PRESENT)
    pairs = [cell for pair in names_of for cell in _with_paper(*pair)]
    study.page.table(
        ("set", "n", "d", "trivial", "not private, paper", "ours", *pairs),
        [_cells(name, [rows[name, method] for method in PRESENT]) for name in names],
    )
    _picture(study, rows)
    for method in PRESENT:
        _verdict(study, method, [rows[name, method] for name in names])
    if "ssp" in PRESENT:
        study.page.write(
            "Our ssp releases zeros, or shrunken slopes that predict better, where noise could "
            "account for the smallest eigenvalue of X'X; the paper's releases what comes out, "
            "which explains its errors far above the trivial ones. Where ours and the paper's "
            "proofs differ, the docstrings say how; which difference moves a number here was "
            "not measured."
        )


def _with_paper(method: str, paper: str, ours: str) -> tuple[str, ...]:
    """Our cell, after the paper's where the paper has the method."""
    return (paper, ours) if method in PRINTED else (ours,)


def _cells(name: str, rows: list[Row]) -> tuple:
    errors = rows[0].errors
    pairs = ((row.method, number(row.paper, 4), number(row.ours, 4)) for row in rows)
    ours = [cell for pair in pairs for cell in _with_paper(*pair)]
    non_private = PAPER.loc[(name, "non_private"), "error"]
    return (
        name,
        *rows[0].shape,
        number(errors.trivial, 4),
        number(non_private, 4),
        number(errors.ridge, 4),
        *ours,
    )


def _picture(study: Study, rows: dict[tuple[str, str], Row]) -> None:
    """Our error against the paper's, where there are both."""
    figure, (ax,) = axes()
    both = [row for row in rows.values() if np.isfinite(row.distance)]
    for method, colour in zip(PRESENT, COLOURS.values(), strict=False):
        points = [(row.paper, row.ours) for row in both if row.method == method]
        if points:
            ax.plot(*np.transpose(points), ".", color=colour, label=method)
    ends = np.quantile([(row.paper, row.ours) for row in both], (0, 1))
    ax.plot(ends, ends, color="0.6", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="paper", ylabel="ours")
    plain_log_ticks(ax)
    legend(figure, ax)
    study.page.picture(figure, "uci", "Our error against the paper's; on the line they are equal")


def _verdict(study: Study, method: str, rows: list[Row]) -> None:
    """How often ours is lower, how often outside the paper's spread, and what failed."""
    failed = np.mean([row.failed for row in rows])
    who = f"{method}, which releases nothing in {failed:.0%} of the folds" if failed else method
    distances = {row.name: row.distance for row in rows if np.isfinite(row.distance)}
    if not distances:
        study.page.write(f"{who}: the paper has no number to compare with.")
        return
    lower, much = (sum(d < limit for d in distances.values()) for limit in (0, -1))
    above = [name for name, distance in distances.items() if distance > 1]
    study.page.write(
        f"{who}: our error is lower than the paper's on {lower} of {len(distances)} sets, by more "
        f"than the paper's spread on {much}, and above by more than it on "
        f"{', '.join(above) or 'none'}."
    )
