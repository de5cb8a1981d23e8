"""Release cumulative counts by the square root of the matrix that adds up counts."""

import math
from functools import lru_cache

import numpy as np

# Entries of vectors are whole multiples of 2^-24, and of 2^-12 where rows count in parts of 2^-20:
# whole numbers of 64 bits hold the sums of 2^31 rows then. Those of C have 12 of these bits.
BITS, BITS_OF_PARTS, ROOT_BITS = 24, 12, 12


@lru_cache(maxsize=64)
def root(size: int) -> np.ndarray:
    """Return the entries (size,) of a triangular Toeplitz matrix C with C C close to prefix sums.

    They are those of (1 - x)^(-1/2) = 1 + x/2 + 3 x^2/8 + ..., scaled so that the first column of
    C, the longest, has Euclidean norm at most 2^12, and cut to whole numbers. Then noise on
    C c makes the deviation of a prefix sum of c at most about 1.07 + log(size) / pi times that of
    one count released alone, where a sum of noisy counts has the root of ``size`` times. It is the
    matrix of Fichtenberger, Henzinger and Upadhyay (2023), who add up counts in time.
    """
    k = np.arange(1, size)
    entries = np.append(1.0, np.cumprod((2 * k - 1) / (2 * k)))
    scale = 2.0**ROOT_BITS / float(np.linalg.norm(entries))
    return np.floor(entries * scale * (1 - 2.0**-40)).astype(np.int64)


@lru_cache(maxsize=64)
def inverse(size: int) -> np.ndarray:
    """Return the entries (size,) of the inverse of :func:`root`, which is Toeplitz too."""
    entries = root(size).astype(float)
    found = np.zeros(size)
    for k in range(size):
        found[k] = (float(k == 0) - found[:k] @ entries[k:0:-1]) / entries[0]
    return found


def squared_lengths(size: int) -> np.ndarray:
    """Return the squared norms (size,) of the columns of C, whole numbers."""
    return np.cumsum(root(size) ** 2)[::-1]


def transformed(counts: np.ndarray) -> np.ndarray:
    """Return C counts for whole numbers (..., size), exact."""
    return _convolved(counts, root(counts.shape[-1]))


def prefix_sums(noisy: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return noisy prefix sums (..., size) of counts of which C (weights counts) was released."""
    return np.cumsum(_convolved(noisy, inverse(noisy.shape[-1])) / weights, axis=-1)


def spread(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return deviations (size,) of prefix sums under unit noise, and covariances with the last."""
    size = len(weights)
    entries = np.append(np.zeros(size - 1), inverse(size))
    rows = np.lib.stride_tricks.sliding_window_view(entries, size)[:, ::-1]
    sums = np.cumsum(rows / weights[:, None], axis=0)
    return np.sqrt(np.einsum("ij,ij->i", sums, sums)), sums @ sums[-1]


def deviation(weights: np.ndarray, first: int, last: int) -> float:
    """Return the deviation of the sum of counts first to last - 1 under unit noise."""
    chosen = np.zeros(len(weights))
    chosen[first:last] = 1 / weights[first:last]
    return float(np.linalg.norm(_convolved(chosen[::-1], inverse(len(weights)))))


def whole_length(share: float, bits: int = BITS) -> int:
    """Return the length of a vector with a share of the squared unit, in multiples of 2^-bits."""
    return math.isqrt(math.floor(share * 4.0**bits))


def _convolved(rows: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Multiply vectors (..., size) by the triangular Toeplitz matrix with these entries."""
    flat = rows.reshape(-1, rows.shape[-1])
    found = [np.convolve(row, entries)[: len(entries)] for row in flat]
    return np.array(found).reshape(rows.shape)
