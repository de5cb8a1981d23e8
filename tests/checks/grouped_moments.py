"""Check moments within groups against exact fractions."""

from fractions import Fraction

import numpy as np

from dpstats.numerics import Box, Moments, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.grouped_moments import GroupedMoments

BOX = Box.symmetric(np.array([-1.0, -1.0]), np.array([1.0, 1.0]), -1.0, 1.0, None)


def rows_of(seed, n):
    """Rows in the box, with many on its corners."""
    generator = np.random.default_rng(seed)
    Z = generator.uniform(-1.5, 1.5, (n, 3))
    return Z[:, :2], Z[:, 2]


def exact(X, y, keys):
    """W by fractions, with each group's s s' / n rounded down as documented."""
    Z = np.array([[int(v) for v in row] for row in BOX.integers(X, y)], dtype=object)
    W = Z.T @ Z if len(Z) else np.zeros((3, 3), dtype=object)
    for key in np.unique(keys):
        own = Z[keys == key]
        s = own.sum(axis=0)
        for j in range(3):
            for l in range(3):
                W[j, l] -= Fraction(s[j] * s[l], len(own)).__floor__()
    return W


def check_exact(seed, n, groups):
    """Against fractions, for random rows in random groups."""
    X, y = rows_of(seed, n)
    keys = np.random.default_rng(seed).integers(groups, size=n).astype(float)
    moments = GroupedMoments.of(Rows(X, y, keys=keys), BOX)
    assert (moments.within() == exact(X, y, keys)).all()
    assert moments.degrees == n - len(np.unique(keys))


def check_large(n):
    """Sums of millions of rows at the corners leave int64 where products are formed."""
    unit = 1 << ENTRY_BITS
    generator = np.random.default_rng(2)
    counts = np.array([n, 3, n // 2, 1])
    sums = generator.integers(-unit, unit + 1, (4, 3)) * counts[:, None] // 3 - 1
    zero = Moments(np.zeros((3, 3), dtype=object))
    moments = GroupedMoments(zero, np.arange(4.0), counts, sums)
    expected = [
        [
            -sum(int(s[j]) * int(s[l]) // int(m) for m, s in zip(counts, sums, strict=True))
            for l in range(3)
        ]
        for j in range(3)
    ]
    assert moments.within().tolist() == expected
