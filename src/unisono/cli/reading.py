"""Reading ratings as commands do that say by themselves how the table was read."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from unisono.errors import InterpretedWarning, LeftOutWarning

if TYPE_CHECKING:
    from unisono.data import Ratings
    from unisono.io.categories import Answers


def read_quietly(source: str, reading: dict[str, Any]) -> Ratings:
    """The ratings; how the table was read is for the command to say instead of a warning."""
    from unisono.io.tables import read_ratings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        warnings.simplefilter("ignore", InterpretedWarning)
        return read_ratings(source, **reading)


def read_answers_quietly(source: str, reading: dict[str, Any], categories: dict[str, str] | None) -> Answers:
    """Ratings and categories; which columns were left out is for the command to say."""
    from unisono.io.categories import read_answers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        warnings.simplefilter("ignore", InterpretedWarning)
        return read_answers(source, categories=categories, **reading)
