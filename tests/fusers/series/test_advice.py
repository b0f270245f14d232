"""Which recordings and stretches need another annotator, and how many annotators are enough."""

import numpy as np
import pytest

import unisono as un
from trace_world import trace_world


@pytest.fixture(scope="module")
def fusion():
    ratings = trace_world(seed=1, K=6, lengths=(150, 150, 150), gaps=False).ratings
    value = ratings.value.copy()
    rows = np.repeat(ratings.item_of * 6 + ratings.annotator_of, 150)
    value[np.isin(rows, [6, 7, 8, 9])] = np.nan  # the second recording has two annotators left
    frame = np.tile(np.arange(150), 18)
    value[(rows < 5) & (frame >= 100)] = np.nan  # of the last ten seconds of the first, one
    return un.fuse(ratings.with_value(value))


def test_what_few_have_rated_comes_first(fusion):
    advice = un.next_ratings(fusion)
    assert advice.items[0] == "clip 1"
    assert advice.items[-1] == "clip 2"
    assert np.all(np.diff(advice.item_sd * advice.item_reduction) < 0.1)
    first = advice.stretches[0]
    assert (first.recording, first.begin, first.end) == ("clip 0", 20.0, 30.0)
    assert 0 < first.expected_reduction < 1
    assert set(advice.annotators) == set(fusion.ratings.annotators)
    assert np.all(np.diff(advice.information) <= 0)


def test_more_annotators_are_better_and_a_saved_fit_says_the_same(fusion, tmp_path):
    plan = un.plan(fusion, most=3 * fusion.ratings.K)
    assert plan.people == fusion.ratings.K
    assert np.all(np.diff(plan.correlation, axis=0) > 0)
    assert np.all(np.diff(plan.sd, axis=0) < 0)
    assert "annotators per recording" in repr(plan)
    fusion.save(tmp_path / "out")
    np.testing.assert_allclose(un.plan(tmp_path / "out", most=3 * fusion.ratings.K).sd, plan.sd, rtol=1e-10)
    assert un.next_ratings(tmp_path / "out").to_dict(3) == un.next_ratings(fusion).to_dict(3)


@pytest.mark.slow
def test_what_is_promised_is_about_what_subsets_reach():
    """Correlation with the truth of all pairs of annotators, against what is expected of two."""
    worlds = [trace_world(seed=seed, K=6, lengths=(200, 200, 200), gaps=False, noise=1.0) for seed in range(3)]
    promised, reached = [], []
    for world in worlds:
        promised.append(un.plan(un.fuse(world.ratings), most=2).correlation[1].mean())
        for who in ([0, 1], [2, 3], [4, 5]):
            part = world.ratings.select_judgements(np.isin(world.ratings.annotator_of, who))
            truth = un.fuse(part, lag=0.6).fused.mean
            reached.append(np.mean([np.corrcoef(truth[:, d], world.truth.value[:, d])[0, 1] for d in (0, 1)]))
    assert np.mean(promised) == pytest.approx(np.mean(reached), abs=0.06)


def test_models_without_levels_and_averages_give_no_advice():
    world = trace_world(seed=1, lengths=(60, 60), gaps=False)
    for settings in ({"model": "mean"}, {"features": world.features}):
        with pytest.raises(un.DataError, match=r"fuse with model=\"auto\"|without features"):
            un.plan(un.fuse(world.ratings, **settings))
