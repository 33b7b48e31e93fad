# Everything runs in a virtual environment of its own; nothing else needs to be set up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint format slow bench venv clean

venv: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,paper,aalpy,sat]'
	touch $@

demo: venv
	@$(BIN)/python examples/demo.py

test: venv
	$(BIN)/python -m pytest -n 2

slow: venv
	$(BIN)/python -m pytest -n 2 -m slow

lint: venv
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/lint-imports

format: venv
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: venv
	$(BIN)/python -m pytest benchmarks/speed -m '' --benchmark-only -s

clean:
	rm -rf .venv out
