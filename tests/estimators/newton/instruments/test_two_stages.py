"""Two stages from two reduced forms: against the formulas, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import Instruments, Release
from dpstats.estimators.newton.instruments.two_stages import ReducedForms, structural
from dpstats.evidence import NewtonEvidence
from tests.checks.noisy_newton import factor_case

SIZE = 3
COV = 1e-4 * np.eye(SIZE)


def reduced(params, cov=COV, hidden=None, status="ok", reasons=None) -> Release:
    evidence = NewtonEvidence(
        hidden_cov=np.zeros((SIZE, SIZE)) if hidden is None else hidden, privacy_cov=cov / 2,
        rows=1000.0, down_weighted=0.0, response_range=(-9.0, 9.0), fit_rows=1000.0,
        fit_rows_error=1.0,
    )  # fmt: skip
    return Release(np.array(params), np.zeros(0), cov, status, reasons or {}, evidence)


def problem(columns=(2,), places=(0, 1, -1)):
    return replace(
        factor_case("add_remove").problem, instruments=Instruments(columns, places, None)
    )


def test_one_instrument_divides_the_reduced_forms():
    y, d = reduced([2.0, 1.0, 0.3]), reduced([1.0, 0.2, 0.6])
    cross = 2e-5 * np.eye(SIZE)
    found = structural(ReducedForms(y, d, cross, np.eye(SIZE)), problem())
    assert found.params == pytest.approx([2 - 0.5, 1 - 0.1, 0.5])
    variance = 1e-4 - 2 * 0.5 * 2e-5 + 0.25 * 1e-4
    ratio = np.array([1 / 0.6, 0.2 / 0.6])
    assert found.cov[2, 2] == pytest.approx(variance * ratio[0] ** 2)
    assert found.cov[1, 1] == pytest.approx(variance * (1 + ratio[1] ** 2))
    assert found.evidence.reduced_cov.tolist() == [[1e-4, 2e-5], [2e-5, 1e-4]]
    assert found.status == "ok" and not found.reasons


def test_several_are_weighted_by_what_moves_with_them():
    y, d = reduced([0.0, 0.4, 0.2]), reduced([0.0, 1.0, 0.2])
    directions = np.diag([1.0, 1.0, 0.5])  # so the second instrument has a variance of 4
    forms = ReducedForms(y, d, 0 * COV, directions)
    found = structural(forms, problem((1, 2), (0, -1)))
    assert found.params[1] == pytest.approx((0.4 * 1 + 4 * 0.2 * 0.2) / (1 + 4 * 0.2**2))


def test_an_instrument_that_noise_hides_leaves_nothing_known():
    hidden = np.diag([0, 0, 1e-4])
    y = reduced([2.0, 1.0, 0.3], hidden=hidden, reasons={"bse": "why", "conf_int": "why"})
    found = structural(ReducedForms(y, reduced([1.0, 0.2, 0.6]), 0 * COV, np.eye(3)), problem())
    assert found.status == "weak_instruments" and found.reasons["conf_int"] == "why"
    assert np.isnan(found.evidence.reduced).all()
    assert found.evidence.hidden_cov.tolist() == found.cov.tolist()


def test_a_noisy_reduced_form_makes_a_noisy_fit():
    y, d = reduced([2.0, 1.0, 0.3], status="imprecise"), reduced([1.0, 0.2, 0.6])
    assert structural(ReducedForms(y, d, 0 * COV, np.eye(3)), problem()).status == "imprecise"


def test_an_instrument_without_effect_gives_numbers_all_the_same():
    y, d = reduced([2.0, 1.0, 0.3]), reduced([1.0, 0.2, 0.0])
    found = structural(ReducedForms(y, d, 0 * COV, np.eye(3)), problem())
    assert np.isfinite(found.params).all() and found.status == "weak_instruments"
