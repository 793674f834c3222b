# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUIET := --quiet --disable-pip-version-check

.PHONY: demo test test-quick test-slow test-oldest test-scanpy test-wheel dist fuzz audit lint types bench bench-dask \
	bench-start bench-cells bench-memory bench-scale bench-ten-million bench-peers bench-practice bench-quality \
	bench-quality-peers bench-readers robustness reproduce docs docs-check release-check \
	clean
.DEFAULT_GOAL := demo

# One stamp for each set of extras; made anew when the dependencies change.
$(VENV)/.installed-%: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("manyview needs Python 3.11 or later, %s is %d.%d" % (sys.executable, *sys.version_info[:2]) if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIET) --editable ".[$*]"
	@touch $@

demo: $(VENV)/.installed-cli
	$(BIN)/manyview demo

test: lint types
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# Unit tests, for every save: no fuzzing, no other processes, no browser (tests/conftest.py has the
# list of what is left out).
test-quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -m "not slow and not full" --numprocesses 2 --dist loadscope tests

# Those marked as slow, which `make test` leaves out.
test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow --numprocesses 2 --dist worksteal

# Fuzzing for so many minutes, not 15 seconds.
MINUTES ?= 30
fuzz: $(VENV)/.installed-dev
	MANYVIEW_FUZZ_SECONDS=$$(( $(MINUTES) * 60 )) $(BIN)/python -m pytest --numprocesses 2 tests/fuzz

# Real scanpy on what results write to MuData and AnnData; about 900 MB, in an environment of its own.
test-scanpy:
	@test -x .venv-scanpy/bin/python || $(PYTHON) -m venv .venv-scanpy
	.venv-scanpy/bin/python -m pip install $(QUIET) --editable ".[bio,leiden]" hypothesis pandas pytest scanpy
	.venv-scanpy/bin/python -m pytest -q -rs tests/test_scanpy.py

# The oldest versions that pyproject.toml allows; they may use what others have since deprecated.
# For the newest, and for another Python:
# make test VENV=.venv-3.13 PYTHON=python3.13
test-oldest:
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install $(QUIET) --constraint constraints-oldest.txt --editable ".[test]"
	.venv-oldest/bin/python -m pytest -W ignore::DeprecationWarning --numprocesses 2 --dist worksteal

# dist/ has the sdist and the wheel made from it, dist/tree the wheel made from this folder.
dist: $(VENV)/.installed-build
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --wheel --outdir dist/tree

# What is uploaded: its contents; what it does without extras; all tests, those of the sdist, from a
# folder in which there is no source.
OUTSIDE = build/outside
test-wheel: dist $(VENV)/.installed-dev
	MANYVIEW_DIST=$(abspath dist) $(BIN)/python -m pytest tests/test_packaging.py
	rm -rf .venv-core .venv-wheel $(OUTSIDE)
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install $(QUIET) dist/*.whl
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install $(QUIET) "$$(echo dist/*.whl)[test]"
	mkdir -p $(OUTSIDE)
	tar -xzf dist/*.tar.gz -C $(OUTSIDE) --strip-components=1
	rm -r $(OUTSIDE)/src
	cd $(OUTSIDE) && ../../.venv-core/bin/python -P tests/core_only.py
	cd $(OUTSIDE) && ../../.venv-wheel/bin/python -m pytest --numprocesses 2 \
		--dist worksteal --rootdir . --config-file pyproject.toml --pyargs tests manyview

# Before a release: all of that, what PyPI checks of the metadata and the README, and the workflows.
release-check: test-wheel
	$(BIN)/python -m twine check --strict dist/*.whl dist/*.tar.gz
	$(BIN)/zizmor --offline --no-progress .github

# Known vulnerabilities of what would be installed, and licences; needs a vulnerability service.
audit:
	@test -x .venv-audit/bin/python || $(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install $(QUIET) --upgrade pip ".[audit]"
	.venv-audit/bin/python .ci/audit.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Whole fits beside the dense NumPy twin of the published program: time and peak memory.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_core

# The first labels of a new process, with and without compiled code; writes its table into docs/.
bench-start: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_start

# What a fit was estimated to need beside what it needed; writes its table into docs/.
bench-memory: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_memory

# Fits of 50,000 to a million samples by stage; writes its tables and figure into docs/.
bench-scale: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.bench_scale

# Takes about 40 minutes, 20 GiB of memory and 10 GB of disk.
bench-ten-million: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_ten_million

# The same fit on 1, 2 and 4 Dask workers; writes its table into docs/.
bench-dask: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_dask

# Other packages on the same data; about 1.5 GB, in an environment of their own.
bench-peers:
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install $(QUIET) --editable . polyview imml
	.venv-peers/bin/python -m benchmarks.bench_peers

# Views that lack samples, new samples, reports; writes its tables into docs/.
bench-practice: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_practice

# ACC of our methods on real data, on one core; writes its tables into docs/.
ONE_CORE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
bench-quality: $(VENV)/.installed-dev
	$(ONE_CORE) $(BIN)/python -m benchmarks.bench_quality

# The same of other packages, each in an environment of its own: snfpy needs an old scikit-learn,
# muon Python 3.12.
PYTHON_SNF ?= python3.9
PYTHON_MUON ?= python3.12
bench-quality-peers: $(VENV)/.installed-dev
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install $(QUIET) imml
	@test -x .venv-peers-snf/bin/python || $(PYTHON_SNF) -m venv .venv-peers-snf
	.venv-peers-snf/bin/python -m pip install $(QUIET) snfpy "scikit-learn<1.1" "numpy<1.24"
	@test -x .venv-peers-muon/bin/python || $(PYTHON_MUON) -m venv .venv-peers-muon
	.venv-peers-muon/bin/python -m pip install $(QUIET) muon scanpy igraph
	$(ONE_CORE) $(BIN)/python -m benchmarks.bench_quality peers

# CITE-seq cells beside muon's weighted neighbours and Leiden; writes its table into docs/.
bench-cells: $(VENV)/.installed-dev
	@test -x .venv-peers-muon/bin/python || $(PYTHON_MUON) -m venv .venv-peers-muon
	.venv-peers-muon/bin/python -m pip install $(QUIET) muon scanpy igraph
	$(ONE_CORE) $(BIN)/python -m benchmarks.bench_cells

# Peak memory of reading files.
bench-readers: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_readers

# What was tried for the angular variant, and what disturbs all methods; writes into docs/.
robustness: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.bench_robustness

# The site, into build/docs, without network; it runs all examples, and a warning fails it.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going -b html docs build/docs

# Its links, and every snippet and example of the reference.
docs-check: docs $(VENV)/.installed-dev
	MANYVIEW_SITE=$(abspath build/docs) $(BIN)/python -m pytest -q tests/test_site.py \
		tests/test_docs.py tests/test_snippets.py
	$(BIN)/python -m pytest -q src

# The paper's tables and figure, from the files in data/; no network is needed.
reproduce: $(VENV)/.installed-cli
	$(BIN)/manyview reproduce

clean:
	rm -rf $(VENV) .venv-audit .venv-core .venv-oldest .venv-peers .venv-peers-* .venv-scanpy .venv-wheel build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis manyview-demo docs/gallery docs/generated docs/sg_execution_times.rst
