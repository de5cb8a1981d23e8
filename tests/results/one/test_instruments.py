"""Results of regressions with instruments: what they answer, show and store."""

import json
import pickle

import numpy as np
import pytest

import dpstats as dp
from dpstats.inference import critical_values
from dpstats.results.restored_calls import from_text
from dpstats.results.store.calls import to_text

RNG = np.random.default_rng(2)
Z, U, E, X = RNG.normal(size=(4, 8000))
D = 0.6 * Z + U + E
TABLE = {"y": 0.5 * D + U + 0.2 * X, "d": D, "z": Z, "x": X}


def fit(formula="y ~ x + [d ~ z]", epsilon=4):
    with dp.testing.insecure_seed(1):
        return dp.dp_iv(formula, TABLE, epsilon=epsilon)


FIT = fit()


def test_it_answers_as_other_fits_do():
    assert FIT.formula == "y ~ x + d" and FIT.params.index.tolist() == ["Intercept", "x", "d"]
    assert FIT.conf_int().loc["d"].between(0.2, 0.8).all()
    assert FIT.predict({"x": [0.0], "d": [1.0]})[0] == pytest.approx(
        FIT.params["Intercept"] + FIT.params["d"]
    )
    assert "d" in str(dp.compare(FIT)) and FIT.t_test("d = 0.5").pvalue[0] > 1e-4
    assert set(FIT.tidy().term) == {"Intercept", "x", "d"}
    with pytest.raises(dp.NotReleasedError):
        _ = FIT.resid


def test_the_first_stage_has_coefficients_and_an_f_statistic():
    stage = FIT.first_stage
    assert stage.params.index.tolist() == ["z"]
    assert stage.params["z"] == pytest.approx(0.6, abs=0.1)
    assert stage.fvalue == pytest.approx((stage.params["z"] / stage.bse["z"]) ** 2)
    assert "F: " in str(stage)


def test_the_set_of_anderson_and_rubin_is_near_the_interval_of_a_strong_instrument():
    (low, high), *more = FIT.anderson_rubin().intervals
    assert not more and [low, high] == pytest.approx(FIT.conf_int().loc["d"].tolist(), abs=0.02)
    (wider_low, wider_high), *_ = FIT.anderson_rubin(alpha=0.01).intervals
    assert wider_low < low < high < wider_high
    for alpha in (0, 1, "5%", None):
        with pytest.raises(dp.ArgumentError, match="alpha"):
            FIT.anderson_rubin(alpha)


def test_a_summary_says_what_the_instruments_are():
    shown = str(FIT.summary())
    assert "IV-2SLS" in shown and "R-squared" not in shown and "HC1" in shown
    said = " ".join(shown.split())
    assert "instruments of d: z; F statistic" in said and "Anderson-Rubin 95% set" in said


def test_a_moderate_first_stage_widens_what_is_said():
    """An F between 10 and 104.7: intervals, p-values, joint tests and the summary say the same."""
    with dp.testing.insecure_seed(1):
        weak = dp.dp_iv("y ~ x + [d ~ z]", {**TABLE, "d": D - 0.45 * Z}, epsilon=4)
    F = weak.first_stage.fvalue
    (taken,) = critical_values(np.array([F**0.5]), 0.05)
    assert weak.status == "ok" and 10 < F < 100 and taken > 2
    low, high = weak.conf_int().to_numpy().T
    assert (high - low) / 2 == pytest.approx(taken * weak.bse.to_numpy())
    ends = weak.t_test(f"d = {high[2]}")
    assert ends.pvalue[0] == pytest.approx(0.05)
    both = weak.f_test("d = 0, x = 0")
    wald = 2 * both.fvalue
    assert both.pvalue == pytest.approx(np.exp(-wald / (1 + (wald / F) ** 0.5) ** 2 / 2))
    said = " ".join(str(weak.summary()).split())
    assert f"critical values of that F, {taken:.3g} at 5% in place of 1.96" in said
    assert "in place of" not in str(FIT.summary())


def test_a_fit_of_fixests_formula_is_that_of_python():
    with dp.testing.insecure_seed(1):
        again = dp.dp_iv(dp.RFormula("y ~ x | d ~ z"), TABLE, epsilon=4)
    assert again.params.tolist() == FIT.params.tolist() and again.names[0] == "(Intercept)"
    stored = dp.DPIVResults.from_json(again.to_json())
    assert stored == again and isinstance(stored.instrument_formula, dp.RFormula)


def test_it_is_restored_from_json_and_from_a_ledgers_text():
    again = dp.DPIVResults.from_json(FIT.to_json())
    assert again == FIT and str(again.anderson_rubin()) == str(FIT.anderson_rubin())
    assert from_text(to_text(FIT)) == FIT and isinstance(from_text(to_text(FIT)), dp.DPIVResults)
    assert pickle.loads(pickle.dumps(FIT)) == FIT
    content = json.loads(FIT.to_json())
    for broken in ({**content, "instruments": "y ~ x"}, {**content, "instruments": 1}):
        with pytest.raises(dp.ArgumentError):
            dp.DPIVResults.from_dict(broken)


def test_a_record_holds_it(tmp_path):
    with dp.testing.insecure_seed(1):
        FIT.record(tmp_path / "release")
    for name in ("results.json", "index.html", "release.json"):
        assert "y ~ x + [d ~ z]" in (tmp_path / "release" / name).read_text()
