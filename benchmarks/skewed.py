"""Simulated regressions on columns that are not bell-shaped, and two that nothing can cover.

Each function draws the columns of one case and is registered under the name that tables print.
Seeds are fixed, so that a case is the same table everywhere.
"""

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

Columns = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, int], Columns]


class Case(NamedTuple):
    """Hold a table, a formula, and the bounds that a codebook would give."""

    name: str
    frame: pd.DataFrame
    formula: str
    bounds: dict[str, tuple[float, float]]


class Law(NamedTuple):
    """Hold the law of a table: its formula, its number of rows, and how to draw them."""

    formula: str
    rows: int
    draw: Draw

    def frame(self, name: str) -> pd.DataFrame:
        """Draw the table, from a seed that follows from the name."""
        drawn = self.draw(np.random.default_rng(zlib.crc32(name.encode())), self.rows)
        return pd.DataFrame(drawn)


LAWS: dict[str, Law] = {}
# A few rows lie so far out that they decide the slope, and noise hides them.
HIDDEN: dict[str, Law] = {}


def _case(name: str, formula: str, rows: int, laws: dict[str, Law] = LAWS):
    """Register the function that draws a case."""

    def register(draw: Draw) -> Draw:
        laws[name] = Law(formula, rows, draw)
        return draw

    return register


@_case("bell-shaped", "y ~ x + z", 10_000)
def bell_shaped(rng, n):
    """Draw correlated normal regressors and normal errors, to compare with."""
    x, own = rng.normal(size=(2, n))
    z = 0.5 * x + own
    return {"x": x, "z": z, "y": x - 0.5 * z + rng.normal(size=n)}


@_case("visits, counts", "visits ~ age + chronic", 20_000)
def visits(rng, n):
    """Draw negative binomial counts of visits, of which three in ten are zero."""
    age, chronic = rng.integers(18, 90, n), rng.random(n) < 0.2
    mean = np.exp(0.3 + 0.012 * age + 0.6 * chronic)
    drawn = rng.poisson(mean * rng.gamma(0.8, 1 / 0.8, n))
    return {"age": age, "chronic": chronic.astype(float), "visits": drawn}


@_case("spending, 95% zeros", "spending ~ age + insured", 15_000)
def spending(rng, n):
    """Draw spending of which one in twenty has any, and that lognormal."""
    age, insured = rng.uniform(20, 80, n), (rng.random(n) < 0.6).astype(float)
    some = rng.random(n) < 0.02 + 0.03 * insured + 0.0004 * (age - 20)
    return {
        "age": age, "insured": insured,
        "spending": some * np.exp(6.5 + 0.01 * age + rng.normal(size=n)),
    }  # fmt: skip


@_case("wealth, signed", "wealth ~ age + schooling", 8000)
def wealth(rng, n):
    """Draw wealth in thousands, far above zero for a few and below it for one in ten."""
    age, schooling = rng.uniform(25, 75, n), rng.integers(8, 19, n)
    size = -1 + 0.03 * age + 0.1 * schooling + 1.4 * rng.normal(size=n)
    return {"age": age, "schooling": schooling, "wealth": 20 * np.sinh(size)}


@_case("cigarettes, heaped", "cigarettes ~ age + schooling", 5000)
def cigarettes(rng, n):
    """Draw cigarettes a day: none for seven in ten, else mostly 10 or 20."""
    age, schooling = rng.integers(18, 70, n), rng.integers(8, 19, n)
    smokes = rng.random(n) < 0.5 - 0.02 * (schooling - 8)
    usual = rng.choice([3, 5, 10, 15, 20, 30, 40], n, p=[0.06, 0.1, 0.3, 0.1, 0.34, 0.07, 0.03])
    return {"age": age, "schooling": schooling, "cigarettes": smokes * usual}


@_case("0/1, 2% ones", "default ~ balance + student", 10_000)
def default(rng, n):
    """Draw defaults of 2%, likelier where the balance is high."""
    student = (rng.random(n) < 0.3).astype(float)
    balance = np.maximum(rng.normal(0.8, 0.45, n) + 0.2 * student, 0.0)
    chance = 1 / (1 + np.exp(7.3 - 3 * balance))
    return {"balance": balance, "student": student, "default": (rng.random(n) < chance) * 1.0}


