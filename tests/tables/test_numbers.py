"""Judgements name items and annotators by number: numbers that no label has are refused, not wrapped around."""

import numpy as np
import pytest

import unisono as un
from unisono.tables.ratings import Ratings


@pytest.mark.parametrize("wrong", [-1, 2, 2**31, 2**32 + 1])
@pytest.mark.parametrize("which", ["item_of", "annotator_of"])
def test_numbers_without_a_label_are_refused(which, wrong):
    numbers = {"item_of": np.array([0, 1]), "annotator_of": np.array([0, 1])}
    numbers[which] = np.array([0, wrong])
    with pytest.raises(un.DataError, match=f"numbered from 0, but a judgement has {wrong}"):
        Ratings.from_judgements(np.ones((2, 1)), **numbers, items=["a", "b"], annotators=["x", "y"], dimensions=["d"])
