"""The raters that a mean needs, against trying one number after another."""

from __future__ import annotations

import numpy as np
import pytest

from unisono.maths.agreement.intraclass_reliability import raters_for


def tried(single: float, correlation: float) -> int:
    """Slow and obvious: the reliability of the mean of 1, 2, ... raters."""
    k = 1
    while np.sqrt(k * single / (1 + (k - 1) * single)) < correlation - 1e-12:
        k += 1
    return k


@pytest.mark.parametrize("single", [0.01, 0.1, 0.25, 0.5, 0.81, 0.99, 1.0])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.7, 0.9, 0.99])
def test_it_is_the_first_that_reaches_the_correlation(single: float, correlation: float) -> None:
    assert raters_for(single, correlation) == tried(single, correlation)


@pytest.mark.parametrize("single", [0.0, -0.2, float("nan")])
def test_no_number_is_enough_where_one_tells_nothing(single: float) -> None:
    assert raters_for(single, 0.9) is None
