"""The rounds of a fit, within their cost."""

import pytest

from dpstats.estimators.newton.queries import Counted
from dpstats.estimators.newton.rounds import SPENT, rounds
from dpstats.privacy import GDP
from dpstats.testing import insecure_seed
from tests.checks.newton_queries import queries


def test_the_rounds_spend_what_they_say_and_find_the_slopes():
    mu = 40.0
    asked = queries(mu)
    with insecure_seed(1):
        fitted = rounds(asked, Counted(4000.0, 1.0), GDP(mu))
    spent = sum(event.cost.mu**2 for event in asked.noise.events)
    assert spent == pytest.approx(SPENT * mu**2)
    assert not fitted.wild and fitted.state.variance.max() < 0.01
