"""The rounds of a fit, within their cost."""

import pytest

from dpstats.estimators.newton.queries import Counted
from dpstats.estimators.newton.rounds import GAUSSIAN, PURE, rounds
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
