"""Agreement on categories: alpha against krippendorff, AC1 against pairs of answers, weights against repeated units."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from reference import naive_categories
from unisono.maths.agreement.agreement_bootstrap import Blocks
from unisono.maths.agreement.chance_corrected import nominal_agreement


def table(seed: int, missing: float) -> np.ndarray:
    """(units, raters) classes, NaN where missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 30)
    found = np.where(rng.random((30, 5)) < 0.6, truth[:, None], rng.integers(0, 4, (30, 5))).astype(float)
    found[rng.random(found.shape) < missing] = np.nan
    return found


def votes_of(found: np.ndarray) -> np.ndarray:
    return np.stack([(found == c).sum(axis=1) for c in range(4)], axis=1).astype(float)


@pytest.mark.parametrize("missing", [0.0, 0.4, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_equals_krippendorff(seed, missing):
    found = table(seed, missing)
    expected = krippendorff.alpha(found.T, level_of_measurement="nominal")
    assert nominal_agreement(votes_of(found))[0, 0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_ac1_equals_pairs_of_answers(missing):
    votes = votes_of(table(1, missing))
    assert nominal_agreement(votes)[0, 1] == pytest.approx(naive_categories.gwet_ac1(votes), rel=1e-10)


def test_weights_count_units_again():
    votes = votes_of(table(2, 0.3))
    weight = np.random.default_rng(0).integers(0, 3, len(votes))
    blocks = Blocks(np.arange(len(votes)), len(votes))
    found = nominal_agreement(votes, blocks, weight[None, :].astype(float))
    np.testing.assert_allclose(found, nominal_agreement(np.repeat(votes, weight, axis=0)), rtol=1e-10)


def test_one_class_is_no_agreement_to_speak_of():
    assert np.isnan(nominal_agreement(np.array([[3.0, 0.0], [2.0, 0.0]]))).all()
