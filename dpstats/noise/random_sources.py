"""Draw random numbers from OpenDP and the operating system, or from a seed for tests."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import numpy as np

from dpstats.noise.spherical import standard_deviation
from dpstats.option_checks import seeded_generator


@lru_cache(maxsize=256)
def _measurement(name: str, scale: float):
    """Build OpenDP's integer mechanism for one scale."""
    from opendp import measurements, metrics

    domain = _integer_vectors()
    if name == "gaussian":
        return measurements.make_gaussian(domain, metrics.l2_distance(T="f64"), scale=scale)
    return measurements.make_laplace(domain, metrics.l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=256)
def _selection(name: str, scale: float):
    """Build OpenDP's report noisy max for one scale: Gumbel or exponential noise."""
    from opendp import measurements, measures, metrics

    gumbel = name == "exponential"
    measure = measures.zero_concentrated_divergence() if gumbel else measures.max_divergence()
    space = _integer_vectors(), metrics.linf_distance(T="i64")
    return measurements.make_noisy_max(*space, measure, scale=scale)


def _integer_vectors():
    """Return OpenDP's domain of vectors of integers.

    Its modules are imported one by one: its prelude loads polars and scikit-learn as well.
    """
    from opendp import domains, mod

    mod.enable_features("contrib")
    return domains.vector_domain(domains.atom_domain(T="i64"))


class SystemSource:
    """Draw noise by OpenDP and integers by the operating system."""

    private = True
    randbelow = staticmethod(secrets.randbelow)
    bytes = staticmethod(secrets.token_bytes)

    @staticmethod
    def draw(name: str, scale: float, size: int) -> list[int]:
        """Draw integer noise of the named distribution.

        OpenDP adds it to zeros, and the caller adds it to exact Python integers, so
        that no sum is ever cut off at the ends of int64.
        """
        if name == "spherical":  # a scale of its own, which is private and not to be cached
            scale *= standard_deviation(size, secrets.randbelow)
            return _measurement.__wrapped__("gaussian", scale)([0] * size)
        return _measurement(name, scale)([0] * size)

    @staticmethod
    def best(name: str, scale: float, scores: list[int]) -> int:
        """Return the index of the largest score after the noise of the named mechanism.

        OpenDP takes an array as it is, and looks at each number of a list in Python.
        """
        return _selection(name, scale)(np.array(scores, dtype=np.int64))


class SeededSource:
    """Draw reproducible noise for tests and demonstrations; it protects nobody."""

    private = False

    def __init__(self, seed):
        self._generator = seeded_generator(seed)

    def bytes(self, size: int) -> bytes:
        """Draw uniform bytes."""
        return self._generator.bytes(size)

    def randbelow(self, bound: int) -> int:
        """Draw a uniform integer in 0..bound-1, by rejection."""
        bits = (bound - 1).bit_length()
        while True:
            words = self.bytes((bits + 7) // 8)
            value = int.from_bytes(words, "little") & ((1 << bits) - 1)
            if value < bound:
                return value

    def draw(self, name: str, scale: float, size: int) -> list[int]:
        """Draw rounded continuous noise of the named distribution."""
        if name == "spherical":
            name, scale = "gaussian", scale * standard_deviation(size, self.randbelow)
        distribution = {"gaussian": self._generator.normal, "laplace": self._generator.laplace}
        return [round(draw) for draw in distribution[name](0.0, scale, size)]

    def best(self, name: str, scale: float, scores: list[int]) -> int:
        """Return the index of the largest score after the noise of the named mechanism."""
        generator = self._generator
        draw = generator.gumbel if name == "exponential" else generator.exponential
        return int(np.argmax(np.array(scores) / scale + draw(size=len(scores))))


_SYSTEM = SystemSource()
SOURCE: ContextVar[SystemSource | SeededSource] = ContextVar("source", default=_SYSTEM)  # noqa: B039


@contextmanager
def drawn_from(source: SystemSource | SeededSource) -> Iterator[None]:
    """Draw noise from a source inside the block, and from the one before it afterwards.

    That is so too where an interrupt comes as the block begins.
    """
    before = SOURCE.get()
    try:
        SOURCE.set(source)
        yield
    finally:
        SOURCE.set(before)
