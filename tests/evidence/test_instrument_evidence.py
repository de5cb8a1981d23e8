"""What is told of a regression with instruments."""

import numpy as np

from dpstats.evidence import InstrumentEvidence
from dpstats.evidence.stack import evidence_from_plain
from dpstats.inference import Estimate

EVIDENCE = InstrumentEvidence(
    privacy_cov=np.eye(2), down_weighted=0.1, reduced=np.ones((2, 1)), reduced_cov=np.eye(2),
    fit_rows=900.0, fit_rows_error=9.0,
)  # fmt: skip


def test_the_number_of_rows_alone_stands_above_the_table():
    figures = EVIDENCE.goodness(2, np.array([1.0, 0.0]), Estimate())
    assert (figures.rows.value, figures.rows.error) == (900.0, 9.0)
    assert np.isnan(figures.rsquared.value) and "no R-squared" in figures.reason
    assert EVIDENCE.model == "IV-2SLS"


def test_it_is_restored_from_its_plain_content():
    again = evidence_from_plain(EVIDENCE.to_plain())
    assert isinstance(again, InstrumentEvidence)
    assert again.to_plain() == EVIDENCE.to_plain()
