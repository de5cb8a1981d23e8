"""Draw the noise of several releases in one call, as calls take longer than draws."""

from collections.abc import Iterator
from contextlib import contextmanager

from dpstats.noise.random_sources import SOURCE, SystemSource, drawn_from

# At most so many releases are drawn for at once.
_MOST = 32


class DrawnAhead(SystemSource):
    """Hand out noise of the system that is drawn for later requests of its kind too.

    The numbers of one call are independent of one another, and each is handed out once, so that
    requests get what calls of their own would have given them, in distribution. What is drawn ahead
    doubles with each request for noise of one scale, up to that of 32: a scale that is asked for
    once costs nothing more.
    """

    def __init__(self):
        self._held: dict[tuple[str, float], list[int]] = {}
        self._times: dict[tuple[str, float], int] = {}

    def draw(self, name: str, scale: float, size: int) -> list[int]:
        """Draw integer noise of the named distribution."""
        if name == "spherical":  # has a scale of its own in each request
            return SystemSource.draw(name, scale, size)
        held = self._held.setdefault((name, scale), [])
        if len(held) < size:
            times = self._times.get((name, scale), 1)
            self._times[name, scale] = min(2 * times, _MOST)
            held += SystemSource.draw(name, scale, size * times)
        drawn = held[-size:] if size else []
        del held[len(held) - size :]
        return drawn


@contextmanager
def drawn_ahead() -> Iterator[None]:
    """Draw ahead in this context; seeded noise keeps its order."""
    source = SOURCE.get()
    with drawn_from(DrawnAhead() if source.private else source):
        yield
