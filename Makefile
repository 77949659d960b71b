.DEFAULT_GOAL := help
.PHONY: help demo test fast lint types docs check-docs tools schemas bench corpus clean

# A Python that is new enough; `make PYTHON=...` chooses another. It is used once, to make the virtual environment.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready tau_compile/_templates.py
JOBS ?= auto

help: ## Show what there is to make.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS='	' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done

demo: $(READY) ## Render the examples and show what comes out.
	@$(BIN)/python -m tests.demo build/demo

test: lint types check-docs tools ## Everything: style, types, docs, and all tests.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

fast: $(READY) ## The tests that take no more than a moment each.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not slow"

lint: $(READY) ## Style.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Strict types.
	$(BIN)/mypy

docs: $(READY) ## Write the generated pages of docs/reference.
	$(BIN)/python docs/generate.py

check-docs: $(READY)
	$(BIN)/python docs/generate.py --check

bench: $(READY) ## How fast it is, against kustomize on the same work.
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.bench_runs
	$(BIN)/python -m tests.bench.bench_policy

corpus: $(READY) ## Compile a folder of real files: make corpus DIR=...
	$(BIN)/python -m tests.corpus $(DIR)

clean: ## Remove what make has made, the virtual environment and the Go programs too.
	rm -rf $(VENV) .tools build dist tau_compile/_templates.py .mypy_cache .pytest_cache .ruff_cache .hypothesis

# --- the environment -------------------------------------------------------------------------------------------------

$(VENV)/ready: pyproject.toml $(wildcard tau_compile/_build/*.py)
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found. Try: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

# Installing wrote it already; this is for templates that changed since.
tau_compile/_templates.py: $(shell find templates -name '*.j2') tau_compile/_build/translate.py | $(VENV)/ready
	$(BIN)/python -m tau_compile._build

# --- Go programs that tests use, pinned by tests/tools/go.mod and verified by its go.sum ------------------------------

GO_PINS := tests/tools/go.mod tests/tools/go.sum tests/tools/go.sh
# go.sh asks a Python for pip where the machine has no Go that is new enough.
GO = PYTHON="$(or $(wildcard $(BIN)/python),$(PYTHON))" sh tests/tools/go.sh
GO_FLAGS := -mod=readonly -buildvcs=false -trimpath
GO_BUILD = $(GO) -C tests/tools build $(GO_FLAGS)

tools: .tools/bin/kubeconform .tools/bin/yamlread .tools/bin/celcheck ## Build the Go programs that the tests use.

.tools/bin/kubeconform: $(GO_PINS)
	$(GO_BUILD) -o $(CURDIR)/$@.new github.com/yannh/kubeconform/cmd/kubeconform
	mv $@.new $@

.tools/bin/yamlread: $(GO_PINS) tests/tools/yamlread/main.go
	$(GO_BUILD) -o $(CURDIR)/$@.new ./yamlread
	mv $@.new $@

# A module of its own: its pins are those of the API server that it links. Built anew only when it changes; the first time takes minutes.
.tools/bin/celcheck: $(wildcard tests/tools/celcheck/*) tests/tools/go.sh
	$(GO) -C tests/tools/celcheck build $(GO_FLAGS) -o $(CURDIR)/$@.new .
	mv $@.new $@

schemas: $(READY) ## Derive schemas/kubernetes from the Go modules that schemas/derive/kinds.py pins.
	$(BIN)/python -m schemas.derive
