"""What is told of a logistic and of a Poisson regression."""

import numpy as np
import pytest

from dpstats.evidence import Evidence, LogisticEvidence, PoissonEvidence
from dpstats.evidence.stack import evidence_from_plain
from dpstats.inference import Estimate

EVIDENCE = LogisticEvidence(
    privacy_cov=np.eye(2), down_weighted=0.1, mean_slope=0.2, mean_slope_error=0.01,
    slope_gradient=np.array([0.1, -0.1]), fit_rows=900.0, fit_rows_error=9.0,
)  # fmt: skip


def test_means_are_probabilities_and_slopes_their_derivatives():
    index = np.array([-np.inf, -1.0, 0.0, 2.0, np.inf])
    assert EVIDENCE.means(index) == pytest.approx([0, 0.26894, 0.5, 0.88080, 1], abs=1e-5)
    step = (EVIDENCE.means(index[1:4] + 1e-6) - EVIDENCE.means(index[1:4])) * 1e6
    assert EVIDENCE.slopes(index[1:4]) == pytest.approx(step, abs=1e-5)


def test_of_a_line_they_are_the_index_and_one():
    index = np.array([-3.0, 5.0])
    assert Evidence().means(index) is index and Evidence().slopes(index).tolist() == [1, 1]
    assert Evidence().model == "Regression" and EVIDENCE.model == "Logit"


def test_the_number_of_rows_alone_stands_above_the_table():
    figures = EVIDENCE.goodness(2, np.array([1.0, 0.0]), Estimate())
    assert figures.rows == Estimate(900.0, 9.0) and np.isnan(figures.rsquared.value)
    assert "prsquared, in its place" in figures.reason


def test_it_is_restored_from_plain_content():
    again = evidence_from_plain(EVIDENCE.to_plain())
    assert type(again) is LogisticEvidence and again.to_plain() == EVIDENCE.to_plain()


def test_means_of_counts_are_exponentials_and_their_own_slopes():
    counts = PoissonEvidence(**EVIDENCE.values())
    index = np.array([-np.inf, 0.0, 2.0, 1e4])
    assert counts.means(index) == pytest.approx([0, 1, np.exp(2), np.inf])
    assert counts.slopes(index).tolist() == counts.means(index).tolist()
    assert counts.model == "Poisson"
    reason = counts.goodness(2, None, Estimate()).reason
    assert reason.endswith("so a Poisson regression has no pseudo R-squared here")
    again = evidence_from_plain(counts.to_plain())
    assert type(again) is PoissonEvidence and again.to_plain() == counts.to_plain()
