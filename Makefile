# Everything starts from nothing but make and Python 3.11 or newer. `make` alone lists the targets.
#
#   make PYTHON=python3.13 check      choose the interpreter of a fresh .venv
#   make test ARGS="-k graph -x"      more words for pytest

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
# What is compiled once need not be compiled again by each of the hundreds of programs that the tests start.
unexport PYTHONDONTWRITEBYTECODE

ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
endif
ARGS ?=
WORKERS ?= 2
RUNS ?= 5
PROBES ?= acceptance
LIBRARY ?=
TORCH_PYTHON ?= python3

VENV := .venv
GPU_VENV := .venvs/gpu
BENCH_VENV := .venvs/bench
BIN := $(VENV)/bin
RECON := $(BIN)/recon
PIP := -m pip --disable-pip-version-check -qq install
PYTEST := -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q
# One torch for everybody, so that a kernel test that passes here passes there. It needs no GPU.
TORCH := torch==2.13.0 triton>=3.6,<4 numpy>=1.26,<3
TIMED = $(PYTHON) tools/timed.py "make $@"

.PHONY: help python test check full ssh-matrix validate-estimator bench-index bench-kernels demo fix docs clean \
	_test _check _static _compiled _full _slow _matrix _validate _bench _kernels _demo _fix

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: python ## unit tests: offline, no programs of the system (about a minute)
	@$(TIMED) $(MAKE) _test

check: python ## format, lint, types, import contracts, every test that is not slow (about 10 minutes)
	@$(TIMED) $(MAKE) _check

full: python ## check, then the slow rest: every release, the whole compile matrix (up to an hour)
	@$(TIMED) $(MAKE) _full

ssh-matrix: python ## the situations in which people reach hosts, on servers of its own (under four minutes)
	@$(TIMED) $(MAKE) _matrix

validate-estimator: python ## what the estimator predicts beside what was published, and whether it is near enough (10 s)
	@$(TIMED) $(MAKE) _validate

bench-index: python ## what reading vllm 0.20.1, or TREE=, costs over a bare parse, beside ast-grep (5 rounds)
	@$(TIMED) $(MAKE) _bench

bench-kernels: python ## on a GPU: PROBES=acceptance (or another group) timed and held to its goals (about 6 minutes)
	@$(TIMED) $(MAKE) _kernels

demo: python ## scan two real releases, print the verdicts, write the page (about 3 minutes)
	@$(TIMED) $(MAKE) _demo

fix: python ## format, and apply the linter's safe fixes
	@$(TIMED) $(MAKE) _fix

docs: $(VENV)/.dev ## write the pages that are made from the code: docs/detectors.md
	@$(BIN)/python tools/detectors_page.py

clean: ## remove the environments and caches that make made; reports and the user's cache stay
	rm -rf $(VENV) .venvs .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find recon tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@test -n "$(PYTHON)" || { echo "recon needs Python 3.11 or newer, and none was found on PATH." >&2; \
		echo "Name one: make PYTHON=/path/to/python3.12 ..." >&2; exit 2; }
	@command -v "$(PYTHON)" >/dev/null || { echo "There is no program $(PYTHON)." >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "recon needs Python 3.11 or \
	newer; $(PYTHON) is %d.%d. Choose another: make PYTHON=python3.12 ..." % (v[0], v[1]))'

# A stamp is younger than pyproject.toml when its environment holds what pyproject.toml asks for.
$(VENV)/.client: pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(VENV)
	@echo "installing recon into $(VENV)"
	@$(BIN)/python $(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.client
	@echo "installing the tools for developers into $(VENV)"
	@$(BIN)/python $(PIP) --editable '.[dev]'
	@touch $@

$(GPU_VENV)/.dev: pyproject.toml Makefile
	@$(GPU_VENV)/bin/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(GPU_VENV)
	@echo "installing torch and triton into $(GPU_VENV)"
	@$(GPU_VENV)/bin/python $(PIP) --no-compile --editable '.[test]' $(foreach word,$(TORCH),'$(word)')
	@touch $@

_test: $(VENV)/.dev
	RECON_OFFLINE=1 $(BIN)/python $(PYTEST) -m "not system and not release and not slow and not gpu" $(ARGS)

# torch is installed on one core while the other looks at the source; the one that is done first compiles the tests.
_check:
	@$(MAKE) -j2 _static $(GPU_VENV)/.dev _compiled
	$(BIN)/python $(PYTEST) $(ARGS)
	$(GPU_VENV)/bin/python $(PYTEST) tests/kernels $(ARGS)

_static: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

_compiled: $(VENV)/.dev # so that not each worker does; what is wrong with a test is said where it runs
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

_full: _check
	@$(MAKE) _slow
	@$(MAKE) _validate

_slow:
	$(BIN)/python $(PYTEST) --slow -m slow $(ARGS)
	$(GPU_VENV)/bin/python $(PYTEST) --slow -m slow tests/kernels $(ARGS)

_matrix: $(VENV)/.dev
	$(BIN)/python $(PYTEST) --slow -m matrix tests/ssh/matrix $(ARGS)

_validate: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python tools/validate_estimator.py

# The peer that it is held against lies in an environment of its own; where no index has it, the bench says so.
_bench: $(VENV)/.client
	@test -x $(BENCH_VENV)/bin/ast-grep || { "$(PYTHON)" -m venv --clear $(BENCH_VENV) && \
		$(BENCH_VENV)/bin/python $(PIP) ast-grep-cli; } || true
	$(BIN)/python tools/bench_index.py --ast-grep $(BENCH_VENV)/bin/ast-grep --runs $(RUNS) $(if $(TREE),--tree '$(TREE)')

# Under the Python that has torch and triton for this GPU, and pytest: make bench-kernels TORCH_PYTHON=/opt/venv/bin/python
_kernels: $(VENV)/.client
	@mkdir -p reports
	test $(PROBES) != acceptance || $(TORCH_PYTHON) -m pytest -c /dev/null --rootdir . --noconftest -q -W ignore \
		tests/kernels/test_draws.py -k gpu
	$(TORCH_PYTHON) tools/gpu_goals.py reports/$(PROBES).jsonl --probes $(PROBES) --library '$(LIBRARY)' --full
	$(BIN)/python tools/gpu_goals.py reports/$(PROBES).jsonl --probes $(PROBES) --library '$(LIBRARY)' --full --read \
		--save reports/$(PROBES).json >/dev/null

# Status 3 says that some files of a release could not be read in full: they are listed, and the verdicts heed them.
_demo: $(VENV)/.client
	@mkdir -p reports
	$(RECON) scan --release vllm==0.20.1 --release sglang==0.5.23 -o text=reports/demo.txt >/dev/null || test $$? -eq 3
	@cat reports/demo.txt
	$(RECON) report --html

_fix: $(VENV)/.dev
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format
