"""How many raters the mean needs to follow the truth, from the reliability of a single one (Spearman and Brown).

    rho_k = k rho_1 / (1 + (k - 1) rho_1)        cor(mean of k, truth)^2 = rho_k

Imports NumPy alone.
"""

from __future__ import annotations

import math

import numpy as np


def raters_for(single: float, correlation: float) -> int | None:
    """The fewest raters whose mean correlates so far with the truth; None where a single one tells nothing of it."""
    if not np.isfinite(single) or single <= 0 or not 0 <= correlation < 1:
        return None
    wanted = correlation**2
    needed = wanted * (1 - single) / (single * (1 - wanted))
    # A whole number that is missed by rounding alone is reached.
    return max(1, math.ceil(needed - 1e-9))
