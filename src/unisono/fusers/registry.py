"""Models by name: what `--model` and `un.fuse(model=...)` accept."""

from __future__ import annotations

from typing import Any, NamedTuple

from unisono.data.labels import nearest
from unisono.fusers.base import Fuser
from unisono.fusers.baselines import EvaluatorWeighted, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.independent import Independent
from unisono.fusers.joint import Joint
from unisono.fusers.results import Fit

_PAPER: dict[str, Any] = {
    "transform": "full",
    "bias": False,
    "noise": "isotropic",
    "latent": "isotropic",
    "anchor": "none",
    "inference": "ml",
    "paper": True,
}


class Model(NamedTuple):
    """A fuser class, the settings that a name stands for, and whether the user may change them."""

    fuser: type[Fuser]
    settings: dict[str, Any]
    adjustable: bool
    about: str


MODELS: dict[str, Model] = {
    "auto": Model(Joint, {}, True, "the recommended model: joint, Bayesian"),
    "joint": Model(Joint, {}, True, "all dimensions together"),
    "independent": Model(Independent, {}, True, "the same model, each dimension by itself"),
    "paper-joint": Model(Joint, _PAPER, False, "the joint model exactly as published"),
    "paper-independent": Model(Independent, _PAPER, False, "the independent model exactly as published"),
    "mean": Model(Mean, {}, False, "plain mean"),
    "median": Model(Median, {}, False, "median"),
    "zscore-mean": Model(ZScoreMean, {}, False, "mean of each annotator's z-scores, on the original scale"),
    "ewe": Model(EvaluatorWeighted, {}, False, "evaluator-weighted estimator"),
    "weighted-mean": Model(WeightedMean, {}, False, "bias removed, inverse-variance weights"),
}


def make_fuser(name: str, **settings: Any) -> Fuser:
    """A fuser by its model's name; ValueError with the nearest name if there is none."""
    if name not in MODELS:
        close = nearest(name, MODELS)
        hint = f" Did you mean '{close}'?" if close else ""
        raise ValueError(f"There is no model '{name}'.{hint} Models: {', '.join(MODELS)}.")
    model = MODELS[name]
    if settings and not model.adjustable:
        raise ValueError(f"The model '{name}' has no settings to change: leave out {', '.join(sorted(settings))}.")
    return model.fuser(**(model.settings | settings))


def revive(fit: Fit) -> Fuser:
    """The fuser that a saved fit describes."""
    by_kind = {model.fuser.kind: model.fuser for model in MODELS.values()}
    return by_kind[fit.kind](**fit.settings).restore(fit)
