"""Write results as text: statsmodels' tables and a privacy block."""

import textwrap
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
from statsmodels.iolib.summary import Summary, summary_params
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.escaping import csv_of, latex, latex_of
from dpstats.estimators import METHODS
from dpstats.evidence import InstrumentEvidence, LinkEvidence, NewtonEvidence
from dpstats.formula.conditioning import collinear_columns
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.html_tables import html_notes, html_of, html_table
from dpstats.inference import ENOUGH_CLUSTERS, PARTLY_UNBOUNDED, UNBOUNDED
from dpstats.privacy import PrivacyReport
from dpstats.results.show.bounds_reached import note_on_the_ends
from dpstats.results.show.estimated_ranges import note_on_ranges
from dpstats.rows.group_labels import columns_of
from dpstats.schema import Numeric

_RELATION = {"add_remove": "add or remove", "replace_one": "replace"}
_WIDTH = 78
# a mean weight of more than this part of the largest one is said
_AT_THE_BOUND = 0.9
# Models that have no R-squared; nothing is said of it.
_WITHOUT_RSQUARED = (LinkEvidence, InstrumentEvidence)


class PrivateSummary(Summary):
    """Extend statsmodels' Summary: names are escaped in LaTeX, HTML and CSV."""

    notes: Sequence[str] = ()

    def as_html(self) -> str:
        """Write the tables one below the other, then the notes; names are escaped."""
        return "\n".join([*map(html_of, self.tables), html_notes(self.notes)])

    _repr_html_ = as_html

    def as_latex(self) -> str:
        """Write the tables one below the other (they differ in width), then the notes."""
        notes = " \\newline\n".join(map(latex, self.notes))
        return "\n".join([*map(latex_of, self.tables), notes])

    def as_csv(self) -> str:
        """Write the tables one below the other, then the notes; no cell is a formula."""
        return "\n".join([*map(csv_of, self.tables), *self.notes])


def summarise(result, alpha: float) -> Summary:
    """Build the statsmodels Summary of one :class:`~dpstats.results.one.single.DPResults`."""
    summary = PrivateSummary()
    summary.tables += [_heading(result), _coefficients(result, alpha)]
    if result.points:
        summary.tables.append(_predictions(result, alpha))
    summary.tables.append(_steps(result.privacy))
    summary.notes = _notes(result, shown_reasons(result), release_notes(result))
    summary.add_extra_txt(_wrapped(summary.notes).split("\n"))
    return summary


def _heading(result) -> SimpleTable:
    """Tabulate response, method and guarantee."""
    report = result.privacy
    private = "yes" if report.private else "NO (seeded noise)"
    linear = has_rsquared(result)
    left = [
        ("Dep. Variable:", result.formula.split("~")[0].strip()),
        ("Method:", result.method),
        (f"No. of {report.unit}:" if report.unit else "No. Observations:", observations(result)),
        *([("Df Residuals:", _whole(result.df_resid))] * linear),
        *([("Residual Std. Err.:", _deviation(result))] * linear),
        ("Status:", result.status),
    ]
    right = [
        *([("R-squared:", figure(result, "rsquared"))] * linear),
        *([("Adj. R-squared:", figure(result, "rsquared_adj"))] * linear),
        ("Epsilon:", f"{report.epsilon:g}"),
        ("Delta:", f"{report.delta:g}"),
        ("Neighbours:", relation(report)),
        ("Private:", private),
    ]
    if result.bse.notna().any():
        more = _below(result)
        left, right = [*left, *more[::2]], [*right, *more[1::2]]
    rows = [[a, b, f"  {c}", d] for (a, b), (c, d) in zip(left, right, strict=True)]
    return _table(rows, None, f"Differentially Private {result.evidence.model} Results")


