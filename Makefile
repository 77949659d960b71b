.PHONY: tools schemas

PYTHON ?= python3
export PYTHON

# Go programs that the tests use, pinned by tests/tools/go.mod and verified by its go.sum.
GO_BUILD = sh tests/tools/go.sh -C tests/tools build -mod=readonly -buildvcs=false -trimpath
GO_PINS := tests/tools/go.mod tests/tools/go.sum tests/tools/go.sh

tools: .tools/bin/kubeconform .tools/bin/yamlread

.tools/bin/kubeconform: $(GO_PINS)
	$(GO_BUILD) -o $(CURDIR)/$@.new github.com/yannh/kubeconform/cmd/kubeconform
	mv $@.new $@

.tools/bin/yamlread: $(GO_PINS) tests/tools/yamlread/main.go
	$(GO_BUILD) -o $(CURDIR)/$@.new ./yamlread
	mv $@.new $@

# The JSON Schemas of every Kubernetes kind we emit, derived from the Go modules that schemas/derive/kinds.py pins.
schemas:
	$(PYTHON) -m schemas.derive