@_case("999 for missing in y, 1%", "hours ~ schooling + age", 8000)
def missing(rng, n):
    """Draw hours a week, of which one in a hundred is coded 999 for missing."""
    schooling, age = rng.integers(8, 19, n), rng.integers(20, 65, n)
    hours = 30 + 0.6 * schooling + 0.05 * age + 8 * rng.normal(size=n)
    coded = rng.random(n) < 0.01
    return {"schooling": schooling, "age": age, "hours": np.where(coded, 999.0, hours.round())}


@_case("dummy, 1% ones", "y ~ treated + x", 8000)
def rare_dummy(rng, n):
    """Draw a dummy of 1% whose rows have errors three times as large."""
    treated, x = rng.random(n) < 0.01, rng.normal(size=n)
    errors = rng.normal(size=n) * np.where(treated, 3.0, 1.0)
    return {"treated": treated * 1.0, "x": x, "y": treated + 0.5 * x + errors}


@_case("lognormal x", "y ~ x", 5000)
def lognormal(rng, n):
    """Draw a lognormal regressor and a response linear in it."""
    x = np.exp(1.1 * rng.normal(size=n))
    return {"x": x, "y": 2 + 0.4 * x + rng.normal(size=n)}


@_case("two lognormal x, correlated", "y ~ sales + staff", 6000)
def correlated(rng, n):
    """Draw sales and staff, both lognormal, whose logs have a correlation of .8."""
    size, own = rng.normal(size=(2, n))
    sales, staff = np.exp(size), np.exp(0.8 * size + 0.6 * own)
    return {"sales": sales, "staff": staff, "y": 0.3 * sales - 0.2 * staff + rng.normal(size=n)}


@_case("t3 errors", "y ~ x + z", 10_000)
def heavy_errors(rng, n):
    """Draw errors of Student's t with three degrees of freedom."""
    x, z = rng.normal(size=n), rng.uniform(0, 1, n)
    return {"x": x, "z": z, "y": 0.5 * x + z + rng.standard_t(3, n)}


@_case("income, spread by schooling", "income ~ schooling + experience", 12_000)
def income(rng, n):
    """Draw lognormal incomes in dollars, more spread the longer the schooling."""
    schooling, experience = rng.integers(8, 21, n), rng.uniform(0, 40, n)
    logs = 9.2 + 0.08 * schooling + 0.01 * experience
    errors = rng.normal(size=n) * (0.3 + 0.05 * (schooling - 8))
    return {"schooling": schooling, "experience": experience, "income": np.exp(logs + errors)}


@_case("x at 30 deviations, 0.8%", "y ~ x", 10_000)
def far_x(rng, n):
    """Draw a normal regressor of which 0.8% lies at 30 deviations, the slope the same there."""
    x = np.where(rng.random(n) < 0.008, 30.0, rng.normal(size=n))
    return {"x": x, "y": 0.5 * x + rng.normal(size=n)}


@_case("quadratic of a skewed x", "y ~ tenure + I(tenure**2)", 8000)
def quadratic(rng, n):
    """Draw exponential tenure and a response with its square."""
    tenure = rng.exponential(7, n)
    return {"tenure": tenure, "y": 0.1 * tenure - 0.002 * tenure**2 + 0.5 * rng.normal(size=n)}


def _skewed(rng: np.random.Generator, n: int, spread: float) -> tuple[np.ndarray, Columns]:
    """Draw a lognormal x, and a normal z with what it and errors add to a response."""
    logs, z, errors = rng.normal(size=(3, n))
    return np.exp(spread * logs), {"z": z, "y": 0.4 * z + errors}


@_case("logarithm of a lognormal x", "y ~ x + z", 20_000)
def concave(rng, n):
    """Draw a response that follows the logarithm of a lognormal regressor."""
    x, others = _skewed(rng, n, 0.8)
    return others | {"x": x, "y": others["y"] + 0.6 * np.log(x)}


@_case("lognormal x, flat from 4 on", "y ~ x + z", 20_000)
def capped(rng, n):
    """Draw a response that follows a lognormal regressor up to a point."""
    x, others = _skewed(rng, n, 0.8)
    return others | {"x": x, "y": others["y"] + 0.5 * np.minimum(x, 4)}


@_case("logarithm, 90% zeros in x", "y ~ x + z", 20_000)
def concave_with_zeros(rng, n):
    """Draw a regressor of mostly zeros, and a response that follows the logarithm of 1 + x."""
    x, others = _skewed(rng, n, 0.8)
    x *= rng.random(n) < 0.1
    return others | {"x": x, "y": others["y"] + np.log1p(x)}


