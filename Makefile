# Every target makes the virtual environment that it needs, and may be run again.
#   make demo      set up and audit the sample scores
#   make test      set up and pass the tests

VENV ?= .venv
# The first interpreter on the path that this project supports.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	2>/dev/null && echo $$p && break; done)
JOBS ?= auto

BIN = $(VENV)/bin
STAMP = $(VENV)/.mipaudit-setup
# What the environment is made from. Compared by content, never by time: first where
# it and the checkout are and whose Python it is (else it is made anew), then what
# was asked for (else it is brought up to date). Only what this file made is removed.
PLACE = $(abspath $(VENV)) $(CURDIR) $$($(PYTHON) -V)
WANTED = $(PLACE) $$(cat requirements-dev.lock pyproject.toml | cksum)
# Errors only: what a machine's own index settings warn about is not ours to show.
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format types imports truths fuzz validate-short validate bench docs lock clean

help:
	@echo 'make demo            set up, then audit the sample scores'
	@echo 'make test            set up, then run the tests'
	@echo 'make lint            ruff: rules and format'
	@echo 'make types           mypy, strict'
	@echo 'make docs            rewrite the output that the documents quote'
	@echo 'make imports         the rooms import one way'
	@echo 'make fuzz            mutated inputs, policies and reports by the thousand, in half an hour'
	@echo 'make validate-short  coverage of every interval, in three minutes on two processors'
	@echo 'make validate        the long form, an hour: rewrites docs/reference/validation.md'
	@echo 'make truths          every truth of a scenario against 10^7 draws'
	@echo 'make bench           time and memory against the budgets: rewrites docs/reference/performance.md'
	@echo 'make lock            renew requirements-dev.lock, and requirements.lock for the action'
	@echo 'make clean           remove .venv and every cache'

setup:
	@if [ -z '$(PYTHON)' ]; then \
		echo 'make: needs Python 3.11, 3.12 or 3.13 on the path (or PYTHON=...)' >&2; exit 1; fi
	@set -e; place="$(PLACE)"; wanted="$(WANTED)"; found=$$(cat $(STAMP) 2>/dev/null || true); \
	if [ "$$found" = "$$wanted" ] && [ -x $(BIN)/mipaudit ] && $(BIN)/python -c ''; then exit 0; fi; \
	case "$$found" in "$$place"*) ;; *) \
		if [ -e $(STAMP) ]; then rm -rf $(VENV); fi; \
		echo 'Making $(VENV)'; $(PYTHON) -m venv $(VENV); echo "$$place" > $(STAMP);; esac; \
	echo 'Installing into $(VENV)'; \
	$(PIP) install --require-hashes -r requirements-dev.lock; \
	$(PIP) install --no-deps --no-build-isolation -e .; \
	echo "$$wanted" > $(STAMP)

demo: setup
	$(BIN)/mipaudit estimate sample_data/leaky.parquet

test: setup
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

# FUZZ_CASES=N for more of each kind, FUZZ_SEED=N for others.
fuzz: setup
	FUZZ_CASES=$${FUZZ_CASES:-4000} FUZZ_SEED=$${FUZZ_SEED:-1} $(BIN)/python -m pytest -n $(JOBS) tests/fuzz

validate-short: setup
	$(BIN)/mipaudit validate --quick

validate: setup
	$(BIN)/python tests/docs/validation_page.py --long

truths: setup
	$(BIN)/python benchmarks/truths.py

docs: setup
	$(BIN)/python tests/docs/quoted_output.py

# BENCH=--quick for a tenth of the rows; BENCH='--quick --write' to renew the page all the same.
# Full, it needs ten minutes and 10 GB of disk. JAX_PRIVACY_PYTHON=... names a Python with jax-privacy.
bench: setup
	$(BIN)/python benchmarks/performance.py $(BENCH)
	$(BIN)/python benchmarks/neighbours.py $(BENCH)

# One file for Python 3.11 to 3.13 and every platform, by markers.
lock:
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(PYTHON) -m venv "$$dir"; "$$dir/bin/pip" install --quiet --disable-pip-version-check uv; \
	"$$dir/bin/uv" pip compile pyproject.toml --extra dev --extra sklearn --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --upgrade \
		--custom-compile-command 'make lock' --quiet -o requirements-dev.lock; \
	echo hatchling | "$$dir/bin/uv" pip compile pyproject.toml - --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		-c requirements-dev.lock --custom-compile-command 'make lock' --quiet -o requirements.lock

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
