"""Bundled data: all there, readable, as its README says, and named well when it is not there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unisono as un
from unisono.tables.datasets import BUNDLED, dataset_path


@pytest.mark.parametrize("name", BUNDLED)
def test_every_file_and_its_attribution_are_there(name):
    for table in BUNDLED[name]:
        assert dataset_path(name, table).stat().st_size > 1000
    attribution = (dataset_path(name).parent / "README.md").read_text(encoding="utf-8")
    assert any(licence in attribution for licence in ("CC BY", "MIT", "CC0"))
    assert "Source:" in attribution
    assert "Changes:" in attribution


def test_green_intensity_is_what_its_readme_says():
    ratings = un.load_dataset("green_intensity")
    assert (ratings.M, ratings.K, ratings.dimensions, ratings.clock.rate) == (2, 20, ("green",), 10.0)
    assert not np.isnan(ratings.value).any()
    truth = un.align_to(un.load_dataset_table("green_intensity", "reference"), ratings, hold=1.0, complete=True)
    mean = [part.reshape(10, -1).mean(axis=0) for part in np.split(ratings.value[:, 0], [10 * ratings.length[0]])]
    split = np.split(truth.value[:, 0], [ratings.length[0]])
    r = [np.corrcoef(a, b)[0, 1] for a, b in zip(mean, split, strict=True)]
    np.testing.assert_allclose(r, [0.776, 0.952], atol=0.002)


def test_features_are_the_changes_of_the_truth_and_not_the_truth():
    features = un.load_dataset_table("green_intensity", "features")
    assert features.columns == ("delta_intensity",)
    truth = un.align_to(un.load_dataset_table("green_intensity", "reference"), features, hold=1.0)
    first = slice(0, int(features.length[0]))
    assert np.corrcoef(np.cumsum(features.value[first, 0]), truth.value[first, 0])[0, 1] > 0.99
    assert abs(np.corrcoef(features.value[first, 0], truth.value[first, 0])[0, 1]) < 0.3


def test_forrest_gump_is_a_whole_film():
    ratings = un.load_dataset("forrest_gump")
    assert (ratings.length.tolist(), ratings.K, ratings.dimensions) == ([7085, 7085], 12, ("valence", "arousal"))
    assert ratings.clock.rate == 1.0
    assert np.abs(ratings.value).max() == 1.0


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [("green", "ratings", "mean 'green_intensity'"), ("squality", "refrence", "no table of squality 'refrence'")],
)
def test_wrong_names_are_answered_with_the_right_ones(name, table, message):
    with pytest.raises(ValueError, match=message):
        un.load_dataset_table(name, table)


@pytest.mark.slow
def test_the_demo_fuses_ratings_and_traces(tmp_path):
    demo = Path(__file__).parent.parent / "examples" / "demo.py"
    done = subprocess.run([sys.executable, demo], cwd=tmp_path, capture_output=True, text=True, check=True)
    for name in ("squality", "green_intensity"):
        assert (tmp_path / "demo-out" / name / "truth.csv").exists()
    for task in ("TaskA", "TaskB"):
        (line,) = [line.split() for line in done.stdout.splitlines() if line.startswith(f"  {task} ")]
        fused, mean = (float(line[line.index(name) + 1]) for name in ("fused", "mean"))
        assert fused > mean
