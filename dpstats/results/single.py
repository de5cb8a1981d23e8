"""What a fit returns: releases and public facts, under statsmodels' names."""

import json
import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass

import numpy as np

from dpstats.errors import ArgumentError, NotReleasedError
from dpstats.formula import Design, Formula, RFormula
from dpstats.mechanisms.shared import Release
from dpstats.privacy import GDP, ApproxDP, Cost, Event, PrivacyReport, PureDP
from dpstats.results.inference_mixin import Inferred
from dpstats.schema import Categorical, Numeric, Schema

_NEVER = {
    ("resid", "fittedvalues", "wresid"): "row by row it is the confidential data",
    ("rsquared", "rsquared_adj", "ssr", "mse_resid", "scale", "fvalue", "f_pvalue"): (
        "it was not paid for"
    ),
    ("aic", "bic", "llf"): "the likelihood of confidential rows was not released",
    ("model", "df_resid"): "a result keeps no rows and no private count",
}
DIALECTS = {"patsy": str, "R": RFormula}
_REFUSED = {name: reason for names, reason in _NEVER.items() for name in names}


@dataclass(frozen=True, repr=False, eq=False)
class DPResults(Inferred):
    """A private regression: released numbers, public facts and the privacy report.

    It holds no row of the data and nothing computed from the data without noise, so it
    may be printed, pickled and published. What was not released is NaN and ``reasons``
    says why.

    Attributes
    ----------
    formula, method, status : str
        ``status`` is ``"ok"`` or the released failure.
    release : Release
        Coefficients, predictions and covariance as released.
    names : tuple of str
        Design columns, in the order of ``params``.
    points : tuple of str
        Labels of the prediction points.
    x_new : numpy.ndarray, shape (q, S)
        Their design rows.
    nobs : int or None
        Number of complete rows where it is public (replace-one), else None.
    schema, term_bounds : mapping
        The public schema the design was built on.
    privacy : PrivacyReport
    selected : tuple of str or None
        Terms kept by ``select=``, in the order of their choice; ``formula`` holds only these.
    share : float
        Share of the budget that the method itself got, beside ranges, terms and a companion.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(2000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     res = dp.dp_ols("y ~ x", df, method="exp_theil_sen", epsilon=8,
    ...                     bounds={"x": (0, 1), "y": (0, 1)})
    >>> round(res.p75 - res.p25, 1)
    0.2
    >>> dp.DPResults.from_json(res.to_json()).params.equals(res.params)
    True
    """

    formula: str
    method: str
    release: Release
    names: tuple[str, ...]
    points: tuple[str, ...]
    x_new: np.ndarray
    nobs: int | None
    schema: Schema
    term_bounds: Mapping[str, tuple[float, float]]
    privacy: PrivacyReport
    selected: tuple[str, ...] | None = None
    plan: str = ""
    share: float = 1.0

    @property
    def method_report(self) -> str:
        """What ``method="auto"`` chose and why, and what a release says of itself."""
        companion = self.release.companion
        notes = self.plan, self.release.note, companion and companion.note
        return "; ".join(filter(None, notes))

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray, tuple[float, float]] | None:
        """Where predictions hold fast: bounds of design rows and of the response, or None.

        A fit of ``shrunken`` saw rows clipped to these bounds; so do its predictions.
        """
        if not self.release.limited:
            return None
        design = self._design()
        return design.low, design.high, design.response_bounds

    def _design(self) -> Design:
        return Formula.parse(self.formula).design(self.schema, self.term_bounds)

    @property
    def p25(self) -> float:
        """Prediction a quarter into the declared range of the only regressor."""
        return self._point("p25")

    @property
    def p75(self) -> float:
        """Prediction three quarters into the declared range of the only regressor."""
        return self._point("p75")

    def _point(self, label: str) -> float:
        if label not in self.points:
            raise AttributeError(label)  # Python then asks __getattr__, which gives the reason
        return float(self.predictions[label])

    def __getattr__(self, name: str):
        if name in ("p25", "p75"):
            raise NotReleasedError(
                f"{name} exists for one numeric regressor and the default x_new; pass x_new= as "
                'a data frame with the index ["p25", "p75"], or use predict(newdata)'
            )
        if name in _REFUSED:
            raise NotReleasedError(
                f"{name} does not exist for a private fit: {_REFUSED[name]}; params, "
                "predict(newdata), conf_int() and summary() do"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def summary(self, alpha: float = 0.05):
        """A statsmodels Summary with a privacy block; print it or call ``as_latex()``."""
        from dpstats.results.summary import summarise

        return summarise(self, alpha)

    def __eq__(self, other) -> bool:
        return isinstance(other, DPResults) and self.to_dict() == other.to_dict()

    __hash__ = None

    def __repr__(self) -> str:
        return str(self.summary())

    def plot(self, ax=None):
        """Draw the fitted line over the declared range; needs matplotlib."""
        from dpstats.results.plot import line

        return line(self, ax)

    def to_dict(self) -> dict:
        """Plain numbers, strings, lists and dicts; NaN becomes None."""
        release = self.release
        return {
            "formula": str(self.formula),
            "dialect": next(n for n, kind in DIALECTS.items() if type(self.formula) is kind),
            "selected": None if self.selected is None else list(self.selected),
            "plan": self.plan,
            "share": self.share,
            "method": self.method,
            "nobs": self.nobs,
            "params": dict(zip(self.names, _plain(release.params), strict=True)),
            "predictions": dict(zip(self.points, _plain(release.predictions), strict=True)),
            "x_new": self.x_new.tolist(),
            **_release_to_dict(release),
            "schema": {name: _kind_to_dict(kind) for name, kind in self.schema.items()},
            "term_bounds": {name: list(pair) for name, pair in self.term_bounds.items()},
            "privacy": _report_to_dict(self.privacy),
        }

    @classmethod
    def from_dict(cls, content: Mapping) -> "DPResults":
        """The inverse of :meth:`to_dict`."""
        release = _release_from_dict(
            content, content["params"].values(), content["predictions"].values()
        )
        return cls(
            formula=DIALECTS[content["dialect"]](content["formula"]),
            method=content["method"],
            release=release,
            names=tuple(content["params"]),
            points=tuple(content["predictions"]),
            x_new=np.array(content["x_new"], dtype=float).reshape(-1, len(content["params"])),
            nobs=content["nobs"],
            schema={name: _kind_from_dict(kind) for name, kind in content["schema"].items()},
            term_bounds={name: tuple(pair) for name, pair in content["term_bounds"].items()},
            privacy=_report_from_dict(content["privacy"]),
            selected=content["selected"] and tuple(content["selected"]),
            plan=content["plan"],
            share=content["share"],
        )

    def to_json(self) -> str:
        """JSON text from which :meth:`from_json` restores an equal result."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "DPResults":
        """Restore a result from :meth:`to_json`; ArgumentError for any other text."""
        try:
            return cls.from_dict(json.loads(text))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, ArgumentError):
                raise
        raise ArgumentError("expected text that to_json() of a DPResults wrote")


def _plain(values) -> list:
    """Nested lists of Python floats, None for NaN."""
    if np.ndim(values) > 1:
        return [_plain(row) for row in values]
    return [None if math.isnan(value) else float(value) for value in values]


def _array(values) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _release_to_dict(release: Release) -> dict:
    """All of a release but its coefficients and predictions."""
    companion = release.companion
    return {
        "status": release.status,
        "cov": None if release.cov is None else _plain(release.cov),
        "reasons": dict(release.reasons),
        "statistics": deepcopy(dict(release.statistics)),
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
    cov, companion = content["cov"], content["companion"]
    # results stored before there was a field show by the released squares that they are robust
    former = "HC1" if "meat" in content["statistics"] else "nonrobust"
    return Release(
        params=_array(params),
        predictions=_array(predictions),
        cov=None if cov is None else np.array([_array(row) for row in cov]),
        status=content["status"],
        reasons=dict(content["reasons"]),
        statistics=deepcopy(dict(content["statistics"])),
        note=content["note"],
        limited=content["limited"],
        cov_type=content.get("cov_type", former),
        companion=companion
        and _release_from_dict(companion, companion["params"], companion["predictions"]),
    )


def _kind_to_dict(kind: Numeric | Categorical) -> dict:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(kind).items()}


def _kind_from_dict(content: Mapping) -> Numeric | Categorical:
    if "levels" in content:
        return Categorical(tuple(content["levels"]), content["ordered"])
    return Numeric(**content)


def _report_to_dict(report: PrivacyReport) -> dict:
    content = asdict(report)
    content["events"] = [asdict(event) for event in report.events]
    content["assumptions"] = list(report.assumptions)
    return content


def cost_from_dict(fields: Mapping) -> Cost:
    """The cost whose fields these are."""
    if "mu" in fields:
        return GDP(**fields)
    return ApproxDP(**fields) if "delta" in fields else PureDP(**fields)


def _report_from_dict(content: Mapping) -> PrivacyReport:
    events = tuple(Event(**{**e, "cost": cost_from_dict(e["cost"])}) for e in content["events"])
    return PrivacyReport(
        **{
            **content,
            "limit": cost_from_dict(content["limit"]),
            "events": events,
            "assumptions": tuple(content["assumptions"]),
        }
    )
