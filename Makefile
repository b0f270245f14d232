# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests wait for browsers and servers as often as they compute: one worker more than there are cores.
CORES  := $(shell getconf _NPROCESSORS_ONLN)
PYTEST := $(BIN)/python -m pytest -n $(shell expr $(CORES) + 1) --maxprocesses 4 --dist worksteal
# Compiled once, not by every worker and every process that tests start.
unexport PYTHONDONTWRITEBYTECODE
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-fast lint types docs bench bench-studies bench-study-constants bench-accuracy bench-accuracy-series bench-trace-constants clean

$(VENV)/core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/dev: pyproject.toml | $(VENV)/core
	$(PIP) --editable '.[dev,docs,plot,collect,postgres,text,video,audio,categories,dask,ray]'
	@touch $@

demo: $(VENV)/core
	$(BIN)/python examples/demo.py

test: $(VENV)/dev
	tools/install-system-packages
	$(PYTEST)

# For daily work: no browser, no database server, nothing slow.
test-fast: $(VENV)/dev
	$(PYTEST) -m "not browser and not postgres and not slow"

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

docs: $(VENV)/dev
	$(BIN)/python tools/build_docs.py

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks.run

# Every model on the studies in the folder STUDIES, one vote each: ratings.csv and, if there is one, reference.csv in each.
# Goes on where it was interrupted; MODELS=mean,auto measures and shows these alone.
bench-studies: SEEDS = 2
bench-studies: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.studies $(STUDIES) --seeds $(SEEDS) $(if $(MODELS),--models $(MODELS))

# What the default for items owes to the choice of its constants, on the studies of the same folder: the same page.
bench-study-constants: SEEDS = 2
bench-study-constants: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.study_constants $(STUDIES) --seeds $(SEEDS)

# Data sets that are not bundled are looked for in the folder UNISONO_DATA; see benchmarks/accuracy_sets.py.
SEEDS ?= 20
bench-accuracy: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.accuracy --seeds $(SEEDS)

# Green intensity and Forrest Gump come with the package; CEAP-360VR is looked for in UNISONO_DATA.
bench-accuracy-series: SEEDS = 10
bench-accuracy-series: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.accuracy_series --seeds $(SEEDS)

# What the default for traces owes to the choice of its constants, on the studies in UNISONO_DATA: the same page.
bench-trace-constants: SEEDS = 10
bench-trace-constants: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.trace_constants --seeds $(SEEDS)

clean:
	rm -rf $(VENV) demo-out bench-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
