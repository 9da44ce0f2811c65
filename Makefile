# The two commands: `make baton` runs the main job offline, `make test` proves this project. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: baton test e2e bench clean

baton: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv -s baton

test: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv -s tests

e2e: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv -s e2e

bench: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv -s bench

# An environment of this checkout's own; made again when the dependencies change.
$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "baton-runner needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

clean:
	rm -rf $(VENV) .nox .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
