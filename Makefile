# Everything a contributor runs. What it downloads or builds beside the binary
# goes into .cache, which git ignores.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOLANGCI_VERSION := v2.14.0
GOLANGCI := .cache/bin/golangci-lint-$(GOLANGCI_VERSION)

# The version comes from VERSION; stamping would need a repository that git trusts.
export GOFLAGS += -buildvcs=false

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the one binary, ./hooklog
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X hooklog/cmd/cli.version=$(VERSION)" -o hooklog ./cmd/hooklog

.PHONY: run
run: build ## Build and serve on 127.0.0.1:8080 with the data folder .hooklog
	exec ./hooklog serve --listen 127.0.0.1:8080 --data-dir .hooklog

.PHONY: test
test: ## Run every test, with the race detector where a C compiler is there
	@if go build -race runtime/cgo 2>/dev/null; then race=-race; \
	else race=; export CGO_ENABLED=0; echo "No working C compiler: the tests run without the race detector."; fi; \
	set -x; go test $$race -shuffle=on -timeout 5m ./...

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint: $(GOLANGCI) ## Check format, code and modules
	$(GOLANGCI) run ./...
	go vet ./...
	go mod verify
	go mod tidy -diff

# Built by the toolchain of this module, because the linter reads no newer Go
# than the one it was built with.
$(GOLANGCI):
	GOBIN=$(CURDIR)/.cache/bin GOTOOLCHAIN=$$(go env GOVERSION) \
		go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv .cache/bin/golangci-lint $@

.PHONY: docs-check
docs-check: ## Check the OpenAPI and AsyncAPI documents (needs Node)
	.ci/docs-check

.PHONY: clean
clean: ## Remove what was built and downloaded, not the data
	rm -rf hooklog .cache
