"""The average annotator matrix that a model ends up with under the paper's protocol, in the units of the ratings."""

from __future__ import annotations

import warnings

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.errors import ConvergenceWarning
from unisono.evaluate.protocol.selection import Choice, Labelled, last_state, select
from unisono.evaluate.splits import item_folds
from unisono.reproduce.engine.experiment import Numbers
from unisono.reproduce.engine.protocol import GOLD, protocol_fuser


def average_matrices(
    ratings: Ratings, truth: ItemTable, *, model: str, features: ItemTable | None, folds: int, seed: int
) -> Numbers:
    """The mean F_k over annotators with training ratings, one per fold; dimensions named on validation items."""
    found = []
    for part in item_folds(truth.items, folds, np.random.default_rng(seed)):
        labels = truth.select_items(part.validation)
        validation = Labelled(ratings.select_items(list(part.validation)), labels, features)
        train = ratings.select_items(list(part.train))
        fuser = protocol_fuser(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if model == GOLD:
                fuser.fit(ratings.select_items([*part.train, *part.validation]), features, labels)
                choice = last_state([fuser], validation)[0]
            else:
                choice = select([fuser], train, features, validation)[0]
        seen = np.unique(train.annotator_of)
        found.append(matrices_of(choice)[seen].mean(axis=0).tolist())
    return {"F": found}


def matrices_of(choice: Choice) -> np.ndarray:
    """(K, D, D) annotator matrices from the truth with its dimensions put right to ratings, in the user's units."""
    fuser, switch = choice.fuser, choice.pick.switch
    scale = fuser.scaling_.scale
    # Dimension d of the truth is sign[d] times dimension order[d] of the model.
    return np.asarray(fuser.parameters().F[:, :, switch.order] * switch.sign * scale[:, None] / scale[None, :])
