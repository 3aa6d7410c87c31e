# `make demo` and `make test` need Python 3.11 or newer and make; they fetch the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test benchmark format clean

demo: $(VENV)/.installed
	@echo '$$ meantime score examples/faithful.txt examples/fluent.txt examples/literal.txt -r examples/reference.txt -s examples/source.txt -m meant -m bleu -m chrf -m ter -m wer -m nist -m gtm'
	@$(BIN)/meantime score examples/faithful.txt examples/fluent.txt examples/literal.txt -r examples/reference.txt -s examples/source.txt -m meant -m bleu -m chrf -m ter -m wer -m nist -m gtm
	@echo
	@echo '$$ meantime explain examples/fluent.txt -r examples/reference.txt --segment 2'
	@$(BIN)/meantime explain examples/fluent.txt -r examples/reference.txt --segment 2
	@echo
	@echo '$$ meantime check examples/fluent.txt -r examples/reference.txt'
	@# It ends with 3 where meaning was lost, as it is here.
	@$(BIN)/meantime check examples/fluent.txt -r examples/reference.txt || test $$? -eq 3

test: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist loadfile

benchmark: $(VENV)/.benchmarked
	$(BIN)/python benchmarks/strings.py

format: $(VENV)/.tested
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'meantime needs Python 3.11 or newer; name one with make PYTHON=python3.12'; exit 1; }
	@echo 'making an environment in $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	@echo 'installing meantime'
	@$(PIP) --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@echo 'installing what the tests need'
	@$(PIP) --editable '.[test,ja,ko,smt,plots,learn,annotate,serve]'
	@touch $@

$(VENV)/.benchmarked: $(VENV)/.installed
	@echo 'installing what the benchmarks compare with'
	@$(PIP) --editable '.[benchmark]'
	@touch $@
