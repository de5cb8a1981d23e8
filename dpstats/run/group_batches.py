"""Release one fit per group: chunks of ordered rows are fitted by threads or processes."""

import contextvars
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dpstats.errors import Defect
from dpstats.estimators.contract import Releases
from dpstats.evidence import Columns, Stack
from dpstats.noise import Noise
from dpstats.privacy import Event
from dpstats.progress_bar import progress_bar
from dpstats.run.group_fits import Failure, GroupedRows, GroupFit, Part
from dpstats.run.passes import TablePasses
from dpstats.worker_processes import done

# Enough groups that a chunk's own overhead vanishes, few enough that its pairs fit in a cache.
_CHUNK = 256
# At least so many chunks for each process, so that none waits long for the last.
_EVEN = 4


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


def fit_each(prepared: TablePasses, rows: GroupedRows, labels, progress, n_jobs) -> Outcomes:
    """Fit every group, each with the whole of the mechanism's cost.

    ``labels`` are public names of the groups for the message of a defect, or None.
    """
    groups, ended, request = len(rows.sizes), 0, prepared.request
    counts = rows.sizes if request.unit is None else rows.units
    outcomes = Outcomes(counts, prepared)
    fit = GroupFit(request.method, request.options, prepared.problem, prepared.cost)
    with progress_bar(groups, request.method.name, progress) as bar:
        try:
            for parts in _run(fit, rows, n_jobs):
                if isinstance(parts, Failure):
                    place = _named(labels, parts.groups)
                    raise Defect(f"{parts.kind} in {place}, after {ended} of {groups}")
                size = _gather(outcomes, parts)
                ended += size
                bar.update(size)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted after {ended} of {groups} groups") from None
    return outcomes


def _named(labels, groups: np.ndarray) -> str:
    """Name groups by their public labels, where there are any."""
    if labels is None:
        return "a group"
    first, last = labels[groups[0]], labels[groups[-1]]
    return f"the group {first!r}" if len(groups) == 1 else f"the groups {first!r} to {last!r}"


def _gather(outcomes: Outcomes, parts: list[Part]) -> int:
    """Fill in the parts of a chunk and return the number of their groups."""
    for groups, releases, events in parts:
        outcomes.put(groups, releases)
        for own in events:
            outcomes.record(own)
    return sum(len(part.groups) for part in parts)


def _run(fit: GroupFit, rows: GroupedRows, n_jobs: int | None) -> Iterator[list[Part] | Failure]:
    """Yield the parts of each chunk as it ends, or the failure that ended it.

    Compiled loops over groups run in threads. Groups that are fitted one by one in Python hold its
    lock, so that threads would wait for one another: these are for processes, where there are to be
    several. Seeded noise is one sequence of numbers, so its chunks take turns.
    """
    groups, size, most = len(rows.sizes), _CHUNK, os.cpu_count() or 1
    serial, in_loops = not Noise(fit.cost).private, fit.method.each is not None
    workers = 1 if serial else min(n_jobs or (most if in_loops else 1), most)
    if not in_loops:
        size = min(size, max(groups // (_EVEN * workers), 1))
    chunks = np.split(np.arange(groups), range(size, groups, size))
    if workers == 1 or len(chunks) == 1:
        yield from (fit.parts(rows, chunk) for chunk in chunks)
    elif in_loops:
        yield from _in_threads(fit, rows, chunks, workers)
    else:
        yield from _in_processes(fit, rows, chunks, workers)


def _in_threads(fit: GroupFit, rows: GroupedRows, chunks, workers: int):
    pool = ThreadPoolExecutor(workers)
    try:
        context = contextvars.copy_context
        yield from pool.map(lambda chunk: context().run(fit.parts, rows, chunk), chunks)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_processes(fit: GroupFit, rows: GroupedRows, chunks, workers: int):
    """Hand each process the rows of its chunk alone; it draws noise of the operating system."""
    pieces = {number: rows[chunk] for number, chunk in enumerate(chunks)}
    for number, parts in done(fit.all_parts, pieces, workers):
        groups = chunks[number]
        if isinstance(parts, Failure):
            yield parts._replace(groups=groups[parts.groups])
        else:
            yield [part._replace(groups=groups[part.groups]) for part in parts]
