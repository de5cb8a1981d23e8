"""Check what is guessed of the columns and regressions of a study."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.codebook.toml_file import check_names
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import positive
from dpstats.planning.assumptions import checked_numbers, checked_ranges, checked_rows
from dpstats.schema import Numeric
from dpstats.study.models import Model
from dpstats.study.plans.responses import RESPONSES, Assumed, normal
from dpstats.study.study_file import Study

NAMES = ("n", "truth", "sd", "x_sd", "x_range")


@dataclass(frozen=True)
class Guesses:
    """Hold what is assumed of a study's table without looking at it.

    Parameters
    ----------
    n : int
        Number of rows.
    truth : mapping of str to mapping
        Coefficients by the name of a result.
    sd : mapping of str to float
        Standard deviations of residuals by the name of a result.
    x_sd, x_range : mapping
        Of numeric columns: the standard deviation of those that are normal about the middle of
        their bounds, or the part of the bounds on which they are uniform.
    """

    n: int
    truth: Mapping[str, Mapping[str, float]]
    sd: Mapping[str, float]
    x_sd: Mapping[str, float]
    x_range: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, study: Study, given: Mapping) -> "Guesses":
        """Check guesses, given ones in place of the study file's; ArgumentError names a wrong one.

        ``given`` is by the names in ``NAMES``, with None for those that are left out.
        """
        check_names(study.guesses, NAMES, "[guesses]")
        told = {**study.guesses, **{name: v for name, v in given.items() if v is not None}}
        if "n" not in told:
            raise ArgumentError(
                "a plan from guesses needs the number of rows: give n, or write n = ... in "
                "[guesses]; or name a public stand-in with data"
            )
        drawn = [(name, RESPONSES.get(m.kind)) for m in study.models for name in m.result_names]
        results = [name for name, respond in drawn if respond is not None]
        spread = [name for name, respond in drawn if respond is normal]
        ranges = [model.arguments.get("bounds", {}) for model in study.models]
        numeric = {name: Numeric(*pair) for own in ranges for name, pair in own.items()}
        x_sd = checked_numbers("x_sd", told.get("x_sd"), positive, numeric)
        return cls(
            n=checked_rows(told["n"]),
            truth=_coefficients(told.get("truth"), results),
            sd=checked_numbers("sd", told.get("sd"), positive, spread),
            x_sd=x_sd,
            x_range=checked_ranges(told.get("x_range"), numeric, x_sd),
        )

    def assumed(self, model: Model, result: str, formula: str) -> Assumed:
        """Return what is assumed of one regression."""
        bounds = model.arguments.get("bounds", {})
        return Assumed(result, formula, bounds, self.truth.get(result, {}), self.sd.get(result))

    def column(self, name: str, bounds: tuple, draw: np.random.Generator) -> np.ndarray | None:
        """Draw a numeric column with a guess of its own, None for others."""
        low, high = bounds
        if name in self.x_sd:
            return np.clip(draw.normal((low + high) / 2, self.x_sd[name], self.n), low, high)
        return draw.uniform(*self.x_range[name], self.n) if name in self.x_range else None

    def sentences(self) -> tuple[str, ...]:
        """Write the assumptions in words."""
        told = [f"{name} normal with s.d. {sd:.4g}" for name, sd in self.x_sd.items()]
        told += [f"{name} on [{low:g}, {high:g}]" for name, (low, high) in self.x_range.items()]
        usual = "others uniform" if told else "uniform"
        lines = [f"guessed columns: {', '.join([*told, usual])}; those not explained, independent"]
        for result, truth in self.truth.items():
            pairs = ", ".join(f"{name} {value:.4g}" for name, value in truth.items())
            lines.append(f"guessed coefficients of {result}: {pairs}")
        pairs = ", ".join(f"{result} {sd:.4g}" for result, sd in self.sd.items())
        lines += [f"guessed s.d. of residuals: {pairs}"] if pairs else []
        return tuple(lines)


def _coefficients(truth, results: list[str]) -> dict[str, Mapping[str, float]]:
    """Check that coefficients are by result; their names are checked against the design."""
    if truth is None:
        return {}
    if not isinstance(truth, Mapping):
        raise ArgumentError(
            f"expected truth to be {{result: {{coefficient: number}}}}, got {shown(truth)}"
        )
    for name, own in truth.items():
        if name not in results:
            known = ", ".join(results) or "none"
            raise ArgumentError(f"truth names {name!r}; expected names among: {known}")
        if not isinstance(own, (Mapping, pd.Series)):
            raise ArgumentError(
                f"expected truth[{name!r}] to be a mapping {{coefficient: number}}, got "
                f"{shown(own)}"
            )
    return {str(name): dict(own) for name, own in truth.items()}
