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
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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
	set -x; go test $$race -shuffle=on -timeout 15m ./...

# Of a fault suite, only its figures are of interest; -v shows them as it goes.
FAULTS := go test -tags faults -count=1 -v ./cmd/e2e/faults/...
FIGURES := grep --line-buffered -vE '^=== '

.PHONY: test-faults
test-faults: ## Break the service in every way it must bear, a few times
	$(FAULTS) -parallel 8 -timeout 10m | $(FIGURES)
	.ci/fuzz 2

.PHONY: soak
soak: ## Break the service again and again, fuzz for long, and print figures
	HOOKLOG_SOAK=1 $(FAULTS) -parallel 4 -timeout 90m | $(FIGURES)
	.ci/fuzz 60

.PHONY: kafka-up
kafka-up: ## Start Apache Kafka on loopback; KAFKA_BROKERS is how many (1 or 3)
	deploy/dev/kafka/kafka up

.PHONY: kafka-down
kafka-down: ## Stop that Kafka, and forget what it holds
	deploy/dev/kafka/kafka down

# With HOOKLOG_TEST_BROKERS it runs on those brokers, whose svc.* topics it
# deletes. The tests share them, so they run one by one.
.PHONY: test-kafka
test-kafka: ## Run the end-to-end and fault suites on Apache Kafka
	@if [[ -z "$${HOOKLOG_TEST_BROKERS:-}" ]]; then \
		HOOKLOG_TEST_BROKERS=$$(deploy/dev/kafka/kafka up); export HOOKLOG_TEST_BROKERS; \
		trap 'deploy/dev/kafka/kafka down' EXIT; \
	fi; \
	set -x; go test -tags faults -count=1 -p 1 -parallel 1 -timeout 30m ./cmd/e2e ./cmd/e2e/{doctor,faults,sessions}

.PHONY: test-keycloak
test-keycloak: ## Run the identity suite on the own realm, Keycloak and oidc-provider
	@HOOKLOG_TEST_OIDCPROVIDER=$$(deploy/dev/oidcprovider/oidcprovider up); export HOOKLOG_TEST_OIDCPROVIDER; \
	trap 'deploy/dev/oidcprovider/oidcprovider down' EXIT; \
	HOOKLOG_TEST_KEYCLOAK=$$(deploy/dev/keycloak/keycloak up); export HOOKLOG_TEST_KEYCLOAK; \
	trap 'deploy/dev/oidcprovider/oidcprovider down; deploy/dev/keycloak/keycloak down' EXIT; \
	set -x; go test -tags providers -count=1 -timeout 10m ./cmd/e2e/identity/...

.PHONY: test-traces
test-traces: ## Run the tracing suite with an OpenTelemetry collector
	@HOOKLOG_TEST_COLLECTOR=$$(deploy/dev/collector/collector up); export HOOKLOG_TEST_COLLECTOR; \
	trap 'deploy/dev/collector/collector down' EXIT; \
	export HOOKLOG_TEST_SPANS=$(CURDIR)/.cache/collector/spans.json; \
	set -x; go test -tags collector -count=1 -timeout 10m ./cmd/e2e/traces/...

# BENCH takes more flags: make bench BENCH='-brokers 127.0.0.1:29092'.
.PHONY: bench
bench: ## Measure hooklog beside the least that could do its job
	go run ./cmd/e2e/bench -dir .cache/bench $(BENCH)

.PHONY: bench-micro
bench-micro: ## Run the micro benchmarks of the packages
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint: $(GOLANGCI) ## Check format, code and modules
	$(GOLANGCI) run ./...
	go vet -tags faults,providers,collector ./...
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

.PHONY: test-rules
test-rules: ## Check and test the Prometheus rules (needs promtool, or Debian)
	.ci/rules-check

.PHONY: clean
clean: ## Remove what was built and downloaded, not the data
	rm -rf hooklog .cache
