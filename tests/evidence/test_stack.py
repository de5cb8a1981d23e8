"""The evidence of groups is stacked whatever kinds they released, and stored alike."""

import json

import numpy as np
import pytest

import dpstats as dp
from dpstats.estimators.contract import Release
from dpstats.evidence import (
    Columns,
    EndsEvidence,
    Evidence,
    LineEvidence,
    Stack,
    evidence_from_plain,
)

LINE = LineEvidence(totals=np.arange(6.0), sigma2=0.5)


def release(evidence, companion=None) -> Release:
    return Release(np.ones(2), np.empty(0), np.eye(2), evidence=evidence, companion=companion)


def test_groups_of_two_kinds_are_a_stack_of_the_richer_one():
    for releases in ([Evidence(rows=3.0), LINE], [LINE, Evidence(rows=3.0)]):
        stack = Stack.of([release(known) for known in releases], 2)
        assert isinstance(stack.evidence, LineEvidence) and not stack.has_companions
        again = [stack.evidence[g].to_plain() for g in range(2)]
        assert again == [known.to_plain() for known in releases]


def test_a_companion_takes_the_place_of_its_release():
    own, other = Evidence(rows=3.0), release(LINE)
    stack = Stack.of([release(own, companion=other), other], 2)
    assert stack.has_companions and np.isfinite(stack.evidence.totals).all()
    assert stack.evidence.rows is None


def test_no_groups_have_a_stack():
    stack = Stack.of([], 2)
    assert stack.params.shape == (0, 2) and stack.cov.shape == (0, 2, 2)


def test_groups_are_filled_in_one_by_one_or_together():
    columns = Columns(3, 2)
    together = LineEvidence(totals=np.arange(12.0).reshape(2, 6), sigma2=[1.0, 2.0])
    columns.put(np.array([2, 0]), np.ones((2, 2)), np.zeros((2, 2, 2)), together)
    columns.put(1, np.full(2, 5.0), None, Evidence(clipped_share=0.25))
    stack = columns.stack(False)
    assert stack.evidence.sigma2[[2, 0]].tolist() == [1.0, 2.0]
    assert np.isnan(stack.evidence.totals[1]).all() and np.isnan(stack.cov[1]).all()
    assert stack.params[:, 0].tolist() == [1.0, 5.0, 1.0]
    assert np.isnan(stack.evidence.clipped_share[[0, 2]]).all()


def test_a_number_of_another_shape_is_refused():
    columns = Columns(2, 2)
    with pytest.raises(ValueError, match="params"):
        columns.put(0, np.ones(1), None, Evidence())
    columns.put(0, np.ones(2), None, EndsEvidence(level=0.9, points=np.eye(2), ends=np.eye(2)))
    wide = EndsEvidence(level=0.9, points=np.ones((3, 2)), ends=np.ones((3, 2)))
    with pytest.raises(ValueError, match="points"):
        columns.put(1, np.ones(2), None, wide)


def test_a_stack_survives_json():
    stack = Stack.of([release(LINE), release(Evidence(rows=3.0))], 2)
    content = stack.to_plain()
    again = Stack.from_plain(json.loads(json.dumps(content, allow_nan=False)), 2)
    assert again.to_plain() == content and isinstance(again.evidence, LineEvidence)


@pytest.mark.parametrize("known", [LINE, Evidence(), EndsEvidence(level=0.9, points=np.eye(2),
                                                                  ends=np.eye(2))])  # fmt: skip
def test_stored_evidence_names_its_kind(known):
    again = evidence_from_plain(known.to_plain())
    assert type(again) is type(known) and again.to_plain() == known.to_plain()
    with pytest.raises(KeyError):
        evidence_from_plain({**known.to_plain(), "kind": "Other"})


@pytest.mark.parametrize("method", list(dp.METHODS))
def test_every_method_has_evidence_that_is_stored_and_stacked(method):
    data = dp.simulate.line(300, seed=1).assign(g=["a", "b", "c"] * 100)
    call = {"method": method, "epsilon": 8, "bounds": {"x": (0, 1), "y": (0, 1)}}
    with dp.testing.insecure_seed(1):
        by = dp.dp_ols("y ~ x", data, by="g", groups=["a", "b", "c"], **call)
    for _, result in by.items():
        evidence = result.release.basis.evidence
        assert evidence_from_plain(evidence.to_plain()).to_plain() == evidence.to_plain()
        assert dp.DPResults.from_json(result.to_json()) == result
