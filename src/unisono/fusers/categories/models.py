"""Models of categories by name: crowd-kit behind one function, codes in and class probabilities out.

crowd-kit pairs numbers with labels partly by their order of appearance and partly by their sorted order (its MACE
mixes up annotators otherwise), so it is only ever given codes for which the two orders are one. All restarts of its
MACE begin at the same place, so one is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unisono.data.labels import nearest
from unisono.errors import DataError, SettingsError
from unisono.maths.categories.votes import Votes, vote_shares

AUTO, MAJORITY = "auto", "majority"
LEAST_ANNOTATORS = 3  # two who differ cannot be told apart
LEAST_ANSWERS = 5.0  # answers of a typical annotator below which nothing is learned about them
MOST_FOR_GLAD = 20_000  # answers; crowd-kit's GLAD takes minutes beyond
MOST_FACTORS = 300  # answers to one item above which products of MACE's probabilities may underflow
MISSING = (
    "Fusing categories needs crowd-kit, which is not installed. "
    'Install it with: pip install "unisono[categories]". Or leave categories out with --categories none '
    '(categories="none" in Python).'
)


class CategoryModel(NamedTuple):
    """What a model is, and crowd-kit's class for it with its settings, given the seed."""

    about: str
    make: Callable[[int], Any] | None  # None: votes are counted here


def _crowd_kit(name: str, **settings: Any) -> Any:
    import crowdkit.aggregation.classification as crowd_kit  # loads for seconds, so only where it is used

    return getattr(crowd_kit, name)(**settings)


CATEGORY_MODELS: dict[str, CategoryModel] = {
    "glad": CategoryModel("ability of annotators, difficulty of items", lambda seed: _crowd_kit("GLAD")),
    "mace": CategoryModel(
        "annotators who know, and spammers who guess",
        lambda seed: _crowd_kit("MACE", n_restarts=1, random_state=seed),
    ),
    "dawid-skene": CategoryModel("a confusion matrix for every annotator", lambda seed: _crowd_kit("DawidSkene")),
    MAJORITY: CategoryModel("shares of the votes", None),
}


class Chosen(NamedTuple):
    """The model that is used, and why if it is not the one that was asked for."""

    name: str
    why: str | None = None


def find_category_model(name: str) -> str:
    """The name, if there is such a model; SettingsError with the nearest one if not."""
    if name != AUTO and name not in CATEGORY_MODELS:
        close = nearest(name, [AUTO, *CATEGORY_MODELS])
        hint = f" Did you mean '{close}'?" if close else ""
        known = ", ".join([AUTO, *CATEGORY_MODELS])
        raise SettingsError(f"There is no model of categories '{name}'.{hint} Models: {known}.")
    return name


def choose(name: str, votes: Votes) -> Chosen:
    """`auto` is GLAD where annotators can be told apart, else the majority; MACE where GLAD would take too long."""
    if name != AUTO:
        return Chosen(name)
    given = np.bincount(votes.annotator, minlength=votes.K)
    given = given[given > 0]
    if len(given) < LEAST_ANNOTATORS:
        return Chosen(MAJORITY, "two annotators cannot be told apart where they differ")
    if np.median(given) < LEAST_ANSWERS:
        return Chosen(MAJORITY, f"most annotators gave fewer than {LEAST_ANSWERS:g} answers")
    if votes.n > MOST_FOR_GLAD and np.bincount(votes.item).max() <= MOST_FACTORS:
        return Chosen("mace", f"GLAD takes long on more than {MOST_FOR_GLAD:,} answers")
    return Chosen("glad")


def installed() -> bool:
    """Whether crowd-kit can be imported."""
    from importlib.util import find_spec

    return find_spec("crowdkit") is not None


def class_probabilities(name: str, votes: Votes, seed: int) -> np.ndarray:
    """(M, C) probabilities of the classes by the model of this name; items without answers get those of all."""
    make = CATEGORY_MODELS[name].make
    if make is None:
        return vote_shares(votes)
    if not installed():
        raise DataError(MISSING)
    if name == "mace" and votes.n and np.bincount(votes.item).max() > MOST_FACTORS:
        raise DataError(
            f"MACE multiplies the probabilities of all answers to an item, and one item has more than {MOST_FACTORS}: "
            "the product is too small to compute with. Choose another --category-model."
        )
    p = vote_shares(votes)
    items, item = _by_appearance(votes.item)
    _, annotator = _by_appearance(votes.annotator)
    classes, answer = _by_appearance(votes.answer)
    found = _fitted(make(seed), item, annotator, answer)
    p[items] = 0.0
    p[np.ix_(items, classes)] = found
    return p


def _fitted(model: Any, item: np.ndarray, annotator: np.ndarray, answer: np.ndarray) -> np.ndarray:
    import pandas as pd

    data = pd.DataFrame({"task": item, "worker": annotator, "label": answer})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pandas, which is crowd-kit's business
        found = model.fit_predict_proba(data)
    table = found.reindex(index=range(item.max() + 1), columns=range(answer.max() + 1)).to_numpy(dtype=np.float64)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _by_appearance(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes that occur, in order of appearance, and each entry's place among them."""
    used, first, place = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(used), dtype=np.int64)
    rank[order] = np.arange(len(used))
    return used[order], rank[place]
