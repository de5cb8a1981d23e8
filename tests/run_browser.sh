#!/usr/bin/env bash
# Tests the documentation site in build/docs and the pages of plans in headless Chromium.
# Usage: tests/run_browser.sh PYTHON, from the root of the sources; PYTHON has this package and its tests.
set -euo pipefail

install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "installing Chromium"
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium \
            >/dev/null
}

if ! command -v chromium >/dev/null && ! install; then
    echo "THE TESTS IN A BROWSER WERE SKIPPED: there is no Chromium, and apt-get cannot install it here"
    exit 0
fi

echo "testing the site and the pages of plans in Chromium"
"$1" -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
DPSTATS_REQUIRE_BROWSER=1 "$1" -m pytest --quiet tests/planning/test_page.py tests/study/plans/test_page.py tests/suites/test_site.py # nothing is skipped
