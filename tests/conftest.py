"""One public table, one way to call every method and what it tends to, for the public surface."""

import gc
import zlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.call import arguments
from dpstats.engines import Described, Table
from dpstats.formula import Formula, design
from dpstats.formula.formula import designed
from dpstats.noise.random_sources import SeededSource, SystemSource
from dpstats.privacy import GDP, costs

pytest.register_assert_rewrite("tests.checks")
# The heap of ten thousand collected tests is large, so searching it for cycles takes long.
gc.set_threshold(100_000, 20, 100)
UNIT = {"x": (0, 1), "y": (0, 1)}
# What pandas 3 makes of strings; pandas 2 makes objects of them, which declare no type.
TEXT = "str" if int(pd.__version__.partition(".")[0]) > 2 else "string"


def pytest_collection_modifyitems(config, items):
    """Begin long files first where workers share the files, as one begun last is waited for alone.

    Those of suites take longest, and examples of docstrings are done at once.
    """
    if hasattr(config, "workerinput"):
        short = pytest.DoctestItem
        items.sort(key=lambda item: (item.path.parent.name != "suites", isinstance(item, short)))


@pytest.fixture(autouse=True)
def reproducible(request, monkeypatch):
    """Draw the system's noise from a seed of the test's own, so that it ends the same each time.

    What a test says of releases must hold of most draws, and is seen to hold of one. The noise of
    the system itself is for tests marked ``system_noise``, which state how often they fail by
    chance. Examples of docstrings draw it too, and so do other processes, such as commands and R.
    """
    for kept in (designed, GDP.of, costs.gdp_epsilon):
        kept.cache_clear()  # of a test that breaks something
    if request.node.get_closest_marker("system_noise") is None:
        seeded = SeededSource(zlib.crc32(request.node.nodeid.encode()))
        for name in ("draw", "best", "bytes", "randbelow"):
            monkeypatch.setattr(SystemSource, name, staticmethod(getattr(seeded, name)))


@pytest.fixture(params=list(dp.METHODS))
def method(request):
    """The name of a method; a test that asks for it runs once for each."""
    return request.param


@pytest.fixture(scope="session")
def made_up():
    frame = dp.simulate.line(300, x_sd=0.2, noise_sd=0.02, seed=1)
    return frame.assign(
        z=frame["x"].to_numpy()[::-1].copy(),
        area=pd.array([f"a{i % 3}" for i in range(300)], dtype=TEXT),
        kind=pd.array([("u", "v")[i % 2] for i in range(300)], dtype=TEXT),
    )


@pytest.fixture
def line(made_up):
    """300 simulated points around y = 0.2 + 0.5 x, and three columns to group and regress by."""
    return made_up.copy()


@pytest.fixture
def fit():
    """dp_ols with a formula, an epsilon and bounds that may be left out."""

    def call(data, method, *, formula="y ~ x", epsilon=4.0, bounds=UNIT, **more):
        return dp.dp_ols(formula, data, method=method, epsilon=epsilon, bounds=bounds, **more)

    return call


@pytest.fixture
def enough():
    """Options under which a few hundred rows are enough for a method."""
    return lambda method: {"tukey": {"m": 25}}.get(method, {})


@pytest.fixture
def promise():
    """(epsilon, delta) that a method promises for the argument epsilon and no delta."""

    def promised(method, epsilon=4.0):
        entry = dp.METHODS[method]
        return entry.promise(epsilon, 0.0 if entry.guarantee == "pure" else 1e-6)

    return promised


def least_squares(x, y, points):
    return np.polyval(np.polyfit(x, y, 1), points)


def median_of_pairs(x, y, points):
    """Theil-Sen: the median over all pairs of the value at each point of their line."""
    j, l = np.triu_indices(len(x), 1)
    j, l = j[x[j] != x[l]], l[x[j] != x[l]]
    slopes = (y[l] - y[j]) / (x[l] - x[j])
    return np.array([np.median(y[j] + slopes * (point - x[j])) for point in points])


def mean(x, y, points):
    return np.full(len(points), np.mean(y))


# What a method tends to as epsilon grows where that is not least squares, and how far off
# it may stay, in units of the response's range: the width of wide_theil_sen, the noise of
# the heavy-tailed ss_theil_sen, the parts of the rows in tukey.
LIMITS = {
    "exp_theil_sen": (median_of_pairs, 1e-3),
    "wide_theil_sen": (median_of_pairs, 0.015),
    "ss_theil_sen": (median_of_pairs, 5e-3),
    "noisy_intercept": (mean, 1e-3),
    "tukey": (least_squares, 5e-3),
}


@pytest.fixture
def limit():
    """Predictions that a method tends to as epsilon grows, and the error that may remain."""

    def tends_to(method, x, y, points):
        estimate, error = LIMITS.get(method, (least_squares, 1e-3))
        return estimate(np.asarray(x), np.asarray(y), points), error

    return tends_to


@pytest.fixture
def steps(monkeypatch):
    """How often a table was opened, a formula parsed and a design learned."""
    count = Counter()

    def counted(name, function, is_counted=lambda *arguments: True):
        def call(*arguments, **named):
            count[name] += is_counted(*arguments)
            return function(*arguments, **named)

        return call

    def is_raw(data):
        return not isinstance(data, Table | Described)

    opened = counted("opened", arguments.open_table, is_raw)
    monkeypatch.setattr(arguments, "open_table", opened)
    parse = counted("parsed", Formula.parse.__func__)
    monkeypatch.setattr(Formula, "parse", classmethod(parse))
    monkeypatch.setattr(design, "learn", counted("learned", design.learn))
    return count
