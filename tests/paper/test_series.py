"""Simulated series: made as the model says, with the paper's sizes, and read back as written."""

import json

import numpy as np
import pytest

import unisono as un
from command_line import unisono_here
from unisono.paper.simulation import bump, gaps, held_walks, lasting_noise

SMALL = {"recordings": 3, "frames": 60, "annotators": 3, "features": 4, "window": 5}


def traces(world):
    """(K, M, T, D)"""
    ratings = world.ratings
    return np.moveaxis(ratings.value.reshape(ratings.M, ratings.K, -1, ratings.D), 1, 0)


def test_defaults_are_the_papers():
    world = un.simulate_series()
    ratings = world.ratings
    assert (ratings.M, ratings.K, ratings.D, world.features.P) == (18, 6, 2, 500)
    assert ratings.length.tolist() == [350] * 18
    F = np.array([person["F"] for person in world.annotators.values()])
    assert F.shape == (6, 10, 2, 2)
    assert F.min() >= 0
    assert F.max() <= 1
    assert abs(F.mean() - 0.5) < 0.05
    np.testing.assert_allclose([world.truth.value.min(0), world.truth.value.max(0)], [[0, 0], [1, 1]], atol=1e-12)


def test_truth_is_a_linear_map_of_the_features():
    world = un.simulate_series(**SMALL)
    design = np.column_stack([world.features.value, np.ones(len(world.features.value))])
    left = np.linalg.lstsq(design, world.truth.value, rcond=None)[1]
    assert left.max() < 1e-20


@pytest.mark.parametrize("realistic", [False, True])
def test_ratings_are_the_filtered_truth_and_noise_of_the_size_told(realistic):
    world = un.simulate_series(**{**SMALL, "frames": 400}, realistic=realistic)
    truth = world.truth.value.reshape(3, 400, 2)
    for k, person in enumerate(world.annotators.values()):
        F = np.array(person["F"])
        clean = np.zeros_like(truth)
        for t in range(400):
            for w in range(min(t + 1, len(F))):
                clean[:, t] += truth[:, t - w] @ F[w].T
        left = traces(world)[k] - clean - person["bias"]
        # Before the first frame the paper's truth is zero; a realistic one has been there and is not told.
        left = left[:, 4:] if realistic else left
        np.testing.assert_allclose(left.std(axis=(0, 1)), person["noise_sd"], rtol=0.1)
        np.testing.assert_allclose(left.mean(axis=(0, 1)), 0, atol=4 * np.max(person["noise_sd"]) / np.sqrt(1200))


def test_realistic_annotators_have_the_delay_they_are_told_to_have():
    world = un.simulate_series(recordings=4, frames=500, window=20, features=0, realistic=True, noise=0.05)
    truth = world.truth.value.reshape(4, 500, 2)
    for k, person in enumerate(world.annotators.values()):
        for d in range(2):
            moved = [
                np.corrcoef(np.diff(truth[:, : 500 - lag, d]).ravel(), np.diff(traces(world)[k, :, lag:, d]).ravel())
                for lag in range(15)
            ]
            found = np.argmax([c[0, 1] for c in moved]) / 5.0
            assert abs(found - person["delay_seconds"][d]) < 0.6
            assert 0.2 * 19 / 5 <= person["delay_seconds"][d] <= 0.6 * 19 / 5


def test_a_realistic_trace_does_not_start_from_nothing():
    world = un.simulate_series(**SMALL, realistic=True, noise=0.0)
    for k, person in enumerate(world.annotators.values()):
        total = np.sum(person["F"], axis=0)
        start = world.truth.value.reshape(3, 60, 2)[:, 0] @ total.T + person["bias"]
        # A delay of a few frames ago, of a walk that moves a little, not the zero of the paper's first frame.
        np.testing.assert_allclose(traces(world)[k, :, 0], start, atol=0.2)


def test_spammers_gaps_correlation_and_lasting_noise():
    world = un.simulate_series(recordings=30, features=0, realistic=True, spammers=2, missing=0.1, correlation=0.8)
    truth = world.truth.value
    y = traces(world).reshape(6, -1, 2)
    seen = ~np.isnan(y).any(axis=2)
    r = [np.corrcoef(y[k, seen[k], 0], truth[seen[k], 0])[0, 1] for k in range(6)]
    assert np.all(np.abs(r[:2]) < 0.5)
    assert min(r[2:]) > 0.6
    assert [person["spammer"] for person in world.annotators.values()] == [True] * 2 + [False] * 4
    assert 0.07 < 1 - seen.mean() < 0.13
    assert np.corrcoef(np.diff(truth, axis=0).T)[0, 1] > 0.7


def test_pieces():
    rng = np.random.default_rng(0)
    walk = held_walks(2000, 3, rng)
    still = np.all(np.diff(walk, axis=0) == 0, axis=1)
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], still, [0]]).astype(int))))[::2] + 1
    assert set(runs[1:-1]) == {2, 3, 4}  # frames that hold
    assert np.abs(np.diff(walk, axis=0)).max() < 3  # no jumps: a step is spread over several frames
    np.testing.assert_allclose(bump(3.0, 9).sum(), 1)
    assert bump(3.0, 9).argmax() == 3
    noise = lasting_noise((50, 400, 2), 0.9, rng)
    assert abs(noise.std() - 1) < 0.05
    assert abs(np.mean(noise[:, 1:] * noise[:, :-1]) - 0.9) < 0.06
    lost = gaps((200, 500), 0.2, rng)
    assert abs(lost.mean() - 0.2) < 0.02
    assert np.diff(lost.astype(int), axis=1).clip(0).sum() < lost.sum() / 10  # stretches, not single frames
    assert not gaps((2, 5), 0.0, rng).any()


def test_seeds_repeat_and_differ():
    one, two, other = (un.simulate_series(**SMALL, seed=seed).ratings.value for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (np.abs(one - other) > 1e-6).mean() > 0.99  # everything is drawn anew, not a few numbers


def test_command_writes_what_reads_back(tmp_path):
    sizes = ["--recordings", 2, "--frames", 40, "--features", 3, "--missing", 0.2]
    done = unisono_here("simulate", "series", *sizes, "--realistic", "--spammers", 1, "--out", "sim", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 traces of 40 frames" in done.stderr
    same = un.simulate_series(recordings=2, frames=40, features=3, missing=0.2, realistic=True, spammers=1)
    ratings = un.read_ratings(tmp_path / "sim" / "ratings.csv")
    assert ratings.clock.rate == pytest.approx(5.0)
    both = ~np.isnan(ratings.value) & ~np.isnan(same.ratings.value)
    np.testing.assert_allclose(ratings.value[both], same.ratings.value[both])
    truth = un.read_item_table(tmp_path / "sim" / "truth.csv")
    np.testing.assert_allclose(truth.value, same.truth.value)
    assert un.read_item_table(tmp_path / "sim" / "features.csv").columns == ("x1", "x2", "x3")
    told = json.loads((tmp_path / "sim" / "annotators.json").read_text())
    assert told["settings"]["realistic"] is True
    assert np.array(told["annotators"]["annotator1"]["F"]).shape == (10, 2, 2)


def test_impossible_wishes_are_refused(tmp_path):
    done = unisono_here("simulate", "series", "--annotators", 2, "--spammers", 2, "--out", "sim", cwd=tmp_path)
    assert done.returncode == 3
    assert "at least one must rate honestly" in done.stderr
    assert not (tmp_path / "sim").exists()
    with pytest.raises(un.DataError, match="below 1"):
        un.simulate_series(autocorrelation=1.0)
