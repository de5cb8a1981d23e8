#!/usr/bin/env bash
# Tests with the lowest versions of direct dependencies that pyproject.toml allows.
# Usage: tests/run_lowest.sh PYTHON, from the root of the sources; the folder build/lowest is made anew.
set -euo pipefail
tools=build/release-tools
[ -x "$tools/bin/uv" ] || {
    [ -d "$tools" ] || "$1" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
}
rm -rf build/lowest
"$tools/bin/uv" venv --quiet --python "$1" build/lowest
"$tools/bin/uv" pip install --quiet --python build/lowest/bin/python \
    --resolution lowest-direct '.[test]'
"$tools/bin/uv" pip list --python build/lowest/bin/python
build/lowest/bin/python -m pytest --quiet tests/verbs/test_ols.py tests/engines tests/formula \
    tests/results tests/inference tests/ledger tests/planning tests/suites/test_contract.py \
    --ignore tests/engines/spark/test_spark.py
