"""Known truths that cannot mean what ratings mean, in words: of items and of traces alike."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.errors import DataError
from unisono.maths.gold_slope import CERTAIN, Slope


def require_meaning(source: str, dimensions: Sequence[str], slopes: Sequence[Slope]) -> None:
    """A DataError with the figures and with what to do, unless known truths may mean what ratings mean."""
    found = zip(dimensions, slopes, strict=True) if slopes else ()
    if lines := [_what(name, slope) for name, slope in found if slope.refuted]:
        raise DataError(f"{source}: {' '.join(lines)} To obey them as they are, say --gold-anyway (gold_anyway=True).")


def interval_words(slope: float, low: float, high: float) -> str:
    """A slope with its interval."""
    return f"{slope:.2g} ({CERTAIN:.0%} interval {low:.2g} to {high:.2g})"


def _what(name: str, slope: Slope) -> str:
    figures = (
        f"their slope on the truth fused without them is {interval_words(slope.value, slope.low, slope.high)} over "
        f"{slope.known} known values, where values of the same meaning have about 1"
    )
    if slope.upside_down and not slope.other_unit:
        return (
            f"The known values of '{name}' run against the ratings: {figures}. Turn them round (lowest + highest - "
            "value) if they are upside down, and obey them if it is most annotators who are."
        )
    against = " and run against the ratings" if slope.upside_down else ""
    factor = f"{1 / slope.spread:.2g}"
    return (
        f"The known values of '{name}' look as if they were in another unit{against}: {figures}. Bring them to the "
        f"unit of the ratings, about {factor} times as large (--scale says where answers end)."
    )