def _below(result) -> list[tuple[str, str]]:
    """List what stands below the heading of every fit, of even length."""
    more = [("Covariance Type:", result.cov_type)]
    if _is_clustered(result):
        more.append(("Clusters:", _clusters(result)))
    if "prsquared" in result.fit_statistics.index:
        more.append(("Pseudo R-squ.:", figure(result, "prsquared")))
    return more + [("", "")] * (len(more) % 2)


def observations(result) -> str:
    """Write the number of rows, with the standard error of the noise in it where it is private."""
    if result.public_rows is not None:
        return str(result.public_rows)
    rows, error = result.fit_statistics.loc["nobs"]
    if np.isnan(rows):
        return "private"
    return f"{rows:.0f}" if np.isnan(error) else f"{rows:.0f} ({error:.0f})"


def has_rsquared(result) -> bool:
    """Tell whether the model of a fit has an R-squared at all, released or not."""
    return not isinstance(result.evidence, _WITHOUT_RSQUARED)


def shown_reasons(result) -> list[str]:
    """List why something is NaN, without what models of this kind never have."""
    hidden = () if has_rsquared(result) else ("rsquared",)
    return list(dict.fromkeys(text for key, text in result.reasons.items() if key not in hidden))


def figure(result, name: str) -> str:
    """Write a figure of ``fit_statistics`` with its standard error in parentheses."""
    value, error = result.fit_statistics.loc[name]
    return f"{value:.3f}" if np.isnan(error) else f"{value:.3f} ({error:.2g})"


def _is_clustered(result) -> bool:
    """Tell whether standard errors allow for clusters that are not the privacy unit."""
    return "clusters" in result.fit_statistics.index


def _clusters(result) -> str:
    """Write the effective number of clusters, with the standard error of the noise in it."""
    number, error = result.fit_statistics.loc["clusters"]
    return f"{number:.1f} ({error:.2g})"


def _whole(value: float) -> str:
    """Write a number of rows without decimals."""
    return "private" if np.isnan(value) else f"{value:.0f}"


def _deviation(result) -> str:
    """Write the residual standard error, with its own by the delta method in parentheses."""
    scale, error = result.fit_statistics.loc["scale"]
    deviation = float(np.sqrt(scale))
    if np.isnan(error) or not deviation:
        return f"{deviation:.4g}"
    return f"{deviation:.4g} ({error / (2 * deviation):.2g})"


def _coefficients(result, alpha: float) -> SimpleTable:
    """Tabulate coefficients, standard errors, tests and intervals, as statsmodels does."""
    columns = (result.params, result.bse, result.tvalues, result.pvalues)
    values = [np.asarray(column) for column in (*columns, result.conf_int(alpha))]
    model = SimpleNamespace(model=SimpleNamespace(endog_names="y", exog_names=list(result.names)))
    return summary_params((model, *values), alpha=alpha, use_t=_is_clustered(result))


def _predictions(result, alpha: float) -> SimpleTable:
    """Tabulate predictions with standard errors and intervals."""
    table = result.prediction_intervals(alpha)
    headers = ["", "prediction", "std err", f"[{alpha / 2:g}", f"{1 - alpha / 2:g}]"]
    rows = [
        [label, f"{mean:.4f}", *(f"{value:.3f}" for value in rest)]
        for label, mean, *rest in table.itertuples()
    ]
    return _table(rows, headers, None)


def _steps(report: PrivacyReport) -> SimpleTable:
    """Tabulate a row per release step; equal steps of an iteration share a row."""
    steps: dict[tuple[str, ...], list[float]] = {}
    for event, fraction in report.shares():
        numbers = f"{event.sensitivity:.4g}", f"{event.scale:.4g}"
        steps.setdefault((event.step, event.mechanism, *numbers), []).append(fraction)
    rows = [
        [step if len(parts) == 1 else f"{step} ({len(parts)} times)", *rest, f"{sum(parts):.1%}"]
        for (step, *rest), parts in steps.items()
    ]
    return _table(rows, ["privacy: step", "mechanism", "sensitivity", "scale", "share"], None)


