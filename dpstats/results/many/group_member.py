"""Take one group out of the regressions of all groups."""

import numpy as np

from dpstats.estimators.contract import Release
from dpstats.estimators.newton.steps.hidden_rows import note_on_hidden_rows
from dpstats.evidence import Evidence
from dpstats.results.one import DPResults


def member(result, g: int) -> DPResults:
    """Return group number g of a :class:`DPGroupResults` as the result of a fit of its own."""
    names, points = result.names[: result.size], result.names[result.size :]
    return DPResults(
        formula=result.formula,
        method=result.method,
        release=_release(result, g),
        names=names,
        points=points,
        x_new=result.x_new,
        public_rows=None if result.sizes is None else int(result.sizes[g]),
        schema=result.schema,
        term_bounds=result.term_bounds,
        privacy=result.privacy,
        selected=result.selected,
        plan=result.plan,
        share=result.share,
        clipping=result.clipping,
        estimated=result.estimated,
        rows_seen=None,
    )


def _release(result, g: int) -> Release:
    """Restore the release of a group; what the intervals are about may be an auxiliary fit."""
    estimates, stack = result.estimates[g], result.stack
    params, predictions = estimates[: result.size], estimates[result.size :]
    basis = Release(
        params=stack.params[g],
        predictions=result.x_new @ stack.params[g],
        cov=_unless_nan(stack.cov[g]),
        evidence=stack.evidence[g],
        cov_type=result.cov_type,
    )
    has_companion = stack.has_companions
    return Release(
        params=params,
        predictions=predictions,
        cov=None if has_companion else basis.cov,
        status=result.released[g],
        reasons=_reasons(result, g),
        evidence=Evidence() if has_companion else basis.evidence,
        companion=basis if has_companion else None,
        note="" if has_companion else note_on_hidden_rows(basis.evidence),
        limited=result.limited,
        cov_type=result.cov_type,
    )


def _unless_nan(cov: np.ndarray) -> np.ndarray | None:
    return None if np.isnan(cov).all() else cov


def _reasons(result, g: int) -> dict[str, str]:
    """Give the reasons for NaN of all groups where this one has any."""
    reason = "; ".join(result.reasons)
    if not reason:
        return {}
    if np.isnan(result.estimates[g]).any():
        return dict.fromkeys(("params", "predictions", "bse"), reason)
    return {"bse": reason} if np.isnan(result.errors[g]).all() else {}
