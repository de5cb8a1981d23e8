"""Sum the products of rows in indicators and numbers exactly, and release them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dpstats.estimators.least_squares.dense.gram import l1_sensitivities, sensitivities
from dpstats.estimators.least_squares.dense.noisy_sums import FRACTIONS, release_number
from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.evidence import BlockEvidence
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.code_sums import CodeSums
from dpstats.numerics.cross_products import (
    BLOCK,
    PRODUCT_UNIT,
    WEIGHTED_UNIT,
    exact_sum,
    weighted_products,
    whole_weights,
)
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS


@dataclass(frozen=True)
class BlockSums:
    """Hold exact sums over rows (codes, z, v); those of disjoint rows add up.

    Where rows have weights w they are sums of w, in units 2^-20 times as large as those below.

    Parameters
    ----------
    counts : tuple of numpy.ndarray of int
        Rows with each code, for each block.
    pairs : tuple of numpy.ndarray of int
        Rows with each pair of codes, for each pair of blocks.
    levels : tuple of numpy.ndarray of int
        Sums of (z, v) over the rows with each code, (L, d + 1), in units of 2^-20.
    products : numpy.ndarray
        Sums of products of (z, v), Python integers (d + 1, d + 1) in units of 2^-40.
    rows : int or None
        Number of rows, where these have weights, or of the units that they belong to.
    """

    counts: tuple[np.ndarray, ...]
    pairs: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]
    products: np.ndarray
    rows: int | None = None

    @property
    def unit(self) -> float:
        """Return the unit of ``products``: 2^-40, or 2^-60 where rows have weights."""
        return PRODUCT_UNIT if self.rows is None else WEIGHTED_UNIT

    @classmethod
    def of(cls, rows: Rows, basis: BlockBasis) -> "BlockSums":
        """Sum over rows of codes and numbers, each as often as it counts."""
        from dpstats.numerics.kernels import products

        def parts():
            for codes, numbers, parts in coded_blocks(rows, basis):
                if parts is None:
                    yield codes, np.ones((len(numbers), 1)), numbers, products(numbers.T.copy())
                    continue
                whole = whole_weights(parts)[:, None]
                yield codes, whole, whole * numbers, weighted_products(numbers, parts)

        weighted = rows.parts is not None
        sums = cls.summed(parts(), basis, basis.numbers + 1, wide=weighted)
        return replace(sums, rows=rows.count) if weighted else sums

    @classmethod
    def summed(cls, parts: Iterable, basis: BlockBasis, width: int, wide: bool) -> "BlockSums":
        """Add up blocks (codes, ones, columns, products) of rows.

        Of each block: codes, (m,) for each of K; what each row adds to a count (m, 1) and to the
        sums of its codes (m, width), whole numbers as in :class:`CodeSums`; and the products of the
        numbers, whole numbers (width, width) or their two parts as in :class:`Moments`.
        """
        sizes, K = basis.sizes, range(len(basis.sizes))
        counts, levels = (
            [CodeSums(size, columns, wide) for size in sizes] for columns in (1, width)
        )
        pairs = {(j, k): CodeSums(sizes[j] * sizes[k], 1, wide) for j, k in combinations(K, 2)}
        blocks, shape = [], (2, width, width) if wide else (width, width)
        for codes, ones, columns, products in parts:
            blocks.append(products)
            for k in K:
                counts[k].add(codes[k], ones)
                levels[k].add(codes[k], columns)
            for (j, k), sums in pairs.items():
                sums.add(codes[j] * sizes[k] + codes[k], ones)
        total = exact_sum(blocks, shape)
        return cls(
            tuple(sums.total()[:, 0] for sums in counts),
            tuple(sums.total().reshape(sizes[j], sizes[k]) for (j, k), sums in pairs.items()),
            tuple(sums.total() for sums in levels),
            total[0] * _ONE + total[1] if wide else total,
        )

    def __add__(self, other: "BlockSums") -> "BlockSums":
        def added(one, two):
            return tuple(a + b for a, b in zip(one, two, strict=True))

        return BlockSums(
            added(self.counts, other.counts),
            added(self.pairs, other.pairs),
            added(self.levels, other.levels),
            self.products + other.products,
            None if self.rows is None or other.rows is None else self.rows + other.rows,
        )


def coded_blocks(rows: Rows, basis: BlockBasis):
    """Yield blocks of rows: codes, (m,) for each of K, scaled (z, v), (m, d + 1), and parts.

    Scaled and clipped to whole numbers of units of 2^-20, row by row.
    """
    for block in rows.blocks(BLOCK):
        assert block.codes is not None, "the request reads codes"
        codes = [column.astype(np.int64) for column in block.codes.T]
        yield codes, basis.scaled(codes, block.numbers, block.response), block.parts


@dataclass(frozen=True)
class NoisyBlockSums:
    """Hold released sums, in the shapes of :class:`BlockSums`, and the noise on them.

    ``gram_sd``, ``cross_sd`` and ``square_sd`` are the standard deviations of the noise on a
    product of coordinates, on one of a coordinate with v, and on v'v. ``rows`` and ``rows_sd`` are
    as in :class:`NoisySums`.
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
    rows: float | None = None
    rows_sd: float = 0.0

    @classmethod
    def of(
        cls,
        basis: BlockBasis,
        gram: np.ndarray,
        cross: np.ndarray,
        square: float,
        deviations,
        rows: float | None = None,
        rows_sd: float = 0.0,
    ) -> "NoisyBlockSums":
        """Arrange the released values of the queries of X'X and X'y, in their order."""
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
        counts, (of_gram, of_cross, of_square) = tuple(parts[:K]), deviations
        sums = counts, pairs, levels, z, with_z, square
        return cls(*sums, of_gram, of_cross, of_square, rows, rows_sd)

    @classmethod
    def restored(cls, basis: BlockBasis, known: BlockEvidence) -> "NoisyBlockSums":
        """Restore the sums from the evidence of a release."""
        sums = cls.of(basis, known.gram, known.cross, float(known.square), known.deviations)
        if known.weighted_rows is None or known.weighted_rows_error is None:
            return sums
        deviation = float(known.weighted_rows_error)
        return replace(sums, rows=float(known.weighted_rows) - deviation, rows_sd=deviation)

    @property
    def evidence(self) -> BlockEvidence:
        """Return the released values, and the noise on them, as evidence of a release."""
        d = len(self.gram)
        gram = (
            *(part.ravel() for part in (*self.counts, *self.pairs.values())),
            *(level[:, :d].ravel() for level in self.levels),
            self.gram[np.triu_indices(d)],
        )
        cross = (*(level[:, d] for level in self.levels), self.cross)
        deviations = [self.gram_sd, self.cross_sd, self.square_sd]
        return BlockEvidence(
            gram=np.concatenate(gram), cross=np.concatenate(cross), square=self.square,
            deviations=deviations,
            weighted_rows=None if self.rows is None else self.rows + self.rows_sd,
            weighted_rows_error=None if self.rows is None else self.rows_sd,
        )  # fmt: skip

    @property
    def total(self) -> float:
        """Return the number of rows, or the sum of their weights, as the smallest block tells."""
        return float(min(self.counts, key=len).sum())

    @property
    def number(self) -> float:
        """Return the number of rows or units: no less than the sum of their weights."""
        return self.total if self.rows is None else max(self.rows, self.total)


