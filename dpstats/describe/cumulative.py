"""Release cumulative counts by the square root of the matrix that adds up counts."""

import math
from functools import lru_cache

import numpy as np

# Entries are whole multiples of 2^-24, and of 2^-12 where rows count in parts of 2^-20: whole
# numbers of 64 bits hold the sums of 2^31 rows then. The shorter ones make the noise on prefix sums
# of 12 columns larger by 1.5%.
BITS, BITS_OF_PARTS = 24, 12


@lru_cache(maxsize=64)
def root(size: int, length: int) -> np.ndarray:
    """Return the entries (size,) of a triangular Toeplitz matrix C with C C close to prefix sums.

    They are those of (1 - x)^(-1/2) = 1 + x/2 + 3 x^2/8 + ..., scaled so that the first column of
    C, the longest, has Euclidean norm at most ``length``, and cut to whole numbers. Then noise on
    C c makes the deviation of a prefix sum of c at most about 1.07 + log(size) / pi times that of
    one count released alone, where a sum of noisy counts has the root of ``size`` times. It is the
    matrix of Fichtenberger, Henzinger and Upadhyay (2023), who add up counts in time.
    """
    k = np.arange(1, size)
    entries = np.append(1.0, np.cumprod((2 * k - 1) / (2 * k)))
    cut = np.floor(entries * (length / float(np.linalg.norm(entries))) * (1 - 2.0**-40))
    return cut.astype(np.int64)


@lru_cache(maxsize=64)
def inverse(size: int, length: int) -> np.ndarray:
    """Return the entries (size,) of A C^-1, where A adds up counts and C is :func:`root`."""
    entries = root(size, length).astype(float)
    found = np.zeros(size)
    for k in range(size):
        found[k] = (1.0 - found[:k] @ entries[k:0:-1]) / entries[0]
    return found


def squared_length(size: int, length: int) -> int:
    """Return the squared norm of the longest column of C, a whole number."""
    return sum(entry**2 for entry in root(size, length).tolist())


def transformed(counts: np.ndarray, length: int) -> np.ndarray:
    """Return C counts for whole numbers (..., size), exact."""
    entries = root(counts.shape[-1], length)
    flat = counts.reshape(-1, counts.shape[-1])
    found = [np.convolve(row, entries)[: len(entries)] for row in flat]
    return np.array(found).reshape(counts.shape)


def prefix_sums(noisy: np.ndarray, length: int) -> np.ndarray:
    """Return noisy prefix sums (..., size) of the counts of which C counts was released."""
    entries = inverse(noisy.shape[-1], length)
    flat = noisy.reshape(-1, noisy.shape[-1])
    found = [np.convolve(row, entries)[: len(entries)] for row in flat]
    return np.array(found).reshape(noisy.shape)


def deviations(size: int, length: int) -> np.ndarray:
    """Return the standard deviations (size,) of prefix sums under unit noise on C counts."""
    return np.sqrt(np.cumsum(inverse(size, length) ** 2))


def covariances_with_last(size: int, length: int) -> np.ndarray:
    """Return the covariances (size,) of prefix sums with the last one under unit noise."""
    entries = inverse(size, length)
    return np.array([entries[: k + 1] @ entries[size - k - 1 :] for k in range(size)])


def whole_length(share: float, bits: int = BITS) -> int:
    """Return the length of a vector with a share of the squared unit, in multiples of 2^-bits."""
    return math.isqrt(math.floor(share * 4.0**bits))
