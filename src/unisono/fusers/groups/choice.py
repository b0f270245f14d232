"""Which model `auto` is: that of groups where annotators are of several kinds, or all judges."""

from __future__ import annotations

import warnings
from typing import Any

from unisono.data import Ratings
from unisono.data.kinds import is_machine, kinds_of, looks_like_model
from unisono.data.labels import listed
from unisono.errors import DataWarning

GROUP_SETTINGS = ("reference_kind", "shared")


def model_for(model: str, ratings: Ratings, settings: dict[str, Any], *, explained: bool = False) -> str:
    """The name of the model to fit: `groups` instead of `auto` where kinds, covariates or settings ask for it."""
    if model != "auto" or ratings.is_series:
        return model
    kinds = kinds_of(ratings)
    if (
        explained
        or any(name in settings for name in GROUP_SETTINGS)
        or len(kinds) > 1
        or any(is_machine(kind) for kind in kinds)
    ):
        return "groups"
    if not kinds:
        _warn_of_models(ratings)
    return model


def _warn_of_models(ratings: Ratings) -> None:
    """Says how to tell judges from people, where names look as if there were both."""
    models = [name for name in ratings.annotators if looks_like_model(name)]
    if models and len(models) < ratings.K:
        warnings.warn(
            f"{ratings.source}: {listed(models)} look like language models beside people. Judges err together, so "
            "that fused alike with people they count too much. Say who is a judge: a column 'kind', "
            f"--kind judge='{models[0]},...' or --humans PATTERN (kinds=, humans= in Python).",
            DataWarning,
            stacklevel=4,
        )
