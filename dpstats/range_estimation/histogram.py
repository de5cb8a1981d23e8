"""Locate the rows of a column from its noisy histogram."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.privacy import Event

# Chance that an empty bin of a histogram is taken for an occupied one.
FALSE_BIN = 1e-3
# A span with this part of the rows has nearly all of them, as far as noise lets one see.
_NEARLY_ALL = 0.8
# Counts beyond a range are few rows up to this part of those within, or so many standard deviations
# of the noise on their sum, where wider bins come next so many. With 3 of these, noise made the
# order of magnitude of one normal column in a thousand a hundred times too large, or much more,
# with 20,000 rows and epsilon 1.
_FEW, _UNSEEN, _UNSEEN_FARTHER = 0.05, 3.0, 4.0


@dataclass(frozen=True)
class Histogram:
    """Hold the noisy counts of one column and the event that records their noise.

    ``false_bin`` is the chance that an empty bin is taken for an occupied one.
    """

    edges: np.ndarray
    counts: np.ndarray
    event: Event
    false_bin: float = FALSE_BIN

    @property
    def is_laplace(self) -> bool:
        """Return whether the noise has the tails of Laplace's distribution."""
        return self.event.mechanism == "laplace"

    @cached_property
    def threshold(self) -> float:
        """Return the count that noise alone exceeds somewhere with chance ``false_bin``."""
        from scipy.special import ndtri

        chance = self.false_bin / len(self.counts)
        return self.event.scale * (-math.log(2 * chance) if self.is_laplace else -ndtri(chance))

    @cached_property
    def occupied(self) -> np.ndarray:
        """Return the indices of the bins whose counts exceed the threshold.

        Outer ones that hold at most 0.1% of the counts per side are left out: a few rows far
        away are no order of magnitude.
        """
        seen = np.flatnonzero(self.counts > self.threshold)
        held = self.counts[seen]
        below, least = np.cumsum(held) - held, 0.001 * held.sum()
        return seen[(below + held > least) & (held.sum() - below > least)]

    @cached_property
    def span(self) -> tuple[int, int]:
        """Return the first and the last bin of a range that leaves out few rows.

        Rows may be spread so thinly that none of their bins is occupied; then the sum of the
        counts outside shows them. So the occupied bins are extended until that sum is at most 5%
        of what is inside or three standard deviations of its noise: each time by the narrower of
        the next two bins, of equal ones by the fuller. Dyadic bins thus reach across zero before
        they reach beyond the magnitude that is seen, for which four are asked, so that noise adds
        no magnitude. Then what the sum can do without is left out again, the wider bin first.
        """
        first, last = seen = int(self.occupied[0]), int(self.occupied[-1])
        widths, counts = np.r_[np.inf, np.diff(self.edges), np.inf], np.r_[0.0, self.counts, 0.0]
        while not self._leaves_few(first, last):
            farther = min(widths[first], widths[last + 2]) > widths[first + 1 : last + 2].max()
            if farther and self._leaves_few(first, last, _UNSEEN_FARTHER):
                break
            down = (widths[first], -counts[first]) < (widths[last + 2], -counts[last + 2])
            first, last = (first - 1, last) if down else (first, last + 1)
        while narrower := [
            (widths[end + 1], span)
            for end, span in ((first, (first + 1, last)), (last, (first, last - 1)))
            if span[0] <= seen[0] and span[1] >= seen[1] and self._leaves_few(*span)
        ]:
            first, last = max(narrower)[1]
        return first, last

    def _leaves_few(self, first: int, last: int, deviations: float = _UNSEEN) -> bool:
        """Return whether the counts outside these bins are few or cannot be told from noise."""
        inside = self.counts[first : last + 1].sum()
        outside = len(self.counts) - (last - first + 1)
        unseen = deviations * self.event.deviation * math.sqrt(outside)
        return outside == 0 or self.counts.sum() - inside <= max(_FEW * inside, unseen)

    @property
    def is_narrow(self) -> bool:
        """Return whether nearly all rows lie in one bin or in two that touch."""
        return len(self.occupied) > 0 and self.span[1] - self.span[0] <= 1

    def spans(self, rows: float) -> bool:
        """Return whether the span has nearly all of so many rows, as far as is seen."""
        first, last = self.span
        return float(self.counts[first : last + 1].sum()) >= _NEARLY_ALL * rows

    def around(self, margin: int) -> tuple[float, float]:
        """Return the span and ``margin`` more bins on each side; all bins if none is occupied."""
        if not len(self.occupied):
            return float(self.edges[0]), float(self.edges[-1])
        first, last = self.span[0] - margin, self.span[1] + margin + 1
        return float(self.edges[max(first, 0)]), float(self.edges[min(last, len(self.counts))])

    def without_tails(self, share: float = 0.03) -> tuple[float, float]:
        """Return the range beyond which rows cannot be told from noise, at most a share per side.

        Counts are added up from the end as they are, because a threshold would drop rows
        that are spread over many bins. The sum over k empty bins has sqrt(k) deviations; the
        range begins where it first exceeds three times that, which noise alone does in
        about one histogram of fifty, and then it makes the range too wide. No occupied bin
        is left out.
        """
        most = share * max(self.counts.sum(), 0.0)
        tail = np.minimum(
            3 * self.event.deviation * np.sqrt(np.arange(1, len(self.counts) + 1)), most
        )
        first = int(np.argmax(np.cumsum(self.counts) > tail))
        last = len(self.counts) - 1 - int(np.argmax(np.cumsum(self.counts[::-1]) > tail))
        seen = [first, last, *self.occupied]
        return float(self.edges[min(seen)]), float(self.edges[max(seen) + 1])
