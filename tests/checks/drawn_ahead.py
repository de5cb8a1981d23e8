"""Check that noise drawn ahead is handed out once."""

from unittest import mock

from dpstats.noise.drawn_ahead import DrawnAhead
from dpstats.noise.random_sources import SystemSource


class Counting:
    """Draw 0, 1, 2, ... in place of noise, and hold what was asked for."""

    def __init__(self):
        self.asked = []

    def draw(self, name, scale, size):
        start = sum(size for _, _, size in self.asked)
        self.asked.append((name, scale, size))
        return list(range(start, start + size))


def check_handed_out_once():
    """No number comes twice in 200 requests of three kinds, which take few calls."""
    source, drawn, counting = DrawnAhead(), [], Counting()
    with mock.patch.object(SystemSource, "draw", counting.draw):
        for _ in range(200):
            drawn += source.draw("gaussian", 2.0, 3) + source.draw("laplace", 2.0, 2)
            drawn += source.draw("gaussian", 5.0, 4)
    assert len(drawn) == len(set(drawn)) == 200 * 9
    assert len(counting.asked) < 40
