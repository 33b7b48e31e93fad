# Everything runs in a virtual environment of its own; nothing else needs to be set up.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint format slow bench docs proofs venv clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: venv ## install, do the main jobs on built-in data, and leave out/report.html to look at
	@$(BIN)/python examples/demo.py

test: venv ## the default suite, on two cores
	$(BIN)/python -m pytest -n 2

lint: venv ## formatting, rules, types and import contracts
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/pyright -p tests --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: venv ## mend what can be mended by itself
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

slow: venv ## long proofs that the default suite leaves out
	$(BIN)/python -m pytest -n 2 -m slow

bench: venv ## speed, rivals beside us in the same run
	$(BIN)/python -m pytest benchmarks/speed -m '' --benchmark-only -s

docs: venv ## the documentation as a site, site/index.html; a broken link or a public name without a page is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

proofs: proofs/build/lower ## the theorems behind the checker, and the checkers that are proved; needs Debian's coq
	@cat proofs/build/assumptions.txt

proofs/build/lower: $(wildcard proofs/*.v proofs/*.ml) proofs/_CoqProject
	rm -rf proofs/build
	mkdir proofs/build
	cp proofs/*.v proofs/*.ml proofs/build
	set -e; cd proofs/build; for file in $(filter %.v,$(file < proofs/_CoqProject)); do coqc -q -Q . Ascertain $$file; done > assumptions.txt
	cd proofs/build && ocamlopt lower_checker.mli lower_checker.ml lower_main.ml -o lower

venv: .venv/.installed ## the virtual environment alone

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,docs,paper,aalpy,sat,wiring,servers,studio]'
	touch $@

clean: ## remove the virtual environment and what was written
	rm -rf .venv out site proofs/build
