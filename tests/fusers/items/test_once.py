"""The way of the data is short: in one fusion of items, with its summary and tables, nothing is computed twice."""

import gc
import sys
import weakref
from collections import Counter

import numpy as np
import pytest

import unisono as un
from item_cases import ratings_of
from unisono.fusers.crowd import crowd_copies, crowd_diagnosis, crowd_signal, one_voice_each
from unisono.tables.item_table import ItemTable

ONCE = (
    "shared_signal",
    "diagnose",
    "completed_posterior",
    "calibrate",
    "left_out",
    "variance_targets",
)


def crowd(seed=0, M=40, K=9):
    """Whole numbers from 1 to 5 that pile up at the ends, by honest annotators and one spammer."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 2))
    item_of, annotator_of = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    value = 3 + 1.2 * truth[item_of] + 0.5 * rng.normal(size=(M * K, 2))
    value[annotator_of == 0] = rng.uniform(1, 5, size=(M, 2))
    return np.clip(np.round(value), 1, 5), item_of, annotator_of, truth


def calls(action):
    """How often each function of unisono is entered, by its qualified name."""
    found: Counter[str] = Counter()

    def watch(frame, event, _):
        if event == "call" and "unisono" in frame.f_code.co_filename:
            found[frame.f_code.co_qualname] += 1

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("gold", [False, True])
def test_a_fusion_computes_nothing_twice(gold):
    value, item_of, annotator_of, truth = crowd()
    ratings = ratings_of(value, item_of, annotator_of)
    known = ItemTable.from_rows(3 + 1.2 * truth[:2], items=ratings.items[:2], columns=ratings.dimensions)

    def everything():
        result = un.fuse(ratings, gold=known if gold else None)
        result.summary()
        assert result.described.diagnosis.spammer[0] > 0.5
        assert len(result.truth)
        assert result.fit.arrays

    found = calls(everything)
    assert {name: found[name] for name in ONCE} == dict.fromkeys(ONCE, 1)


def copied(K=4):
    """A crowd of which the second annotator gives the answers of the first."""
    value, item_of, annotator_of, _ = crowd(K=K)
    value[annotator_of == 1] = value[annotator_of == 0]
    return ratings_of(value, item_of, annotator_of)


@pytest.mark.filterwarnings("ignore:.*look like duplicates")
@pytest.mark.parametrize(
    "make",
    [lambda: ratings_of(*crowd()[:3]), copied, lambda: copied(K=2), lambda: un.load_dataset("green_intensity")],
)
def test_what_is_kept_of_ratings_goes_with_them(make):
    ratings = make()
    if not ratings.is_series:
        assert crowd_diagnosis(ratings) is crowd_diagnosis(ratings)
        assert crowd_signal(ratings) is crowd_diagnosis(ratings).signal
    assert crowd_copies(ratings) is crowd_copies(ratings)
    assert one_voice_each(ratings) is one_voice_each(ratings)
    un.fuse(ratings).summary()
    gone = weakref.ref(ratings)
    del ratings
    gc.collect()
    assert gone() is None
