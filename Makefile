# Everything runs from a fresh clone: Python 3.11 or later, git, make and a network are all that is needed.
.DEFAULT_GOAL := help
.PHONY: help demo test fast lint types docs docs-check bench corpus tools schemas clean

# The newest Python on this machine that we support; a name that is only a shim for another version does not count.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
export PYTHON
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml tau_compile/_build/hook.py tau_compile/_build/translate.py
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY) ## Render the examples and show what came out
	@$(BIN)/python -m examples.demo

test: lint types docs-check tools ## Run every test
	$(BIN)/python -m pytest -n auto

fast: $(READY) tools ## Run the tests that take a moment
	$(BIN)/python -m pytest -n auto -m "not slow"

lint: $(READY) ## Check style and formatting
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .

types: $(READY) ## Check types
	$(BIN)/mypy

docs: $(READY) ## Write the generated references under docs/reference
	$(BIN)/python docs/generate.py

docs-check: $(READY)
	$(BIN)/python docs/generate.py --check

bench: $(READY) tools ## Measure; prints ratios from one run
	$(BIN)/python -m tests.bench

corpus: $(READY) tools ## Compile a folder of real files: make corpus DIR=...
	@test -n "$(DIR)" || { echo "which folder? make corpus DIR=..."; exit 2; }
	$(BIN)/python -m tests.corpus "$(DIR)"

# Go programs that the tests use, pinned by tests/tools/go.mod and verified by its go.sum.
GO_BUILD = sh tests/tools/go.sh -C tests/tools build -mod=readonly -buildvcs=false -trimpath
GO_PINS := tests/tools/go.mod tests/tools/go.sum tests/tools/go.sh

tools: .tools/bin/kubeconform .tools/bin/yamlread ## Build the Go programs that the tests use

.tools/bin/kubeconform: $(GO_PINS)
	$(GO_BUILD) -o $(CURDIR)/$@.new github.com/yannh/kubeconform/cmd/kubeconform
	mv $@.new $@

.tools/bin/yamlread: $(GO_PINS) tests/tools/yamlread/main.go
	$(GO_BUILD) -o $(CURDIR)/$@.new ./yamlread
	mv $@.new $@

schemas: $(READY) ## Derive the schemas of the Kubernetes kinds from the pinned Go modules
	$(BIN)/python -m schemas.derive

clean: ## Remove what was built
	rm -rf $(VENV) .tools build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis tau_compile/_templates.py
