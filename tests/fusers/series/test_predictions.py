"""What annotators of traces are expected to say: those who were met, and strangers."""

import numpy as np
import pytest

import unisono as un
from trace_world import by, trace_world

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