@_case("logarithm, more for 5%", "y ~ x * rural + z", 20_000)
def concave_in_groups(rng, n):
    """Draw a response that follows the logarithm of x, twice as steep in a rare group."""
    x, others = _skewed(rng, n, 0.8)
    rural = rng.random(n) < 0.05
    return others | {"x": x, "rural": rural, "y": others["y"] + 0.6 * np.log(x) * (1 + rural)}


@_case("logarithm, more with age", "y ~ x * age", 20_000)
def concave_with_age(rng, n):
    """Draw a response that follows the logarithm of x, three times as steep at 60 as at 20."""
    x, others = _skewed(rng, n, 0.8)
    age = rng.uniform(20, 60, n)
    return {"x": x, "age": age, "y": others["y"] + 0.015 * age * np.log(x) + 0.02 * age}


@_case("t3 x, flat far out", "y ~ x + z", 20_000)
def flat_far_out(rng, n):
    """Draw a regressor of Student's t with three degrees of freedom that has an effect up to 2."""
    x, (z, errors) = rng.standard_t(3, n), rng.normal(size=(2, n))
    return {"x": x, "z": z, "y": np.tanh(x) + 0.4 * z + errors}


@_case("a lognormal x and its square", "y ~ x + I(x**2)", 20_000)
def square_of_lognormal(rng, n):
    """Draw a response that follows the logarithm of a lognormal regressor, for a quadratic."""
    x, others = _skewed(rng, n, 0.6)
    return {"x": x, "y": others["y"] + np.log(x)}


@_case("logarithm of a longer x", "y ~ x + z", 20_000)
def concave_and_long(rng, n):
    """Draw a longer lognormal regressor, of which a few rows decide the slope."""
    x, others = _skewed(rng, n, 1.2)
    return others | {"x": x, "y": others["y"] + 0.4 * np.log(x)}


@_case("interaction with a 3% dummy", "y ~ x * moved", 10_000)
def interaction(rng, n):
    """Draw a slope that differs for 3% of the rows."""
    x, moved = rng.normal(size=n), (rng.random(n) < 0.03).astype(float)
    return {"x": x, "moved": moved, "y": 0.5 * x + moved - x * moved + rng.normal(size=n)}


@_case("factor with rare levels", "pay ~ x + C(trade)", 8000)
def factor(rng, n):
    """Draw a factor with levels of 1% to 45% and pay skewed more in the rarer ones."""
    shares = [0.45, 0.25, 0.15, 0.08, 0.04, 0.02, 0.01]
    code, x = rng.choice(len(shares), n, p=shares), rng.normal(size=n)
    errors = rng.gamma(2, 1, n) * (1 + 0.15 * code)
    names = [f"t{level}" for level in range(len(shares))]
    return {"x": x, "trade": pd.Categorical.from_codes(code, names), "pay": 0.3 * x + errors}


@_case("Pareto(2) response", "y ~ x", 10_000)
def pareto(rng, n):
    """Draw errors of a Pareto law with index 2, whose variance is infinite."""
    x = rng.uniform(0, 1, n)
    return {"x": x, "y": x + rng.pareto(2.0, n)}


@_case("training, 85% zeros in x", "y ~ training + age", 5000)
def training(rng, n):
    """Draw hours of training, none for most and gamma for the others."""
    age, some = rng.uniform(20, 60, n), rng.random(n) < 0.15
    hours = some * rng.gamma(2, 15, n)
    return {
        "training": hours,
        "age": age,
        "y": 50 + 0.2 * hours + 0.3 * age + 10 * rng.normal(size=n),
    }


@_case("0.5% of x at 9,999", "y ~ x", 2000, HIDDEN)
def far_code(rng, n):
    """Draw ages of which 0.5% are coded 9,999."""
    x = rng.uniform(20, 70, n)
    y = 10 + 0.2 * x + 4 * rng.normal(size=n)
    return {"x": np.where(rng.random(n) < 0.005, 9999.0, x), "y": y}


@_case("0.3% of y times 100", "y ~ x", 4000, HIDDEN)
def wrong_unit(rng, n):
    """Draw pay of which 0.3% stands in cents and not in dollars."""
    x = rng.normal(12, 3, n)
    y = 5 + 1.2 * x + 4 * rng.normal(size=n)
    return {"x": x, "y": np.where(rng.random(n) < 0.003, 100 * y, y)}
