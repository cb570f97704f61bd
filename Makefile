# Every target makes the virtual environment that it needs, and may be run again.
#   make demo      set up and audit the sample scores
#   make test      set up and pass the tests

VENV ?= .venv
# The first interpreter on the path that this project supports.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' \
	2>/dev/null && echo $$p && break; done)
JOBS ?= auto

BIN = $(VENV)/bin
# What the environment is made from. Compared by content, never by time: first where
# it and the checkout are and whose Python it is (else it is made anew), then what
# was asked for (else it is brought up to date). Only what this file made is removed.
# Two steps, a stamp each: what mipaudit needs, and then what its contributors need.
STAMP = $(VENV)/.mipaudit-setup
TOOLS = $(VENV)/.mipaudit-tools
PLACE = $(abspath $(VENV)) $(CURDIR) $$($(PYTHON) -V)
WANTED = $(PLACE) $$(cat requirements.lock pyproject.toml | cksum)
WANTED_TOOLS = $$(cat requirements-dev.lock | cksum) after $(WANTED)
# Errors only: what a machine's own index settings warn about is not ours to show.
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# Installs a lock file and names each package as it comes; all that pip said where it fails.
INSTALL = installed() { \
	: > $(VENV)/install.log; \
	{ $(BIN)/python -m pip --disable-pip-version-check install --progress-bar off \
		--require-hashes -r "$$1" 2>&1 && echo ended well; } | { \
	ended=1; while read -r verb what rest; do \
		echo "$$verb $$what $$rest" >> $(VENV)/install.log; \
		case "$$verb $$what" in "ended well") ended=0;; "Installing collected") echo '  unpacking';; \
			"Collecting "*) echo "  $$what";; esac; done; \
	[ $$ended -eq 0 ] || cat $(VENV)/install.log >&2; exit $$ended; }; }

.DEFAULT_GOAL := help
.PHONY: help setup tools demo test test-old-processor test-py314 dist wheelhouse browser-test lint format types imports size golden truths fuzz validate-short validate bench papers docs site man lock clean

help:
	@echo 'make demo                set up, then audit the sample scores'
	@echo 'make test                set up, add what the tests need, then run them'
	@echo 'make test-old-processor  the tests without the newer instruction sets of numpy and BLAS'
	@echo 'make test-py314          the tests with Python 3.14 of Debian sid, which is put into build/'
	@echo 'make dist                the wheel, the source archive and the bill of materials, in build/dist'
	@echo 'make wheelhouse          a folder of wheels to install from without a network, in build/wheelhouse'
	@echo 'make browser-test        the page in Chromium, and heard by axe-core from npm'
	@echo 'make lint                ruff: rules and format'
	@echo 'make types               mypy, strict'
	@echo 'make docs                rewrite the output that the documents quote'
	@echo 'make site                the documentation with a search, in build/site: open index.html there'
	@echo 'make man                 the manual pages, in build/man: man -l build/man/mipaudit.1'
	@echo 'make imports             the rooms import one way'
	@echo 'make size                lines of code by room, beside .ci/size.toml'
	@echo 'make golden              every figure against the commit REV (before_less), to the last bit'
	@echo 'make fuzz                140,000 inputs, made and mutated, and 1,000 signals, in an hour'
	@echo 'make validate-short      coverage of every interval, in three minutes on two processors'
	@echo 'make validate            the long form, an hour: rewrites docs/reference/validation.md'
	@echo 'make truths              every truth of a scenario against 10^7 draws'
	@echo 'make bench               time and memory against the budgets: rewrites docs/reference/performance.md'
	@echo 'make papers              the figures of five papers anew: rewrites docs/reference/reproductions.md'
	@echo 'make lock                renew requirements-dev.lock, and requirements.lock for the action'
	@echo 'make clean               remove .venv and every cache'

