"""Sum the products of rows in indicators and numbers exactly, and release them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dpstats.mechanisms.shared.block_basis import BlockBasis
from dpstats.mechanisms.shared.gram import l1_sensitivities, sensitivities
from dpstats.mechanisms.shared.noisy_sums import FRACTIONS
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import BLOCK, PRODUCT_UNIT, exact_sum
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
# What a release keeps of the sums: the values of its three queries, and the noise on each.
STATISTICS = ("block_gram", "block_cross", "block_square", "block_deviations")


@dataclass(frozen=True)
class BlockSums:
    """Hold exact sums over rows (codes, z, v); those of disjoint rows add up.

    Parameters
    ----------
    counts : tuple of numpy.ndarray of int64
        Rows with each code, for each block.
    pairs : tuple of numpy.ndarray of int64
        Rows with each pair of codes, for each pair of blocks.
    levels : tuple of numpy.ndarray of int64
        Sums of (z, v) over the rows with each code, (L, d + 1), in units of 2^-20.
    products : numpy.ndarray
        Sums of products of (z, v), Python integers (d + 1, d + 1) in units of 2^-40.
    """

    counts: tuple[np.ndarray, ...]
    pairs: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]
    products: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, basis: BlockBasis) -> "BlockSums":
        """Sum over rows X (n, K + d), codes and then numbers, and responses y (n,)."""
        from dpstats.numerics.kernels import products

        K, sizes = len(basis.sizes), basis.sizes
        codes = [X[:, k].astype(np.int64) for k in range(K)]
        starts = range(0, len(y), BLOCK)
        totals, blocks = [np.zeros((size, basis.numbers + 1)) for size in sizes], []
        for i in starts:
            rows = scaled(basis, X[i : i + BLOCK, K:], y[i : i + BLOCK])
            blocks.append(products(np.ascontiguousarray(rows.T)))
            for total, code, size in zip(totals, codes, sizes, strict=True):
                part = code[i : i + BLOCK]
                # whole numbers of at most 2^20 add up exactly below 2^33 rows
                for j, column in enumerate(rows.T):
                    total[:, j] += np.bincount(part, weights=column, minlength=size)
        return cls(
            tuple(np.bincount(c, minlength=s) for c, s in zip(codes, sizes, strict=True)),
            tuple(
                np.bincount(codes[j] * sizes[k] + codes[k], minlength=sizes[j] * sizes[k]).reshape(
                    sizes[j], sizes[k]
                )
                for j, k in combinations(range(K), 2)
            ),
            tuple(total.astype(np.int64) for total in totals),
            exact_sum(blocks, (basis.numbers + 1,) * 2),
        )

    def __add__(self, other: "BlockSums") -> "BlockSums":
        def added(one, two):
            return tuple(a + b for a, b in zip(one, two, strict=True))

        return BlockSums(
            added(self.counts, other.counts),
            added(self.pairs, other.pairs),
            added(self.levels, other.levels),
            self.products + other.products,
        )


def scaled(basis: BlockBasis, numbers: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Scale and clip (z, v), (n, d + 1), to whole numbers of units of 2^-20, row by row."""
    with_one = np.column_stack([np.ones(len(y)), numbers])
    return basis.box.integers(with_one, y)[:, 1:]


@dataclass(frozen=True)
class NoisyBlockSums:
    """Hold released sums, in the shapes of :class:`BlockSums`, and the noise on them.

    ``gram_sd``, ``cross_sd`` and ``square_sd`` are the standard deviations of the noise on a
    product of coordinates, on one of a coordinate with v, and on v'v.
    """

    counts: tuple[np.ndarray, ...]
    pairs: dict[tuple[int, int], np.ndarray]
    levels: tuple[np.ndarray, ...]
    gram: np.ndarray
    cross: np.ndarray
    square: float
    gram_sd: float
    cross_sd: float
    square_sd: float

    @classmethod
    def of(
        cls, basis: BlockBasis, gram: np.ndarray, cross: np.ndarray, square: float, deviations
    ) -> "NoisyBlockSums":
        """Arrange the released values of the first two queries, in their order."""
        d, K = basis.numbers, len(basis.sizes)
        shapes = [(s,) for s in basis.sizes]
        shapes += [(basis.sizes[j], basis.sizes[k]) for j, k in combinations(range(K), 2)]
        shapes += [(s, d) for s in basis.sizes]
        parts, rest = _cut(gram, shapes)
        z, triangle = np.zeros((d, d)), np.triu_indices(d)
        z[triangle] = z.T[triangle] = rest
        by_level, with_z = _cut(cross, [(s,) for s in basis.sizes])
        pairs = dict(zip(combinations(range(K), 2), parts[K : len(parts) - K], strict=True))
        levels = tuple(
            np.column_stack([numbers, response])
            for numbers, response in zip(parts[len(parts) - K :], by_level, strict=True)
        )
        return cls(tuple(parts[:K]), pairs, levels, z, with_z, square, *deviations)

    @classmethod
    def restored(cls, basis: BlockBasis, statistics: Mapping) -> "NoisyBlockSums":
        """Restore the sums from the statistics of a release."""
        gram, cross, square, deviations = (statistics[name] for name in STATISTICS)
        return cls.of(basis, np.asarray(gram), np.asarray(cross), float(square), deviations)

    @property
    def statistics(self) -> dict[str, Any]:
        """List the released values as statistics of a release."""
        d = len(self.gram)
        gram = (
            *(part.ravel() for part in (*self.counts, *self.pairs.values())),
            *(level[:, :d].ravel() for level in self.levels),
            self.gram[np.triu_indices(d)],
        )
        cross = (*(level[:, d] for level in self.levels), self.cross)
        deviations = [self.gram_sd, self.cross_sd, self.square_sd]
        values = np.concatenate(gram), np.concatenate(cross), self.square, deviations
        return dict(zip(STATISTICS, values, strict=True))


