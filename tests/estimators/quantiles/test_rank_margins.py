"""Bought intervals and companions: what they cost, and how far a row moves their queries."""

import math
from unittest import mock

import numpy as np
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.estimators import METHODS
from dpstats.estimators.depth import tukey
from dpstats.estimators.lines import theil_sen
from dpstats.estimators.quantiles.private_quantiles import CELLS, private_end
from dpstats.estimators.quantiles.rank_margins import cell_margin, rank_margin
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PureDP
from tests.checks.rank_margins import check_ends, rows_of
from tests.checks.replay import (
    Case,
    Violation,
    check_budget,
    check_reached,
    problem_of,
    row,
    run,
    table,
    with_row,
)

UNIT = {"x": (0, 1), "y": (0, 1)}
PAIRS = [
    *((name, {"ci": 0.9}, REPLACE_ONE, 60.0) for name in ("exp_theil_sen", "wide_theil_sen")),
    ("exp_theil_sen", {"ci": 0.9, "k": 3}, REPLACE_ONE, 60.0),
    *(("tukey", {"ci": 0.5, "m": 24}, relation, 60.0) for relation in (ADD_REMOVE, REPLACE_ONE)),
]


def case_of(name, options, relation, epsilon):
    method = METHODS[name]
    problem = problem_of(1, (-3.0, 1.0), (2.0, 10.0), relation)
    return Case(method, problem, options, method.cost(epsilon, 1e-6))


