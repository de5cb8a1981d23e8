"""offset= and exposure=: which rows have one, what is added, and numbers far out."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.rows import Offset
from dpstats.rows.offset import FARTHEST
from dpstats.schema import UNLIMITED, Numeric
from dpstats.study import Study
from dpstats.study.kinds import KINDS
from dpstats.study.synthetic import synthetic_rows

RNG = np.random.default_rng(1)
N = 2000
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "o": RNG.normal(size=N)})
FRAME["t"] = np.exp(FRAME.o)
FRAME["hit"] = RNG.random(N) < 0.4
FRAME["count"] = RNG.poisson(FRAME.t)
FAR = {
    "1e300": np.full(N, 1e300),
    "of both signs": RNG.choice([-1e300, 1e300], N),
    "spread": 1e12 * RNG.normal(size=N),
    "very low": np.full(N, -1e15),
    "least": np.full(N, 5e-324),
    "low": -700 + RNG.normal(size=N),
    "none": np.full(N, np.nan),
}


def test_each_row_decides_by_its_own_cells():
    both = Offset("o", "t", {"o": UNLIMITED, "t": UNLIMITED})
    batch = {
        "o": np.array([1.0, np.nan, np.inf, 1.0, 1.0, 1.0, 1.0]),
        "t": np.array([2.0, 1.0, 1.0, 0.0, -1.0, np.inf, np.nan]),
    }
    assert both.usable(batch).tolist() == [True] + [False] * 6
    first = {name: values[:1] for name, values in batch.items()}
    assert both.values(first) == pytest.approx([1 + np.log(2)])


def test_values_beyond_bounds_count_as_these_and_none_is_beyond_the_farthest():
    near = Offset("o", "t", {"o": Numeric(-1, 1), "t": Numeric(1, 8)})
    far = {"o": np.array([-9.0, 9.0]), "t": np.array([0.5, 100.0])}
    assert near.values(far) == pytest.approx([-1, 1 + np.log(8)])
    assert (near.limit.low, near.limit.high) == pytest.approx((-1, 1 + np.log(8)))
    free = Offset("o", None, {"o": UNLIMITED})
    assert free.values({"o": np.array([-1e300, 1e300])}).tolist() == [-FARTHEST, FARTHEST]
    assert free.limit is None
    assert Offset(None, "t", {"t": Numeric(0, 8)}).limit is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1, 1e6])
@pytest.mark.parametrize("formula", ["~ x", "~ 0 + x"])
@pytest.mark.parametrize("values", FAR.values(), ids=FAR)
def test_a_fit_ends_with_a_status_whatever_offsets_are(values, formula, epsilon):
    frame = FRAME.assign(o=values, t=np.abs(values))
    with dp.testing.insecure_seed(1):
        fits = [
            dp.dp_logit("hit " + formula, frame, epsilon=epsilon, offset="o"),
            dp.dp_poisson("count " + formula, frame, epsilon=epsilon, offset="o"),
            dp.dp_poisson("count " + formula, frame, epsilon=epsilon, exposure="t"),
        ]
    assert {fit.status for fit in fits} <= {"ok", "imprecise", "not_identified", "not_released"}


def test_a_result_says_what_was_added_and_is_restored():
    with dp.testing.insecure_seed(1):
        fit = dp.dp_poisson("count ~ x", FRAME, epsilon=4, exposure="t", offset="o")
    assert "offset(o) + offset(log(t)) is added" in str(fit.summary())
    assert dp.DPResults.from_json(fit.to_json()) == fit


def test_studies_take_them():
    assert KINDS["poisson"].takes("exposure") and KINDS["logit"].takes("offset")
    assert not KINDS["ols"].arguments.count("offset")


def test_rows_made_up_for_a_study_have_an_exposure(tmp_path):
    text = 'data = "p.csv"\nrows = 60\nepsilon = 1\n'
    text += "[bounds]\nx = [0, 1]\nc = [0, 9]\nt = [1, 3]\n"
    text += '[[poisson]]\nname = "rates"\nformula = "c ~ x"\nexposure = "t"\n'
    (tmp_path / "study.toml").write_text(text)
    rows = synthetic_rows(Study.read(tmp_path / "study.toml"))
    assert {*rows} == {"x", "c", "t"} and rows.t.between(1, 3).all()


def test_an_offset_of_one_value_is_that_value():
    """It moves the intercept alone, while another column of one value has a wide scale."""
    fits = []
    for exposure in ({}, {"exposure": "t"}):
        with dp.testing.insecure_seed(1):
            fits.append(dp.dp_poisson("count ~ x", FRAME.assign(t=1e4), epsilon=4, **exposure))
    plain, fit = fits
    assert plain.status == fit.status == "ok"
    assert fit.params["x"] == pytest.approx(plain.params["x"], abs=0.1)
    shifted = plain.params["Intercept"] - np.log(1e4)
    assert fit.params["Intercept"] == pytest.approx(shifted, abs=0.1)
