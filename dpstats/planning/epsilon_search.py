"""Search a public grid for the minimum epsilon at which an interval is narrow enough."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import positive
from dpstats.planning.forecast import MinimumEpsilon
from dpstats.planning.simulation import Simulation
from dpstats.planning.trials import OLS, Trials, median_ranks

# Steps of 7.5% from 0.01 to 100, to three digits.
GRID = tuple(float(f"{epsilon:.3g}") for epsilon in np.geomspace(0.01, 100, 129))


@dataclass(frozen=True)
class Target:
    """Ask for a median interval of quantity ``place`` that is at most ``width`` wide.

    Parameters
    ----------
    width : float
        In units of the quantity.
    place : int
    text : str
        The same in words.
    """

    width: float
    place: int
    text: str

    @classmethod
    def of(cls, width, term, terms: Sequence[str], slopes: Sequence[str]) -> "Target":
        """Check the target for a term, by default the only slope."""
        width = positive("target_width")(width)
        if term is None and len(slopes) == 1:
            term = slopes[0]
        if not isinstance(term, str) or term not in terms:
            raise ArgumentError(
                f"expected term, whose interval is to be narrow, to be one of {', '.join(terms)}, "
                f"got {shown(term)}"
            )
        text = f"Minimum epsilon for a median interval of {term} of width {width:g}"
        return cls(width, list(terms).index(term), text)

    def search(
        self, method: str, trials_at: Callable[[float], Trials], grid: Sequence[float]
    ) -> tuple[MinimumEpsilon, dict[float, Trials]]:
        """Bisect for the minimum epsilon of a grid; return it with the trials at visited values.

        All epsilons see the same tables and random numbers, so that widths fall with epsilon.
        The limits of the 95% interval for the median width, two order statistics, are searched
        for in the same way: the minimum epsilon lies between the two results.
        """
        visited: dict[float, Trials] = {}

        def width(epsilon: float, percentile: float) -> float:
            if epsilon not in visited:
                visited[epsilon] = trials_at(epsilon)
            return visited[epsilon].width(percentile)[self.place]

        def first(percentile: float) -> float:
            place = bisect_left(grid, True, key=lambda e: width(e, percentile) <= self.width)
            return grid[place] if place < len(grid) else np.inf

        if np.isnan(width(grid[-1], 50)):
            return MinimumEpsilon(method, np.nan, np.nan, np.nan), visited
        low, high = median_ranks(len(visited[grid[-1]].estimates))
        return MinimumEpsilon(method, first(50), first(low), first(high)), visited


def asked_target(width, term, precision, simulation: Simulation) -> Target | None:
    """Return the target of a search, if a width is given."""
    if width is not None and precision is not None:
        raise ArgumentError(
            f"a search compares all tables, got precision={shown(precision)} with target_width=; "
            "give one of them"
        )
    if width is not None:
        return Target.of(width, term, simulation.terms, simulation.slopes)
    if term is not None:
        raise ArgumentError(f"term={shown(term)} goes with target_width=; give both or neither")
    return None


def search_each(target: Target, simulation: Simulation, build, labels, epsilons):
    """Search for each label; return the minimums, and the trials by label and epsilon."""
    minimums, trials = [], {}
    for label in labels:

        def trials_at(epsilon: float, label: str = label) -> Trials:
            return simulation.trials([build(label, epsilon)])[0]

        minimum, visited = target.search(label, trials_at, epsilons)
        minimums.append(minimum)
        trials |= {(label, epsilon): visited[epsilon] for epsilon in sorted(visited)}
    (trials[OLS, np.inf],) = simulation.trials([None])
    return tuple(minimums), trials
