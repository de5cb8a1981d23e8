"""The rounds of a fit, within their cost."""

from dataclasses import replace

import pytest

from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.rounds import GAUSSIAN, PURE, _part_of_bound, rounds
from dpstats.privacy import GDP, PureDP
from dpstats.testing import insecure_seed
from tests.checks.newton_queries import queries


@pytest.mark.parametrize("shares", [GAUSSIAN, PURE])
def test_all_of_a_cost_is_given_away(shares):
    whole = shares.marginals + shares.count + shares.response
    assert whole + shares.spent * (1 - shares.marginals) == pytest.approx(1, abs=1e-12)


def test_rounds_of_an_epsilon_alone_spend_what_they_say():
    with insecure_seed(1):
        asked = queries(0.0, PureDP(60.0))
        fitted = rounds(asked, Counted(4000.0, 1.0), PureDP(60.0))
    spent = [event.cost.epsilon for event in asked.noise.events]
    assert sum(spent) == pytest.approx(PURE.spent * 60)
    kinds = {event.step: event.mechanism for event in asked.noise.events}
    assert (kinds["scores"], kinds["score norms"]) == ("spherical", "laplace")
    assert not fitted.wild and fitted.state.variance.max() < 0.01


def test_the_rounds_spend_what_they_say_and_find_the_slopes():
    mu = 40.0
    with insecure_seed(1):
        asked = queries(mu)
        fitted = rounds(asked, Counted(4000.0, 1.0), GDP(mu))
    spent = sum(event.cost.mu**2 for event in asked.noise.events)
    assert spent == pytest.approx(GAUSSIAN.spent * mu**2)
    assert not fitted.wild and fitted.state.variance.max() < 0.01


def test_even_weights_leave_room_below_the_bound_on_products():
    """Halfway from their mean to the largest; rows of units, and few large weights, need it all."""
    asked = queries(1.0)
    found = [_part_of_bound(asked, Counted(1000.0, part=part)) for part in (1.0, 0.6, 0.5, 0.4)]
    assert found == pytest.approx([1, 0.8, 0.75, 1])
    for kind in ("by_unit", "paired"):
        others = asked.with_problem(replace(asked.problem, **{kind: True}))
        assert _part_of_bound(others, Counted(1000.0, part=0.6)) == 1
