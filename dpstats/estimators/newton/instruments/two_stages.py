"""Solve for the coefficients of a regression with instruments, given its two reduced forms."""

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.newton.instruments.reduced_forms import ReducedForms
from dpstats.estimators.newton.steps.coefficient_errors import REASON, CoefficientErrors
from dpstats.evidence import InstrumentEvidence
from dpstats.inference import first_stage_f

# Intervals are shown from this F statistic of the first stage on (Staiger and Stock 1997), by
# critical values that depend on it (InstrumentWald).
STRONG = 10.0
_WEAK = (
    "the released F statistic of the first stage, noise included, is below 10, so intervals are "
    "unbounded; anderson_rubin() has a set that holds with weak instruments"
)
_HIDDEN = "the noise hides how the instruments move the response or the endogenous regressor"


def structural(forms: ReducedForms, problem: Problem) -> Release:
    """Return two-stage least squares with its covariance by the delta method.

    With coefficients pi_y and pi_d of the reduced forms, theta minimises the distance of pi_y from
    P theta in the metric of X'X, where P has unit vectors for x, and pi_d. That is two-stage least
    squares on the same rows; it is off by J (e_y - beta e_d), e the errors of the two and
    J = (P'X'X P)^-1 P'X'X, as P theta is pi_y beside sampling.

    Guarantee. Post-processing of what was released.
    """
    given = problem.instruments
    assert given is not None and forms.y.cov is not None and forms.d.cov is not None
    place = given.structural.index(-1)
    moved = _moved_by_reduced_form(forms, given.structural)
    params = moved @ forms.y.params
    beta = params[place]
    cov = forms.y.cov - beta * (forms.cross + forms.cross.T) + beta**2 * forms.d.cov
    of_y, of_d = forms.evidence
    hidden = moved @ (of_y.hidden_cov + beta**2 * of_d.hidden_cov) @ moved.T
    privacy = moved @ (of_y.privacy_cov + beta**2 * of_d.privacy_cov) @ moved.T
    errors = CoefficientErrors.of(moved @ cov @ moved.T, hidden, privacy)
    coefficients, joint = forms.of_instruments(given.columns)
    strength = first_stage_f(coefficients, joint)
    is_weak = not strength >= STRONG
    evidence = InstrumentEvidence(
        hidden_cov=errors.cov if is_weak else errors.hidden, privacy_cov=errors.privacy,
        rows=of_y.rows,
        down_weighted=max(of_y.down_weighted, of_d.down_weighted),
        response_range=of_y.response_range, fit_rows=of_y.fit_rows,
        fit_rows_error=of_y.fit_rows_error, clusters=of_y.clusters,
        clusters_error=of_y.clusters_error, weighted_rows=of_y.weighted_rows,
        weighted_rows_error=of_y.weighted_rows_error, mean_weight=of_y.mean_weight,
        reduced=coefficients, reduced_cov=joint,
    )  # fmt: skip
    said = {**forms.y.reasons, **forms.d.reasons}
    known = said.get("bse", REASON if errors.lost.any() else None)
    why = known or _HIDDEN if np.isnan(strength) else _WEAK if is_weak else known
    precise = "imprecise" not in (forms.y.status, forms.d.status)
    return Release(
        params=params,
        predictions=np.zeros(0),
        cov=errors.cov,
        status="weak_instruments" if is_weak else "ok" if precise else "imprecise",
        reasons={} if why is None else {"bse": why, "conf_int": why},
        evidence=evidence,
        cov_type=forms.y.cov_type,
        note=max(forms.y.note, forms.d.note, key=len),  # the one that says more
    )


def _moved_by_reduced_form(forms: ReducedForms, structural_columns: tuple[int, ...]) -> np.ndarray:
    """Return J (S', S), by which coefficients follow from those of y on x and z."""
    size = len(forms.y.params)
    unit = np.eye(size)
    P = np.stack([forms.d.params if j < 0 else unit[j] for j in structural_columns], axis=1)
    to_whitened = np.linalg.pinv(forms.directions)
    whitened = to_whitened @ P
    lengths = np.maximum(np.linalg.norm(whitened, axis=0), 1e-300)
    return (np.linalg.pinv(whitened / lengths) / lengths[:, None]) @ to_whitened
