"""Fit factors with and without noise, and check slopes of each code."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import dpstats as dp
from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.factors import BlockBasis
from dpstats.formula import Formula
from dpstats.numerics import Block, Layout
from dpstats.schema import Categorical, Numeric

# Entries are cut toward zero to multiples of 2^-20 of half their range.
BOUNDS = {"x": (0, 1), "z": (-3, 5), "y": (-0.5, 1.5)}
# With this epsilon the noise on a sum of 2,000 rows is of the order of 10^-5.
RICH = 1e9
TERMS = ("x", "z", "C(c, Poly)", "b", "{a}:b", "x:{a}", "x:z", "{a}")


def table(n, seed, levels=4):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": generator.uniform(0, 1, n), "z": generator.uniform(-3, 5, n)})
    for name, size in (("a", levels), ("b", 3), ("c", 3)):
        codes = generator.integers(0, size, n)
        frame[name] = pd.Categorical.from_codes(codes, [f"{name}{i}" for i in range(size)])
    effects = 0.2 * generator.normal(size=levels)
    frame["y"] = 0.2 + 0.5 * frame["x"] - 0.02 * frame["z"] + effects[frame["a"].cat.codes]
    frame["y"] = (frame["y"] + generator.normal(0, 0.1, n)).clip(-0.5, 1.5)
    return frame


# Designs with a factor in any coding, and the seed of a table.
DESIGNS = dict(
    terms=st.lists(st.sampled_from(TERMS), max_size=3, unique=True),
    factor=st.sampled_from(("{a}", "b", "C(c, Poly)", "{a}:b")),
    coding=st.sampled_from(("a", "C(a, Sum)", "C(a, Poly)", "C(a, Treatment('a2'))")),
    intercept=st.booleans(),
    seed=st.integers(0, 50),
)


def fit(formula, frame, epsilon=RICH, method="adassp", seed=1, **options):
    bounds = {name: ends for name, ends in BOUNDS.items() if name in formula}
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(
            formula, frame, method=method, epsilon=epsilon, **{"bounds": bounds, **options}
        )


def many(n, levels, seed):
    """y = .2 + .5 x + effect of the level + noise of deviation .15, with equal levels."""
    generator = np.random.default_rng(seed)
    codes, effects = np.arange(n) % levels, generator.uniform(-0.2, 0.2, levels)
    x = generator.uniform(0, 1, n)
    y = 0.2 + 0.5 * x + effects[codes] + generator.normal(0, 0.15, n)
    names = [f"l{i:03d}" for i in range(levels)]
    frame = pd.DataFrame({"x": x, "y": y, "g": pd.Categorical.from_codes(codes, names)})
    return frame, np.r_[0.2 + effects[0], effects[1:] - effects[0], 0.5]


def rare(n, seed, counts=(3, 20, 60)):
    """Five levels of which the last three have few rows, and a second factor."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, n)
    codes[: sum(counts)] = np.repeat([2, 3, 4], counts)
    x = generator.uniform(0, 1, n)
    h = generator.integers(0, 3, n)
    effects = np.array([0.0, 0.3, 0.6, -0.4, 0.5])
    y = 0.2 + 0.5 * x + effects[codes] + 0.1 * h + generator.normal(0, 0.1, n)
    frame = pd.DataFrame({"x": x, "y": y, "g": pd.Categorical.from_codes(codes, list("abcde"))})
    return frame.assign(h=pd.Categorical.from_codes(h, list("uvw")))


def hand_made(coding, intercept):
    """A problem with one block of this coding, and one number in [0, 4]."""
    first = int(intercept)
    columns = first + coding.shape[1] + 1
    low, high = np.full(columns, -1.0), np.full(columns, 2.0)
    low[-1], high[-1] = 0.0, 4.0
    block = Block(np.arange(first, columns - 1), coding)
    layout = Layout((block,), np.array([columns - 1]), 0 if intercept else None)
    place = 0 if intercept else None
    if intercept:
        low[0] = high[0] = 1.0
    return Problem(
        low, high, -2.0, 3.0, place, "add_remove", None, False, np.empty((0, columns)), layout,
        None, True,
    )  # fmt: skip


SLOPES = {
    "y ~ x*a": 2,
    "y ~ a + a:x": 2,
    "y ~ x*a + x*b": 4,
    "y ~ 0 + a + a:x + z": 3,
    "y ~ x*a + z*b + x:z": 5,
    "y ~ a*b + a:b:x": 2,
    "y ~ x*C(a, Sum)": 5,
    "y ~ x + x:a": 4,
}


def basis_of(formula):
    """The formula, its design and its basis."""
    schema = {"y": Numeric(-2, 3), "x": Numeric(0, 1), "z": Numeric(-3, 5)}
    schema |= {n: Categorical(tuple(f"{n}{i}" for i in range(k))) for n, k in (("a", 4), ("b", 3))}
    formula = Formula.parse(formula)
    design = formula.design({name: schema[name] for name in formula.variables})
    problem = Problem(
        design.low, design.high, -2.0, 3.0, design.intercept, "add_remove", None, False,
        np.empty((0, len(design.low))), design.layout, None, True,
    )  # fmt: skip
    return formula, design, BlockBasis.of(problem)


def check_slopes(formula="y ~ x*a"):
    """Whatever stands in the others: the norm counts them as one."""
    *_, basis = basis_of(formula)
    assert basis.entries == SLOPES[formula]
    generator = np.random.default_rng(1)
    codes = [generator.integers(0, size, 400) for size in basis.sizes]
    numbers = generator.choice(
        [0.0, 1.0, -3.0, 1e300, np.nan, np.inf, -np.inf], (400, basis.numbers)
    )
    rows = basis.scaled(codes, numbers, numbers[:, 0]) / 2.0**20
    assert (np.abs(rows) <= 1).all()
    assert (np.count_nonzero(rows[:, :-1], axis=1) + len(codes)).max() == basis.entries
