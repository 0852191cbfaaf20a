# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Each target installs what it needs into .venv from the project's own files.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test explore mutants check format bench docs links look torch browser attack dist extras oldest newest sbom audit recipes house clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The venv module is a separate package on some systems; say so rather than fail in a trace.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Ulmus needs Python 3.11 or newer; try 'make PYTHON=python3.12 ...'."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "This Python has no venv module. On Debian or Ubuntu: 'apt-get install python3-venv', then run make again."; exit 1; }
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# One stamp per extra: an install is repeated only when the project's files change.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing ulmus[$*] ..."
	@$(PIP) install --constraint constraints.txt --editable '.[$*]'
	@touch $@

demo: $(VENV)/.installed-plot  ## Few labels, a table and a stream beside rivals; one picture
	@$(BIN)/ulmus demo --force

# A worker for each core, and one thread of BLAS and of compiled loops in each of them, for threads
# of several workers wait for each other. Bytecode is kept, for many tests
# start a process that imports the library again.
TESTS := PYTHONDONTWRITEBYTECODE= SCIPY_ARRAY_API=1 \
  OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 \
  $(BIN)/python -m pytest -n auto --dist worksteal

test: $(VENV)/.installed-test  ## Run every test (a few: make test ARGS="tests/laws -x")
	@$(TESTS) -m 'not torch and not browser' $(ARGS)

explore: $(VENV)/.installed-test  ## Try the laws on new examples (make explore MINUTES=20 SEED=7)
	@SCIPY_ARRAY_API=1 $(BIN)/python -m tools.explore --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED)) $(LAWS)

mutants: $(VENV)/.installed-mutants  ## Change the mathematics in small ways and count what the tests notice (an hour)
	@$(BIN)/python -m tools.mutants $(ARGS)

torch: $(VENV)/.installed-test $(VENV)/.installed-papers  ## Install PyTorch, and test what it adds
	@$(TESTS) -m torch $(ARGS)

browser: $(VENV)/.installed-test  ## Draw the papers' report and use the labelling page in Chromium
	@command -v chromium > /dev/null \
	  || { echo "chromium is not on PATH; on Debian: 'apt-get install chromium'."; exit 1; }
	@$(TESTS) -n 0 -m browser $(ARGS)

attack: $(VENV)/.installed-test  ## Attack with bad inputs, forged files and kills, and count the outcomes (make attack ARGS="files --minutes 5")
	@SCIPY_ARRAY_API=1 PYTHONPATH=tests $(BIN)/python -m attack $(ARGS)

check: $(VENV)/.installed-check  ## Format, lint, types, layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/contract/test_layers.py

format: $(VENV)/.installed-check  ## Rewrite the sources in the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-bench  ## Measure against floors, peers and goals, 15 minutes (ARGS=--full: all; PEERS=1: rival packages)
	@if [ -n "$(PEERS)" ]; then $(PIP) install --editable '.[bench,peers]'; fi
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.installed-docs  ## Build the site into docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

dist: $(VENV)/.installed-release  ## Build the wheel and the sdist, and use each in an empty environment
	@$(BIN)/python -m tools.dist

extras: $(VENV)/.installed-release  ## Use every optional extra alone (after make dist; EXTRAS="dask plot" for some)
	@$(BIN)/python -m tools.extras $(EXTRAS)

oldest: $(BIN)/python  ## Test with the oldest versions that pyproject.toml allows
	@$(BIN)/python -m tools.versions oldest

newest: $(BIN)/python  ## Test with the newest versions of everything
	@$(BIN)/python -m tools.versions newest

sbom: $(VENV)/.installed-release  ## Write the bill of materials into dist (after make dist)
	@$(BIN)/python -m tools.sbom

audit: $(VENV)/.installed-release  ## Look for known vulnerabilities; exit status 2 where that cannot be asked
	@$(BIN)/python -m tools.audit

recipes: $(VENV)/.installed-recipes  ## Run the recipes for mlflow, skops, Optuna, SHAP and skore, which it installs
	@$(BIN)/python -m tools.recipes

house: $(VENV)/.installed-test  ## Print how large and how tangled the code is
	@$(BIN)/python -m tools.house

links: docs  ## Follow every link of the site (make links ALL=1 for other sites too, which needs the network)
	@$(BIN)/python -m tools.links
	@if [ -n "$(ALL)" ]; then $(BIN)/python -m sphinx -b linkcheck docs docs/_build/links; fi

look: docs  ## Open every page of the site in Chromium, wide and narrow (make look SHOTS=folder: pictures, light and dark)
	@$(BIN)/python -m tools.look $(SHOTS)

clean:  ## Remove .venv and everything built
	rm -rf $(VENV) docs/_build docs/examples docs/benchmarks/charts docs/reference/generated docs/papers/tables build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
