"""Simulate a panel: pay slips of persons who have several each."""

import numpy as np
import pandas as pd

from dpstats.option_checks import number, seeded_generator, whole, word

# The coefficients, the s.d. of the errors, most rows of a person, and the exponent of Pareto's law.
PANEL_LINE = {"Intercept": 0.5, "education": 0.08, "hours": 0.02}
PANEL_SD, MOST_ROWS, PARETO_EXPONENT = 0.5, 50, 1.5


def panel(persons, rows=5, *, shape="fixed", icc=0.5, seed=None) -> pd.DataFrame:
    """Simulate pay slips of persons who have several each.

    A simulation, not a release: log_wage = 0.5 + 0.08 education + 0.02 hours + u, where u has
    s.d. 0.5 and a correlation of `icc` between any two rows of a person. Education, whole years
    from 8 to 20, is the same in all rows of a person. Hours a week are 38 + N(0, 6^2) for the
    person + N(0, 6^2) for the row, cut to [0, 80]. How many rows a person has tells nothing about
    the rest.

    Parameters
    ----------
    persons : int
        Number of persons, at least 1.
    rows : float
        Rows of each person, in [1, 50]: a whole number where all have as many, else their mean
        before numbers of rows are cut to 1 to 50.
    shape : {"fixed", "poisson", "pareto"}
        The distribution of the number of rows. Pareto's has a density that falls as r^-2.5 from
        rows / 3 on; its numbers are rounded down.
    icc : float
        Intra-class correlation of the errors, in [0, 1].
    seed : int, numpy.random.Generator, optional
        Seed or source of randomness; fresh by default.

    Returns
    -------
    pandas.DataFrame
        A row per pay slip, those of a person beside one another: ``person`` (int, 1 to
        `persons`), ``education``, ``hours`` and ``log_wage``.

    Raises
    ------
    ArgumentError
        For no person, a number of rows outside [1, 50] or not whole where it is fixed, an unknown
        shape, a correlation outside [0, 1] or a seed of another type.

    Examples
    --------
    >>> slips = panel(1000, rows=10, shape="poisson", seed=1)
    >>> list(slips.columns), slips["person"].nunique(), len(slips)
    (['person', 'education', 'hours', 'log_wage'], 1000, 10010)
    >>> int(slips.groupby("person")["education"].nunique().max())
    1
    """
    persons = whole("persons", 1, 10**9)(persons)
    icc = number("icc", 0, 1, "[]")(icc)
    rng = seeded_generator(seed)
    sizes = _rows_of_persons(persons, rows, shape, rng)
    person = np.repeat(np.arange(persons), sizes)
    education = rng.integers(8, 21, persons)[person]
    hours = 38 + rng.normal(0, 6, persons)[person] + rng.normal(0, 6, len(person))
    hours = np.clip(hours, 0, 80)
    error = np.sqrt(icc) * rng.normal(size=persons)[person]
    error += np.sqrt(1 - icc) * rng.normal(size=len(person))
    start, of_education, of_hours = PANEL_LINE.values()
    log_wage = start + of_education * education + of_hours * hours + PANEL_SD * error
    return pd.DataFrame(
        {"person": person + 1, "education": education, "hours": hours, "log_wage": log_wage}
    )


def _rows_of_persons(persons: int, rows, shape: str, rng) -> np.ndarray:
    """Draw how many rows each person has, (persons,)."""
    word("shape", "fixed", "poisson", "pareto")(shape)
    if shape == "fixed":
        return np.full(persons, whole("rows", 1, MOST_ROWS)(rows))
    rows = number("rows", 1, MOST_ROWS, "[]")(rows)
    if shape == "poisson":
        drawn = rng.poisson(rows, persons)
    else:
        least = rows * (1 - 1 / PARETO_EXPONENT)
        drawn = np.floor(least * (1 + rng.pareto(PARETO_EXPONENT, persons)))
    return np.clip(drawn, 1, MOST_ROWS).astype(np.int64)
