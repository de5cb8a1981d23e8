"""Run ``dpstats demo``: private regressions by cell on fictitious people, beside OLS."""

from pathlib import Path

from dpstats import datasets
from dpstats.cli.outputs import check_matplotlib, checked_output, draw, save_frame
from dpstats.errors import ArgumentError
from dpstats.evaluate import ols_reference
from dpstats.privacy import validate_guarantee
from dpstats.results.show.group_plot import comparison
from dpstats.verbs.ols import dp_ols

_DEMO = "kid_rank ~ parent_rank"
_DEMO_WARNING = "comparison possible only because these people are fictitious"
_DEMO_HEAD = """\
Income rank of children given the income rank of their parents, one regression in each
of {cells} cells, {people:,} fictitious people; ranks from 0 (lowest income) to 1 (highest).
p25, p75: expected rank of a child whose parents are at rank 0.25, 0.75.
private: exp_theil_sen, epsilon {epsilon:g} for the pair. OLS: not private
({warning}).

                   ------- p25 -------    ------- p75 -------
  cell  people     private    OLS   s.e.    private    OLS   s.e."""


def demo(arguments) -> None:
    """Show private p25 and p75 of 111 cells beside OLS, which fictitious data allow."""
    epsilon, _ = validate_guarantee(arguments.epsilon, 0.0)
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"--out: cannot make {folder}: {error.strerror}") from None
    check_matplotlib()
    outputs = [
        checked_output(str(folder / f"cells{end}"), "--out", (end,)) for end in (".csv", ".png")
    ]
    people = datasets.oi_microdata()
    call = {"by": "cell", "bounds": {"kid_rank": (0, 1), "parent_rank": (0, 1)}}
    result = dp_ols(_DEMO, people, method="exp_theil_sen", epsilon=epsilon, **call)
    reference = ols_reference(_DEMO, people, public=True, **call)
    save_frame(result, outputs[0])
    draw(outputs[1], lambda axes: _demo_picture(result, reference, axes))
    print(_demo_text(result, reference, people.groupby("cell").size()))
    print(f"All private estimates are in {outputs[0]}, a picture is in {outputs[1]}.")


def _demo_text(result, reference, sizes) -> str:
    """Write a few cells from the smallest to the largest, and count those close to OLS."""
    points = {q: _beside(result, reference, q) for q in ("p25", "p75")}
    lines = [
        _DEMO_HEAD.format(
            cells=len(result), people=sizes.sum(), epsilon=result.privacy.epsilon,
            warning=_DEMO_WARNING,
        )
    ]  # fmt: skip
    by_size = sizes.sort_values(kind="stable").index
    for cell in by_size[[round(q * (len(by_size) - 1) / 6) for q in range(7)]]:
        rows = (frame.loc[cell] for frame in points.values())
        numbers = " ".join(f"{v:10.3f}{o:7.3f}{e:7.3f}" for v, o, e in rows)
        lines.append(f"{cell:6}{sizes[cell]:8}  {numbers}")
    lines += ["", "Private value within one OLS standard error of the OLS value:"]
    for name, chosen in (("all cells", sizes > 0), ("20 people or more", sizes >= 20)):
        near = ", ".join(f"{q} in {_near(frame[chosen])}" for q, frame in points.items())
        lines.append(f"  {name:20}{near}")
    return "\n".join([*lines, ""])


def _beside(result, reference, point: str):
    """Tabulate private value, OLS value and OLS standard error of one quantity, by cell."""
    ols = reference[reference["term"] == point].set_index("cell")[["estimate", "std_error"]]
    ols.insert(0, "private", result.predictions[point])
    return ols


def _near(frame) -> str:
    """Count the cells whose private value is within one standard error of OLS."""
    near = (frame["private"] - frame["estimate"]).abs() <= frame["std_error"]
    return f"{near.sum()} of {len(near)}"


def _demo_picture(result, reference, axes) -> None:
    """Draw the comparison with OLS under labels for this example."""
    comparison(result, reference, axes)
    axes.set(
        xlabel="p25: child's income rank, parents at rank 0.25 (0 lowest, 1 highest)",
        ylabel="p75: child's income rank, parents at rank 0.75",
        title=f"{len(result)} cells, {result.method}, epsilon {result.privacy.epsilon:g}\n"
        f"({_DEMO_WARNING})",
    )
