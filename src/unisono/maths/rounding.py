"""Numbers to so many significant digits, as files hold them."""

from __future__ import annotations

import numpy as np

DIGITS = 6  # more than anybody's answers tell, and than processors and codecs agree on


def significant(values: np.ndarray, digits: int = DIGITS) -> np.ndarray:
    """Every number rounded in decimal, so that it is written with no more digits; what is not finite stays."""
    flat = [float(f"{number:.{digits}g}") for number in values.reshape(-1).tolist()]
    return np.array(flat, dtype=float).reshape(values.shape)
