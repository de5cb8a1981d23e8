"""Seconds of the first fit in a new process, beside those of ``import pandas`` and of statsmodels.

Wall time depends on what else the machine does, so the processor time stands beside it, and the
ratio to the import of pandas, which was taken in turn, is the figure to compare. Whole processes,
from their start to their end, are compared with statsmodels' in pairs.
"""

import argparse
import json
import resource
import subprocess
import sys
from statistics import median

from benchmarks.tools import print_table

METHODS = ("auto", "adassp", "exp_theil_sen", "noisy_moments")
SCRIPT = """
import json, time
def clocks(): return time.perf_counter(), time.process_time()
marks = [clocks()]
import pandas
marks.append(clocks())
import dpstats as dp
marks.append(clocks())
call = dict(method={method!r}, epsilon=1, bounds={{"x": (0, 1), "y": (0, 1)}})
data = dp.simulate.line(5000, seed=1)
for _ in range(2):
    marks.append(clocks())
    dp.dp_ols("y ~ x", data, **call)
    marks.append(clocks())
print(json.dumps(marks))
"""
DATA = """
import numpy as np, pandas as pd
x = np.random.default_rng(1).random(1000)
data = pd.DataFrame({"x": x, "y": 0.5 * x})
"""
OURS = (
    DATA
    + """
import dpstats as dp
dp.dp_ols("y ~ x", data, epsilon=1)
"""
)
THEIRS = (
    DATA
    + """
import statsmodels.formula.api as smf
smf.ols("y ~ x", data).fit()
"""
)
STEPS = {"import pandas": (0, 1), "import dpstats": (1, 2), "first fit": (3, 4), "second": (5, 6)}


def process(method: str) -> dict[str, tuple[float, float]]:
    """Wall and processor seconds of each step of a new process."""
    code = SCRIPT.format(method=method)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    marks = json.loads(done.stdout)
    return {
        step: tuple(b - a for a, b in zip(marks[start], marks[end], strict=True))
        for step, (start, end) in STEPS.items()
    }


def whole(code: str) -> float:
    """Processor seconds of a new process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str]) -> None:
    """Print the medians over processes, one more to compile and to warm up."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks first", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    rows = []
    for method in METHODS:
        taken = [process(method) for _ in range(options.repeats + 1)][1:]
        seconds = {
            step: [median(one[step][clock] for one in taken) for clock in (0, 1)] for step in STEPS
        }
        rows += [
            (method, step, f"{wall:.3f}", f"{cpu:.3f}", f"{cpu / seconds['import pandas'][1]:.2f}")
            for step, (wall, cpu) in seconds.items()
        ]
    print_table(
        f"first: 5,000 rows, one regressor, median of {options.repeats} new processes",
        ("method", "step", "wall s", "processor s", "of import pandas"),
        rows,
    )
    pairs = [(whole(OURS), whole(THEIRS)) for _ in range(options.repeats + 1)][1:]
    ours, theirs = (median(side) for side in zip(*pairs, strict=True))
    ratio = median(a / b for a, b in pairs)
    print(
        f"a process that fits 1,000 rows: {ours:.2f} s of processor time, statsmodels' "
        f"{theirs:.2f} s; median ratio {ratio:.2f}"
    )
