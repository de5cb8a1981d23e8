"""Report the noise that a release drew, the budget it spent and its assumptions."""

import math
from dataclasses import dataclass

from dpstats.privacy.costs import GDP, Cost, added, gdp_epsilon


@dataclass(frozen=True)
class Event:
    """Record one draw of noise: the released quantity, its sensitivity and the scale of the noise.

    ``sensitivity`` and ``scale`` are in the units of the released quantity after
    scaling to the unit box; ``scale`` is the Laplace scale, the Gaussian standard
    deviation, or (a choice by scores) 2 sensitivity / epsilon, where under GDP epsilon is
    the cost's ``loss_range``. For Student-t noise on a smooth sensitivity, which is
    private, they are the largest there can be. A sample from a posterior exp(-F / scale)
    states how far one row moves F: its largest residual, or the range of its loss; a
    perturbed minimiser the norm of its gradient.
    """

    step: str
    mechanism: str
    sensitivity: float
    scale: float
    cost: Cost

    @property
    def deviation(self) -> float:
        """Return the standard deviation of Gaussian or Laplace noise."""
        return self.scale * (math.sqrt(2) if self.mechanism == "laplace" else 1.0)


@dataclass(frozen=True)
class PrivacyReport:
    """Report the guarantee of a release, the spending of each step and the assumptions.

    ``epsilon`` and ``delta`` are the guarantee of the whole release under
    ``neighbors``; ``events`` are the recorded draws; ``private`` is False when the
    noise came from a seeded generator, in which case nothing is guaranteed. ``parallel`` says
    that the events are the worst of groups which share no row and may have taken different steps.
    """

    neighbors: str
    epsilon: float
    delta: float
    limit: Cost
    events: tuple[Event, ...]
    assumptions: tuple[str, ...]
    private: bool = True
    parallel: bool = False

    @property
    def spent(self) -> tuple[float, float]:
        """Compose (epsilon, delta) from the recorded events.

        Less than the guarantee when a released failure ended the fit early. Where groups took
        different steps, no group took all of them, and what bounds each is the guarantee.
        """
        costs = [event.cost for event in self.events]
        if self.parallel and not self.limit.covers(costs):
            return self.limit.guarantee(self.delta)
        if not isinstance(self.limit, GDP):
            return added(costs)
        mu = math.sqrt(math.fsum(cost.mu**2 for cost in costs if isinstance(cost, GDP)))
        return (gdp_epsilon(mu, self.delta), self.delta) if mu else (0.0, 0.0)

    def shares(self) -> list[tuple[Event, float]]:
        """List each event with its fraction of the budget."""
        return [(event, self.limit.share(event.cost)) for event in self.events]
