"""Exchange one cell of random tables for some minutes; no call may stop or change its form.

``python -m tests.suites.fuzz_way_in MINUTES [SEED]`` draws formulas, methods, sources and cells
and prints how many calls it made. It stops at the first call that raises or whose form differs, and
prints what was drawn.
"""

import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

import dpstats as dp
from tests.checks.neighbours import ROLES, arguments, form, statuses
from tests.checks.sources import ROWS, SOURCES

FORMULAS = {
    "response": ["c ~ x", "c ~ 1", "c ~ x + np.exp(x)", "np.sqrt(c + 1) ~ x", "I(c > 1) * 1 ~ x"],
    "regressor": ["y ~ c", "y ~ x*c", "y ~ c + I(c**2)", "y ~ bs(c, df=4)", "y ~ np.minimum(c, x)"],
    "factor": ["y ~ C(c)", "y ~ 0 + C(c)", "y ~ x*C(c)", "y ~ C(c, Sum) + x"],
    "group": ["y ~ x", "y ~ 1", "y ~ np.log(x + 1)"],
}
STATUSES = {
    "ok", "imprecise", "failed", "too_few_rows", "not_identified", "constant", "clipped",
    "ptr_failed", "no_range",
}  # fmt: skip
METHODS = ["adassp", "ssp", "noisy_moments", "exp_theil_sen", "noisy_stats", "tukey", "gd_pure"]
CASES = [
    (name, content, role)
    for name, source in SOURCES.items()
    for content in source.holds
    for role in FORMULAS
    if content in ROLES[role].contents
]


def outcome(data, formula: str, method: str, **call) -> tuple[list, set]:
    """The form and the statuses of a release, or the sentence that refuses it.

    Under replace-one the number of rows in use is public, and so is what is computed from it.
    """
    with dp.testing.insecure_seed(3):
        try:
            result = dp.dp_ols(formula, data, method=method, epsilon=8, progress=False, **call)
        except dp.ArgumentError as refused:
            return [str(refused)], set()
    kind, axes, shown, dtypes, report, _ = form(result)
    counted = report.neighbors == "replace_one"
    said = report.assumptions if counted else report
    return [kind, axes, shown[:-1] if counted else shown, dtypes, said], statuses(result)


def drawn(data) -> tuple:
    """Two tables that differ in one cell, the call on both, and what they are for a message."""
    name, content, role = data.draw(st.sampled_from(CASES))
    source, formula = SOURCES[name], data.draw(st.sampled_from(FORMULAS[role]))
    row, cell = data.draw(st.integers(0, ROWS - 1)), data.draw(source.holds[content])
    call = {k: v for k, v in arguments(source, content, role).items() if k != "formula"}
    bounds = {**call["bounds"], "x": (0, 1), "y": (0, 1)}
    call["bounds"] = {column: pair for column, pair in bounds.items() if column in formula}
    if role in ("factor", "group"):
        call["bounds"].pop("c", None)
    exchanged = source.cells(content)
    exchanged[row] = cell
    call |= {"formula": formula, "method": data.draw(st.sampled_from(METHODS))}
    return source, (source.cells(content), exchanged), call, (name, content, role, row)


def check(data) -> bool:
    """Raise unless a call has the same outcome on both of two tables; return whether it fits."""
    source, cells, call, case = drawn(data)
    found = []
    for one in cells:
        with tempfile.TemporaryDirectory() as folder:
            found.append(outcome(source.build(one, Path(folder)), **call))
    (expected, _), (form_found, seen) = found
    assert form_found == expected and seen <= STATUSES, (case, call, expected, form_found, seen)
    return bool(seen)


def main(minutes: float, seed: int) -> tuple[int, int]:
    """Draw calls until the time is over; return how many there were, and how many were refused."""
    end, calls, refused = time.monotonic() + 60 * minutes, 0, 0
    while time.monotonic() < end:
        seed += 1

        @seeded(seed)
        @settings(
            max_examples=300, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(st.data())
        def many(data):
            nonlocal calls, refused
            refused += 2 * (not check(data))
            calls += 2

        many()
    return calls, refused


if __name__ == "__main__":
    given_minutes, given_seed = float(sys.argv[1]), int([*sys.argv, "0"][2])
    made, not_fitted = main(given_minutes, given_seed)
    print(f"{made} calls in {given_minutes:g} minutes, {not_fitted} refused alike: none stopped")
