"""Models of the benchmark of studies: their settings, and on which studies each of them has anything to say.

A model that would be another one by its definition is not measured twice: with one dimension there is nothing to be
independent of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from unisono.fusers import Fuser, make_fuser
from unisono.fusers.item_preparation import answer_kinds
from unisono.tables.ratings import Ratings

SEVERAL = 2  # dimensions from which there is anything between them


def always(ratings: Ratings) -> bool:
    """Every study."""
    return True


def several_dimensions(ratings: Ratings) -> bool:
    """Whether dimensions may have to do with each other."""
    return ratings.D >= SEVERAL


def some_few_kinds(ratings: Ratings) -> bool:
    """Whether the answers on some dimension are of a few kinds, so that those at its ends say "here or beyond"."""
    return any(own.weight > 0 for own in answer_kinds(ratings.value, ratings.annotator_of, ratings.K, ratings.scale))


class StudyModel(NamedTuple):
    """A line of the table."""

    where: Callable[[Ratings], bool]
    rule: str  # the same in words
    settings: dict[str, Any] | None = None  # of the default; None: a model by its name


MODELS = {
    "mean": StudyModel(always, "every study"),
    "auto": StudyModel(always, "every study"),
    "independent": StudyModel(several_dimensions, "two dimensions or more"),
    "auto+leakage": StudyModel(several_dimensions, "two dimensions or more", {"transform": "full"}),
    "auto+numbers": StudyModel(some_few_kinds, "answers of few kinds on some dimension", {"censored": False}),
}
# Of other authors.
PUBLISHED = ("types", "regions", "raykar", "curved")
MODELS |= dict.fromkeys(PUBLISHED, StudyModel(always, "every study"))

# Neighbours of every constant of the default that a fit takes as a setting: half and double, or about as far.
NEIGHBOURS: dict[str, tuple[float, ...]] = {
    "gain_variance": (0.01, 0.04),
    "noise_numbers": (4.0, 16.0),
    "noise_share": (0.25, 1.0),
    "latent_items": (10.0, 40.0),
    "bias_annotators": (2.5, 10.0),
    "gain_follows_noise": (False,),
}
CONSTANTS = {
    f"{name} {value:g}": StudyModel(always, "every study", {"priors": {name: value}})
    for name, values in NEIGHBOURS.items()
    for value in values
} | {f"panel {value:g}": StudyModel(always, "every study", {"panel": value}) for value in (5.0, 20.0)}
_KNOWN = MODELS | CONSTANTS


def applies(model: str, ratings: Ratings) -> bool:
    """Whether a study says anything about a model; other models than those above run everywhere."""
    return model not in _KNOWN or _KNOWN[model].where(ratings)


def fuser_of(model: str) -> Fuser:
    """A model by its name, or the default with some of its settings changed."""
    settings = _KNOWN[model].settings if model in _KNOWN else None
    return make_fuser(model) if settings is None else make_fuser("auto", **settings)
