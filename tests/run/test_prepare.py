"""How a regression with instruments is run: rows in use, marginals of both responses."""

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.call.arguments import make_requests
from dpstats.codebook import Schema
from dpstats.estimators import INSTRUMENTAL
from dpstats.formula import InstrumentFormula
from dpstats.noise import Noise
from dpstats.run.prepare import prepare

RNG = np.random.default_rng(1)
N = 4000
FRAME = pd.DataFrame({name: RNG.normal(size=N) for name in "xz"})
FRAME["d"] = np.exp(0.5 * FRAME.z + 0.5 * RNG.normal(size=N))
FRAME["y"] = FRAME.d + FRAME.x + RNG.normal(size=N)


def prepared(text: str, **bounds):
    formula = InstrumentFormula.parse(text)
    (request,) = make_requests(
        formula.reduced.text, FRAME, declared=Schema().updated(bounds, None, None),
        method="noisy_instruments", methods=INSTRUMENTAL, epsilon=8, delta=None, x_new=None,
        neighbors=None, missing="drop", row_norm=None, options={}, instruments=formula,
    ).values()  # fmt: skip
    with dp.testing.insecure_seed(1):
        return prepare(request, Noise(request.cost))


def test_both_responses_have_a_released_center_and_scale():
    found = prepared("y ~ x + [np.log(d) ~ z]")
    problem, logs = found.problem, np.log(FRAME.d)
    assert abs(problem.reference.y_center - FRAME.y.mean()) < 0.5
    of_d = problem.instruments.reference
    assert abs(of_d.y_center - logs.mean()) < 0.3 and abs(of_d.y_scale / logs.std() - 1) < 0.5
    assert problem.instruments.columns == (2,) and problem.instruments.structural == (0, 1, -1)


def test_rows_have_the_endogenous_regressor_as_the_formula_transforms_it():
    rows = prepared("y ~ x + [np.log(d) ~ z]").sum(lambda rows: rows)
    assert rows.others[:, 0].tolist() == np.log(FRAME.d).tolist()
    bounded = prepared("y ~ x + [d ~ z]", d=(0, 1)).sum(lambda rows: rows)
    assert bounded.others[:, 0].tolist() == np.clip(FRAME.d, 0, 1).tolist()
    assert rows.response.tolist() == FRAME.y.tolist()


def test_a_row_without_one_of_the_variables_is_left_out():
    holes = FRAME.copy()
    for i, name in enumerate(holes):
        holes.loc[i, name] = np.nan
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv("y ~ x + [d ~ z]", holes, epsilon=2, neighbors="replace_one")
    assert fit.nobs == N - 4
