"""Draw reproducible noise for tests and teaching; results made with it are not private."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpstats.noise import random_sources


@contextmanager
def insecure_seed(seed: Any) -> Iterator[None]:
    """Draw all noise inside the block from a seeded generator.

    Anyone who knows the seed can subtract the noise, so results made inside have
    ``private=False`` and say so wherever they print.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(500, seed=1)
    >>> def slope():
    ...     with dp.testing.insecure_seed(7):
    ...         bounds = {"x": (0, 1), "y": (0, 1)}
    ...         fit = dp.dp_ols("y ~ x", df, method="noisy_stats", epsilon=4, bounds=bounds)
    ...     return float(fit.params["x"])
    >>> slope() == slope()
    True
    """
    with random_sources.drawn_from(random_sources.SeededSource(seed)):
        yield