setup:
	@if [ -z '$(PYTHON)' ]; then \
		echo 'make: needs Python 3.11 to 3.14 on the path (or PYTHON=...)' >&2; exit 1; fi
	@set -e; place="$(PLACE)"; wanted="$(WANTED)"; found=$$(cat $(STAMP) 2>/dev/null || true); \
	if [ "$$found" = "$$wanted" ] && [ -x $(BIN)/mipaudit ] && $(BIN)/python -c ''; then exit 0; fi; \
	case "$$found" in "$$place"*) ;; *) \
		if [ -e $(STAMP) ]; then rm -rf $(VENV); fi; \
		echo 'Making $(VENV)'; $(PYTHON) -m venv $(VENV); echo "$$place" > $(STAMP);; esac; \
	echo 'Installing what mipaudit needs into $(VENV)'; $(INSTALL); \
	installed requirements.lock; \
	$(PIP) install --no-deps --no-build-isolation -e .; \
	echo "$$wanted" > $(STAMP)

tools: setup
	@set -e; wanted="$(WANTED_TOOLS)"; found=$$(cat $(TOOLS) 2>/dev/null || true); \
	if [ "$$found" = "$$wanted" ]; then exit 0; fi; \
	echo 'Adding what the tests and contributors need'; $(INSTALL); \
	installed requirements-dev.lock; \
	echo "$$wanted" > $(TOOLS)

demo: setup
	@$(BIN)/mipaudit estimate sample_data/leaky.parquet
	@echo; echo "The program is $$(cd $(BIN) && pwd)/mipaudit. To type mipaudit alone in this terminal:"
	@echo '  . $(BIN)/activate'
	@echo 'Then ask whether a limit is kept, here of 0.1:'
	@echo '  mipaudit estimate sample_data/leaky.parquet --max-advantage 0.1'

test: tools
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Figures may differ from those of this processor in their last digits alone.
test-old-processor: tools
	.ci/old-processor $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# With Python 3.14 of Debian sid, unpacked in build/; no part of the gate.
test-py314:
	.ci/python3.14 build/python3.14
	$(MAKE) test VENV=build/venv3.14 PYTHON=$(CURDIR)/build/python3.14/usr/bin/python3.14

dist: tools
	rm -rf build/dist
	PATH="$(abspath $(BIN)):$$PATH" .ci/release/build build/dist

# For the Python and the system that it is made with.
wheelhouse: dist
	rm -rf build/wheelhouse
	PATH="$(abspath $(BIN)):$$PATH" .ci/release/wheelhouse build/wheelhouse build/dist/*.whl
	.ci/release/smoke build/wheelhouse $(BIN)/python

# Needs Chromium (Debian: apt install chromium) and npm; no part of the gate.
browser-test: tools
	@set -e; command -v npm > /dev/null || { echo 'make: needs npm, for axe-core' >&2; exit 1; }; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$$dir" axe-core@4; \
	MIPAUDIT_AXE="$$dir/node_modules/axe-core/axe.min.js" \
		$(BIN)/python -m pytest -v tests/report/test_browser.py tests/report/test_print.py

lint: tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: tools
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: tools
	$(BIN)/mypy

imports: tools
	$(BIN)/lint-imports

# Needs no environment.
size:
	$(PYTHON) .ci/size.py

# The first time it installs that commit, in build/golden.
golden: tools
	$(BIN)/python .ci/golden $${REV:-before_less}

# FUZZ_CASES=N for more of each kind, FUZZ_SEED=N for others.
fuzz: tools
	FUZZ_CASES=$${FUZZ_CASES:-4000} FUZZ_SEED=$${FUZZ_SEED:-1} $(BIN)/python -m pytest -n $(JOBS) tests/fuzz

validate-short: setup
	$(BIN)/mipaudit validate --quick

validate: tools
	$(BIN)/python tests/docs/validation_page.py --long

truths: tools
	$(BIN)/python benchmarks/truths.py

docs: tools
	$(BIN)/python tests/docs/quoted_output.py

# Anew each time: what is in the navigation depends on all pages.
site: tools
	rm -rf build/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env \
		-d build/doctrees docs build/site

man: setup
	$(BIN)/python docs/manual_pages.py build/man

# BENCH=--quick for a tenth of the rows; BENCH='--quick --write' to renew the page all the same.
# Full, it needs a quarter of an hour and 10 GB of disk.
bench: tools
	$(BIN)/python benchmarks/performance.py $(BENCH)

# A quarter of an hour; PAPERS='izzo-fig1 mace-fig2' for some of them, 'humphries-fig2=FILE' for one of people. No part of the gate.
papers: tools
	$(BIN)/python benchmarks/papers/papers.py $(PAPERS)

# One file for Python 3.11 to 3.14 and every platform, by markers.
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
