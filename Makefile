# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types bench bench-scale bench-peers bench-practice bench-readers robustness reproduce clean
.DEFAULT_GOAL := demo

# One stamp for each set of extras; made anew when the dependencies change.
$(VENV)/.installed-%: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("manyview needs Python 3.11 or later, %s is %d.%d" % (sys.executable, *sys.version_info[:2]) if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-cli
	$(BIN)/manyview demo

test: lint types
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Whole fits beside the dense NumPy twin of the published program: time and peak memory.
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench_core.py

# Fits of 50,000 to a million samples by stage; writes its tables and figure into docs/.
bench-scale: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench_scale.py

# Other packages on the same data; about 1.5 GB, in an environment of their own.
bench-peers:
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[fast]" polyview imml
	.venv-peers/bin/python benchmarks/bench_peers.py

# Views that lack samples, new samples, reports; writes its tables into docs/.
bench-practice: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench_practice.py

# Peak memory of reading files.
bench-readers: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench_readers.py

# What was tried for the angular variant, and what disturbs all methods; writes into docs/.
robustness: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/bench_quality.py

# The paper's tables and figure again; data files are downloaded, or found by MANYVIEW_DATA.
reproduce: $(VENV)/.installed-cli
	$(BIN)/manyview reproduce

clean:
	rm -rf $(VENV) .venv-peers build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis manyview-demo
