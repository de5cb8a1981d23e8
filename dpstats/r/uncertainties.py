"""Describe by plain values what R computes standard errors, intervals and tests from."""

from typing import Any

import numpy as np

from dpstats.inference import ClusterWald, InstrumentWald, Uncertainty
from dpstats.inference.quantile_intervals import Ends
from dpstats.inference.wald import Wald


def described(errors: Uncertainty, params: np.ndarray) -> dict:
    """List the released numbers of G fits of S coefficients, each flat with the groups first.

    ``params`` are the estimates that the standard errors are about; R's file ``inference.R``
    has the formulas, and its tests compare both languages.

    >>> one = Wald(np.zeros((1, 2)), np.eye(2)[None], np.array([False]))
    >>> described(one, one.params)["cov"]
    [1.0, 0.0, 0.0, 1.0]
    """
    groups, size = params.shape
    common = {"groups": float(groups), "size": float(size), "params": _flat(params)}
    if isinstance(errors, Wald):
        hidden = {} if errors.hidden_cov is None else {"hidden": _flat(errors.hidden_cov)}
        parts = {"cov": errors.cov, "unbounded": errors.unbounded}
        if isinstance(errors, ClusterWald):
            parts["degrees"] = errors.degrees()
        if isinstance(errors, InstrumentWald):
            parts["strength"] = errors.strengths()
        return common | {"kind": "wald", **_all_flat(parts), **hidden}
    if isinstance(errors, Ends):
        parts = {"points": errors.points, "ends": errors.ends, "level": errors.level}
        return common | {"kind": "ends", **_all_flat(parts)}
    pivot: Any = errors  # compiled, so slow to import where it is not needed
    parts = {"cov": pivot.covariance(), "sums": pivot.sums, "scales": pivot.scales}
    return common | {
        "kind": "pivot",
        **_all_flat(parts | {"squares": pivot.squares, "line": pivot.line}),
    }


def _all_flat(parts: dict) -> dict[str, list]:
    return {name: _flat(values) for name, values in parts.items()}


def _flat(values) -> list[float]:
    return np.asarray(values, dtype=float).ravel().tolist()
