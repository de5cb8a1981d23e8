"""Load a release record with the package acro, in the environment that ``make test-acro`` makes."""

import json
import os
import subprocess
from pathlib import Path

import pytest

_LOAD = """
import json, sys
from acro.record import load_records

records = load_records(sys.argv[1])
json.dump({key: {"terms": [frame.filter(["term", "variable"]).iloc[:, 0].tolist()
                           for frame in records.get(key).output],
                 "type": records.get(key).output_type, "summary": records.get(key).summary}
           for key in records.get_keys()}, sys.stdout)
"""


def loaded_by_acro(folder: Path) -> dict:
    """Return terms, type and summary of each output; skip the test where acro is not there."""
    python = os.environ.get("DPSTATS_ACRO_PYTHON")
    if python is None:
        pytest.skip("acro needs an environment of its own: make test-acro")
    loaded = subprocess.run([python, "-c", _LOAD, str(folder)], capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    return json.loads(loaded.stdout)
