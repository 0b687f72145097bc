# Everything sets itself up, can be repeated, and needs only Python >= 3.11, make, and Go >= 1.25 or
# Docker that can pull, on a Debian machine; where kind can run, it is the cluster. Caches stay in
# ~/.cache/bernstein; `make clean-cache` removes them, but not Go's own.
SHELL := /bin/bash
PYTHON ?= python3
PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# Compiled modules are kept, but not between the sources.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

.PHONY: demo test lint test-unit test-programs test-perf test-control-plane test-crash \
  test-cluster test-release test-e2e test-gitops test-platform test-upgrade test-verification test-model test-model-sample perf bench-overhead bench-checkout down \
  clean-cache release setup packages binaries gitea gitops collector components images venv lock generate help

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

demo: setup ## the whole story on a real cluster, end to end
	$(PY) -m tests.demo.run

# A release's tier is one process that mostly waits, and the platform's needs no node: so they run side
# by side, once all that they need is built.
test: setup ## everything that CI runs
	$(MAKE) lint
	$(MAKE) test-unit
	$(MAKE) test-model-sample
	$(MAKE) test-programs
	$(MAKE) test-perf
	$(MAKE) test-control-plane
	$(MAKE) components gitops collector
	$(MAKE) --output-sync=target -j2 test-gitops test-release
	$(MAKE) test-cluster
	$(MAKE) test-e2e

down: ## take down every cluster that the other targets left running
	$(PYTHON) -m tests.cluster down --all

# What takes long is done side by side; each part does nothing when it is done already.
setup: ## everything; each part does nothing when it is done already
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory -j3 venv binaries gitea images

packages:
	@$(PYTHON) -m tests.setup packages

binaries: packages
	@$(PYTHON) -m tests.cluster build >/dev/null

gitea: packages
	@$(PYTHON) -m tests.cluster program gitea >/dev/null

# Argo CD, and what judges objects for it and for Flux: test-gitops alone needs it.
gitops: packages
	@$(PYTHON) -m tests.cluster program gitops >/dev/null

# An OpenTelemetry collector: test-gitops alone needs it.
collector: packages
	@$(PYTHON) -m tests.cluster program collector >/dev/null

# Where kind is the cluster, only this tier needs Kubernetes' own programs.
components: packages
	@$(PYTHON) -m tests.cluster build --provider control-plane >/dev/null

images: packages
	@$(PYTHON) -m tests.images build >/dev/null

venv: .venv/installed ## Python and its packages, in .venv
.venv/installed: requirements-dev.lock pyproject.toml | packages
	@echo "[venv] installing Python packages" >&2
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lint: venv ## format, lint, types, layers, generated files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache
	$(PY) -m bernstein.crds --check
	$(PY) -m tests.chart --check

test-unit: venv packages ## seconds, no cluster
	$(PYTEST) tests/unit -n 2

test-model-sample: venv ## the engine in virtual time: some seeds, every story, every repair taken out
	$(PYTEST) tests/model -n 2

test-model: venv ## the engine in virtual time: 2,000 seeds, minutes
	$(PY) -m tests.model --seeds 2000

test-programs: venv packages gitea ## real git, a forge, agents, launcher and processes; no cluster
	$(PYTEST) tests/programs -n 3

# Three API servers at a time: a test mostly waits for one.
test-control-plane: venv components ## a real API server, no containers
	$(PYTEST) tests/control_plane -n 3 --dist loadfile

# A part of test-control-plane and of test-release, and so of `test`.
test-upgrade: setup components ## the last release, this one while Plans run, and back
	$(PYTEST) tests/control_plane/upgrade
	$(PYTEST) tests/e2e/release/test_last_release.py

test-gitops: venv components gitops collector ## what platform teams run beside it: Argo CD, Flux, a collector
	$(PYTEST) tests/platform -n 2 --dist loadfile

# A part of test-gitops, test-programs and test-control-plane, and so of `test`, which runs no test
# twice.
test-platform: test-gitops ## the same, and Prometheus with promtool, the chart, what a release packs, upgrades
	$(PYTEST) tests/programs/monitoring -n 2
	$(PYTEST) tests/control_plane/chart tests/control_plane/release tests/control_plane/restore \
	  tests/control_plane/upgrade -n 3 --dist loadfile

