#!/usr/bin/env bash
# Tests what R sees: the R package as CRAN would check it, and formulas of R against lm.
# Usage: tests/run_r.sh PYTHON, from the root of the sources; PYTHON has this package and its tests.
set -euo pipefail

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
programs=(R Rscript pandoc qpdf)
packages=(bit64 broom car dplyr emmeans generics ggplot2 insight knitr lmtest reticulate rmarkdown
    sandwich testthat tibble)
optional=(ggeffects multcomp parameters performance purrr) # tested where they are there

loaded() { Rscript -e 'for (p in commandArgs(TRUE)) loadNamespace(p)' "$@" >/dev/null 2>&1; }

complete() {
    local program
    for program in "${programs[@]}"; do command -v "$program" >/dev/null || return 1; done
    loaded "${packages[@]}"
}

from_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

install() {
    echo "installing R and the packages its tests need"
    from_apt r-base-core r-base-dev pandoc qpdf "${packages[@]/#/r-cran-}" >/dev/null
}

if ! complete && ! install; then
    echo "R TESTS WERE SKIPPED: one of ${programs[*]} or of the R packages ${packages[*]} is" \
        "missing, and apt-get cannot install them here"
    exit 0
fi
# R CMD check asks CRAN for those that are missing, and stops without a network
loaded "${optional[@]}" || from_apt "${optional[@]/#/r-cran-}" >/dev/null 2>&1 || true

export DPSTATS_REQUIRE_R=1 # from here on nothing is skipped
export RETICULATE_PYTHON=$python
# R CMD check works beside a folder named dpstats, the R package, which Python would take for ours
# before it asks where an editable install is.
export PYTHONPATH=$PWD
export _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_FORCE_SUGGESTS_=FALSE _R_CHECK_SYSTEM_CLOCK_=0
export _R_CHECK_EXAMPLE_TIMING_THRESHOLD_=120 # the first example starts Python

echo "checking formulas of R against lm"
"$python" -m pip install --quiet --disable-pip-version-check --editable '.[r]'
"$python" -m pytest --quiet tests/suites/test_r_oracle.py

echo "checking the R package, where there is Python and where there is none"
rm -rf build/r r-wrapper/inst/python && mkdir -p build/r
"$python" -m pip wheel --quiet --no-deps --wheel-dir r-wrapper/inst/python .
cd build/r
R CMD build ../../r-wrapper >build.log 2>&1 || { cat build.log >&2; exit 1; }
check() {
    R CMD check --as-cran --no-manual --output="$1" dpstats_*.tar.gz >"$1/check.log" 2>&1 || true
    grep -q '^Status: OK$' "$1/check.log" && return
    # what is tested where it is there is a note where it is not
    grep -q '^Status: 1 NOTE$' "$1/check.log" &&
        grep -q '^Packages\? suggested but not available for checking' "$1/check.log" && return
    cat "$1/check.log" "$1"/dpstats.Rcheck/tests/testthat.Rout.fail >&2 2>/dev/null
    return 1
}
mkdir with without
(
    unset DPSTATS_REQUIRE_R PYTHONPATH
    export RETICULATE_PYTHON=/nowhere/python3
    check without
) &
without=$! failed=0 # R uses one core, so both at once take as long as the longer one
check with || failed=1
wait "$without" || failed=1
[ $failed = 0 ] || exit 1
tail -n 20 with/dpstats.Rcheck/tests/testthat.Rout | grep FAIL
cd ../..
export R_LIBS=$PWD/build/r/with/dpstats.Rcheck
Rscript tests/suites/r_refusals.R --check
echo "running the vignette of a validation service"
"$python" -m pytest --quiet tests/suites/test_validation.py -k from_r
