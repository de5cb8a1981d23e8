"""Fit chunks of groups, together where a method can, else one by one."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpstats.errors import is_interrupt
from dpstats.estimators.contract import InMemory, Method, Problem, Release, Releases
from dpstats.evidence import Stack
from dpstats.noise import Noise, drawn_ahead
from dpstats.numerics import Rows
from dpstats.privacy import REPLACE_ONE, Cost, Event
from dpstats.run.passes import TablePasses


@dataclass(frozen=True)
class GroupedRows:
    """Hold complete rows ordered by group: those of group g are edges[g] to edges[g + 1]."""

    rows: Rows
    edges: np.ndarray

    @classmethod
    def of(cls, prepared: TablePasses, codes: np.ndarray, groups: int) -> "GroupedRows":
        """Order complete rows by group; ``codes`` has one entry per raw row, negative for none."""
        from dpstats.numerics.group_sort import by_group

        parts, of_rows = zip(*prepared.rows(codes), strict=True)
        order, edges = by_group(np.concatenate(of_rows), groups)
        return cls(Rows.joined(parts)[order], edges)

    def __getitem__(self, groups) -> "GroupedRows":
        """Return the rows of some groups, given as an ascending array of group numbers."""
        starts, stops = self.edges[groups], self.edges[groups + 1]
        sizes = stops - starts
        edges = np.r_[0, np.cumsum(sizes)]
        rows = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], sizes)
        return GroupedRows(self.rows[rows], edges)

    @property
    def sizes(self) -> np.ndarray:
        """Count the rows of each group."""
        return np.diff(self.edges)

    @property
    def units(self) -> np.ndarray:
        """Count the privacy units of each group."""
        ends = map(slice, self.edges[:-1], self.edges[1:])
        return np.array([self.rows[own].count for own in ends], dtype=np.int64)


class Part(NamedTuple):
    """Hold the releases of some groups and the events of each, or of all fitted together."""

    groups: np.ndarray
    releases: Releases
    events: Sequence[list[Event]]


class Failure(NamedTuple):
    """Hold the type of the exception that ended a fit, and the groups that were being fitted."""

    kind: str
    groups: np.ndarray


class GroupFit(NamedTuple):
    """Hold what fits a group by its rows alone, for other threads, processes and machines."""

    method: Method
    options: Mapping[str, Any]
    problem: Problem
    cost: Cost

    def release(self, rows: Rows) -> tuple[Release, list[Event]]:
        """Release the fit of one group, and return the events of its noise too."""
        noise = Noise(self.cost)
        release = self.method.release(
            InMemory(rows), self.problem, self.cost, noise, **self.options
        )
        return release, noise.events

    def all_parts(self, rows: GroupedRows) -> list[Part] | Failure:
        """Fit all groups."""
        return self.parts(rows, np.arange(len(rows.sizes)))

    def parts(self, rows: GroupedRows, groups: np.ndarray) -> list[Part] | Failure:
        """Fit some groups, given as an ascending array of numbers."""
        together = self._together(rows.sizes[groups])
        shared, own = groups[together], groups[~together]
        calls = [(self._in_one_go, shared)] if len(shared) else []
        calls += [(self._alone, own[[i]]) for i in range(len(own))]
        found, handled = [], sys.exception()
        with drawn_ahead():
            for fit, some in calls:
                try:
                    found.append(fit(rows, some))
                except Exception as error:
                    if is_interrupt(error, handled):
                        raise KeyboardInterrupt from None
                    return Failure(type(error).__name__, some)
        parts = [Part(shared, found[0][0], [found[0][1]])] if len(shared) else []
        if len(own):
            releases, events = zip(*found[len(parts) :], strict=True)
            parts.append(Part(own, in_columns(releases), events))
        return parts

    def _in_one_go(self, rows: GroupedRows, groups) -> tuple[Releases, list[Event]]:
        own, noise, each = rows[groups], Noise(self.cost), self.method.each
        assert each is not None, "_together asks whether there is one"
        releases = each.release(own.rows, own.edges, self.problem, self.cost, noise, **self.options)
        return releases, noise.events

    def _alone(self, rows: GroupedRows, groups) -> tuple[Release, list[Event]]:
        return self.release(rows.rows[slice(*rows.edges[groups[0] : groups[0] + 2])])

    def _together(self, sizes: np.ndarray) -> np.ndarray:
        """Tell which groups are fitted together.

        The number of rows decides where it is public, or where it decides nothing but the time
        taken.
        """
        each, problem = self.method.each, self.problem
        if (
            each is None
            or problem.by_unit
            or any(self.options[n] is not None for n in each.without)
        ):
            return np.zeros(len(sizes), dtype=bool)
        least, most = each.sizes
        return ((sizes >= least) | (problem.neighbors != REPLACE_ONE)) & (sizes <= most)


def in_columns(releases: Sequence[Release]) -> Releases:
    """Put releases into columns."""
    reasons = (reason for release in releases for reason in release.reasons.values())
    robust = [c for release in releases if (c := release.basis.cov_type) != "nonrobust"]
    return Releases(
        np.stack([release.params for release in releases]),
        np.stack([release.predictions for release in releases]),
        statuses=[release.status for release in releases],
        reasons=tuple(dict.fromkeys(reasons)),
        stack=Stack.of(releases, len(releases[0].params)),
        cov_type=robust[0] if robust else "nonrobust",
        limited=any(release.limited for release in releases),
    )
