PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
BENCH_STAMP := $(VENV)/.installed-bench
TYPES_STAMP := $(VENV)/.installed-types
PEERS := .venv-peers
MAKE_VENV = { rm -rf $(VENV); $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); false; }; }
# What tests and the processes that they start import is compiled once, not by each of them.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install lint format test test-python test-r test-spark test-acro test-browser test-lowest demo bench bench-auto bench-peers report trust docs docs-r wheel dist r-package clean

help:  ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP)  ## Set up .venv with the package (editable) and its test tools

$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || \
	    { echo "$(PYTHON) was not found; name another one: make install PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "dpstats needs Python 3.11 or later and $(PYTHON) is older;" \
	           "name another one: make install PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(MAKE_VENV) || { \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        echo "installing python3-venv" && apt-get update -qq && \
	        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv >/dev/null && \
	        $(MAKE_VENV); \
	    else false; fi; } || \
	    { echo "$(PYTHON) cannot make virtual environments here;" \
	           "on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing dpstats and its test tools into $(VENV)"
	@$(PIP) install --editable '.[test]'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@$(PIP) install --editable '.[docs]'
	@touch $@

$(BENCH_STAMP): $(STAMP)
	@$(PIP) install --editable '.[bench]'
	@touch $@

$(PEERS)/.installed: pyproject.toml
	@echo "installing dpstats and other software into $(PEERS)"
	@rm -rf $(PEERS) && $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install --editable '.[peers]'
	@touch $@

$(TYPES_STAMP): $(STAMP)
	@$(PIP) install --editable '.[types]'
	@touch $@

lint: $(TYPES_STAMP)  ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: install  ## Rewrite the files in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: test-python test-r test-spark test-acro test-browser  ## Run all tests, those of the R package and Spark too

test-python: install  ## Run the tests and the examples in the docstrings, without R and Spark
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder \
	    --doctest-modules dpstats tests \
	    --ignore tests/suites/test_r_oracle.py --ignore tests/engines/spark/test_spark.py

test-r: install  ## Check the R package, and formulas of R against lm; installs R where it may
	tests/run_r.sh $(BIN)/python

test-spark: install  ## Test Spark DataFrames; installs Java where it may
	tests/run_spark.sh $(BIN)/python

test-acro: install  ## Load a release record with the package acro, in an environment of its own
	tests/run_acro.sh $(BIN)/python

test-browser: docs  ## Test the site and the page of plans in Chromium; installs it where it may
	tests/run_browser.sh $(BIN)/python

demo: install  ## Write the demonstration to out/
	$(BIN)/dpstats demo --out out/

bench: $(BENCH_STAMP)  ## Run the benchmarks; DATA=folder for the UCI sets
	$(BIN)/python -m benchmarks

bench-auto: install  ## Compare method="auto" on the tables of DATA, a folder with a MANIFEST.csv
	@test -n "$(DATA)" || { echo "name the folder: make bench-auto DATA=dir" >&2; exit 1; }
	$(BIN)/python -m benchmarks tried
	$(BIN)/python -m benchmarks tried_tails
	$(BIN)/python -m benchmarks crossing
	$(BIN)/python -m benchmarks auto --data "$(DATA)"

bench-peers: $(PEERS)/.installed  ## Compare with other software; writes the table in docs and paper
	$(PEERS)/bin/python -m benchmarks peers --write

report: install  ## Write the papers' figures and tables to vignettes/papers, from DATA=folder
	@test -n "$(DATA)" || { echo "name the folder of the data: make report DATA=/path/to/it" >&2; exit 1; }
	$(BIN)/python -m vignettes.papers --data "$(DATA)"

trust: install  ## Write docs/trust.md: each method's proof, and the tests that tried to break it
	$(BIN)/python -m tests.suites.trust_table

docs: $(DOCS_STAMP)  ## Build the documentation site in build/docs; a broken link fails
	$(BIN)/python docs/site

docs-r: install  ## Build the site of the R package in build/docs-r; needs R and pkgdown
	RETICULATE_PYTHON=$(CURDIR)/$(BIN)/python Rscript docs/site/pkgdown.R

wheel: install  ## Build a wheel in dist
	$(PIP) wheel --no-deps --wheel-dir dist .

dist:  ## Build wheel and source distribution of the last commit, twice equal, and an SBOM
	.ci/dist.sh $(PYTHON)

test-lowest:  ## Test with the lowest versions of the dependencies that pyproject.toml allows
	tests/run_lowest.sh $(PYTHON)

r-package: install  ## Build the R package in dist, with a wheel of the Python package in it
	rm -rf r-wrapper/inst/python
	$(PIP) wheel --no-deps --wheel-dir r-wrapper/inst/python .
	mkdir -p dist && cd dist && R CMD build ../r-wrapper

clean:  ## Remove what was built, and .venv
	rm -rf $(VENV) $(PEERS) .venv-acro build dist out *.egg-info .pytest_cache .ruff_cache r-wrapper/inst/python
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
