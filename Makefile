# Every target sets up what it needs in .venv first; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check nojit bench separation accuracy learning errata figures setup format clean

demo: .venv/ready  ## separate ten sources, show the table, save the figure
	$(BIN)/python -m boundsep demo --out out

test: .venv/ready  ## the test suite, compiled
	$(BIN)/python -m pytest

nojit: .venv/ready  ## the same suite uncompiled, with branch coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "not compiled" --cov --cov-report=term

check: .venv/ready  ## lint, format, types, import layers, docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/test_documents.py

bench: .venv/ready  ## speed: docs/speed.md
	$(BIN)/python -m benchmarks.speed

separation: .venv/ready  ## how well it separates: docs/separation.md
	$(BIN)/python -m benchmarks.separation

accuracy: .venv/ready  ## how precise it gets, on everything it should reach: docs/accuracy.md
	$(BIN)/python -m benchmarks.accuracy

learning: .venv/ready  ## why the learning is as it is: the tables of docs/learning.md
	$(BIN)/python -m benchmarks.learning

figures: .venv/ready  ## the paper's claims at full size: docs/paper.md
	$(BIN)/python -m benchmarks.paper

errata: .venv/ready  ## the figures of docs/errata.md
	$(BIN)/python -m benchmarks.errata

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv out dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
