"""Release one fit per group: rows are ordered once, groups fitted in chunks by several threads."""

import contextvars
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from dpstats.call import Request
from dpstats.errors import Defect, is_interrupt
from dpstats.estimators.contract import InMemory, Release, Releases
from dpstats.evidence import Columns, Stack
from dpstats.noise import Noise, drawn_ahead
from dpstats.numerics import Rows
from dpstats.privacy import REPLACE_ONE, Event
from dpstats.progress_bar import progress_bar
from dpstats.run.passes import TablePasses

# Enough groups that a chunk's own overhead vanishes, few enough that its pairs fit in a cache.
_CHUNK = 256


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


class Outcomes:
    """Collect the released columns of all groups, part by part.

    ``cov_type`` is "HC1" or "cluster" where any group's inference is, and ``limited`` says that any
    group's predictions are of clipped rows. ``sizes`` are the groups' numbers of complete rows,
    or of privacy units.
    """

    def __init__(self, sizes: np.ndarray, prepared: TablePasses):
        self.sizes, self.limited = sizes, False
        self._ends = prepared.response_ends
        groups, (points, columns) = len(sizes), prepared.x_new.shape
        self.estimates = np.full((groups, columns + points), np.nan)
        self.statuses = [""] * groups
        self.reasons: dict[str, None] = {}
        self.cov_type = "nonrobust"
        self._columns, self._has_companions = Columns(groups, columns), False
        self._worst: dict[tuple[str, int], Event] = {}

    def put(self, groups: Sequence[int] | np.ndarray, releases: Releases) -> None:
        """Fill in the releases of some groups."""
        points = np.clip(releases.predictions, *self._ends)
        self.estimates[groups] = np.hstack([releases.params, points])
        for g, status in zip(groups, releases.statuses, strict=True):
            self.statuses[g] = status
        stack = releases.stack
        self._columns.put(groups, stack.params, stack.cov, stack.evidence)
        self._has_companions |= stack.has_companions
        self.reasons.update(dict.fromkeys(releases.reasons))
        self.limited |= releases.limited
        if releases.cov_type != "nonrobust":
            self.cov_type = releases.cov_type

    def record(self, events: Sequence[Event]) -> None:
        """Keep for each step the event with the most noise over the groups."""
        times = Counter()
        for event in events:
            times[event.step] += 1
            place = event.step, times[event.step]
            self._worst[place] = max(event, self._worst.get(place, event), key=_scale)

    @property
    def stack(self) -> Stack:
        """Return what the intervals of all groups are about."""
        return self._columns.stack(self._has_companions)

    @property
    def events(self) -> list[Event]:
        """List the event with the most noise of each step."""
        return list(self._worst.values())


def _scale(event: Event) -> float:
    return event.scale


class _Part(NamedTuple):
    """Hold the releases of some groups and the events of each, or of all fitted together."""

    groups: np.ndarray
    releases: Releases
    events: Sequence[list[Event]]


class _Failure(NamedTuple):
    """Hold the type of the exception that ended a fit, and the groups that were being fitted."""

    kind: str
    groups: np.ndarray


def fit_each(prepared: TablePasses, rows: GroupedRows, labels, progress, n_jobs) -> Outcomes:
    """Fit every group, each with the whole of the mechanism's cost.

    ``labels`` are public names of the groups for the message of a defect, or None.
    """
    groups, done = len(rows.sizes), 0
    counts = rows.sizes if prepared.request.unit is None else rows.units
    outcomes = Outcomes(counts, prepared)
    chunks = np.split(np.arange(groups), range(_CHUNK, groups, _CHUNK))
    with progress_bar(groups, prepared.request.method.name, progress) as bar:
        try:
            for parts in _run(prepared, rows, chunks, n_jobs):
                if isinstance(parts, _Failure):
                    place = _named(labels, parts.groups)
                    raise Defect(f"{parts.kind} in {place}, after {done} of {groups}")
                size = _gather(outcomes, parts)
                done += size
                bar.update(size)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted after {done} of {groups} groups") from None
    return outcomes


def _named(labels, groups: np.ndarray) -> str:
    """Name groups by their public labels, where there are any."""
    if labels is None:
        return "a group"
    first, last = labels[groups[0]], labels[groups[-1]]
    return f"the group {first!r}" if len(groups) == 1 else f"the groups {first!r} to {last!r}"


def _gather(outcomes: Outcomes, parts: list[_Part]) -> int:
    """Fill in the parts of a chunk and return the number of their groups."""
    for groups, releases, events in parts:
        outcomes.put(groups, releases)
        for own in events:
            outcomes.record(own)
    return sum(len(part.groups) for part in parts)


def _run(prepared: TablePasses, rows, chunks, n_jobs) -> Iterator[list[_Part] | _Failure]:
    """Yield the parts of each chunk in turn, or the failure that ended it.

    Seeded noise is one sequence of numbers, so its chunks take turns.
    """
    chunk_parts = partial(_chunk, prepared, rows)
    workers = n_jobs or os.cpu_count() or 1
    if workers == 1 or len(chunks) == 1 or not Noise(prepared.cost).private:
        yield from map(chunk_parts, chunks)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        context = contextvars.copy_context
        yield from pool.map(lambda groups: context().run(chunk_parts, groups), chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def _chunk(prepared: TablePasses, rows: GroupedRows, groups) -> list[_Part] | _Failure:
    """Fit the groups of a chunk, together where the method can, else one by one."""
    together = _together(prepared.request, rows.sizes[groups])
    shared, own = groups[together], groups[~together]
    calls = [(_in_one_go, shared)] if len(shared) else []
    calls += [(_alone, own[[i]]) for i in range(len(own))]
    found, handled = [], sys.exception()
    with drawn_ahead():
        for fit, some in calls:
            try:
                found.append(fit(prepared, rows, some))
            except Exception as error:
                if is_interrupt(error, handled):
                    raise KeyboardInterrupt from None
                return _Failure(type(error).__name__, some)
    parts = [_Part(shared, found[0][0], [found[0][1]])] if len(shared) else []
    if len(own):
        releases, events = zip(*found[len(parts) :], strict=True)
        parts.append(_Part(own, in_columns(releases), events))
    return parts


def _in_one_go(prepared: TablePasses, rows: GroupedRows, groups) -> tuple[Releases, list[Event]]:
    own, cost, request = rows[groups], prepared.cost, prepared.request
    noise, each = Noise(cost), request.method.each
    assert each is not None, "_together asks whether there is one"
    releases = each.release(own.rows, own.edges, prepared.problem, cost, noise, **request.options)
    return releases, noise.events


def _alone(prepared: TablePasses, rows: GroupedRows, groups) -> tuple[Release, list[Event]]:
    own, cost = slice(*rows.edges[groups[0] : groups[0] + 2]), prepared.cost
    noise, request, passes = Noise(cost), prepared.request, InMemory(rows.rows[own])
    release = request.method.release(passes, prepared.problem, cost, noise, **request.options)
    return release, noise.events


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


def _together(request: Request, sizes: np.ndarray) -> np.ndarray:
    """Tell which groups are fitted together.

    The number of rows decides where it is public, or where it decides nothing but the time taken.
    """
    each, options = request.method.each, request.options
    if (
        each is None
        or request.unit is not None
        or any(options[n] is not None for n in each.without)
    ):
        return np.zeros(len(sizes), dtype=bool)
    least, most = each.sizes
    return ((sizes >= least) | (request.neighbors != REPLACE_ONE)) & (sizes <= most)
