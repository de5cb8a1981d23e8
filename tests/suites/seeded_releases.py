"""Numbers that seeded calls release, to compare one version of the code with another.

``python tests/suites/seeded_releases.py`` writes them; ``... --check`` says which differ, bit for
bit.
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np

import dpstats as dp

FILE = Path(__file__).with_suffix(".json")
LINE = {"x": (0, 1), "y": (0, 1)}
BOUNDS = {**LINE, "z": (0, 1)}
OPTIONS = {"tukey": {"m": 25}}


def table():
    """300 synthetic rows around y = 0.2 + 0.5 x, with a second regressor, a factor and areas."""
    frame = dp.simulate.line(300, x_sd=0.2, noise_sd=0.02, seed=1)
    return frame.assign(
        z=frame["x"].to_numpy()[::-1].copy(),
        area=[f"a{i % 3}" for i in range(300)],
        kind=[("u", "v")[i % 2] for i in range(300)],
        id=[i // 2 for i in range(300)],
        block=[i % 30 for i in range(300)],
    )


def cases():
    """(name, formula, arguments) of each call."""
    levels = {"kind": ["u", "v"]}
    for method, entry in dp.METHODS.items():
        options = OPTIONS.get(method, {})
        for relation in entry.neighbors:
            same = {"method": method, "epsilon": 4.0, "neighbors": relation, **options}
            yield f"{method} {relation}", "y ~ x", {**same, "bounds": LINE}
            yield f"{method} {relation} ranges", "y ~ x", same
            grouped = {"by": "area", "groups": ["a0", "a1", "a2", "a3"]}
            yield f"{method} {relation} by", "y ~ x", {**same, "bounds": LINE, **grouped}
            yield f"{method} {relation} by, ranges", "y ~ x", {**same, **grouped}
            several = "y ~ x + z + x:z + kind"
            if not entry.single_regressor:
                wide = {**same, "levels": levels}
                yield f"{method} {relation} wide", several, {**wide, "bounds": BOUNDS}
                yield f"{method} {relation} wide ranges", several, wide
        for selector in dp.SELECTORS:
            chosen = {"method": method, "epsilon": 8.0, "select": selector, "k": 1, **options}
            yield f"{method} {selector}", "y ~ x + z", {**chosen, "bounds": BOUNDS}
        if "cov_type" in entry.options:
            robust = {"method": method, "epsilon": 4.0, "cov_type": "HC1", "bounds": LINE}
            yield f"{method} HC1", "y ~ x", robust
            yield f"{method} HC1 by", "y ~ x", {**robust, "by": "area", "groups": ["a0", "a1"]}
        if "ci" in entry.options:
            yield f"{method} ci", "y ~ x", {
                "method": method, "epsilon": 8.0, "ci": True, "bounds": LINE, **options,
            }  # fmt: skip
    for method, more in itertools.product(("adassp", "shrunken"), _FACTORS):
        coded = {"method": method, "epsilon": 50.0, "levels": levels, "bounds": BOUNDS, **more}
        yield f"{method} factor {' '.join(map(str, more.values()))}", "y ~ x + kind", coded
    for relation, more in itertools.product(("add_remove", "replace_one"), _ROWS):
        kept = {"epsilon": 50.0, "neighbors": relation, "bounds": BOUNDS, **more}
        yield f"default {relation} {' '.join(map(str, more))}", "y ~ x", kept
    for relation, column in itertools.product(("add_remove", "replace_one"), ("area", "id")):
        more = {"unit": "id", "max_rows": 2} if column == "id" else {}
        absorbed = {"method": "adassp", "epsilon": 50.0, "neighbors": relation, "bounds": LINE}
        yield f"absorbed {relation} {column}", f"y ~ x | {column}", {**absorbed, **more}
    for method, companion in _COMPANIONS:
        lent = {"method": method, "companion": companion, "epsilon": 8.0, "bounds": LINE}
        yield f"{method} companion {companion}", "y ~ x", lent
    several = {"epsilon": 4.0, "bounds": BOUNDS, "method": "adassp"}
    yield "several formulas", {"a": "y ~ x", "b": "z ~ x"}, several
    for bounds, epsilon in itertools.product((None, LINE), (1.0, 100.0)):
        yield f"auto {bounds is None} {epsilon}", "y ~ x", {"epsilon": epsilon, "bounds": bounds}
    yield "row_norm", "y ~ x + z", {
        "method": "adassp", "epsilon": 4.0, "row_norm": 2.0, "bounds": {"y": (0, 1)},
    }  # fmt: skip
    for relation, more in itertools.product(("add_remove", "replace_one"), _CLUSTERS):
        clustered = {"epsilon": 50.0, "neighbors": relation, "bounds": BOUNDS, **more}
        clustered |= {"cov_type": "cluster", "cluster": "block"}
        yield f"clusters {relation} {' '.join(map(str, more))}", "y ~ x", clustered
    for relation, cov_type in itertools.product(("add_remove", "replace_one"), _IN_PAIRS):
        paired = {"epsilon": 50.0, "neighbors": relation, "cov_type": cov_type}
        yield f"pairs {relation} {cov_type}", "y ~ x | area", paired
    for relation, more in itertools.product(("add_remove", "replace_one"), _MORE_PAIRS):
        paired = {"epsilon": 50.0, "neighbors": relation, "bounds": BOUNDS, **more}
        yield f"pairs {relation} {' '.join(map(str, more))}", "y ~ x | block", paired


_FACTORS = (
    {"cov_type": "HC1"},
    {"weights": "z", "cov_type": "HC1"},
    {"unit": "id", "max_rows": 2},
)
_ROWS = (
    {"cov_type": "HC1"},
    {"weights": "z"},
    {"unit": "id", "max_rows": 2},
    {"weights": "z", "unit": "id", "max_rows": 2},
)
_CLUSTERS = ({}, {"weights": "z"}, {"unit": "id", "max_rows": 2}, {"delta": 0})
_IN_PAIRS = ("cluster", "nonrobust", "HC1")
_MORE_PAIRS = ({"weights": "z"}, {"by": "area", "groups": ["a0", "a1"]}, {"delta": 0})
_COMPANIONS = (
    ("exp_theil_sen", "noisy_moments"),
    ("boosted_adassp", "adassp"),
    ("boosted_adassp", "ssp"),
)


def numbers(result) -> dict:
    """What a result shows: coefficients, errors, intervals, predictions, statuses, steps."""
    if isinstance(result, dict):
        return {name: numbers(fit) for name, fit in result.items()}
    steps = [[event.sensitivity, event.scale] for event in result.privacy.events]
    if hasattr(result, "frame"):
        frame = result.frame.select_dtypes("number")
        shown = {name: frame[name].tolist() for name in frame}
        status = sorted(set(result.frame["status"])) if "status" in result.frame else []
    else:
        shown = {
            name: np.asarray(values, dtype=float).tolist()
            for name, values in (
                ("params", result.params),
                ("bse", result.bse),
                ("conf_int", result.conf_int()),
                ("cov", result.cov_params()),
                ("predictions", result.predictions),
            )
        }
        status = result.status
    return {"status": status, "steps": steps, **shown}


def release(formula, arguments):
    """The numbers of one call under a seed, or the message that refuses it."""
    with dp.testing.insecure_seed(20):
        try:
            return numbers(dp.dp_ols(formula, table(), progress=False, **arguments))
        except dp.ArgumentError as error:
            return type(error).__name__


def _compact(found: dict) -> str:
    """JSON with a line a call."""
    lines = (f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found)
    return "{\n" + ",\n".join(lines) + "\n}"


def main() -> int:
    found = {name: release(formula, arguments) for name, formula, arguments in cases()}
    if "--check" not in sys.argv:
        FILE.write_text(_compact(found) + "\n")
        return 0
    kept = json.loads(FILE.read_text())
    texts = {
        name: (json.dumps(kept.get(name)), json.dumps(found.get(name))) for name in kept | found
    }
    different = [name for name, (old, new) in texts.items() if old != new]
    print(f"{len(different)} of {len(texts)} differ", *different, sep="\n")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
