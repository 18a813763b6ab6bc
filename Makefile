# Two commands for a fresh machine with Python 3.11 or newer: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
MODELS := .venv-models
PROXY := .venv-proxy
# Warnings of other people's libraries are theirs.
MODEL_TESTS := -o pythonpath=model_tests -o filterwarnings=default -p no:cacheprovider

.DEFAULT_GOAL := help
.PHONY: help setup demo browser test coverage test-models test-proxy check lint types docs docs-check requirements bench bench-full bench-viewer clean

help: ## say what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(VENV)/.installed ## make .venv with everything that the other targets need

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "evenhand needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.python requirements/dev.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## run the first example and show its report
	$(BIN)/evenhand run examples/01-hello

browser: ## install Chromium, which tests of the viewer drive, where it is missing
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	else \
		echo "tests of the viewer need Chromium; install it (on Debian: apt-get install chromium)" >&2; exit 1; \
	fi

test: setup browser ## run the whole test suite
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

coverage: setup browser ## run it once more slowly, and tell what it does not reach
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term

test-models: $(MODELS)/.installed ## ask a real small model through every provider, and the vendors' clients
	PYTHONPATH=$(CURDIR)/src $(MODELS)/bin/python -m pytest $(MODEL_TESTS) --ignore=model_tests/test_proxy.py model_tests

test-proxy: $(MODELS)/.installed $(PROXY)/.installed ## ask LiteLLM's proxy in the dialects of both vendors
	PYTHONPATH=$(CURDIR)/src EVENHAND_LITELLM_PROXY=$(CURDIR)/$(PROXY)/bin/litellm \
		$(MODELS)/bin/python -m pytest $(MODEL_TESTS) model_tests/test_proxy.py

$(MODELS)/.installed: requirements/models.txt
	$(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(PROXY)/.installed: requirements/proxy.txt
	$(PYTHON) -m venv $(PROXY)
	$(PROXY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

check: lint types docs-check test ## everything that CI checks

lint: setup ## style, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: setup ## strict type check
	$(BIN)/mypy

docs: setup ## write the generated part of the documents anew
	$(BIN)/python tools/generate_reference.py

docs-check: setup ## fail if the generated part of the documents is stale
	$(BIN)/python tools/generate_reference.py --check

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-annotate --upgrade

requirements: setup ## lock requirements/ to the newest versions that pyproject.toml and the .in files allow
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(COMPILE) --output-file requirements/dev.txt pyproject.toml requirements/dev.in
	$(COMPILE) --output-file requirements/models.txt --override requirements/models-without.in \
		pyproject.toml requirements/models.in
	$(COMPILE) --output-file requirements/proxy.txt requirements/proxy.in

bench: setup ## time the engine on small runs
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.kept_answers

bench-full: setup ## time the engine on runs up to a million cells
	$(BIN)/python -m benchmarks.run --full

bench-viewer: setup browser ## time the viewer in a browser on a run of 100,000 cases
	$(BIN)/python -m benchmarks.viewer

clean: ## remove what the other targets made
	rm -rf $(VENV) $(MODELS) $(PROXY) .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis
