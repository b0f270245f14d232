"""Copies are weighted as one annotator, whatever the model, and everybody keeps a row."""

import numpy as np
import pytest

import unisono as un
from copied_crowds import with_copy
from unisono.errors import DataWarning, SettingsError
from unisono.fusers.crowd import crowd_copies, one_voice_each
from unisono.fusers.fusion_results import overall_columns

MODELS = ["auto", "independent", "mean", "median", "zscore-mean", "ewe", "weighted-mean"]


def ratings_of(planted, *, without_copy=False):
    keep = planted.annotator_of != planted.copy if without_copy else np.ones(len(planted.item_of), dtype=bool)
    return un.Ratings.from_judgements(
        planted.value[keep],
        planted.item_of[keep],
        planted.annotator_of[keep],
        items=[f"i{m}" for m in range(len(planted.truth))],
        annotators=[f"w{k}" for k in range(planted.K - without_copy)],
        dimensions=[f"d{d}" for d in range(planted.value.shape[1])],
    )


def accuracy(fusion, planted):
    return np.array([np.corrcoef(fusion.fused.mean[:, d], t)[0, 1] for d, t in enumerate(planted.truth.T)])


@pytest.fixture(scope="module")
def planted():
    return with_copy(np.random.default_rng(3), items=80, annotators=5, dims=2, levels=7)


@pytest.fixture(scope="module")
def ratings(planted):
    return ratings_of(planted)


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning", "ignore::unisono.errors.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS)
def test_the_truth_is_that_without_the_copy(planted, ratings, model):
    with_copy, without = un.fuse(ratings, model=model), un.fuse(ratings_of(planted, without_copy=True), model=model)
    kept = un.fuse(ratings, model=model, copies="keep")
    apart = [
        1 - min(np.corrcoef(one.fused.mean[:, d], without.fused.mean[:, d])[0, 1] for d in range(2))
        for one in (with_copy, kept)
    ]
    assert apart[0] < apart[1]
    np.testing.assert_allclose(accuracy(with_copy, planted), accuracy(without, planted), atol=0.002)


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")
def test_the_truth_stays_within_two_thousandths_on_every_seed():
    for seed in range(8):
        planted = with_copy(np.random.default_rng(seed), items=100, annotators=6, dims=2, levels=7)
        found, without = un.fuse(ratings_of(planted)), un.fuse(ratings_of(planted, without_copy=True))
        for one, other in zip(found.fused.mean.T, without.fused.mean.T, strict=True):
            apart = np.mean((one - other) ** 2)
            assert apart / (one.var() + other.var() + (one.mean() - other.mean()) ** 2) < 0.002  # 1 - CCC


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")
def test_nobody_becomes_more_reliable_by_being_copied():
    for seed in range(8):
        planted = with_copy(np.random.default_rng(seed), items=100, annotators=6, dims=2, levels=7)
        found, without = (
            un.fuse(ratings_of(planted, without_copy=alone)).described.reliability for alone in (False, True)
        )
        assert (found[planted.original] <= without[planted.original] + 0.005).all()


def test_an_exact_copy_changes_nothing_at_all(planted):
    exact = with_copy(np.random.default_rng(3), changed=0.0, items=80, annotators=5, dims=2, levels=7)
    with pytest.warns(DataWarning, match="look like duplicates of one annotator"):
        merged = un.fuse(ratings_of(exact))
    np.testing.assert_array_equal(merged.fused.mean, un.fuse(ratings_of(exact, without_copy=True)).fused.mean)


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")
def test_everybody_has_a_row_and_copies_share_theirs(planted, ratings):
    fusion = un.fuse(ratings)
    table = fusion.described
    assert table.annotators == ratings.annotators
    original, copy = planted.original, planted.copy
    np.testing.assert_array_equal(table.reliability[original], table.reliability[copy])
    assert table.ratings.tolist() == np.bincount(ratings.annotator_of).tolist()
    columns = overall_columns(table)
    assert columns["copy"][copy] > 0.9
    assert columns["copy_set"].tolist() == [f"w{original}" if k in (original, copy) else "" for k in range(planted.K)]
    assert table.diagnosis.spammer.shape == (planted.K,)
    named = [row["annotator"] for key in ("most_reliable", "least_reliable") for row in fusion.summary_data[key]]
    assert f"w{copy}" not in named
    assert fusion.fit.annotators == one_voice_each(ratings).annotators


@pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")
def test_saved_fits_of_merged_copies_come_back(planted, ratings, tmp_path):
    un.fuse(ratings).save(tmp_path / "out")
    fuser = un.load(tmp_path / "out")
    again = fuser.fuse(ratings)  # the copy rates as somebody new
    assert again.mean.shape == planted.truth.shape
    later = un.fuse(ratings, start=tmp_path / "out")
    assert later.described.annotators == ratings.annotators


def test_two_copies_of_each_other_are_left_as_they_are():
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 101, size=60).astype(float)
    value = np.repeat(answers, 2)[:, None]
    item, who = np.repeat(np.arange(60), 2), np.tile([0, 1], 60)
    ratings = un.Ratings.from_judgements(
        value, item, who, items=[f"i{m}" for m in range(60)], annotators=["a", "b"], dimensions=["v"]
    )
    assert len(crowd_copies(ratings).sets) == 1
    assert one_voice_each(ratings) is ratings
    with pytest.warns(DataWarning, match="the result rests on one independent annotator"):
        un.fuse(ratings, model="mean")


def test_a_wrong_word_says_which_there_are(ratings):
    with pytest.raises(SettingsError, match="merge, keep"):
        un.fuse(ratings, copies="drop")
