# Each target sets up what it needs in .venv, once: a stamp file there says that a
# group of pyproject.toml is installed.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
# -qq keeps errors and drops the rest.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
RIVALS_PIP := .venv-rivals/bin/python -m pip --disable-pip-version-check -qq
CHECKED := $(wildcard conftest.py src benchmarks examples experiments tests tools docs/*.py)
TYPED := $(wildcard src benchmarks examples experiments tools)
# Two workers, one BLAS thread each.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo demo-label browser test test-all test-lowest test-core test-wheel lint format docs \
	bench rivals reproduce reproduce-quick clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

demo: .venv/.table ## fill a table in which nine in ten labels are blank
	@mkdir -p build/demo
	@$(BIN)/halfmoon fill examples/tables/wines.csv --target cultivar \
		--output build/demo/wines.filled.csv --overwrite $(ARGS)

demo-label: .venv/.label ## label the same table in the browser (Ctrl-C ends it)
	@mkdir -p build/demo && cp examples/tables/wines.csv build/demo/wines.csv
	@$(BIN)/halfmoon label build/demo/wines.csv --target cultivar $(ARGS)

# A browser cannot be had from PyPI; where there is none its tests are skipped.
browser: ## Chromium, for the tests that look at pages (Debian, as root)
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
		{ apt-get update -qq && apt-get install -qq --no-install-recommends \
			chromium fonts-dejavu-core >/dev/null; }

test: .venv/.test ## fast tests and doctests (ARGS="-k name" for some of them)
	@$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m "not slow" $(ARGS)

test-all: .venv/.test-all ## every test: slow ones, torch, lowest versions, the wheel, the docs
	@$(ONE_THREAD) $(BIN)/python -m pytest -n 2 $(ARGS)
	@$(MAKE) --no-print-directory reproduce-quick test-core test-lowest test-wheel docs

# What needs the extra `table`, Matplotlib or pandas.
BEYOND_CORE := $(addprefix --ignore=, tests/benchmarks tests/cli tests/experiments \
	tests/label src/halfmoon/_label tests/plotting tests/report tests/sentences tests/table tests/test_examples.py \
	src/halfmoon/_cli src/halfmoon/plotting src/halfmoon/_report src/halfmoon/table \
	src/halfmoon/_partitions/dask_rows.py)

# Old libraries warn of what has become of each other since, and scikit-learn 1.7 has
# checks of the same name.
test-lowest: .venv-lowest/.ready ## fast tests with the lowest versions that pyproject.toml allows
	@$(ONE_THREAD) .venv-lowest/bin/python -m pytest -n 2 -m "not slow" \
		-W ignore::DeprecationWarning -W ignore::FutureWarning \
		-o strict_parametrization_ids=false $(ARGS)

test-core: .venv-core/.ready ## fast tests with the required dependencies only
	@$(ONE_THREAD) .venv-core/bin/python -m pytest -n 2 -m "not slow" $(BEYOND_CORE) $(ARGS)

test-wheel: .venv-wheel/.ready ## build, install in a clean environment, fill a table
	@rm -rf dist && .venv-wheel/bin/python -m build --outdir dist . >/dev/null
	@.venv-wheel/bin/python -m pip --disable-pip-version-check -qq install \
		--force-reinstall --no-deps dist/*.whl
	@mkdir -p build/wheel && cd build/wheel && ../../.venv-wheel/bin/halfmoon fill \
		../../examples/tables/wines.csv --target cultivar --output filled.csv \
		--overwrite --budget 5 --quiet
	@test "$$(grep -c predicted build/wheel/filled.csv)" = 160
	@.venv-wheel/bin/python -c 'import halfmoon; print("halfmoon", halfmoon.__version__)'

lint: .venv/.lint ## ruff, formatting and mypy
	@$(BIN)/ruff check --quiet --output-format concise $(CHECKED)
	@$(BIN)/ruff format --check --quiet $(CHECKED) || \
		{ echo "Some files are not formatted: run 'make format'." >&2; exit 1; }
	@$(BIN)/mypy $(TYPED)

format: .venv/.lint ## let ruff format and mend what it can
	@$(BIN)/ruff check --quiet --fix $(CHECKED) || true
	@$(BIN)/ruff format --quiet $(CHECKED)

docs: .venv/.docs ## HTML documentation, warnings as errors
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: .venv/.bench ## timings beside those of other libraries
	@$(BIN)/python -m benchmarks $(ARGS)

rivals: .venv-rivals/.rivals ## an environment of other tools, for benchmarks.rivals (3 GB)
	@echo ".venv-rivals/bin/python -m benchmarks.rivals --help"

reproduce: .venv/.reproduce ## every table and figure of the papers; resumes (hours)
	@$(BIN)/python -m experiments run all --out build/reproduce $(ARGS)

reproduce-quick: .venv/.reproduce ## the same, small (minutes)
	@$(BIN)/python -m experiments run all --quick --splits 2 \
		--out build/reproduce-quick $(ARGS)

clean: ## remove what the other targets made, .venv included
	@rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist \
		docs/_build docs/gallery docs/generated docs/sg_execution_times.rst

# The environment with halfmoon itself; then one rule per dependency group.

.venv/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		found=$$($(PYTHON) -c 'import platform; print(platform.python_version())' \
			2>/dev/null) || found=missing; \
		echo "halfmoon needs Python 3.11 or newer, but '$(PYTHON)' is $$found." \
			"Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up .venv (once) ..." >&2
	@$(PYTHON) -m venv .venv
	@$(PIP) install --upgrade "pip>=25.1"  # the first to know --group
	@$(PIP) install --editable .
	@touch $@

.venv/.table: .venv/.base
	@$(PIP) install --editable ".[table]"
	@touch $@

.venv/.label: .venv/.table
	@$(PIP) install --editable ".[label]"
	@touch $@

.venv/.test .venv/.lint .venv/.docs .venv/.bench .venv/.reproduce: \
		.venv/.%: .venv/.base
	@$(PIP) install --group $*
	@touch $@

.venv/.bench: .venv/.table
.venv/.test .venv/.docs: .venv/.label

.venv/.test-all: .venv/.test
	@$(PIP) install torch==2.13.0
	@touch $@

# uv finds the lowest versions; pip installs them.
.venv-lowest/.ready: pyproject.toml
	@echo "Setting up .venv-lowest (once) ..." >&2
	@$(PYTHON) -m venv .venv-lowest
	@.venv-lowest/bin/python -m pip -qq install --upgrade "pip>=25.1" uv
	@.venv-lowest/bin/uv pip compile --quiet --resolution lowest-direct \
		--python .venv-lowest/bin/python --extra label --extra plot --extra dask --group test \
		pyproject.toml --output-file .venv-lowest/constraints.txt
	@.venv-lowest/bin/python -m pip -qq install --constraint .venv-lowest/constraints.txt \
		--editable ".[label,plot,dask]" --group test
	@touch $@

.venv-core/.ready: pyproject.toml
	@echo "Setting up .venv-core (once) ..." >&2
	@$(PYTHON) -m venv .venv-core
	@.venv-core/bin/python -m pip -qq install --upgrade "pip>=25.1"
	@.venv-core/bin/python -m pip -qq install --editable . --group test-core
	@touch $@

# `build` and the dependencies of the wheel, but not the source tree.
.venv-wheel/.ready: pyproject.toml
	@echo "Setting up .venv-wheel (once) ..." >&2
	@$(PYTHON) -m venv .venv-wheel
	@.venv-wheel/bin/python -m pip -qq install --upgrade "pip>=25.1" build
	@.venv-wheel/bin/python -m pip -qq install ".[table]"
	@touch $@

# torch first, in a version without CUDA: a newer one brings some GB of it.
.venv-rivals/.rivals: pyproject.toml
	@echo "Setting up .venv-rivals (once) ..." >&2
	@$(PYTHON) -m venv .venv-rivals
	@$(RIVALS_PIP) install --upgrade "pip>=25.1"
	@$(RIVALS_PIP) install torch==2.13.0
	@$(RIVALS_PIP) install --editable ".[table]" --group rivals
	@touch $@
