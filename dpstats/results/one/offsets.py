"""Add public offsets to linear predictors at new data."""

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.option_checks import real_numbers

# What each model takes beside new data.
_TAKES = {"Logit": ("offset",), "Poisson": ("offset", "exposure")}


def added_to(model: str, rows: int, offset=None, exposure=None) -> np.ndarray | float:
    """Return what an offset and the logarithm of an exposure add to ``rows`` linear predictors.

    Raises
    ------
    ArgumentError
        Where the model has none, or they are no finite numbers, one or one a row.
    """
    given = {"offset": offset, "exposure": exposure}
    named = {name: value for name, value in given.items() if value is not None}
    for name in named:
        if name not in _TAKES.get(model, ()):
            raise ArgumentError(f"a fit of {model} predicts without {name}=; leave it out")
    values = {name: _numbers(name, value, rows) for name, value in named.items()}
    if "exposure" in values:
        values["exposure"] = np.log(values["exposure"])
    return sum(values.values(), 0.0)


def _numbers(name: str, given, rows: int) -> np.ndarray:
    try:
        found = real_numbers(np.asarray(given))
    except (TypeError, ValueError, OverflowError):
        found = np.array(np.nan)
    usable = np.isfinite(found) & (found > 0 if name == "exposure" else True)
    if found.shape in ((), (rows,)) and usable.all():
        return found
    what = "positive finite" if name == "exposure" else "finite"
    raise ArgumentError(
        f"expected {name} to be a {what} number, or one for each of the {rows} rows of newdata"
    )
