"""Studies of real traces in the benchmark: draws, the noise of left-out means, votes, the choice without a study."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from benchmarks.accuracy_series_sets import CROWDS, TURNED, UNRELATED, made_crowd, with_known_hands
from benchmarks.trace_draws import draw_traces, left_out_ratings, trace_studies
from benchmarks.trace_scores import UNITS, bands, left_out_noise, vote, votes
from benchmarks.trace_tables import choice
from unisono.maths.series.trace_priors import COMMON_UNIT


def write_study(folder, people=7, frames=120, recordings=2, reference=False):
    rng = np.random.default_rng(0)
    rows, known = [], []
    for m in range(recordings):
        truth = np.cumsum(rng.standard_normal(frames)) / 5
        known += [(f"r{m}", t / 2, truth[t]) for t in range(frames)]
        for k in range(people):
            trace = truth + 0.3 * k + np.cumsum(rng.standard_normal(frames)) / 8
            rows += [(f"r{m}", t / 2, f"a{k}", trace[t]) for t in range(frames)]
    folder.mkdir()
    columns = ["recording", "time", "annotator", "value"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "ratings.csv")
    if reference:
        pl.DataFrame(known, schema=["recording", "time", "value"], orient="row").write_csv(folder / "reference.csv")


def test_a_draw_fuses_some_and_leaves_out_the_others(tmp_path):
    write_study(tmp_path / "films")
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "ratings.csv").write_text("item,annotator,value\nx,y,1\n")
    assert trace_studies(tmp_path) == ["films"]
    assert trace_studies(None) == []
    one, again, other = (draw_traces(tmp_path, "films", seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.fused.value, again.fused.value)
    assert one.fused.annotators != other.fused.annotators or not np.array_equal(one.fused.value, other.fused.value)
    assert one.fused.J == 2 * 3
    assert one.reference is None
    everybody = un.read_ratings(tmp_path / "films" / "ratings.csv")
    fused = one.fused.value.reshape(2, 3, 120)
    left = one.others.reshape(-1, 2, 120)
    for m in range(2):
        both = np.concatenate([fused[m].sum(axis=0) + np.nansum(left[:, m], axis=0)])
        np.testing.assert_allclose(both, everybody.value.reshape(2, 7, 120)[m].sum(axis=0))
    assert left_out_ratings(one).J == 2 * 4
    assert not set(left_out_ratings(one).annotators) & set(one.fused.annotators)


def test_the_noise_of_a_left_out_mean_is_that_of_a_sample():
    rng = np.random.default_rng(1)
    others = rng.standard_normal((4, 30, 1))
    others[3, 20:] = np.nan
    length = np.array([20, 10])
    found = left_out_noise(others, length)[:, 0]
    np.testing.assert_allclose(found[:20], others[:, :20, 0].var(axis=0, ddof=1).mean() / 4)
    np.testing.assert_allclose(found[20:], others[:3, 20:, 0].var(axis=0, ddof=1).mean() / 3)
    others[1:, 20:] = np.nan  # one annotator is left: how far one is off is known from the other recording
    np.testing.assert_allclose(left_out_noise(others, length)[20:, 0], found[0] * 4)


def test_a_vote_is_half_levels_and_half_courses():
    length, course = np.array([50, 50]), np.tile(np.sin(np.arange(50)), 2)
    level = np.repeat([0.0, 100.0], 50)
    assert vote((level - course)[:, None], (level + course)[:, None], length) == pytest.approx(0.0, abs=1e-3)
    assert vote((level + course)[:, None], (level + course)[:, None], length) == pytest.approx(1.0)


def test_the_choice_is_as_much_doubt_as_no_study_finds_too_much():
    held = np.tile(np.linspace(0.8, 1.0, len(UNITS)), (3, 1))
    held[:, 3] = 0.934  # .93 in the table
    assert choice(held) == 3
    held[2, 2:] = 0.936
    assert choice(held) == 1
    assert choice(np.full((2, len(UNITS)), 0.99)) == 0


@pytest.mark.slow
def test_bands_and_votes_of_a_study_with_a_known_signal(tmp_path):
    write_study(tmp_path / "films", reference=True)
    draw = draw_traces(tmp_path, "films", 0)
    found = bands(draw, 0)
    truth = np.array(found["truth"])
    assert truth.shape == (len(UNITS),)
    assert np.all(np.diff(truth) >= 0)
    assert truth[0] < truth[-1]
    used = truth[UNITS.index(COMMON_UNIT)]
    fused, known = un.fuse(draw.fused), draw.reference
    low, high = fused.fused.interval()
    np.testing.assert_allclose(used, ((low < known) & (known < high)).mean(), atol=0.01)
    assert set(found["by_recording"]) == {"r0", "r1"}
    assert 0.5 < found["stretches"] <= 1
    assert 0.5 < found["strangers"] <= 1
    score = votes(draw, ("mean", "auto"))
    assert min(score.values()) > 0.5


def test_a_made_crowd_is_what_it_says():
    ratings, truth, delay = made_crowd(CROWDS[0], 3)
    _, K, T = 6, 6, 400
    traces = ratings.value.reshape(6, K, T)
    r = [np.mean([np.corrcoef(traces[m, k], truth.reshape(6, T)[m])[0, 1] for m in range(6)]) for k in range(K)]
    assert r[3] < -0.3
    assert abs(r[1]) < 0.4
    assert min(r[k] for k in (0, 2, 4, 5)) > 0.3
    assert 0 <= delay <= 1.5
    alike, truth, delay = made_crowd(CROWDS[1], 3)
    assert delay == 0
    assert np.corrcoef(alike.value.reshape(6, K, T).mean(axis=1).ravel(), truth.ravel())[0, 1] > 0.9


def test_who_knows_the_hands_sees_them_turned_and_without_the_noise():
    for setting in CROWDS:
        ratings, _, _ = made_crowd(setting, 0)
        known, private = with_known_hands(ratings, setting), setting == CROWDS[0]
        assert (ratings.annotators[UNRELATED] in known.annotators) != private
        first = known.value[known.offset[:-1], 0]
        expected = ratings.value[ratings.offset[:-1], 0] * np.where((ratings.annotator_of == TURNED) & private, -1, 1)
        np.testing.assert_array_equal(first, expected[(ratings.annotator_of != UNRELATED) | (not private)])
