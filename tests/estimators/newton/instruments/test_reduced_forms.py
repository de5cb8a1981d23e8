"""Reduced forms of y and of d: their coefficients, and how their errors go together."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.instruments.reduced_forms import ReducedForms
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.rounds import rounds
from dpstats.privacy import GDP
from tests.checks.newton_queries import queries

COUNTED = Counted(4000.0, 1.0)


def forms() -> tuple[ReducedForms, np.ndarray]:
    """Two fits of the same response, of which d's is in a unit of 3, and equal joint scores."""
    asked = queries(1e6)
    fit = rounds(asked, COUNTED, GDP(1e5))
    reference = replace(asked.reference, y_scale=3 * asked.reference.y_scale)
    of_d = replace(asked, problem=replace(asked.problem, reference=reference))
    other = replace(fit, steps=replace(fit.steps, queries=of_d))
    products = fit.state.square * fit.steps.rows * np.eye(len(fit.state.eta))
    joint = np.kron(np.ones((2, 2)), products)
    return ReducedForms.of(fit, other, joint, COUNTED, ""), products


def test_equal_scores_are_perfectly_correlated():
    found, _ = forms()
    sampling = found.y.cov - found.evidence[0].privacy_cov
    np.testing.assert_allclose(found.cross, 3 * sampling, rtol=1e-6, atol=1e-9)
    slopes = np.arange(1, len(found.y.params))
    np.testing.assert_allclose(found.d.params[slopes], 3 * found.y.params[slopes], rtol=1e-9)


def test_instruments_have_a_joint_covariance():
    found, _ = forms()
    coefficients, joint = found.of_instruments((3, 4))
    assert coefficients.tolist() == [found.y.params[3:5].tolist(), found.d.params[3:5].tolist()]
    np.testing.assert_allclose(joint, joint.T, rtol=1e-9, atol=1e-15)
    assert joint[:2, 2:].tolist() == found.cross[3:5, 3:5].tolist()


def test_where_one_is_hidden_nothing_of_the_instruments_is_told():
    found, _ = forms()
    evidence = replace(found.evidence[1], hidden_cov=np.asarray(found.d.cov))
    hidden = found._replace(d=replace(found.d, evidence=evidence))
    coefficients, joint = hidden.of_instruments((3, 4))
    assert np.isnan(coefficients).all() and np.isnan(joint).all()
    assert np.isfinite(found.of_instruments((3,))[0]).all()


def test_few_rows_hide_both():
    asked = queries(1e6)
    fit = rounds(asked, COUNTED, GDP(1e5))
    p = len(fit.state.eta)
    found = ReducedForms.of(fit, fit, np.eye(2 * p), COUNTED, "too few")
    assert found.y.reasons["bse"] == found.d.reasons["bse"] == "too few"
    assert found.y.params.tolist() == pytest.approx(found.d.params.tolist())
