"""Sum the products of rows in indicators and numbers exactly, and release them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dpstats.estimators.least_squares.dense.noisy_sums import (
    FRACTIONS,
    release_number,
    release_queries,
)
from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.evidence import BlockEvidence
from dpstats.noise import Noise
from dpstats.numerics import GridRows, Moments, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.code_sums import CodeSums
from dpstats.numerics.cross_products import whole_weights
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
    numbers : Moments
        Sums of products of (z, v).
    """

    counts: tuple[np.ndarray, ...]
    pairs: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]
    numbers: Moments

    @classmethod
    def of(cls, rows: Rows, basis: BlockBasis) -> "BlockSums":
        """Sum over rows of codes and numbers, each as often as it counts."""

        def parts():
            for block in basis.blocks(rows):
                if block.parts is None:
                    yield block, np.ones(block.columns.shape[1]), block.columns
                    continue
                whole = whole_weights(block.parts)
                yield block, whole, whole * block.columns

        extra = None if rows.parts is None else rows.count
        return cls.summed(parts(), basis, basis.numbers + 1, extra is not None, extra)

    @classmethod
    def summed(
        cls, parts: Iterable, basis: BlockBasis, width: int, wide: bool, extra: int | None = None
    ) -> "BlockSums":
        """Add up blocks of rows, each with what its rows add to counts and to sums of codes.

        These are whole numbers (m,) and (width, m), as in :class:`CodeSums`; ``extra`` is that of
        :class:`Moments`.
        """
        sizes, K = basis.sizes, range(len(basis.sizes))
        counts, levels = (
            [CodeSums(size, columns, wide) for size in sizes] for columns in (1, width)
        )
        pairs = {(j, k): CodeSums(sizes[j] * sizes[k], 1, wide) for j, k in combinations(K, 2)}

        def coded() -> Iterator[GridRows]:
            for block, ones, columns in parts:
                codes = block.codes
                for k in K:
                    counts[k].add(codes[k], ones[:, None])
                    levels[k].add(codes[k], columns.T)
                for (j, k), sums in pairs.items():
                    sums.add(codes[j] * sizes[k] + codes[k], ones[:, None])
                yield block

        numbers = Moments.summed(coded(), width, extra)
        return cls(
            tuple(sums.total()[:, 0] for sums in counts),
            tuple(sums.total().reshape(sizes[j], sizes[k]) for (j, k), sums in pairs.items()),
            tuple(sums.total() for sums in levels),
            numbers,
        )

    def __add__(self, other: "BlockSums") -> "BlockSums":
        def added(one, two):
            return tuple(a + b for a, b in zip(one, two, strict=True))

        return BlockSums(
            added(self.counts, other.counts),
            added(self.pairs, other.pairs),
            added(self.levels, other.levels),
            self.numbers + other.numbers,
        )


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


def release_block_sums(
    sums: BlockSums,
    basis: BlockBasis,
    neighbors: str,
    cost: Cost,
    noise: Noise,
    counted: str = "rows",
) -> NoisyBlockSums:
    """Release the sums of products that are not structurally zero.

    Guarantee. The cost, for the given relation: what is released is part of the upper triangle of
    phi phi', phi v and v^2, with the sensitivities of
    :meth:`~dpstats.estimators.least_squares.factors.basis.BlockBasis.sensitivity`, by Gaussian or
    Laplace noise. Products of two codes of one block are zero in every row, so that they are
    neither released nor noisy.

    Rows with a weight w in [0, 1] enter as w phi phi', w phi v and w v^2, and the weights of the
    rows of a unit add up to at most 1. What a unit adds is a point of the convex hull of zero and
    of what single rows add, so each bound holds, and zeros stay zeros. The number of weighted rows,
    or of units, is released too
    (:func:`~dpstats.estimators.least_squares.dense.noisy_sums.noisy_sums`).
    """
    numbers, d = sums.numbers, basis.numbers
    rows, rows_sd, cost = release_number(numbers.extra, neighbors, cost, noise, counted)
    levels = [level[:, d].astype(object) * _ONE for level in sums.levels]
    cross = [int(value) for part in (*levels, numbers.cross[:d, d]) for value in part]
    exact = gram_values(sums, d), cross, [numbers.cross[d, d]]
    gram, cross, square = release_queries(
        exact, numbers.unit, basis.sensitivity(neighbors), cost, noise, FRACTIONS
    )
    deviations = [gram.deviation, cross.deviation, square.deviation]
    total = float(square.values[0])
    return NoisyBlockSums.of(basis, gram.values, cross.values, total, deviations, rows, rows_sd)


def gram_values(sums: BlockSums, d: int, one: int = _ONE) -> list[int]:
    """List products of codes and d numbers, structural zeros left out, in units of ``numbers``.

    In these units of the numbers an indicator is ``one``.
    """
    counts = [part.astype(object).ravel() * one * one for part in (*sums.counts, *sums.pairs)]
    levels = [level[:, :d].astype(object).ravel() * one for level in sums.levels]
    squares = sums.numbers.cross[:d, :d][np.triu_indices(d)]
    return [int(value) for part in (*counts, *levels, squares) for value in part]


def _cut(values: np.ndarray, shapes) -> tuple[list[np.ndarray], np.ndarray]:
    """Cut a vector into arrays of these shapes, and return what is left too."""
    parts, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(values[start : start + size].reshape(shape))
        start += size
    return parts, values[start:]
