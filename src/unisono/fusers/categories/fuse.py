"""Categories fused: dimension by dimension the model is chosen, fitted, tempered by held-out answers, and described.

found = fuse_categories(categories, model="auto", seed=0)
found["topic"].probability      # (M, C)
"""

from __future__ import annotations

import numpy as np

from unisono.data.categories import Categories, Choices
from unisono.fusers.categories.models import MAJORITY, choose, class_probabilities, find_category_model
from unisono.fusers.categories.results import FusedCategories, FusedChoices
from unisono.maths.categories.tempering import CROWD_ANSWERS, best_temperature, hold_out, temper
from unisono.maths.categories.votes import (
    Votes,
    agreement_with_others,
    confusion,
    expected_accuracy,
    expected_confusion,
    vote_counts,
)


def fuse_categories(categories: Categories, *, model: str = "auto", seed: int = 0) -> FusedCategories:
    """Class probabilities of every item on every dimension of categories, and every annotator's accuracy.

    `model` is `auto` or a name of `CATEGORY_MODELS`; `seed` decides everything random. A DataError says how to install
    crowd-kit where a model needs it and it is not there.
    """
    find_category_model(model)
    found = tuple(_fused(categories, one, model, seed) for one in categories)
    return FusedCategories(categories.items, categories.annotators, found, categories.frame_kind)


def _fused(categories: Categories, one: Choices, model: str, seed: int) -> FusedChoices:
    sizes = len(categories.items), len(categories.annotators), len(one.classes)
    votes = Votes(one.item_of, one.annotator_of, one.answer, *sizes)
    chosen = choose(model, votes)
    p = class_probabilities(chosen.name, votes, seed)
    temperature = 1.0 if chosen.name == MAJORITY else _temperature(chosen.name, votes, seed)
    p = temper(p, temperature)
    count = expected_confusion(votes, p)
    return FusedChoices(
        name=one.name,
        classes=one.classes,
        probability=p,
        votes=vote_counts(votes),
        answers=np.bincount(one.annotator_of, minlength=votes.K),
        accuracy=expected_accuracy(votes, p),
        agreement=agreement_with_others(votes),
        confusion=confusion(count, CROWD_ANSWERS),
        confused=count,
        model=chosen.name,
        why=chosen.why,
        temperature=temperature,
    )


def _temperature(name: str, votes: Votes, seed: int) -> float:
    """From one answer of every item that has three or more, which a second fit does not see."""
    held = hold_out(votes, np.random.default_rng(seed))
    if not held.any():
        return 1.0
    seen, unseen = votes.only(~held), votes.only(held)
    return best_temperature(class_probabilities(name, seen, seed), seen, unseen)
