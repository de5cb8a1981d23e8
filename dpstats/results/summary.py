"""Results as text: statsmodels' tables and a privacy block."""

import textwrap
from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np
from statsmodels.iolib.summary import Summary, summary_params
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.inference import UNBOUNDED
from dpstats.privacy import PrivacyReport
from dpstats.request.group_labels import columns_of

_RELATION = {"add_remove": "add or remove one row", "replace_one": "replace one row"}
_WIDTH = 78


class PrivateSummary(Summary):
    """statsmodels' Summary, with each table a LaTeX tabular of its own."""

    def as_latex(self) -> str:
        """The tables one below the other (they differ in width), then the notes."""
        tables = [table.as_latex_tabular() for table in self.tables]
        return "\n".join([*tables, self.extra_txt.replace("\n", " \\newline\n")])


def summarise(result, alpha: float) -> Summary:
    """The statsmodels Summary of one :class:`~dpstats.results.single.DPResults`."""
    summary = PrivateSummary()
    summary.tables += [_heading(result), _coefficients(result, alpha)]
    if result.points:
        summary.tables.append(_predictions(result, alpha))
    summary.tables.append(_steps(result.privacy))
    summary.add_extra_txt(_notes(result, result.reasons.values()).split("\n"))
    return summary


def _heading(result) -> SimpleTable:
    report = result.privacy
    private = "yes" if report.private else "NO (seeded noise)"
    left = [
        ("Dep. Variable:", result.formula.split("~")[0].strip()),
        ("Method:", result.method),
        ("No. Observations:", "private" if result.nobs is None else str(result.nobs)),
        ("Status:", result.status),
    ]
    right = [
        ("Epsilon:", f"{report.epsilon:g}"),
        ("Delta:", f"{report.delta:g}"),
        ("Neighbours:", _RELATION[report.neighbors]),
        ("Private:", private),
    ]
    if result.bse.notna().any():
        left, right = [*left, ("Covariance Type:", result.cov_type)], [*right, ("", "")]
    rows = [[a, b, f"  {c}", d] for (a, b), (c, d) in zip(left, right, strict=True)]
    return _table(rows, None, "Differentially Private Regression Results")


def _coefficients(result, alpha: float) -> SimpleTable:
    columns = (result.params, result.bse, result.tvalues, result.pvalues)
    values = [np.asarray(column) for column in (*columns, result.conf_int(alpha))]
    named = SimpleNamespace(model=SimpleNamespace(endog_names="y", exog_names=list(result.names)))
    return summary_params((named, *values), alpha=alpha, use_t=False)


def _predictions(result, alpha: float) -> SimpleTable:
    table = result.prediction_intervals(alpha)
    headers = ["", "prediction", "std err", f"[{alpha / 2:g}", f"{1 - alpha / 2:g}]"]
    rows = [
        [label, f"{mean:.4f}", *(f"{value:.3f}" for value in rest)]
        for label, mean, *rest in table.itertuples()
    ]
    return _table(rows, headers, None)


def _steps(report: PrivacyReport) -> SimpleTable:
    """One row a step; equal steps of an iteration stand in one row."""
    steps: dict[tuple[str, ...], list[float]] = {}
    for event, share in report.shares():
        numbers = f"{event.sensitivity:.4g}", f"{event.scale:.4g}"
        steps.setdefault((event.step, event.mechanism, *numbers), []).append(share)
    rows = [
        [step if len(shares) == 1 else f"{step} ({len(shares)} times)", *rest, f"{sum(shares):.1%}"]
        for (step, *rest), shares in steps.items()
    ]
    return _table(rows, ["privacy: step", "mechanism", "sensitivity", "scale", "share"], None)


def _table(rows, headers, title) -> SimpleTable:
    return SimpleTable(rows, headers=headers, title=title, txt_fmt=fmt_params)


def _notes(result, reasons: Iterable[str]) -> str:
    """Numbered notes: why something is NaN, what was selected, then what is assumed."""
    notes = [f"nan, inf: {reason}" for reason in dict.fromkeys(reasons)]
    if result.method_report:
        notes.append(result.method_report)
    if result.selected:
        notes.append(f"selected, in the order of their choice: {', '.join(result.selected)}")
    notes.append(guarantee(result.privacy))
    notes += result.privacy.assumptions
    numbered = [f"[{i}] {note}" for i, note in enumerate(notes, start=1)]
    wrapped = [textwrap.fill(note, _WIDTH, subsequent_indent="    ") for note in numbered]
    return "\n".join(["Notes:", *wrapped])


def guarantee(report: PrivacyReport) -> str:
    """The guarantee in one sentence."""
    if not report.private:
        return "made under insecure_seed: the noise can be subtracted, nothing is private"
    delta = f" and delta = {report.delta:g}" if report.delta else ""
    return (
        f"differentially private with epsilon = {report.epsilon:g}{delta}: whether one person's "
        "row is in the data changes the probability of any output by at most a factor "
        f"e^{report.epsilon:g}" + (", up to delta" if report.delta else "")
    )


def group_reasons(result) -> tuple[str, ...]:
    """Why something is NaN or infinite in some group."""
    return result.reasons + (UNBOUNDED,) * ("not_identified" in result.statuses)


def summarise_groups(result) -> str:
    """Text for a :class:`~dpstats.results.groups.DPGroupResults`."""
    report = result.privacy
    counts = result.status.value_counts()
    errors = f"   covariance type: {result.cov_type}" if np.isfinite(result.errors).any() else ""
    lines = [
        f"Differentially private regressions, one a {' x '.join(columns_of(result.by))}",
        f"{result.formula}",
        f"method {result.method}   epsilon {report.epsilon:g}   delta {report.delta:g}   "
        f"neighbours: {_RELATION[report.neighbors]}{errors}",
        f"{len(result)} groups: " + ", ".join(f"{n} {status}" for status, n in counts.items()),
        "",
        *_values(result),
        "",
        _steps(report).as_text(),
        _notes(result, group_reasons(result)),
    ]
    return "\n".join(lines)


def _values(result) -> list[str]:
    """Every released value of a few groups, percentiles over many."""
    wide, title = result.params.join(result.predictions), "Released values"
    if len(wide) > 5:
        wide = wide.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).T
        wide.columns = [f"{share:.0%}" for share in wide.columns]
        title += " over the groups (percentiles)"
    return [title, wide.to_string(float_format=lambda value: f"{value:.4f}")]
