"""Audits on persons: what honest fits give, and what too little noise or whole rows do."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.auditing.persons import person_pairs
from dpstats.estimators import GENERALIZED
from dpstats.estimators.contract import Release
from dpstats.estimators.least_squares import adassp
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.estimators.least_squares.dense.noisy_sums import noisy_sums
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS
from dpstats.rows import PrivacyUnit
from dpstats.rows.privacy_unit import ONE

pytestmark = pytest.mark.system_noise

KNOWN = {**dp.METHODS, **GENERALIZED}
METHODS = [name for name, method in KNOWN.items() if "units" in method.takes]
AUDITED = [(name, relation) for name in METHODS for relation in RELATIONS]


@pytest.mark.parametrize("max_rows", [1, 3])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_inputs_differ_in_all_rows_of_a_person_who_has_more_than_max_rows(neighbors, max_rows):
    for pair in person_pairs(2, neighbors, max_rows):
        first, second = pair.first, pair.second
        person = second[2][-1]
        assert np.sum(second[2] == person) == 8 * max_rows
        kept = [np.column_stack([X, y, units])[units != person] for X, y, units in (first, second)]
        assert np.array_equal(*kept)
        own = np.sum(first[2] == person)
        assert own == (0 if neighbors == ADD_REMOVE else 4 * max_rows)


@pytest.mark.parametrize("name, neighbors", AUDITED)
def test_no_method_is_refuted_for_persons(name, neighbors):
    """Wrongly with a chance of one in a million. The rounds take long, so of one pair of tables.

    Of an epsilon of 2, 400 counted releases refute twice as much with a probability of 0.99 and
    more, and half as much again with one of 0.49 (randomised response).
    """
    rounds = name in ("noisy_newton", "noisy_newton_pure", *GENERALIZED)
    tables = person_pairs(1, neighbors, 2)[2:3] if rounds else person_pairs(1, neighbors, 2)
    pure = KNOWN[name].guarantee == "pure"
    epsilon, trials = (2, 800) if pure else (4, 120 if rounds else 240)
    found = dp.audit(
        name, epsilon=epsilon, trials=trials, neighbors=neighbors, unit="person",
        max_rows=2, pairs=[(pair.first, pair.second) for pair in tables],
    )  # fmt: skip
    assert not found.violated, str(found)
    assert found.neighbors == f"{neighbors} of person"
    assert found.epsilon == epsilon < found.epsilon_attainable


def of_sums(factor):
    """A method that releases the sums of persons alone, with all of the budget times a factor."""

    def release(passes, problem, cost, noise, **options):
        summary = passes.sum(partial(adassp.summarise, problem=problem))
        cost = GDP(factor * cost.mu)
        box, noise = clipped_box(problem), Noise(cost)
        sums = noisy_sums(summary.sums, box, problem.neighbors, cost, noise, problem.counted)
        corner = np.triu_indices(len(sums.cross))
        numbers = np.r_[sums.cross, sums.gram[corner], sums.square, sums.rows]
        return Release(numbers, np.empty(0))

    return replace(dp.METHODS["adassp"], release=release)


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_noise_that_is_too_small_by_a_tenth_is_refuted(factor):
    """Wrongly with a chance of one in a thousand a run; the seed is fixed.

    One person at a corner moves every sum as far as it states, so that the sums with the noise they
    should have attain most of the claim.
    """
    pair = person_pairs(1, ADD_REMOVE, 1)[1]
    tables = [(pair.first, pair.second)]
    with dp.testing.insecure_seed(3):
        found = dp.audit(of_sums(factor), epsilon=12, trials=8000, alpha=1e-3, unit="person",
                         pairs=tables)  # fmt: skip
    assert found.violated == (factor > 1), str(found)
    assert found.epsilon_lower > 0.85 * 12


def in_full(unit, units):
    """Each row counts for one row, however many a person has."""
    return np.full(len(units), ONE // unit.max_rows)


@pytest.mark.parametrize("max_rows", [1, 2])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_privacy_of_rows_is_refuted_as_that_of_persons(neighbors, max_rows, monkeypatch):
    """The same tables with rows that count in full; wrongly with a chance of one in a million."""
    place = 1 if neighbors == ADD_REMOVE else 2
    pair = person_pairs(1, neighbors, max_rows)[place]
    call = {"epsilon": 4, "trials": 160, "unit": "person", "max_rows": max_rows,
            "neighbors": neighbors, "pairs": [(pair.first, pair.second)]}  # fmt: skip
    with dp.testing.insecure_seed(1):
        assert not dp.audit("adassp", **call).violated
        monkeypatch.setattr(PrivacyUnit, "parts", in_full)
        found = dp.audit("adassp", **call)
    assert found.violated, str(found)


@pytest.mark.parametrize(
    "call, message",
    [
        ({"max_rows": 2}, "max_rows is for persons with several rows; add unit="),
        ({"unit": "y"}, "unit='y' is a variable of the synthetic tables"),
        ({"unit": "person", "max_rows": 0}, "max_rows to be a whole number"),
        ({"unit": 3}, "expected unit to name a column"),
        ({"unit": ["person"]}, "expected unit to name a column"),
        ({"unit": np.array(["a", "b"])}, "expected unit to name a column"),
        ({"unit": "person", "mechanism": "exp_theil_sen"}, "is proven for persons of one row only"),
        ({"unit": "person", "mechanism": sum, "pairs": [([1], [2])]}, "options are for methods"),
    ],
)
def test_wrong_calls_are_refused(call, message):
    with pytest.raises(dp.ArgumentError, match=message):
        dp.audit(**{"mechanism": "adassp", "trials": 40, **call})


def test_command_line(capsys):
    call = ["audit", "ssp", "--epsilon", "4", "--trials", "40", "--unit", "person", "--max-rows"]
    assert cli.main([*call, "2"]) == 0
    assert "ssp, add_remove of person, claims epsilon 4" in capsys.readouterr().out
    assert cli.main([*call, "0"]) == 2