def norm_of(basis: BlockBasis) -> float:
    """Bound the norm of a row: one indicator in each of K blocks, and d numbers in [-1, 1]."""
    return math.sqrt(len(basis.sizes) + basis.numbers)


def release_block_sums(
    sums: BlockSums, basis: BlockBasis, neighbors: str, cost: Cost, noise: Noise
) -> NoisyBlockSums:
    """Release the sums of products that are not zero in every row.

    A row is phi = (e_1, ..., e_K, z) with an indicator e_k for each of K blocks, and v. Products
    of two codes of one block are zero in every row, so that they are neither released nor noisy.

    Guarantee. The cost, for the given relation. What is released is part of the upper triangle of
    phi phi', phi v and v^2. Every entry of phi and v is at most 1 in magnitude and
    |phi|^2 <= R^2 = K + d, so :func:`~dpstats.mechanisms.shared.gram.sensitivities` bound their L2
    sensitivities by R, for any number of codes: of phi phi' by
    (|phi|^4 + sum phi_j^4) / 2 <= (R^4 + R^2) / 2 under add/remove, which a row at a corner
    reaches, since each of its K + d entries is 1 in magnitude: K counts, a cell for each pair of
    blocks, d sums in each of its codes and the triangle of z z'. Under replace-one two corners with
    other codes and, for even d, orthogonal z miss the bound by d / 2 of (R^4 + R^2) / 2 in squares.

    In L1 |phi|_1 <= K + d = R^2, so that
    :func:`~dpstats.mechanisms.shared.gram.l1_sensitivities` bound them by R and K + d columns:
    (|phi|_1^2 + |phi|^2) / 2 <= R^2 (K + d + 1) / 2 for phi phi', K + d for phi v and 1 for v^2
    under add/remove, which the same corner reaches, and twice the first two under replace-one.
    """
    d, K = basis.numbers, len(basis.sizes)
    triangle = np.triu_indices(d)
    squares = sums.products[:d, :d][triangle]
    first = [*(c.ravel() for c in (*sums.counts, *sums.pairs))]
    middle = [level[:, :d].ravel() for level in sums.levels]
    gram = _whole(first, middle, squares)
    cross = _whole([], [level[:, d] for level in sums.levels], sums.products[:d, d])
    norm = norm_of(basis)
    bounds = zip(
        l1_sensitivities(norm, K + d, neighbors), sensitivities(norm, neighbors), strict=True
    )
    steps = (("X'X", gram), ("X'y", cross), ("y'y", [sums.products[d, d]]))
    queries = [
        Query(step, values, l1=l1 / PRODUCT_UNIT, l2=l2 / PRODUCT_UNIT, unit=PRODUCT_UNIT)
        for (step, values), (l1, l2) in zip(steps, bounds, strict=True)
    ]
    noisy = [
        noise.add(query, cost.part(part)) for query, part in zip(queries, FRACTIONS, strict=True)
    ]
    return NoisyBlockSums.of(
        basis,
        noisy[0].values,
        noisy[1].values,
        float(noisy[2].values[0]),
        [values.deviation for values in noisy],
    )


def _whole(counts, levels, products) -> list[int]:
    """List counts and sums in units of 2^-20 and of 2^-40, all in units of 2^-40."""
    values: list[int] = []
    for part in counts:
        values += (part.astype(object) * _ONE * _ONE).tolist()
    for part in levels:
        values += (part.astype(object) * _ONE).tolist()
    return values + [int(product) for product in products]


def _cut(values: np.ndarray, shapes) -> tuple[list[np.ndarray], np.ndarray]:
    """Cut a vector into arrays of these shapes, and return what is left too."""
    parts, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(values[start : start + size].reshape(shape))
        start += size
    return parts, values[start:]
