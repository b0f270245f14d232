"""What annotators of traces are expected to say: those who were met, and strangers."""

import numpy as np
import pytest

import unisono as un
from trace_world import by, trace_world
from unisono.evaluate.held_out_ratings import score_hidden
from unisono.fusers import make_fuser
from unisono.fusers.held_out_stretches import stretch_folds, without_rows
from unisono.fusers.learned_arrays import packed, unpacked
from unisono.fusers.trace_model import SeriesModel, kept_model
from unisono.maths.series.left_out_traces import Errors, RatingErrors

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ratings():
    return trace_world(K=6, lengths=(90, 70, 90), gaps=False).ratings


def strangers(ratings):
    return by(ratings, [f"somebody {k}" for k in range(ratings.K)])


def test_strangers_may_be_off_by_what_annotators_differ_by(ratings):
    rows = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    biased = ratings.with_value(ratings.value + np.array([-2.0, 2.0, 1.0, -1.0, 0.0, 0.0])[rows][:, None])
    for given in (ratings, biased):
        fuser = un.fuse(given).fuser
        known, new = fuser.predict_ratings(given), fuser.predict_ratings(strangers(given))
        assert (new.variance > known.variance).mean() > 0.9
    far = np.array([[-2.0, 2.0, 1.0, -1.0, 0.0, 0.0]]).var(ddof=1) * 7 / 6
    plain = un.fuse(ratings).fuser.predict_ratings(strangers(ratings))
    np.testing.assert_allclose((new.variance - plain.variance).mean(), far, rtol=0.35)


def test_what_all_annotators_do_alike_is_no_error_of_what_they_will_say(ratings):
    usual, less, more = (un.fuse(ratings, shared=share) for share in (None, 0.0, 0.5))
    assert more.fused.sd.mean() > usual.fused.sd.mean() > less.fused.sd.mean()
    for shown in (ratings, strangers(ratings)):
        expected = usual.fuser.predict_ratings(shown)
        for other in (less, more):
            np.testing.assert_allclose(other.fuser.predict_ratings(shown).variance, expected.variance, rtol=1e-10)


def with_errors(fuser, errors):
    fuser.parts_ = tuple(part._replace(model=part.model._replace(rating_errors=errors)) for part in fuser.parts_)
    return fuser


def test_errors_are_those_that_left_out_annotators_show(ratings):
    """Traces of which anything was rated have one spread and freedom, strangers another; each dimension by itself."""
    rows = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    value = ratings.value.copy()
    value[rows == 0, 1] = np.nan  # the first annotator says nothing on the second dimension
    fuser = un.fuse(ratings.with_value(value)).fuser
    plain = with_errors(fuser, None).predict_ratings(ratings)
    assert np.isinf(plain.freedom).all()
    found = with_errors(fuser, RatingErrors(Errors(0.5, 3.0), Errors(2.0, 7.0))).predict_ratings(ratings)
    np.testing.assert_array_equal(found.mean, plain.mean)
    unseen = np.zeros(value.shape, dtype=bool)
    unseen[rows == 0, 1] = True
    np.testing.assert_array_equal(found.freedom, np.where(unseen, 7.0, 3.0))
    np.testing.assert_allclose(found.variance / plain.variance, np.where(unseen, 4.0, 0.25), rtol=1e-8)
    assert (fuser.predict_ratings(strangers(ratings)).freedom == 7.0).all()


def test_what_is_known_of_errors_is_saved_and_may_be_missing(ratings):
    (part,) = un.fuse(ratings).fuser.parts_
    arrays = packed(kept_model(part.model), "model")
    assert unpacked(SeriesModel, arrays, "model").rating_errors == part.model.rating_errors
    assert part.model.rating_errors.unseen.scale != 1.0
    without = {name: array for name, array in arrays.items() if not name.startswith("model.rating_errors")}
    assert unpacked(SeriesModel, without, "model").rating_errors is None


def test_the_level_of_a_trace_is_known_by_most_of_it(ratings):
    """A recording that one annotator puts far too high: it is known of what they rated, and of what they left out."""
    value, rows = ratings.value.copy(), slice(int(ratings.offset[2]), int(ratings.offset[3]))
    value[rows] += 5.0
    hidden = np.zeros(len(value), dtype=bool)
    hidden[rows.start : rows.start + 20] = True
    fuser = un.fuse(without_rows(ratings.with_value(value), hidden)).fuser
    off = fuser.predict_ratings(ratings).mean - value
    assert np.abs(off[rows][20:].mean(axis=0)).max() < 1.0


def test_intervals_of_hidden_ratings_hold_whatever_the_tails():
    """Errors that are small as a rule and large at times: nine of ten are inside, and not more."""
    held, normal = [], []
    for seed in range(3):
        ratings, rng = trace_world(seed, K=6, lengths=(900, 900), gaps=False).ratings, np.random.default_rng(seed)
        ratings = ratings.with_value(ratings.value + 0.3 * rng.standard_t(2.0, ratings.value.shape))
        hidden = stretch_folds(ratings, 3.0, 5, rng) == 0
        fuser = make_fuser("auto", series=True)
        held.append(score_hidden(fuser, ratings, None, hidden).coverage)
        answers = without_rows(ratings, ~hidden)
        plain = with_errors(fuser, None).predict_ratings(answers)
        error = ((answers.value - plain.mean) / np.sqrt(plain.variance))[hidden]
        normal.append(np.mean(np.abs(error) < 1.645))
    assert 0.88 < np.mean(held) < 0.92
    assert np.mean(normal) > 0.91
