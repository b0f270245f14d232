"""The words that the joint model of items takes, and which of them make no sense together."""

from __future__ import annotations

from typing import Literal, get_args

from unisono.fusers.items.calibration import ESTIMATES, EstimateScale
from unisono.maths.items.priors import MAX_ITERATIONS, TOLERANCE
from unisono.maths.items.structure import Anchor, Noise, Structure

Inference = Literal["bayes", "ml"]

DEFAULT_NOISE: dict[str, Noise] = {"bayes": "shared", "ml": "scaled"}
DEFAULT_TOL = {"bayes": TOLERANCE, "ml": 1e-5}  # the paper's for ml
DEFAULT_MAX_ITER = {"bayes": MAX_ITERATIONS, "ml": 2000}


def default_noise(inference: str) -> Noise:
    """The form of the noise that belongs to a way of estimating."""
    return DEFAULT_NOISE.get(inference, "shared")


def check_words(
    structure: Structure, inference: str, anchor: str, estimate: EstimateScale | None, panel: float
) -> None:
    """Raises a ValueError that says what there is, or what a choice needs."""
    for name, value, words in (
        ("inference", inference, get_args(Inference)),
        ("anchor", anchor, get_args(Anchor)),
        ("estimate", estimate, (None, *ESTIMATES)),
    ):
        if value not in words:
            raise ValueError(f"{name}={value!r}: choose one of {', '.join(word for word in words if word)}.")
    if structure.noise == "shared" and inference == "ml":
        raise ValueError("noise='shared' needs inference='bayes'; maximum likelihood has 'scaled' and 'full'.")
    if estimate == "matched" and inference == "ml":
        raise ValueError("estimate='matched' needs inference='bayes'; maximum likelihood gives the posterior mean.")
    if not panel > 0:
        raise ValueError(f"panel={panel!r}: give a number of annotators above 0.")
    if anchor == "uncorrelated" and (structure.transform, structure.latent) != ("full", "full"):
        raise ValueError("anchor='uncorrelated' turns the dimensions, so it needs transform='full', latent='full'.")
