"""Describe results by the values that R keeps: strings, floats, truth values, lists, dicts."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from dpstats.evidence import Evidence, InstrumentEvidence, LinkEvidence
from dpstats.formula import Formula
from dpstats.formula.design import Design
from dpstats.formula.r.coding import level_label
from dpstats.privacy import GDP, ApproxDP, PrivacyReport
from dpstats.r.instruments import described_group_instruments, described_instruments
from dpstats.r.messages import in_r
from dpstats.r.uncertainties import described
from dpstats.results import DPGroupResults, DPIVGroupResults, DPIVResults, DPResults
from dpstats.results.show.group_summary import group_notes, group_reasons
from dpstats.results.show.release_notes import release_notes
from dpstats.results.show.summary import guarantee
from dpstats.schema import BOOLEAN, UNLIMITED, Categorical, Labels

# Evidence of groups of which more is asked than R computes.
_ASKED_LATER = LinkEvidence, InstrumentEvidence
# Methods whose predictions keep to the ranges of the schema.
CLIPPED_PREDICTIONS = ("shrunken", "shrunken_pure")


def describe(result: DPResults) -> dict:
    """Describe one fit; ``state`` is the JSON text from which Python restores it."""
    intervals, points = result.conf_int(), result.prediction_intervals()
    release = result.release
    return {
        **_public(result),
        **_instruments(result),
        "model": result.evidence.model,
        "names": list(result.names),
        "estimate": _floats(result.params),
        "std_error": _floats(result.bse),
        "statistic": _floats(result.tvalues),
        "p_value": _floats(result.pvalues),
        "conf_low": _floats(intervals[0]),
        "conf_high": _floats(intervals[1]),
        "vcov": _floats(result.cov_params().to_numpy().ravel()),
        "points": list(result.points),
        "predictions": predicted(points),
        "nobs": float(result.nobs),
        "fit_statistics": _fit_statistics(result),
        "status": result.status,
        "cov_type": result.cov_type,
        "reasons": {name: in_r(reason) for name, reason in result.reasons.items()},
        "method_report": in_r(result.method_report),
        "notes": [in_r(note) for note in release_notes(result, with_sets=False)],
        "limits": _limits(result),
        **_for_new_data(result, result.design),
        "uncertainty": described(result.uncertainty, release.basis.params[None]),
        "state": result.to_json(),
    }


def _instruments(result: DPResults | DPGroupResults) -> dict:
    """Describe the instruments of a fit that has some, or of groups."""
    if isinstance(result, DPIVGroupResults):
        return {"instruments": described_group_instruments(result)}
    if isinstance(result, DPIVResults):
        return {"instruments": described_instruments(result)}
    return {}


def _for_new_data(result: DPResults | DPGroupResults, design: Callable[[], Design]) -> dict:
    """Give what R needs to build the design at public values."""
    has_polynomial = "poly(" in str(result.formula)
    ranges = design().polynomial_ranges() if has_polynomial else {}
    return {
        "clipping": {
            name: [kind.low, kind.high]
            for name, kind in result.clipping.items()
            if kind != UNLIMITED
        },
        # the range on which poly() of each variable is orthonormal
        "polynomials": {name: _floats(ends) for name, ends in ranges.items()},
        "schema": {name: _kind(kind) for name, kind in result.schema.items()},
    }


def _fit_statistics(result: DPResults) -> dict:
    """List N, R-squared and the residual variance with their standard errors, by column."""
    table = result.fit_statistics
    return {
        "name": list(table.index),
        "estimate": _floats(table["estimate"]),
        "std_error": _floats(table["std_error"]),
    }


def _group_statistics(result: DPGroupResults) -> dict:
    """List these figures group by group, and for each group why one is missing.

    Methods that release no sums have none for any group, so that the first tells the reason.
    """
    without = type(result.evidence).goodness is Evidence.goodness
    fits = [result[label] for label in result.labels[: 1 if without else None]]
    reasons = [fit.reasons for fit in fits]
    missing = [in_r(why.get("rsquared", why.get("scale", ""))) for why in reasons]
    if without or not fits:
        return {"reasons": missing * len(result.labels)}
    tables = [fit.fit_statistics for fit in fits]
    return {
        "name": list(tables[0].index),
        "estimate": _floats(np.ravel([table["estimate"] for table in tables])),
        "std_error": _floats(np.ravel([table["std_error"] for table in tables])),
        "reasons": missing,
    }


def _limits(result: DPResults) -> dict:
    """Give the bounds of design rows and of the response that predictions keep to, if any."""
    limits = {}
    if result.limits is not None:
        limits = {
            name: _floats(end) for name, end in zip(("low", "high"), result.limits, strict=True)
        }
    if np.isfinite(result.response_range).all():
        limits["response"] = _floats(result.response_range)
    return {**limits, **_declared(result)}


def _declared(result: DPResults | DPGroupResults) -> dict:
    """Give the bounds of the response that intervals of predictions keep to, if any."""
    ends = result.declared_range
    return {"declared": _floats(ends)} if np.isfinite(ends).all() else {}


def predicted(table: pd.DataFrame) -> dict:
    """List predictions with their standard errors and intervals, by column."""
    return {name: _floats(table[name]) for name in table}


def describe_groups(result: DPGroupResults) -> dict:
    """Describe the fits of groups; the numbers go by group, then by name."""
    intervals = result.conf_int()
    formula = Formula.parse(result.formula)
    design = formula.design(result.schema, result.term_bounds, result.clipping)
    return {
        **_public(result),
        **_instruments(result),
        "labels": _labels(result),
        "names": list(result.names),
        "size": float(result.size),
        "estimate": _floats(result.estimates.ravel()),
        "std_error": _floats(result.errors.ravel()),
        "conf_low": _floats(intervals["lower"]),
        "conf_high": _floats(intervals["upper"]),
        "nobs": _floats(result.glance()["nobs"]),
        "fit_statistics": _group_statistics(result),
        "status": list(result.statuses),
        "cov_type": result.cov_type,
        "reasons": [in_r(reason) for reason in group_reasons(result)],
        "notes": [in_r(note) for note in group_notes(result)],
        "limits": _group_limits(result, design),
        **_for_new_data(result, lambda: design),
        "x_new": _floats(result.x_new.ravel()),
        "uncertainty": described(result.uncertainty, result.stack.params),
        "model": result.evidence.model,
        # from which marginal effects and Anderson-Rubin sets are computed
        "state": result.to_json() if isinstance(result.evidence, _ASKED_LATER) else "",
    }


def _group_limits(result: DPGroupResults, design: Design) -> dict:
    """Give the bounds that predictions keep to, as :func:`_limits`; the response's by group."""
    groups = len(result.labels)
    if result.method in CLIPPED_PREDICTIONS:
        ends = np.tile(design.response_bounds, (groups, 1))
        return {
            "low": _floats(design.low),
            "high": _floats(design.high),
            "response": _floats(ends.ravel()),
            **_declared(result),
        }
    ends = np.hstack(result.response_range)
    shown = {"response": _floats(ends.ravel())} if np.isfinite(ends).all() else {}
    return {**shown, **_declared(result)}


