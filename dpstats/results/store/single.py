"""Convert a result to plain content for JSON, and restore it."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from dpstats.engines.labels.stored_labels import restored, stored
from dpstats.estimators.contract import Release
from dpstats.evidence import evidence_from_plain
from dpstats.formula import RFormula
from dpstats.privacy import GDP, ApproxDP, Cost, Event, PrivacyReport, PureDP
from dpstats.schema import Categorical, Kind, Labels, Numeric

_DIALECTS = {"patsy": str, "R": RFormula}


def formula_to_dict(formula: str) -> dict[str, str]:
    """Convert a formula to its text and its dialect."""
    dialect = next(name for name, kind in _DIALECTS.items() if type(formula) is kind)
    return {"formula": str(formula), "dialect": dialect}


def formula_from_dict(content: Mapping) -> str:
    """Restore a formula from what :func:`formula_to_dict` gives, among other entries."""
    return _DIALECTS[content["dialect"]](content["formula"])


def to_plain(result) -> dict:
    """Convert a result to plain numbers, strings, lists and dicts; NaN becomes None."""
    release, statistics = result.release, result.fit_statistics
    return {
        **formula_to_dict(result.formula),
        "selected": None if result.selected is None else list(result.selected),
        "plan": result.plan,
        "share": result.share,
        "method": result.method,
        "nobs": result.public_rows,
        "params": dict(zip(result.names, _plain(release.params), strict=True)),
        "predictions": dict(zip(result.points, _plain(release.predictions), strict=True)),
        "x_new": _plain(result.x_new),
        **_release_to_dict(release),
        "schema": {name: kind_to_dict(kind) for name, kind in result.schema.items()},
        "clipping": {name: kind_to_dict(kind) for name, kind in result.clipping.items()},
        "estimated": list(result.estimated),
        "rows_seen": result.rows_seen and list(result.rows_seen),
        "fit_statistics": dict(zip(statistics.index, _plain(statistics.to_numpy()), strict=True)),
        "term_bounds": {name: list(pair) for name, pair in result.term_bounds.items()},
        "privacy": report_to_dict(result.privacy),
    }


def fields_of(content: Mapping) -> dict[str, Any]:
    """Restore the fields of a result from the content that :func:`to_plain` gives."""
    params, predictions = content["params"], content["predictions"]
    return {
        "formula": formula_from_dict(content),
        "method": content["method"],
        "release": _release_from_dict(content, params.values(), predictions.values()),
        "names": tuple(params),
        "points": tuple(predictions),
        "x_new": np.array(content["x_new"], dtype=float).reshape(len(predictions), len(params)),
        "public_rows": content["nobs"],
        "schema": {name: kind_from_dict(kind) for name, kind in content["schema"].items()},
        "clipping": {n: Numeric(**ends) for n, ends in content["clipping"].items()},
        "estimated": tuple(content["estimated"]),
        "rows_seen": content["rows_seen"] and tuple(content["rows_seen"]),
        "term_bounds": {name: tuple(pair) for name, pair in content["term_bounds"].items()},
        "privacy": report_from_dict(content["privacy"]),
        "selected": content["selected"] and tuple(content["selected"]),
        "plan": content["plan"],
        "share": content["share"],
    }


def _plain(values) -> list:
    """Convert an array to nested lists of Python floats, None for NaN."""
    if np.ndim(values) > 1:
        return [_plain(row) for row in values]
    return [None if math.isnan(value) else float(value) for value in values]


def _array(values) -> np.ndarray:
    """Convert a list of numbers to an array, NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _release_to_dict(release: Release) -> dict:
    """Convert a release without its coefficients and predictions."""
    companion = release.companion
    return {
        "status": release.status,
        "cov": None if release.cov is None else _plain(release.cov),
        "reasons": dict(release.reasons),
        "evidence": release.evidence.to_plain(),
        "note": release.note,
        "limited": release.limited,
        "cov_type": release.cov_type,
        "companion": companion
        and {
            "params": _plain(companion.params),
            "predictions": _plain(companion.predictions),
            **_release_to_dict(companion),
        },
    }


def _release_from_dict(content: Mapping, params, predictions) -> Release:
    """Restore a release from the content that :func:`_release_to_dict` gives."""
    cov, companion = content["cov"], content["companion"]
    params, size = _array(params), len(params)
    return Release(
        params=params,
        predictions=_array(predictions),
        cov=None if cov is None else np.array(cov, dtype=float).reshape(size, size),
        status=content["status"],
        reasons=dict(content["reasons"]),
        evidence=evidence_from_plain(content["evidence"]),
        note=content["note"],
        limited=content["limited"],
        cov_type=content["cov_type"],
        companion=companion
        and _release_from_dict(companion, companion["params"], companion["predictions"]),
    )


def kind_to_dict(kind: Kind) -> dict:
    """Convert the schema of one variable."""
    if isinstance(kind, Categorical):
        return {"levels": [stored(level) for level in kind.levels], "ordered": kind.ordered}
    return asdict(kind)


def kind_from_dict(content: Mapping) -> Kind:
    """Restore the schema of one variable; nothing is said of one whose labels are absorbed."""
    if not content:
        return Labels()
    if "levels" in content:
        return Categorical(tuple(map(restored, content["levels"])), content["ordered"])
    return Numeric(**content)


def report_to_dict(report: PrivacyReport) -> dict:
    """Convert a privacy report; that of one result does not say that it is alone."""
    content = {name: value for name, value in asdict(report).items()
               if name != "together" or report.together > 1}  # fmt: skip
    content["events"] = [asdict(event) for event in report.events]
    content["assumptions"] = list(report.assumptions)
    return content


def cost_from_dict(fields: Mapping) -> Cost:
    """Restore a cost from its fields."""
    if "mu" in fields:
        return GDP(**fields)
    return ApproxDP(**fields) if "delta" in fields else PureDP(**fields)


def report_from_dict(content: Mapping) -> PrivacyReport:
    """Restore a privacy report."""
    events = tuple(Event(**{**e, "cost": cost_from_dict(e["cost"])}) for e in content["events"])
    return PrivacyReport(
        **{
            **content,
            "limit": cost_from_dict(content["limit"]),
            "events": events,
            "assumptions": tuple(content["assumptions"]),
        }
    )
