"""Write a fit as text: statsmodels' tables and a privacy block."""

import textwrap
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import numpy as np
from statsmodels.iolib.summary import Summary, summary_params
from statsmodels.iolib.table import SimpleTable
from statsmodels.iolib.tableformatting import fmt_params

from dpstats.escaping import csv_of, latex, latex_of
from dpstats.evidence import InstrumentEvidence, LinkEvidence
from dpstats.html_tables import html_notes, html_of
from dpstats.privacy import PrivacyReport
from dpstats.results.show.release_notes import effective_clusters, is_clustered, release_notes

_RELATION = {"add_remove": "add or remove", "replace_one": "replace"}
_WIDTH = 78
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
    summary.tables.append(release_steps(result.privacy))
    summary.notes = numbered_notes(result, shown_reasons(result), release_notes(result))
    summary.add_extra_txt(wrapped(summary.notes).split("\n"))
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
    if is_clustered(result):
        more.append(("Clusters:", effective_clusters(result)))
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
    hidden = () if has_rsquared(result) else ("rsquared", "rsquared_adj", "scale")
    return list(dict.fromkeys(text for key, text in result.reasons.items() if key not in hidden))


def figure(result, name: str) -> str:
    """Write a figure of ``fit_statistics`` with its standard error in parentheses."""
    value, error = result.fit_statistics.loc[name]
    return f"{value:.3f}" if np.isnan(error) else f"{value:.3f} ({error:.2g})"


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
    return summary_params((model, *values), alpha=alpha, use_t=is_clustered(result))


def _predictions(result, alpha: float) -> SimpleTable:
    """Tabulate predictions with standard errors and intervals."""
    table = result.prediction_intervals(alpha)
    headers = ["", "prediction", "std err", f"[{alpha / 2:g}", f"{1 - alpha / 2:g}]"]
    rows = [
        [label, f"{mean:.4f}", *(f"{value:.3f}" for value in rest)]
        for label, mean, *rest in table.itertuples()
    ]
    return _table(rows, headers, None)


def release_steps(report: PrivacyReport) -> SimpleTable:
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


def numbered_notes(result, reasons: Iterable[str], hidden: Sequence[str] = ()) -> list[str]:
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


def wrapped(notes: Iterable[str]) -> str:
    """Write notes as text of the width of a page."""
    return "\n".join(textwrap.fill(note, _WIDTH, subsequent_indent="    ") for note in notes)


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
