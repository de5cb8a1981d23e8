"""Write fits of groups as text and HTML: facts, released values and a privacy block."""

import numpy as np
import pandas as pd

from dpstats.estimators.newton.steps.hidden_rows import note_on_hidden_rows
from dpstats.html_tables import html_notes, html_of, html_table
from dpstats.inference import PARTLY_UNBOUNDED, UNBOUNDED
from dpstats.results.show.estimated_ranges import note_on_ranges
from dpstats.results.show.summary import numbered_notes, relation, release_steps, wrapped
from dpstats.rows.group_labels import columns_of


def group_reasons(result) -> tuple[str, ...]:
    """List the reasons why something is NaN or infinite in some group."""
    said = {"not_identified": UNBOUNDED, "imprecise": PARTLY_UNBOUNDED}
    found = (reason for status, reason in said.items() if status in result.statuses)
    return tuple(dict.fromkeys((*result.reasons, *found)))


def group_notes(result) -> list[str]:
    """Write what there is to say of ranges, rows far out that noise could hide, and instruments."""
    hidden = note_on_hidden_rows(result.evidence)
    strength = getattr(result, "strength_notes", ())
    return [*note_on_ranges(result), *filter(None, [hidden]), *strength]


def summarise_groups(result) -> str:
    """Write the text for a :class:`~dpstats.results.many.groups.DPGroupResults`."""
    title, values = _values(result)
    lines = [
        *_facts(result),
        "",
        title,
        values.to_string(float_format=_four_decimals),
        "",
        release_steps(result.privacy).as_text(),
        wrapped(numbered_notes(result, group_reasons(result), group_notes(result))),
    ]
    return "\n".join(lines)


def groups_html(result) -> str:
    """Write the summary of groups as HTML; names and labels are escaped."""
    title, values = _values(result)
    rows = [[label, *map(_four_decimals, row)] for label, *row in values.itertuples()]
    parts = [
        html_notes(_facts(result)),
        html_table(rows, ["", *values.columns], title),
        html_of(release_steps(result.privacy)),
        html_notes(numbered_notes(result, group_reasons(result), group_notes(result))),
    ]
    return "\n".join(parts)


def _facts(result) -> list[str]:
    """Write formula, method and guarantee of groups, and how many there are of each status."""
    report = result.privacy
    counts = result.status.value_counts()
    errors = f"   covariance type: {result.cov_type}" if np.isfinite(result.errors).any() else ""
    return [
        f"Differentially private regressions by {' x '.join(columns_of(result.by))}",
        result.written,
        f"method {result.method}   epsilon {report.epsilon:g}   delta {report.delta:g}   "
        f"neighbours: {relation(report)}{errors}",
        f"{len(result)} groups: {', '.join(f'{n} {status}' for status, n in counts.items())}"
        + ("; the labels present in the data are public" if result.labels_present else ""),
        *_sizes(result),
    ]


def _sizes(result) -> list[str]:
    """Write the range of the groups' numbers of rows, where they are public."""
    if result.sizes is None or not len(result):
        return []
    low, median, high = np.quantile(result.sizes, [0, 0.5, 1])
    who = result.privacy.unit or "rows"
    return [f"{who} of a group: {low:,.0f} to {high:,.0f}, median {median:,.0f}"]


def _values(result) -> tuple[str, pd.DataFrame]:
    """Tabulate every released value of a few groups, percentiles over many; with a title."""
    wide, title = result.params.join(result.predictions), "Released values"
    if len(wide) > 5:
        wide = wide.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).T
        wide.columns = [f"{level:.0%}" for level in wide.columns]
        title += " over the groups (percentiles)"
    return title, wide


def _four_decimals(value: float) -> str:
    return f"{value:.4f}"
