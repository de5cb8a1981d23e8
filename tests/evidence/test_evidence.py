"""What all evidence does: it is frozen, stacked by group, taken apart and stored."""

import dataclasses
import math

import numpy as np
import pytest

from dpstats.evidence import Evidence, LineEvidence, SumsEvidence
from dpstats.inference import Estimate

PUBLIC, PRIVATE = Estimate(100.0, 0.0), Estimate()


def test_it_holds_floats_that_cannot_be_changed():
    known = Evidence(rows=3, response_range=[0, 1])
    assert known.values().keys() == {"rows", "response_range"} and known.sigma2 is None
    assert all(value.dtype == float for value in known.values().values())
    with pytest.raises(ValueError, match="read-only"):
        known.response_range[0] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        known.rows = 4.0


def test_the_array_that_it_was_given_stays_as_it_was():
    ends = np.array([0.0, 1.0])
    known = Evidence(response_range=ends)
    assert ends.flags.writeable and not known.response_range.flags.writeable


def test_a_release_of_a_stack_is_of_the_kind_of_what_it_released():
    totals = np.array([np.arange(6.0), np.full(6, np.nan)])
    stack = LineEvidence(totals=totals, sigma2=[0.5, np.nan], clipped_share=[np.nan, 0.25])
    first, second = stack[0], stack[1]
    assert isinstance(first, LineEvidence) and first.clipped_share is None
    assert first.sigma2 == 0.5 and np.array_equal(first.totals, totals[0])
    assert type(second) is Evidence and second.to_plain() == {
        "kind": "Evidence", "clipped_share": 0.25,
    }  # fmt: skip


def test_plain_content_restores_it():
    known = Evidence(rows=12, hidden_cov=[[1.0, np.nan], [0.0, 2.0]])
    content = known.to_plain()
    assert content == {"kind": "Evidence", "rows": 12.0, "hidden_cov": [[1.0, None], [0.0, 2.0]]}
    del content["kind"]
    assert Evidence.from_plain(content).to_plain() == known.to_plain()


@pytest.mark.parametrize(
    "content",
    [{"rows": [1.0]}, {"hidden_cov": [1.0]}, {"response_range": 1.0}, {"other": 1.0},
     {"rows": "x"}, {"hidden_cov": [[1.0], [1.0, 2.0]]}],
    ids=str,
)  # fmt: skip
def test_content_of_another_shape_is_refused(content):
    with pytest.raises((TypeError, ValueError)):
        Evidence.from_plain(content)


def test_a_stack_has_one_dimension_more():
    assert Evidence.from_plain({"rows": [1.0, None]}, groups=True).rows.shape == (2,)
    with pytest.raises(ValueError, match="rows"):
        Evidence.from_plain({"rows": 1.0}, groups=True)
    with pytest.raises(TypeError, match="gram"):
        SumsEvidence.from_plain({"rows": 1.0})


def test_without_sums_there_are_rows_at_most():
    known = Evidence(rows=12.0)
    assert known.goodness(2, None, PUBLIC).rows == PUBLIC
    private = known.goodness(2, np.ones(2), PRIVATE)
    assert private.rows.value == 12.0 and math.isnan(private.rows.error) and private.is_centred
    assert "holds neither" in private.reason
    assert known.sums() is None and known.covariance(0) is None and known.mean() is None


def test_intervals_are_normal_and_infinite_where_the_noise_hides_all():
    params, cov = np.ones((2, 1)), np.full((2, 1, 1), 4.0)
    known = Evidence(unbounded=[0.0, 1.0])
    low, high = known.uncertainty(params, cov).intervals(np.eye(1), 0.05)[:, 0].T
    np.testing.assert_allclose(high - low, [2 * 1.959964 * 2, np.inf], rtol=1e-6)


def test_the_mean_of_the_response_has_its_error():
    known = Evidence(response_mean=2.0, response_mean_error=0.5)
    assert known.mean() == Estimate(2.0, 0.5)