def norm_of(basis: BlockBasis) -> float:
    """Bound the norm of a row by its entries: K indicators, and numbers in [-1, 1]."""
    return math.sqrt(basis.entries)


def release_block_sums(
    sums: BlockSums,
    basis: BlockBasis,
    neighbors: str,
    cost: Cost,
    noise: Noise,
    counted: str = "rows",
) -> NoisyBlockSums:
    """Release the sums of products that are not structurally zero.

    A row is phi = (e_1, ..., e_K, z) with an indicator e_k for each of K blocks, and v. Products
    of two codes of one block are zero in every row, so that they are neither released nor noisy.

    Guarantee. The cost, for the given relation. What is released is part of the upper triangle of
    phi phi', phi v and v^2. Every entry of phi and v is at most 1 in magnitude and
    |phi|^2 <= R^2 = K + d, where a set of columns of which a row has one at most, as x:g, counts as
    one of d (:meth:`~dpstats.estimators.least_squares.factors.basis.BlockBasis.scaled` sees to
    that). So :func:`~dpstats.estimators.least_squares.dense.gram.sensitivities` bound their L2
    sensitivities by R, for any number of codes: of phi phi' by (|phi|^4 + sum phi_j^4) / 2 <= (R^4
    + R^2) / 2 under add/remove, which a row at a corner reaches, since each of its K + d entries is
    1 in magnitude: K counts, a cell for each pair of blocks, d sums in each of its codes and the
    triangle of z z'. Under replace-one two corners with other codes and, for even d, orthogonal z
    miss the bound by d / 2 of (R^4 + R^2) / 2 in squares.

    In L1 |phi|_1 <= K + d = R^2, so that
    :func:`~dpstats.estimators.least_squares.dense.gram.l1_sensitivities` bound them by R and K + d
    columns: (|phi|_1^2 + |phi|^2) / 2 <= R^2 (K + d + 1) / 2 for phi phi', K + d for phi v and 1
    for v^2 under add/remove, which the same corner reaches, and twice the first two under
    replace-one.

    Rows with a weight w in [0, 1] enter as w phi phi', w phi v and w v^2, and the weights of the
    rows of a unit add up to at most 1. What a unit adds is a point of the convex hull of zero and
    of what single rows add, so each bound holds, and zeros stay zeros. The number of weighted rows,
    or of units, is released too
    (:func:`~dpstats.estimators.least_squares.dense.noisy_sums.noisy_sums`).
    """
    rows, rows_sd, cost = release_number(sums.rows, neighbors, cost, noise, counted)
    d = basis.numbers
    levels = [level[:, d].astype(object) * _ONE for level in sums.levels]
    cross = [int(value) for part in (*levels, sums.products[:d, d]) for value in part]
    norm = norm_of(basis)
    bounds = zip(
        l1_sensitivities(norm, basis.entries, neighbors),
        sensitivities(norm, neighbors),
        strict=True,
    )
    steps = (("X'X", gram_values(sums, d)), ("X'y", cross), ("y'y", [sums.products[d, d]]))
    queries = [
        Query(step, values, l1=l1 / sums.unit, l2=l2 / sums.unit, unit=sums.unit)
        for (step, values), (l1, l2) in zip(steps, bounds, strict=True)
    ]
    gram, cross, square = [
        noise.add(query, cost.part(part)) for query, part in zip(queries, FRACTIONS, strict=True)
    ]
    deviations = [gram.deviation, cross.deviation, square.deviation]
    total = float(square.values[0])
    return NoisyBlockSums.of(basis, gram.values, cross.values, total, deviations, rows, rows_sd)


def gram_values(sums: BlockSums, d: int, one: int = _ONE) -> list[int]:
    """List products of codes and d numbers, structural zeros left out, in units of ``products``.

    In these units of the numbers an indicator is ``one``.
    """
    counts = [part.astype(object).ravel() * one * one for part in (*sums.counts, *sums.pairs)]
    levels = [level[:, :d].astype(object).ravel() * one for level in sums.levels]
    squares = sums.products[:d, :d][np.triu_indices(d)]
    return [int(value) for part in (*counts, *levels, squares) for value in part]


def _cut(values: np.ndarray, shapes) -> tuple[list[np.ndarray], np.ndarray]:
    """Cut a vector into arrays of these shapes, and return what is left too."""
    parts, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(values[start : start + size].reshape(shape))
        start += size
    return parts, values[start:]
