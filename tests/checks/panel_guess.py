"""Check forecasts of panels against the fits of many."""

import numpy as np
import pandas as pd

import dpstats as dp

BOX = {"x": (0, 1), "z": (-4, 4), "y": (0, 1)}
CALL = {"bounds": BOX, "methods": "adassp", "epsilon": 4, "groups": 40, "repetitions": 200,
        "truth": {"x": 0.1, "z": -0.02}, "sd": 0.06, "x_sd": {"z": 1}}  # fmt: skip
SHARES = {"x": 0.3, "z": 0.6, "y": 0.5}


def panel(generator, n=8000, groups=40):
    """Draw a panel of unequal groups, on its own, whose moments are those of the guess."""
    g = generator.integers(groups, size=n)
    mixed = generator.normal(size=groups)[g] * 0.7**0.5 + generator.normal(size=n) * 0.3**0.5
    x = np.clip(0.5 + mixed / 12**0.5, 0, 1)
    z = generator.normal(size=groups)[g] * 0.4**0.5 + generator.normal(size=n) * 0.6**0.5
    effects = generator.normal(size=groups)[g] * 0.06
    y = 0.45 + 0.1 * x - 0.02 * z + effects + generator.normal(size=n) * 0.06
    return {"x": x, "z": z, "y": y, "g": g}


def check_forecast_of_a_panel():
    """Errors and widths of 200 fits differ from the forecast by less than a factor of 1.57.

    The median of 200 absolute errors has a standard error of 8%, so that the logarithm of the
    quotient of two has one of .12: a tolerance of .45 has a false alarm in 5,000. Widths are far
    more certain. A forecast that is wrong by a factor of 2 is off by .69.
    """
    frame = dp.plan("y ~ x + z | g", n=8000, within_share=SHARES, **CALL).frame
    forecast = frame[frame["method"] == "adassp"].set_index("term")
    errors, widths = [], []
    for i in range(200):
        data = panel(np.random.default_rng([3, i]))
        with dp.testing.insecure_seed(20_000 + i):
            fit = dp.dp_ols("y ~ x + z | g", data, method="adassp", epsilon=4, bounds=BOX)
        errors.append(abs(fit.params - pd.Series({"x": 0.1, "z": -0.02})))
        ends = fit.conf_int()
        widths.append(ends.iloc[:, 1] - ends.iloc[:, 0])
    for name in ("x", "z"):
        error = pd.DataFrame(errors)[name].median() / forecast.loc[name, "error"]
        width = pd.DataFrame(widths)[name].median() / forecast.loc[name, "width"]
        assert abs(np.log(error)) < 0.45, name
        assert abs(np.log(width)) < 0.2, name
