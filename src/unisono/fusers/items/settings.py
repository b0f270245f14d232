"""Defaults of the joint model's settings, and which of them make no sense together."""

from __future__ import annotations

from unisono.errors import SettingsError
from unisono.maths.items.structure import Structure
from unisono.words import ITEM_WORDS, EstimateScale, Noise, Transform, require_word

TOLERANCE = 5e-3  # numerical: change of any truth that stops EM; costs .0002 against .001 and halves the iterations
MAX_ITERATIONS = 500  # numerical: far above what the default needs
VARIANCE_FLOOR = 1e-6  # numerical: of every variance; an annotator who fits perfectly would have an infinite likelihood

DEFAULT_NOISE: dict[str, Noise] = {"bayes": "shared", "ml": "scaled"}
DEFAULT_TOL = {"bayes": TOLERANCE, "ml": 1e-5}  # the paper's for ml
DEFAULT_MAX_ITER = {"bayes": MAX_ITERATIONS, "ml": 2000}


def default_noise(inference: str) -> Noise:
    """The form of the noise that belongs to a way of estimating."""
    return DEFAULT_NOISE.get(inference, "shared")


def default_transform(inference: str, anchor: str) -> Transform:
    """What annotators may do to the truth: leakage needs known truths, the paper's assumption, or no anchor at all."""
    return "gain" if (inference, anchor) == ("bayes", "average") else "full"


def check_settings(
    structure: Structure, inference: str, anchor: str, estimate: EstimateScale | None, panel: float
) -> None:
    """Raises a SettingsError that says what there is, or what a choice needs."""
    require_word("inference", inference, ITEM_WORDS["inference"])
    require_word("anchor", anchor, ITEM_WORDS["anchor"])
    if estimate is not None:
        require_word("estimate", estimate, ITEM_WORDS["estimate"])
    if structure.noise == "shared" and inference == "ml":
        raise SettingsError("noise='shared' needs inference='bayes'; maximum likelihood has 'scaled' and 'full'.")
    if estimate == "matched" and inference == "ml":
        raise SettingsError("estimate='matched' needs inference='bayes'; maximum likelihood gives the posterior mean.")
    if not panel > 0:
        raise SettingsError(f"panel={panel!r}: give a number of annotators above 0.")
    if anchor == "uncorrelated" and (structure.transform, structure.latent) != ("full", "full"):
        raise SettingsError("anchor='uncorrelated' turns the dimensions, so it needs transform='full', latent='full'.")
