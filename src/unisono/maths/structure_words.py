"""Words of structure: settings of the models that are one of a few words.

Types, command-line choices, error messages and the check of the docs are all made from here. Imports nothing that takes
time, because `unisono fuse --help` needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from unisono.errors import SettingsError

Transform = Literal["identity", "gain", "full", "curved"]
Noise = Literal["isotropic", "diagonal", "full", "scaled", "shared"]
Latent = Literal["isotropic", "diagonal", "full"]
Anchor = Literal["average", "uncorrelated", "none"]
Inference = Literal["bayes", "ml"]
EstimateScale = Literal["matched", "posterior"]
IntervalKind = Literal["absolute", "relative"]  # of a truth, or of it beside the other items'
Counting = Literal["merge", "keep"]  # of annotators who look like one opinion

BENT: Transform = "curved"  # a model of its own
Engine = Literal["serial", "processes", "dask", "ray"]  # who works on shards

ENGINE_WORDS: tuple[str, ...] = get_args(Engine)
COPY_WORDS: tuple[str, ...] = get_args(Counting)
ITEM_WORDS: dict[str, tuple[str, ...]] = {
    "inference": get_args(Inference),
    "transform": get_args(Transform),
    "noise": get_args(Noise),
    "latent": get_args(Latent),
    "anchor": get_args(Anchor),
    "estimate": get_args(EstimateScale),
    "interval": get_args(IntervalKind),
}


def require_word(name: str, value: object, words: Sequence[str]) -> None:
    """Raises a SettingsError that lists the words there are, unless the value is one of them."""
    if value not in words:
        raise SettingsError(f"{name}={value!r}: choose one of {', '.join(words)}.")