test-crash: venv components ## the operator killed after every write, behind a bad network
	BERNSTEIN_CRASH_AFTER=every $(PYTEST) -n 2 tests/control_plane/controllers/crash \
	  tests/control_plane/controllers/produced tests/control_plane/controllers/projects \
	  tests/control_plane/controllers/requests/test_replayed.py \
	  tests/control_plane/controllers/subtasks \
	  tests/control_plane/controllers/test_crashes.py

# It counts what the machine holds, so nothing else may run beside it.
test-cluster: venv binaries ## the local node itself: pods, kills, what is left of it
	$(PYTEST) tests/e2e/cluster

# On a node of its own, which nothing of ours is on.
test-release: setup ## a release is installed from its files alone, takes the last one's place, and is removed
	$(PYTEST) tests/e2e/release

# Several at a time: a test mostly waits for pods. The cluster is taken down whatever they find.
test-e2e: setup ## a real node, real pods
	$(PY) -m tests.stack up >/dev/null && \
	  BERNSTEIN_E2E_READY=1 $(PYTEST) tests/e2e --ignore tests/e2e/cluster --ignore tests/e2e/release -n 3 --dist loadfile --no-loadscope-reorder; found=$$?; \
	  $(PY) -m tests.stack down; exit $$found

# A part of test-unit, test-programs, test-control-plane and test-e2e, and so of `test`, which runs
# no test twice.
test-verification: setup ## of these four what shows gates, signals, models, attestations and hostile work
	$(PYTEST) tests/unit/checks/gates/test_every_gate.py tests/unit/checks/signals/test_every_signal.py \
	  tests/unit/checks/test_in_pods.py tests/unit/checks/test_in_programs.py \
	  tests/unit/core/delivery/test_every_way_to_land.py tests/unit/crds/test_crds.py \
	  tests/unit/docs/test_registry_tables.py tests/unit/docs/test_security_page.py -n 2
	$(PYTEST) tests/programs -m verification -n 2
	$(PYTEST) tests/control_plane -m verification -n 2 --dist loadfile
	$(PY) -m tests.stack up >/dev/null && BERNSTEIN_E2E_READY=1 $(PYTEST) tests/e2e \
	  --ignore tests/e2e/cluster -m verification -n 3 --dist loadfile --no-loadscope-reorder; found=$$?; \
	  $(PY) -m tests.stack down; exit $$found

test-perf: venv ## counts and ratios, kept in docs/reference/performance.md
	$(PYTEST) tests/perf -s

# What Tasks cost beside bare Jobs: KWOK is built by the first one. The sizes of the reference;
# `python -m tests.perf.bench --help` has others, and what BENCH may say, such as --markdown. A goal
# that is missed fails.
perf: venv components ## Tasks beside bare Jobs on a played node, half an hour
	$(PY) -m tests.perf.bench all $(BENCH)

bench-overhead: setup ## an agent's end to Closed on the real node, by phase, some 15 minutes
	$(PY) -m tests.stack up >/dev/null && $(PY) -m tests.perf.bench overhead --tasks 20 $(BENCH); found=$$?; \
	  $(PY) -m tests.stack down; exit $$found

# The size of the reference, which needs some 5 GB of disk; `--sources 2000 --assets 20` is quick.
bench-checkout: venv ## checkouts of a large repository, with a cache and without, some 10 minutes
	$(PY) -m tests.perf.bench checkout $(BENCH)

# REGISTRY: what names of images begin with. ADDRESS: where the files will be found. ALSO: folders of
# the same release from machines of other architectures.
release: setup ## all that a publisher pushes, into dist
	PYTHONPATH=packaging:. $(PY) -m release --registry '$(REGISTRY)' --address '$(ADDRESS)' \
	  $(foreach folder,$(ALSO),--also '$(folder)')

generate: venv ## write what is generated: CRDs, the chart's dashboards and table of values, what Argo CD is told
	$(PY) -m bernstein.crds
	$(PY) -m tests.chart
	$(PY) -m tests.platform.gitops.customizations

lock: venv ## resolve the dependencies anew
	.venv/bin/uv pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --no-header --upgrade pyproject.toml -o requirements.lock
	.venv/bin/uv pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --no-header --extra dev -c requirements.lock pyproject.toml \
	  -o requirements-dev.lock

clean-cache: ## remove what set-up and tests keep, but not Go's own caches
	$(PYTHON) -m tests.cluster clean-cache
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
