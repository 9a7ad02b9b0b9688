# Every target does its own set-up: a fresh clone needs Python 3.11, for the TypeScript SDK Node 20, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
RUNTIME := $(VENV)/.runtime-ready
DEV := $(VENV)/.dev-ready
# Compiled while installing: the first start is as quick as the next one.
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python
SDK := packages/sdk-ts
SDK_DEV := $(SDK)/node_modules/.dev-ready
SDK_BUILT := $(SDK)/dist/.built

.PHONY: serve setup sdk test lint bench lock clean

serve: $(RUNTIME)
	@exec $(BIN)/interlock serve

setup: $(RUNTIME)

sdk: $(SDK_BUILT)

test: $(DEV) $(SDK_DEV)
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2 --dist loadfile
	cd $(SDK) && npm run --silent check && npm test --silent

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright --warnings

bench: $(DEV)
	$(BIN)/python -m bench

# Versions and hashes only: a lock file that records where a package came from is not committed.
# The whole is resolved first, so that what only tests need does not have to make do with what is left over.
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
  --no-emit-package interlock-client packages/client/pyproject.toml packages/server/pyproject.toml requirements/build.in
lock: $(BIN)/python
	$(COMPILE) requirements/dev.in --upgrade -o requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt -o requirements/server.txt

clean:
	rm -rf $(VENV) $(SDK)/node_modules $(SDK)/dist

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	@command -v uv >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet uv

$(RUNTIME): requirements/server.txt packages/client/pyproject.toml packages/server/pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements/server.txt
	$(INSTALL) --no-deps --no-build-isolation -e packages/client -e packages/server
	@touch $@

$(DEV): $(RUNTIME) requirements/dev.txt
	$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(SDK_DEV): $(SDK)/package.json $(SDK)/package-lock.json
	cd $(SDK) && npm ci --silent
	@touch $@

$(SDK_BUILT): $(SDK_DEV) $(SDK)/tsconfig.json $(SDK)/tsconfig.build.json $(shell find $(SDK)/src -name '*.ts')
	cd $(SDK) && npm run --silent build
	@touch $@