def _table(rows, headers, title) -> SimpleTable:
    """Lay out rows in the style of statsmodels' parameter tables."""
    return SimpleTable(rows, headers=headers, title=title, txt_fmt=fmt_params)


def _notes(result, reasons: Iterable[str], hidden: Sequence[str] = ()) -> list[str]:
    """Number the notes: why something is NaN, what was selected, then what is assumed."""
    notes = [f"nan, inf: {reason}" for reason in dict.fromkeys(reasons)]
    if result.method_report:
        notes.append(result.method_report)
    if result.selected:
        notes.append(f"selected, in the order of their choice: {', '.join(result.selected)}")
    notes += hidden
    notes.append(guarantee(result.privacy))
    notes += [*result.privacy.cautions, *result.privacy.assumptions]
    return ["Notes:", *(f"[{i}] {note}" for i, note in enumerate(notes, start=1))]


def _wrapped(notes: Iterable[str]) -> str:
    """Write notes as text of the width of a page."""
    return "\n".join(textwrap.fill(note, _WIDTH, subsequent_indent="    ") for note in notes)


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
    if not _is_clustered(result):
        return []
    number = result.fit_statistics.loc["clusters", "estimate"]
    said = (
        f"standard errors are those of {_clusters(result)} clusters of one size, the effective "
        f"number; intervals take Student's t with {max(number - 1, 1):.1f} degrees of freedom"
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
    response = result.schema.get(result.formula.split("~")[0].strip())
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


def guarantee(report: PrivacyReport) -> str:
    """Write the guarantee in one sentence."""
    if not report.private:
        return "made under insecure_seed: the noise can be subtracted, nothing is private"
    delta = f" and delta = {report.delta:g}" if report.delta else ""
    who = f"the rows of one {report.unit} are" if report.unit else "one person's row is"
    return (
        f"differentially private with epsilon = {report.epsilon:g}{delta}: whether {who} in the "
        "data changes the probability of any output by at most a factor "
        f"e^{report.epsilon:g}" + (", up to delta" if report.delta else "")
    )


def relation(report: PrivacyReport) -> str:
    """Say in a few words which tables are neighbours."""
    return f"{_RELATION[report.neighbors]} {report.difference}"


def group_reasons(result) -> tuple[str, ...]:
    """List the reasons why something is NaN or infinite in some group."""
    said = {"not_identified": UNBOUNDED, "imprecise": PARTLY_UNBOUNDED}
    found = (reason for status, reason in said.items() if status in result.statuses)
    return tuple(dict.fromkeys((*result.reasons, *found)))


def summarise_groups(result) -> str:
    """Write the text for a :class:`~dpstats.results.many.groups.DPGroupResults`."""
    title, values = _values(result)
    lines = [
        *_facts(result),
        "",
        title,
        values.to_string(float_format=_four_decimals),
        "",
        _steps(result.privacy).as_text(),
        _wrapped(_notes(result, group_reasons(result), note_on_ranges(result))),
    ]
    return "\n".join(lines)


def groups_html(result) -> str:
    """Write the summary of groups as HTML; names and labels are escaped."""
    title, values = _values(result)
    rows = [[label, *map(_four_decimals, row)] for label, *row in values.itertuples()]
    parts = [
        html_notes(_facts(result)),
        html_table(rows, ["", *values.columns], title),
        html_of(_steps(result.privacy)),
        html_notes(_notes(result, group_reasons(result), note_on_ranges(result))),
    ]
    return "\n".join(parts)


def _facts(result) -> list[str]:
    """Write formula, method and guarantee of groups, and how many there are of each status."""
    report = result.privacy
    counts = result.status.value_counts()
    errors = f"   covariance type: {result.cov_type}" if np.isfinite(result.errors).any() else ""
    return [
        f"Differentially private regressions by {' x '.join(columns_of(result.by))}",
        f"{result.formula}",
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