CASES = [case_of(*pair) for pair in PAIRS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_moves_an_end_further_than_stated(case):
    assert sum("end" in step for step in check_ends(case)) == 4


def worst(case) -> dict[str, float]:
    """A row from far below all others, which are one, to far above them, or with another slope."""
    p = case.problem
    where = np.arange(len(p.low)) != p.intercept
    rows = [row(p, p.low[where], (p.y_low + p.y_high) / 2)] * 39
    low, high = (row(p, p.low[where] + 0.1, y) for y in (p.y_low, p.y_high))
    if case.method.name == "tukey":
        rows = [row(p, p.high[where], 0.0)] * 400
        low, high = row(p, -(2.0**50), -(2.0**60)), row(p, 2.0**50, -(2.0**60))
    X, y = table(rows, p)
    one = (X, y) if p.neighbors == ADD_REMOVE else with_row(X, y, low, 0)
    best = {}
    for seed in range(1, 13, 2):
        for step, ratio in case.check(one, with_row(X, y, high, 0), seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    return best


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_worst_row_moves_the_ends_as_far_as_stated(case):
    ratios = {step: ratio for step, ratio in worst(case).items() if "end" in step}
    assert len(ratios) == 4
    for step, ratio in ratios.items():
        check_reached(step, ratio, 0.99)


def test_an_end_drawn_from_half_the_sensitivity_is_caught():
    case, drawn = CASES[0], theil_sen.RankQuery

    def halved(step, imbalance, size, sensitivity, divisor):
        stated = sensitivity // 2 if "end" in step else sensitivity
        return drawn(step, imbalance, size, stated, divisor)

    with mock.patch.object(theil_sen, "RankQuery", halved), pytest.raises(Violation):
        worst(case)


def test_an_end_of_tukey_drawn_from_half_the_sensitivity_is_caught():
    honest = tukey.private_end

    def halved(values, excess, moved, *rest):
        return honest(values, excess, moved // 2, *rest)

    with mock.patch.object(tukey, "private_end", halved), pytest.raises(Violation):
        worst(CASES[-1])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ends_are_paid_out_of_the_budget(case):
    transcript = run(case.fit(*table(rows_of(case), case.problem)), case.limit, seed=1)
    check_budget(transcript, case.limit)
    spent = [(asked.step, asked.event.cost.epsilon) for asked in transcript.asked if asked.event]
    assert sum(cost for step, cost in spent if "end" in step) == pytest.approx(
        case.limit.epsilon / 2
    )
    assert sum(cost for _, cost in spent) == pytest.approx(case.limit.epsilon)


def test_few_rows_buy_no_ends_and_keep_their_budget():
    data = dp.simulate.line(30, seed=1)
    result = dp.dp_ols("y ~ x", data, method="exp_theil_sen", epsilon=1, bounds=UNIT, ci=True)
    assert len(result.privacy.events) == 2 and result.privacy.spent[0] == pytest.approx(1)
    assert result.status == "not_identified"
    assert np.isinf(result.conf_int()).all(axis=None)


def test_ends_hold_at_their_level_and_below():
    data = dp.simulate.line(2000, seed=1)
    result = dp.dp_ols("y ~ x", data, method="exp_theil_sen", epsilon=8, bounds=UNIT, ci=0.9)
    assert result.conf_int(0.1).equals(result.conf_int(0.4))
    assert result.conf_int(0.05).isna().all(axis=None)
    assert result.pvalues.isna().all() and result.bse.isna().all()
    assert "ends of intervals of one level" in result.reasons["bse"]
    low, high = result.prediction_intervals(0.1)[["mean_ci_lower", "mean_ci_upper"]].to_numpy().T
    slope = result.conf_int(0.1).loc["x"]
    np.testing.assert_allclose(slope, [2 * (low[1] - high[0]), 2 * (high[1] - low[0])])


def test_margins_enclose_more_for_less_noise_and_lower_levels():
    margins = [rank_margin(0.95, 2, 500, epsilon) for epsilon in (0.5, 1, 4, 1e6)]
    assert margins == sorted(margins, reverse=True) and margins[0] < 0.5
    assert margins[-1] == pytest.approx(2.2414 / 2 / math.sqrt(500), rel=1e-3)
    assert rank_margin(0.5, 2, 500, 1) < margins[1]
    assert rank_margin(0.95, 2, 10, 1) is None and rank_margin(0.95, 2, 0, 1) is None


def test_margins_of_cells_are_those_of_a_normal_plus_an_exponential_variable():
    """By simulation, and no wider for more cells, less epsilon or fewer values."""
    rng, m, epsilon = np.random.default_rng(3), 800, 0.5
    unit, draws = 2 / (epsilon * m), 10**6
    beyond = rng.normal(0, 0.5 / math.sqrt(m), draws) + unit * rng.exponential(size=draws)
    margin = cell_margin(0.9, 2, m, epsilon, 50)
    assert np.mean(beyond + unit * math.log(50) > margin) == pytest.approx(0.025, rel=0.03)
    assert cell_margin(0.9, 2, m, epsilon, 49) < margin < cell_margin(0.95, 2, m, epsilon, 50)
    assert cell_margin(0.9, 2, m, 1e9, 50) == pytest.approx(1.96 / 2 / math.sqrt(m), rel=1e-3)
    assert cell_margin(0.9, 2, 60, epsilon, 50) is None and cell_margin(0.9, 2, 0, 1, 50) is None


def lower_ends_inside(units: float) -> int:
    """How many of 400 lower ends, drawn so far out, lie above the centre of the values."""
    m, unit, centre = 800, 1 / 30, -0.01  # most cells are about 0, beyond the centre
    cost, values = PureDP(2 / (unit * m)), centre + np.linspace(-1, 1, m)
    excess = math.ceil(2 * unit * units * m)
    with dp.testing.insecure_seed(5):
        drawn = [private_end(values, excess, 2, "end", cost, Noise(cost)) for _ in range(400)]
    return sum(end > centre for end in drawn)


def test_an_end_lies_inside_the_centre_as_seldom_as_is_proven():
    """In 5% of all draws at most; the same draws can tell a margin that is too small."""
    assert lower_ends_inside(math.log(20 * CELLS)) <= 20 < lower_ends_inside(math.log(2))


@pytest.mark.parametrize("ci", [0.2, 1.0, "yes", -1])
def test_a_level_that_is_none_is_refused(ci):
    with pytest.raises(dp.ArgumentError, match="expected ci"):
        dp.dp_ols("y ~ x", dp.simulate.line(9), method="tukey", epsilon=1, bounds=UNIT, ci=ci)


def test_the_command_line_takes_ends_and_companions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dp.simulate.line(400, seed=1).to_csv("rows.csv", index=False)
    call = ["fit", "rows.csv", "y ~ x", "--epsilon", "8", "--bounds", "x=0,1", "--bounds", "y=0,1"]
    assert cli.main([*call, "--method", "exp_theil_sen", "--option", "ci=true"]) == 0
    assert "lower end at x_new[0]" in capsys.readouterr().out
    companion = ["--companion", "noisy_moments", "--companion-share"]
    assert cli.main([*call, "--method", "noisy_stats", *companion, "0.3"]) == 0
    assert "30% of the budget" in " ".join(capsys.readouterr().out.split())
    assert cli.main([*call, "--method", "noisy_stats", *companion, "3"]) == 2
    assert "--companion-share" in capsys.readouterr().err
