"""Models by name: what `--model` and `un.fuse(model=...)` accept, and which of them `auto` is.

`auto` is the joint model; where annotators are of several kinds, or all judges, it is the model of groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from unisono.errors import DataWarning, SettingsError, warn
from unisono.fusers import series as of_traces
from unisono.fusers.baseline_items import EvaluatorWeighted, Independent, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fuser import Fuser
from unisono.fusers.fusion_results import Fit
from unisono.fusers.grouped_annotators import Groups
from unisono.fusers.joint_items import Joint
from unisono.fusers.published_items import Curved, Regions, Types
from unisono.maths.structure_words import BENT
from unisono.tables import Ratings, did_you_mean, listed
from unisono.tables.annotator_kinds import is_machine, kinds_of, looks_like_model

_PAPER: dict[str, Any] = {
    "transform": "full",
    "bias": False,
    "noise": "isotropic",
    "latent": "isotropic",
    "anchor": "none",
    "inference": "ml",
    "paper": True,
}
_RAYKAR = _PAPER | {"transform": "identity", "noise": "diagonal", "paper": False}


class Model(NamedTuple):
    """A fuser class for items and one for traces, the settings of the former, and whether the user may change them."""

    fuser: type[Fuser] | None  # of items; None: for traces alone
    settings: dict[str, Any]
    adjustable: bool
    about: str
    series: type[Fuser] | None  # of traces; None: for items alone


MODELS: dict[str, Model] = {
    "auto": Model(Joint, {}, True, "the recommended model: joint, Bayesian", of_traces.Joint),
    "joint": Model(Joint, {}, True, "all dimensions together", of_traces.Joint),
    "independent": Model(Independent, {}, True, "the same model, each dimension by itself", of_traces.Independent),
    "paper-joint": Model(Joint, _PAPER, False, "the joint model exactly as published", of_traces.PaperJoint),
    "paper-independent": Model(
        Independent, _PAPER, False, "the independent model exactly as published", of_traces.PaperIndependent
    ),
    "mean": Model(Mean, {}, False, "plain mean", of_traces.Mean),
    "median": Model(Median, {}, False, "median", of_traces.Median),
    "zscore-mean": Model(
        ZScoreMean, {}, False, "mean of each annotator's z-scores, on the original scale", of_traces.ZScoreMean
    ),
    "ewe": Model(EvaluatorWeighted, {}, False, "evaluator-weighted estimator", of_traces.EvaluatorWeighted),
    "weighted-mean": Model(WeightedMean, {}, False, "bias removed, inverse-variance weights", of_traces.WeightedMean),
    # Of other authors, for items alone.
    "types": Model(Types, {}, True, "annotators are competent, biased, adversaries or spammers", None),
    "regions": Model(Regions, {}, True, "annotators' noise depends on the region an item lies in", None),
    "curved": Model(Curved, {}, True, "answers bend: squares, products and absolute values of the truth", None),
    "raykar": Model(Independent, _RAYKAR, False, "noise of annotators and a predictor learned jointly", None),
}
# The same names work on traces, with more.
SERIES_MODELS = {name: model for name, model in MODELS.items() if model.series is not None} | {
    "aligned-mean": Model(None, {}, True, "mean of traces moved onto each other", of_traces.AlignedMean),
    "lag-mi": Model(None, {}, True, "mean of traces moved to say most about features", of_traces.LagByInformation),
    "dtw-mean": Model(None, {}, False, "mean of traces warped onto it (DTW barycentre)", of_traces.Barycentre),
    "windowed-ewe": Model(None, {}, False, "evaluators weighted by windows of ten seconds", of_traces.WindowedEWE),
    "rank-mean": Model(None, {}, False, "mean of annotators' ranks", of_traces.RankMean),
    "fpca": Model(None, {}, False, "functional principal components on splines", of_traces.FunctionalPCA),
    "dpcca": Model(None, {}, True, "dynamic probabilistic CCA", of_traces.SharedDynamics),
    "dpctw": Model(None, {}, True, "dynamic probabilistic CCA with time warping", of_traces.WarpedDynamics),
}

# What `auto` becomes where annotators are of several kinds.
GROUPS = "groups"
KIND_MODELS = {GROUPS: Model(Groups, {}, True, "kinds of annotators who err together", None)}
COMPARISON_MODELS = {"pairwise": Model(Pairwise, {}, True, "comparisons: left, right or tie", None)}
ALL_MODELS = MODELS | SERIES_MODELS | KIND_MODELS | COMPARISON_MODELS


# What the published models of traces leave to the user: how much to compute, and where to begin.
_EFFORT = ("width", "restarts", "max_iter", "seed", "jobs")


def make_fuser(name: str, *, series: bool = False, **settings: Any) -> Fuser:
    """A fuser by its model's name.

    Parameters
    ----------
    name : str
        See `unisono.MODELS`.
    series : bool
        Whether it is for traces.
    **settings
        Keyword arguments of the fuser.

    Returns
    -------
    Fuser
        With `fit`, `fuse`, `predict`, `score` and `describe`, in the manner of scikit-learn.

    Raises
    ------
    SettingsError
        A model or a setting that there is not; the message says what there is.

    Examples
    --------
    >>> import unisono as un
    >>> un.make_fuser("joint", panel=3.0)
    Joint(panel=3.0)
    """
    if name in ("auto", "joint") and settings.get("transform") == BENT:
        name, settings = BENT, {key: value for key, value in settings.items() if key != "transform"}
    model = find_model(name)
    kind = model.series if series else model.fuser
    if kind is None:
        of, here = ("ratings of items", "traces over time") if series else ("traces over time", "ratings of items")
        raise SettingsError(f"The model '{name}' is for {of}, and these are {here}.")
    _require_settings(name, model, kind, series, settings)
    fuser = kind(**((model.settings if not series else {}) | settings))
    fuser.check_settings()
    return fuser


def find_model(name: str) -> Model:
    """The model of this name; SettingsError with the nearest name if there is none."""
    if name not in ALL_MODELS:
        hint = did_you_mean(name, ALL_MODELS)
        raise SettingsError(f"There is no model '{name}'.{hint} Models: {', '.join(ALL_MODELS)}.")
    return ALL_MODELS[name]


def _require_settings(name: str, model: Model, kind: type[Fuser], series: bool, settings: dict[str, Any]) -> None:
    known = kind.default_params()
    free = set(known) if model.adjustable else set(known) & set(_EFFORT if series else ())
    foreign = sorted(set(settings) - free)
    if foreign and not model.adjustable:
        raise SettingsError(f"The model '{name}' has no settings to change: leave out {', '.join(foreign)}.")
    if foreign:
        of = "traces" if series else "ratings of items"
        raise SettingsError(f"The model '{name}' of {of} has no setting {', '.join(foreign)}.")


def models_for(series: bool) -> list[str]:
    """The names that work on traces, or on ratings of items."""
    return list(SERIES_MODELS if series else MODELS)


def revive(fit: Fit) -> Fuser:
    """The fuser that a saved fit describes."""
    classes = [kind for model in ALL_MODELS.values() for kind in (model.fuser, model.series) if kind is not None]
    by_kind = {kind.kind: kind for kind in classes}
    return by_kind[fit.kind](**fit.settings).restore(fit)


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
        warn(
            f"{ratings.source}: {listed(models)} look like language models beside people. Judges err together, so "
            "that fused alike with people they count too much. Say who is a judge: a column 'kind', "
            f"--kind judge='{models[0]},...' or --humans PATTERN.",
            DataWarning,
            stacklevel=4,
        )
