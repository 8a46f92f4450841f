# Every target creates the environment that it needs; you do not have to activate it.
#   make run PYTHON=python3.12    another interpreter (for a new environment)
#   make test VENV=.venv312       another environment
#   make test ARGS='-k store'     more options for the command of run, test, bench and tables

PYTHON ?=
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin
BASE := $(VENV)/.base
STAMP := $(VENV)/.installed
SUITABLE := import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # else each of the tests' processes compiles all of Python's files again

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-slow test-blas test-bounds test-pages check bench tables today docs clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(BASE) ## a first experiment: the table of omkc_ss on wdbc, and its learning curve
	$(BIN)/omkl run algo=omkc_ss data=wdbc $(ARGS)
	$(BIN)/omkl figure curve algo=omkc_ss data=wdbc

test: $(STAMP) ## the tests (five minutes on two cores; with the real data of OMKL_DATA some more)
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

test-all: test-slow test-blas test-bounds test-pages ## everything else too: an hour

test-slow: $(STAMP) ## all tests, also kills, fuzzing, Slurm, a browser where they are installed (20 minutes)
	$(BIN)/pip install --quiet playwright
	OMKL_SLURM=$(if $(shell command -v slurmctld),1) $(BIN)/python -m pytest -n auto --dist worksteal --slow $(ARGS)

test-blas: $(STAMP) ## the tests whose expected values come from BLAS, with its code for other processors
	for kind in $(shell grep -qw avx512vl /proc/cpuinfo && echo Haswell SkylakeX || echo Haswell); do \
	  OPENBLAS_CORETYPE=$$kind $(BIN)/python -m pytest -n auto --dist worksteal -m "blas and not data" $(ARGS) || exit 1; \
	done

test-bounds: $(STAMP) ## twins and contracts with every index checked: all is compiled again (5 minutes)
	NUMBA_BOUNDSCHECK=1 OMKL_CACHE=$(abspath $(VENV))/.checked OMKL_DATA= $(BIN)/python -m pytest -n auto --dist worksteal \
	  tests/engine/test_bounds_checked.py tests/algorithms $(ARGS)

test-pages: $(STAMP) ## every command of the README and of docs prints what its page says (10 minutes)
	$(BIN)/python scripts/check_readme.py
	$(BIN)/python scripts/check_readme.py --examples

check: $(STAMP) ## format, lint, types, and a wheel that works outside the checkout
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	rm -rf build
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(BIN)/pip install --quiet --no-deps --target build/installed build/wheel/*.whl
	cd build && PYTHONPATH=installed $(abspath $(BIN))/python -c "import omkl, pathlib, sys; \
	  folder = pathlib.Path(omkl.__file__).parent; from omkl.paths import conf_folder; \
	  sys.exit(conf_folder() != folder / 'conf' or folder.parent.name != 'installed')"
	cd build && PYTHONPATH=installed $(abspath $(BIN))/python -m omkl list algos

bench: $(BASE) ## speed of the learners on this machine (scripts/bench.py --help)
	$(BIN)/python scripts/bench.py $(ARGS)

tables: $(STAMP) ## make the papers' tables, figures and claims again (results/*.md; needs OMKL_DATA)
	$(BIN)/python scripts/tables.py $(ARGS)

today: $(STAMP) ## results/auto.md and today.md: learners tuned, then run (hours; continues where it was; needs OMKL_DATA)
	$(BIN)/omkl tune auto --with docs/examples/ablations --with docs/examples/batch $(ARGS)
	$(BIN)/omkl tune today --with docs/examples/rivals --with docs/examples/batch $(ARGS)
	$(BIN)/python scripts/tables.py auto today

docs: $(VENV)/.docs ## the documentation site (docs/_build/html), a warning or a wrong link ends it
	$(BIN)/python -m sphinx -n -W --keep-going -b html $(ARGS) docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean: ## remove the environment, caches and build output, never results
	rm -rf $(VENV) build dist docs/_build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find omkl tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# pip runs again only if pyproject.toml is newer, because the checkout is installed as editable. A first run needs
# omkl alone; tests, checks and pages need the rest.
$(BASE): pyproject.toml
	@test -x $(BIN)/python && $(BIN)/python -c '$(SUITABLE)' 2>/dev/null || { \
	  for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11); do \
	    if $$python -c '$(SUITABLE)' 2>/dev/null; then \
	      echo "creating $(VENV) with $$($$python -V)"; \
	      exec $$python -m venv --clear $(VENV); \
	    fi; \
	  done; \
	  echo "omkl needs Python 3.11 to 3.13 with its venv module, and $(or $(PYTHON),python3) is not suitable;" \
	    "run make PYTHON=/path/to/python (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "installing omkl and what it needs into $(VENV) ..."
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(STAMP): $(BASE)
	@echo "installing what the tests need into $(VENV) ..."
	$(BIN)/pip install --quiet --editable '.[test]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@
