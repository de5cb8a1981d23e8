#!/usr/bin/env bash
# Loads a release record with the package acro, which needs pandas 2 and so an environment of its own.
# Usage: tests/run_acro.sh PYTHON, from the root of the sources; PYTHON has this package and its tests.
set -euo pipefail

venv=.venv-acro
wanted=$(sed -n 's/^acro = \["\(.*\)"\]$/\1/p' pyproject.toml)

if [ "$(cat $venv/.installed 2>/dev/null)" != "$wanted" ]; then
    echo "installing $wanted into $venv"
    rm -rf $venv
    if ! { "$1" -m venv $venv &&
        $venv/bin/python -m pip install --quiet --disable-pip-version-check "$wanted"; }; then
        rm -rf $venv
        echo "THE TEST WITH ACRO WAS SKIPPED: $wanted cannot be installed here"
        exit 0
    fi
    echo "$wanted" >$venv/.installed
fi

echo "loading a release record with acro"
DPSTATS_ACRO_PYTHON=$PWD/$venv/bin/python "$1" -m pytest --quiet -k acro \
    tests/results/record/test_record.py tests/suites/test_validation.py
