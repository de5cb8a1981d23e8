"""Write a made-up labour-force survey as CSV: ``python survey.py FILE [ROWS [SEED]]``.

Nobody in it exists. The shares and coefficients below are made up too: they have the shape of such
a survey and are from no publication.
"""

import sys

import numpy as np
import pandas as pd

ROWS, SEED = 60_000, 20240630
STATES = [f"S{number:02d}" for number in range(1, 41)]
SCHOOLS = ["primary", "secondary", "vocational", "tertiary"]


def survey(rows: int = ROWS, seed: int = SEED) -> pd.DataFrame:
    """Draw ``rows`` adults of 18 to 66 years; empty cells are answers that were not given."""
    rng = np.random.default_rng(seed)
    sizes = rng.dirichlet(np.full(len(STATES), 6.0))
    state = rng.choice(len(STATES), rows, p=sizes)
    age = np.floor(18 + 49 * rng.beta(1.2, 1.3, rows)).astype(int)
    male = rng.random(rows) < 0.49
    school = rng.choice(len(SCHOOLS), rows, p=[0.12, 0.43, 0.18, 0.27])
    unemployed = rng.random(rows) < _chance(age, male, school)
    hours = np.where(unemployed, 0, _hours(rng, male))
    wage = _wage(rng, age, male, school, state)
    weight = 20 + 180 * rng.beta(1.1, 4.0, rows)  # persons that a row stands for
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": np.where(male, "male", "female"),
            "education": np.array(SCHOOLS)[school],
            "state": np.array(STATES)[state],
            "unemployed": unemployed.astype(int),
            "hours": hours,
            "wage": np.where(unemployed, np.nan, wage),
            "weight": np.round(weight, 1),
        }
    )
    for column, share in {"education": 0.015, "hours": 0.03, "wage": 0.10, "weight": 0.002}.items():
        frame[column] = frame[column].mask(rng.random(rows) < share)
    return frame


def _chance(age, male, school):
    """Return probabilities of being unemployed, about 6% together."""
    odds = -1.2 - 0.037 * (age - 18) - 0.15 * male - np.array([0.0, 0.6, 0.9, 1.2])[school]
    return 1 / (1 + np.exp(-odds))


def _hours(rng, male):
    """Draw usual weekly hours: a half of all at 40, others at 20 and 35, the rest spread out."""
    spread = np.clip(np.rint(rng.normal(36 + 4 * male, 11)), 1, 80)
    usual = rng.choice([40, 35, 20], len(male), p=[0.7, 0.18, 0.12])
    return np.where(rng.random(len(male)) < 0.7, usual, spread)


def _wage(rng, age, male, school, state):
    """Draw hourly wages, lognormal, which two in five report to the whole unit."""
    place = rng.normal(0, 0.08, len(STATES))[state]
    mean = 2.35 + 0.03 * (age - 18) - 0.0004 * (age - 18) ** 2 + 0.12 * male + place
    wage = np.exp(mean + np.array([0.0, 0.15, 0.25, 0.55])[school] + rng.normal(0, 0.4, len(age)))
    digits = np.where(rng.random(len(age)) < 0.4, 1.0, 0.1)
    return np.clip(np.rint(wage / digits) * digits, 2, 400).round(1)


if __name__ == "__main__":
    path, *numbers = sys.argv[1:]
    survey(*map(int, numbers)).to_csv(path, index=False)
