"""One release a group: rows ordered once, groups fitted in chunks by several threads."""

import contextvars
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats.errors import Defect
from dpstats.inference import stacked
from dpstats.mechanisms.spec import Problem, Release, Releases
from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE, Event
from dpstats.request import Request

# Enough groups that a chunk's own overhead vanishes, few enough that its pairs fit in a cache.
_CHUNK = 256


@dataclass(frozen=True)
class GroupedRows:
    """Complete rows ordered by group: those of group g are edges[g] to edges[g + 1]."""

    X: np.ndarray
    y: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, request: Request, codes: np.ndarray, groups: int) -> "GroupedRows":
        """The rows of a request; ``codes`` has one entry a raw row, negative to leave it out."""
        from dpstats.engines.ordering import by_group

        parts = list(request.rows(request.wide_design(), codes))
        X, y, group = (np.concatenate(part) for part in zip(*parts, strict=True))
        order, edges = by_group(group, groups)
        return cls(X[order], y[order], edges)

    def __getitem__(self, groups) -> "GroupedRows":
        """The rows of some groups, given as an ascending array of group numbers."""
        starts, stops = self.edges[groups], self.edges[groups + 1]
        sizes = stops - starts
        edges = np.r_[0, np.cumsum(sizes)]
        rows = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], sizes)
        return GroupedRows(self.X[rows], self.y[rows], edges)

    @property
    def sizes(self) -> np.ndarray:
        """Rows a group."""
        return np.diff(self.edges)


class Outcomes:
    """The released columns of all groups, filled in part by part.

    ``stack`` has what the groups hold for inference, by name, NaN where they lack it.
    """

    def __init__(self, groups: int, problem: Problem):
        columns = len(problem.low)
        self.estimates = np.full((groups, columns + len(problem.x_new)), np.nan)
        self.statuses = [""] * groups
        self.reasons: dict[str, None] = {}
        self.stack = {
            "params": np.full((groups, columns), np.nan),
            "cov": np.full((groups, columns, columns), np.nan),
        }
        self._worst: dict[tuple[str, int], Event] = {}

    @classmethod
    def nothing(cls, groups: int, problem: Problem, status: str, reason: str) -> "Outcomes":
        """A released failure of all groups alike."""
        outcomes = cls(groups, problem)
        outcomes.statuses, outcomes.reasons = [status] * groups, {reason: None}
        return outcomes

    def put(self, groups: Sequence[int], releases: Releases) -> None:
        """Fill in the rows of some groups."""
        self.estimates[groups] = np.hstack([releases.params, releases.predictions])
        for g, status in zip(groups, releases.statuses, strict=True):
            self.statuses[g] = status
        for name, values in releases.stack.items():
            if name not in self.stack:
                self.stack[name] = np.full((len(self.statuses), *values.shape[1:]), np.nan)
            self.stack[name][groups] = values
        self.reasons.update(dict.fromkeys(releases.reasons))

    def record(self, events: Sequence[Event]) -> None:
        """Keep of each step the event with the most noise over the groups."""
        times = Counter()
        for event in events:
            times[event.step] += 1
            place = event.step, times[event.step]
            self._worst[place] = max(event, self._worst.get(place, event), key=_scale)

    @property
    def events(self) -> list[Event]:
        """The worst event of each step."""
        return list(self._worst.values())


def _scale(event: Event) -> float:
    return event.scale


class _Part(NamedTuple):
    """The releases of some groups and the events of one of them, or of all in one go."""

    groups: np.ndarray
    releases: Releases
    events: list[Event]


def fit_each(
    request: Request, problem: Problem, rows: GroupedRows, labels, progress, n_jobs
) -> Outcomes:
    """Fit every group, each with the whole of the mechanism's cost."""
    from tqdm.auto import tqdm

    outcomes, done = Outcomes(len(labels), problem), 0
    chunks = np.split(np.arange(len(labels)), range(_CHUNK, len(labels), _CHUNK))
    show = None if progress is None else not progress
    with tqdm(total=len(labels), desc=request.method.name, disable=show, delay=1.0) as bar:
        try:
            for parts in _run(request, problem, rows, chunks, n_jobs):
                size = _gather(outcomes, parts)
                done += size
                bar.update(size)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"after {done} of {len(labels)} groups") from None
        except Defect as defect:
            first, last = labels[done], labels[min(done + _CHUNK, len(labels)) - 1]
            raise Defect(
                f"{defect} in the groups from {first!r} to {last!r}, after {done} of {len(labels)}"
            ) from None
    return outcomes


def _gather(outcomes: Outcomes, parts: list[_Part] | str) -> int:
    """Fill in the parts of a chunk and say how many groups that were; Defect if it was ended."""
    if isinstance(parts, str):
        raise Defect(parts)
    for groups, releases, events in parts:
        outcomes.put(groups, releases)
        outcomes.record(events)
    return sum(len(part.groups) for part in parts)


def _run(request, problem, rows, chunks, n_jobs) -> Iterator[list[_Part] | str]:
    """The parts of each chunk in turn, or the type of the exception that ended it.

    Seeded noise is one sequence of numbers, so its chunks take turns.
    """

    def chunk_parts(groups):
        try:
            return list(_parts(request, problem, rows, groups))
        except Exception as error:
            return type(error).__name__

    workers = n_jobs or os.cpu_count() or 1
    if workers == 1 or len(chunks) == 1 or not Noise(request.fit_cost).private:
        yield from map(chunk_parts, chunks)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        context = contextvars.copy_context
        yield from pool.map(lambda groups: context().run(chunk_parts, groups), chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def _parts(request: Request, problem: Problem, rows: GroupedRows, groups) -> Iterator[_Part]:
    """Releases of the groups of a chunk: together where the method can, else one by one."""
    method, cost = request.method, request.fit_cost
    together = _together(request, rows.sizes[groups])
    if together.any():
        own, noise = rows[groups[together]], Noise(cost)
        releases = method.release_each(
            own.X, own.y, own.edges, problem, cost, noise, **request.options
        )
        yield _Part(groups[together], releases, noise.events)
    for group in groups[~together]:
        own, noise = slice(*rows.edges[group : group + 2]), Noise(cost)
        release = method.fit(
            rows.X[own], rows.y[own], problem=problem, cost=cost, noise=noise, **request.options
        )
        yield _Part(np.array([group]), column_of(release), noise.events)


def column_of(release: Release) -> Releases:
    """One release as columns of length one."""
    return Releases(
        release.params[None],
        release.predictions[None],
        statuses=[release.status],
        reasons=tuple(dict.fromkeys(release.reasons.values())),
        stack=stacked([release], len(release.params)),
    )


def _together(request: Request, sizes: np.ndarray) -> np.ndarray:
    """Which groups are released in one go; the number of rows decides only where it is public.

    Groups for which intervals are bought come one by one.
    """
    if request.method.release_each is None or request.options.get("ci") is not None:
        return np.zeros(len(sizes), dtype=bool)
    if request.neighbors != REPLACE_ONE:
        return np.ones(len(sizes), dtype=bool)
    least, most = request.method.each_rows
    return (sizes >= least) & (sizes <= most)
