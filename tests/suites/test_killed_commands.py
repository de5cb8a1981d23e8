"""Kill commands anywhere: no overspend, no result without a record, no record lost.

A process gets signal 9 before and after each commit of its ledger and at each file or folder that
it opens for writing, makes, renames or removes.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dpstats as dp
from tests.checks.killed_commands import check

TOOL = Path(__file__).parents[1] / "checks" / "kill_everywhere.py"
CALL = ["line.csv", "y ~ x", "--method", "noisy_stats", "--epsilon", "0.6", "--bounds", "x=0,1",
        "--bounds", "y=0,1", "--ledger", "families.ledger"]  # fmt: skip
STUDY = """
data = "line.csv"
bounds = { x = [0, 1], y = [0, 1], z = [0, 1] }
models.first = { formula = "y ~ x", method = "noisy_stats", epsilon = 0.3 }
models.second = { formula = "z ~ x", method = "noisy_stats", epsilon = 0.3 }
tables.both = { models = ["first", "second"] }
"""
# The command, its outputs, and the states that a kill can leave, in order.
COMMANDS = {
    "fit": (
        ["fit", *CALL, "-o", "out.json", "--plot", "out.png"],
        ["out.json", "out.png"],
        [[], ["reserved"], ["released"]],
    ),
    "by": (
        ["by", *CALL, "--by", "area", "-o", "out.csv"],
        ["out.csv"],
        [[], ["reserved"], ["released"]],
    ),
    "run": (
        ["run", "study.toml", "--ledger", "families.ledger", "-o", "out"],
        ["out"],
        [[], ["reserved"] * 2, ["released", "reserved"], ["released"] * 2],
    ),
}


@pytest.fixture
def folder(tmp_path, line):
    folder = tmp_path / "work"
    folder.mkdir()
    line.to_csv(folder / "line.csv", index=False)
    (folder / "study.toml").write_text(STUDY)
    dp.Ledger.create(folder / "families.ledger", dataset="families", epsilon=0.8,
                     neighbors="replace_one", fingerprint="2024")  # fmt: skip
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_at_any_step_keeps_its_ledger_right(folder, name):
    command, outputs, states = COMMANDS[name]
    done = subprocess.run([sys.executable, str(TOOL), str(folder), *command],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    for step in steps:
        check(step, outputs)
    *killed, last = steps
    assert {step["code"] for step in killed} == {-9} and last["code"] == 0 != last["shown"]
    commits = [step for step in killed if step["step"].endswith("commit")]
    assert len(commits) == 2 * (len(states) - 1) and len(killed) - len(commits) >= 4
    seen = [step["states"] for step in steps]
    assert [s for i, s in enumerate(seen) if i == 0 or s != seen[i - 1]] == states
