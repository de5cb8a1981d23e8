"""Write the plan of a study as tables and notes, for text and for pages."""

import math
import textwrap
from collections.abc import Iterator

from statsmodels.iolib.table import SimpleTable

from dpstats.html_tables import html_notes, html_of
from dpstats.planning.result import laid_out
from dpstats.study.plans.quantiles import quantile

# Widths relative to the non-private ones, and fractions of the intervals that have them.
_RATIOS, _FRACTIONS = (1.25, 1.5, 2.0), (0.5, 0.9)
_WIDTH = 78
# Intervals that a note names.
_NAMED = 3
# From this ratio on two decimals are too many.
_TEN = 10
# Less than this a ratio is by the noise of a few runs alone.
_NARROW = 0.95
_ROUGH = (
    "ratios below 1 are of intervals that end on a grid, such as those of quantiles, or whose "
    "standard errors are far from exact"
)
_EVEN = (
    "even share: the shares at which all tables would have the same median ratio, if they are as "
    "important as one another"
)


def as_text(plan) -> str:
    """Write the widths by table and epsilon, the epsilons for three widths, and notes."""
    notes = (textwrap.fill(note, _WIDTH, subsequent_indent="  ") for note in notes_of(plan))
    tables = (table.as_text() for table in _tables(plan))
    return "\n".join([title_of(plan), *tables, *notes])


def as_html(plan) -> str:
    """Write the widths, the epsilons and notes as HTML; names are escaped."""
    tables = map(html_of, _tables(plan))
    return "\n".join([html_notes([title_of(plan)]), *tables, html_notes(notes_of(plan))])


def title_of(plan) -> str:
    """Say what is planned."""
    intervals, tables = len(plan.at(plan.epsilon)), len(plan.names)
    return (
        f"Which epsilon for {plan.study}: {_counted(tables, 'table')}, "
        f"{_counted(intervals, 'interval')}, {plan.n:,} rows"
    )


def notes_of(plan) -> list[str]:
    """Explain the numbers and what they rest on."""
    first, *others = grounds(plan)
    return [
        first,
        *([_EVEN] if "even_share" in plan.tables else []),
        *_widest(plan),
        plan.promise(),
        *others,
    ]


def grounds(plan) -> list[str]:
    """Say what the numbers of any epsilon mean and rest on."""
    return [
        "ratio: width of an interval by its width without privacy on the same rows; hidden: no "
        "interval is shown in half of the runs. No private data were read, nothing is spent.",
        *_never_shown(plan),
        *([_ROUGH] if any(each.ratio < _NARROW for each in plan.forecasts) else []),
        *plan.said,
    ]


def needed(plan) -> list[list[str]]:
    """Tabulate the epsilons that three ratios need, below a row of headings."""
    heads = ["ratio at most", "half of the intervals", "nine of ten"]
    return [heads, *([f"{ratio:g}", *(_reached(plan, ratio, fraction) for fraction in _FRACTIONS)]
                     for ratio in _RATIOS)]  # fmt: skip


def _tables(plan) -> list[SimpleTable]:
    """Lay out the ratios of tables, and the epsilons for three ratios."""
    tables = plan.tables.to_dict("index")
    even = ["even_share"] * ("even_share" in plan.tables)
    ratios = [[each.ratio for each in plan.at(epsilon)] for epsilon in plan.epsilons]
    rows = [
        [name, f"{row['share']:.3g}", *(_ratio(row[each]) for each in plan.epsilons),
         *(_share(row[column]) for column in even)]
        for name, row in tables.items()
    ]  # fmt: skip
    rows.append(
        ["all tables", "", *(_ratio(quantile(each)) for each in ratios), *("" for _ in even)]
    )
    rows.append(["hidden intervals", "", *(str(each.count(math.inf)) for each in ratios),
                 *("" for _ in even)])  # fmt: skip
    marked = [f"{each:g}{'*' * (each == plan.epsilon)}" for each in plan.epsilons]
    headers = ["table", "share", *marked, *["even share"] * len(even)]
    title = "median ratio by the study's epsilon (*: that of the file)"
    heads, *reached = needed(plan)
    return [laid_out(rows, headers, title), laid_out(reached, heads, "epsilon needed")]


def _reached(plan, ratio: float, fraction: float) -> str:
    """Write the epsilon for a ratio, as a bound where it is not among those tried."""
    epsilon, tried = plan.epsilon_for(ratio, fraction), plan.epsilons
    if math.isnan(epsilon):
        return "-"
    if math.isinf(epsilon):
        return f"more than {tried[-1]:g}"
    return f"{tried[0]:g} or less" if epsilon == tried[0] else f"{epsilon:.2g}"


def _widest(plan) -> Iterator[str]:
    """Name the intervals that suffer most at the study's own epsilon."""
    own = [each for each in plan.at(plan.epsilon) if not math.isnan(each.ratio)]
    worst = sorted(own, key=lambda each: -each.ratio)[:_NAMED]
    if worst:
        named = (f"{each.table}, {each.term} ({_ratio(each.ratio)})" for each in worst)
        yield f"widest at epsilon {plan.epsilon:g}: {'; '.join(named)}"


def _never_shown(plan) -> Iterator[str]:
    """Name what has no interval without privacy either, so that no epsilon shows one."""
    own = plan.at(plan.epsilon)
    named = [f"{one.table}, {one.term}" for one in own if math.isinf(one.nonprivate_width)]
    if named:
        more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        listed = "; ".join(named[:_NAMED])
        yield f"no interval without privacy either, and not counted: {listed}{more}"


def _ratio(value: float) -> str:
    """Write a ratio with three digits."""
    if math.isnan(value):
        return "-"
    return "hidden" if math.isinf(value) else f"{value:.2f}" if value < _TEN else f"{value:.3g}"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
