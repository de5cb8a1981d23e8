"""Report the noise that a release drew, the budget it spent and its assumptions."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpstats.privacy.costs import GDP, Cost, added, gdp_epsilon

# Above these a guarantee says little: e^16 is nine million.
_LARGE_EPSILON, _LARGE_DELTA = 16.0, 1e-3


def relation_name(neighbors: str, unit: str | None) -> str:
    """Name a relation in budgets, where losses for persons and for rows do not add up.

    >>> relation_name("add_remove", None), relation_name("add_remove", "person_id")
    ('add_remove', 'add_remove of person_id')
    """
    return neighbors if unit is None else f"{neighbors} of {unit}"


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
    ``unit`` names the column of persons whose rows are protected together, each with as many as
    ``max_rows`` in all, or in each of ``max_groups`` groups; None stands for single rows. The
    guarantee is that of so many results ``together``, which are one release.
    """

    neighbors: str
    epsilon: float
    delta: float
    limit: Cost
    events: tuple[Event, ...]
    assumptions: tuple[str, ...]
    private: bool = True
    parallel: bool = False
    unit: str | None = None
    max_rows: int = 1
    max_groups: int = 1
    together: int = 1

    @property
    def difference(self) -> str:
        """Say by what neighbouring tables differ: one row, or all rows of one person."""
        return "one row" if self.unit is None else f"all rows of one {self.unit}"

    @property
    def spent(self) -> tuple[float, float]:
        """Compose (epsilon, delta) from the recorded events.

        Less than the guarantee when a released failure ended the fit early. Where groups took
        different steps, no group took all of them, and what bounds each is the guarantee; so it is
        where a person may be in several groups.
        """
        costs = [event.cost for event in self.events]
        if self.parallel and (self.max_groups > 1 or not self.limit.covers(costs)):
            return self.limit.guarantee(self.delta)
        if not isinstance(self.limit, GDP):
            return added(costs)
        mu = math.sqrt(math.fsum(cost.mu**2 for cost in costs if isinstance(cost, GDP)))
        return (gdp_epsilon(mu, self.delta), self.delta) if mu else (0.0, 0.0)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Say in words where epsilon or delta is so large that the guarantee says little."""
        said = []
        if self.epsilon > _LARGE_EPSILON:
            said.append(
                f"caution: epsilon = {self.epsilon:g} is large: an output may be "
                f"e^{self.epsilon:.3g} times as probable with a person as without, so the release "
                "can make it all but certain who is in the data"
            )
        if self.delta > _LARGE_DELTA:
            said.append(
                f"caution: delta = {self.delta:g} is large: with so much probability a release may "
                "show a person's values as they are, so keep it far below 1 / n"
            )
        return tuple(said)

    def shares(self) -> list[tuple[Event, float]]:
        """List each event with its fraction of the budget."""
        return [(event, self.limit.share(event.cost)) for event in self.events]


def distinct(reports: Iterable[PrivacyReport]) -> list[PrivacyReport]:
    """Return the report of each release once, whatever is shown of it.

    Groups of one call have one report. Several results that are one release have equal ones, also
    where they were stored, and no other release draws the same noise at the same limits.
    """
    found = {report if report.together > 1 else id(report): report for report in reports}
    return list(found.values())
