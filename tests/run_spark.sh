#!/usr/bin/env bash
# Tests Spark DataFrames on a cluster of two local workers.
# Usage: tests/run_spark.sh PYTHON, from the root of the sources; PYTHON has this package and its tests.
set -euo pipefail

java_is_there() {
    java -version >/dev/null 2>&1 || [ -x "${JAVA_HOME:-}/bin/java" ]
}

install_java() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "installing a Java runtime for Spark"
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            default-jre-headless >/dev/null
}

if ! java_is_there && ! install_java; then
    echo "SPARK TESTS WERE SKIPPED: there is no Java runtime, and apt-get cannot install one here"
    exit 0
fi

echo "checking Spark DataFrames"
"$1" -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
DPSTATS_REQUIRE_SPARK=1 "$1" -m pytest --quiet tests/engines/spark/test_spark.py # nothing is skipped