def _labels(result: DPGroupResults) -> list[list]:
    """List the labels of each group column."""
    if isinstance(result.by, str):
        return [[label_in_r(label) for label in result.labels]]
    return [[label_in_r(label[i]) for label in result.labels] for i in range(len(result.by))]


def label_in_r(label):
    """Give a label a type of R: integers end at 2^31 there, and doubles are whole up to 2^53.

    Dates and others that R would not know, which columns of files hold, are texts.

    >>> import datetime
    >>> label_in_r(datetime.date(2020, 1, 5)), label_in_r(3), label_in_r(2**31)
    ('2020-01-05', 3, 2147483648.0)
    """
    if not isinstance(label, str | int | float | np.generic):
        return level_label(label)
    if not isinstance(label, int) or -(2**31) < label < 2**31:
        return label
    return float(label) if abs(label) <= 2**53 else str(label)


def _public(result) -> dict:
    return {
        "formula": str(result.formula),
        "method": result.method,
        "selected": list(result.selected or ()),
        "privacy": privacy(result.privacy),
    }


def privacy(report: PrivacyReport) -> dict:
    """Describe a guarantee, and what drew noise, by column."""
    shares = report.shares()
    return {
        "epsilon": float(report.epsilon),
        "delta": float(report.delta),
        "neighbors": report.neighbors,
        "unit": report.unit or "",
        "max_rows": float(report.max_rows),
        "together": float(report.together),
        "private": report.private,
        "gaussian": isinstance(report.limit, GDP),
        "mu": float(report.limit.mu),
        "failing": report.limit.delta if isinstance(report.limit, ApproxDP) else 0.0,
        "guarantee": in_r(guarantee(report)),
        "assumptions": [in_r(sentence) for sentence in (*report.cautions, *report.assumptions)],
        "step": [event.step for event, _ in shares],
        "mechanism": [event.mechanism for event, _ in shares],
        "sensitivity": [float(event.sensitivity) for event, _ in shares],
        "scale": [float(event.scale) for event, _ in shares],
        "share": [float(share) for _, share in shares],
    }


def _kind(kind) -> dict:
    if isinstance(kind, Categorical):
        levels = [level_label(level) for level in kind.levels]
        return {"levels": levels, "ordered": kind.ordered, "logical": kind == BOOLEAN}
    return {} if isinstance(kind, Labels) else {"low": kind.low, "high": kind.high}


def _floats(values) -> list[float]:
    return np.asarray(values, dtype=float).tolist()
