"""Seconds of the first fit in a new process, beside those of ``import pandas``.

Wall time depends on what else the machine does, so the processor time stands beside it, and the
ratio to the import of pandas, which was taken in turn, is the figure to compare.
"""

import argparse
import json
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
