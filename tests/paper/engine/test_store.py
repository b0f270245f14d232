"""A stored result is found again only while everything that computes it is as it was."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unisono
from unisono.paper import experiment_runs
from unisono.paper.experiment_claims import Unit

pytestmark = pytest.mark.slow

PACKAGE = Path(unisono.__file__).parent


def work(seed):
    return {"seed": seed}


UNIT = Unit("set0", work, {"seed": 0})


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    return Path(shutil.copytree(PACKAGE, tmp_path_factory.mktemp("code") / "unisono"))


@pytest.fixture
def package(copied, monkeypatch):
    """A copy of the package that the fingerprint is taken of; hashed anew each time."""
    monkeypatch.setattr(experiment_runs, "PACKAGE", copied)
    experiment_runs.source_hash.cache_clear()
    yield copied
    experiment_runs.source_hash.cache_clear()


def fingerprint_after(path, change):
    kept = path.read_bytes()
    path.write_bytes(change(kept))
    experiment_runs.source_hash.cache_clear()
    try:
        return experiment_runs.fingerprint("toy", UNIT)
    finally:
        path.write_bytes(kept)
        experiment_runs.source_hash.cache_clear()


@pytest.mark.parametrize(
    "name",
    [
        "paper/paper_protocol.py",
        "paper/experiment_series_real.py",
        "paper/simulation.py",
        "tables/item_table.py",
        "tables/reading/ratings_reader.py",
        "tables/datasets/__init__.py",
        "tables/datasets/squality/ratings.csv",
        "collect/stimuli/colours.py",
        "maths/em_loop.py",
        "fusers/model_registry.py",
        "evaluate/held_out_ratings.py",
        "errors.py",
        "version.py",
    ],
)
def test_an_edited_file_makes_every_unit_another_one(package, name):
    before = experiment_runs.fingerprint("toy", UNIT)
    assert fingerprint_after(package / name, lambda content: content + b"\n") != before
    assert experiment_runs.fingerprint("toy", UNIT) == before


@pytest.mark.parametrize("name", ["cli/fuse_command.py", "collect/app/api.py", "report/summary.py"])
def test_what_only_talks_to_people_leaves_stored_results_alone(package, name):
    before = experiment_runs.fingerprint("toy", UNIT)
    assert fingerprint_after(package / name, lambda content: content + b"\n") == before


def test_a_renamed_file_counts_and_a_compiled_one_does_not(package):
    before = experiment_runs.fingerprint("toy", UNIT)
    (package / "maths" / "__pycache__").mkdir(exist_ok=True)
    (package / "maths" / "__pycache__" / "em_loop.cpython-399.pyc").write_bytes(b"x")
    experiment_runs.source_hash.cache_clear()
    assert experiment_runs.fingerprint("toy", UNIT) == before
    (package / "maths" / "em_loop.py").rename(package / "maths" / "em_loop2.py")
    experiment_runs.source_hash.cache_clear()
    try:
        assert experiment_runs.fingerprint("toy", UNIT) != before
    finally:
        (package / "maths" / "em_loop2.py").rename(package / "maths" / "em_loop.py")


def test_the_libraries_that_compute_count_by_their_version(monkeypatch):
    before = experiment_runs.fingerprint("toy", UNIT)
    monkeypatch.setattr(experiment_runs, "version", lambda name: "0.0" if name == "scipy" else "1.0")
    assert experiment_runs.fingerprint("toy", UNIT) != before


def test_nothing_that_experiments_load_is_left_out():
    program = (
        "import sys; from unisono.paper.experiment_runs import find_experiments; find_experiments('all');"
        "print(*(m.__file__ for name, m in sys.modules.items() if name.split('.')[0] == 'unisono'), sep='\\n')"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {Path(line) for line in found.stdout.splitlines()} - {PACKAGE / "collect" / "__init__.py"}
    assert len(loaded) > 50
    assert loaded <= set(experiment_runs.deciding_files(PACKAGE))
