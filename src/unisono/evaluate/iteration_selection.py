"""Choosing an EM iteration (and a start, or a window) by validation labels, as the paper does.

After every EM iteration the parameters fuse the validation items (an E-step with fixed parameters) and are scored by
their CCC with the known truth; the best are kept. Where a model's dimensions may have switched, the permutation and the
signs that suit the validation labels best are resolved each time, and used on the test items later. Models that treat
dimensions one by one choose an iteration for each dimension.

What is in this file sees validation labels only: a fold's test labels are never handed to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unisono.fusers import Fused, Fuser
from unisono.maths.metrics import Switch, best_switch, ccc
from unisono.tables import ItemTable, Ratings


class Labelled(NamedTuple):
    """Items whose truth may be looked at, with their ratings and features."""

    ratings: Ratings
    labels: ItemTable  # the same items in the same order; columns are dimensions of the ratings
    features: ItemTable | None


class Pick(NamedTuple):
    """Which state was the best for some dimensions; plain values."""

    dimensions: np.ndarray  # which columns of the labels it is for
    candidate: int  # which of the fusers that were tried
    iteration: int
    score: float  # mean CCC of these dimensions on the validation items
    switch: Switch


class Choice(NamedTuple):
    """A pick, and the fuser as it was there."""

    pick: Pick
    fuser: Fuser


class Selection:
    """Keeps the best of all states it is shown; an `on_state` callback for each candidate."""

    def __init__(self, validation: Labelled, *, separate: bool) -> None:
        self.validation = validation
        D = validation.labels.P
        self.parts = [np.array([d]) for d in range(D)] if separate else [np.arange(D)]
        self.best: list[Choice | None] = [None] * len(self.parts)

    def consider(self, candidate: int, iteration: int, fuser: Fuser) -> None:
        """Scores a state on the validation items, and keeps it where it is better than all before."""
        fused = fuser.fuse(self.validation.ratings, self.validation.features)
        labels = self.validation.labels
        switch = resolve(fuser, fused, labels)
        values = switched(fuser, fused, switch, labels.columns)
        scores = np.array([ccc(values[:, d], labels.value[:, d]) for d in range(labels.P)])
        for i, part in enumerate(self.parts):
            score = float(np.mean(np.nan_to_num(scores[part], nan=-1.0)))
            best = self.best[i]
            if best is None or score > best.pick.score:
                self.best[i] = Choice(Pick(part, candidate, iteration, score, switch), fuser)

    def choices(self) -> list[Choice]:
        return [choice for choice in self.best if choice is not None]


def select(
    candidates: Sequence[Fuser], train: Ratings, features: ItemTable | None, validation: Labelled
) -> list[Choice]:
    """Fits every candidate to the training ratings and keeps the best iteration of the best of them."""
    selection = Selection(validation, separate=candidates[0].one_by_one)
    for c, fuser in enumerate(candidates):
        fuser.fit(train, features, on_state=lambda i, state, c=c: selection.consider(c, i, state))  # type: ignore[misc]
    return selection.choices()


def last_state(fusers: Sequence[Fuser], validation: Labelled) -> list[Choice]:
    """The fuser as it is, for models that stop by themselves; the best of them where there are several.

    Labels of a single one are looked at to name its dimensions only.
    """
    selection = Selection(validation, separate=len(fusers) > 1 and fusers[0].one_by_one)
    for c, fuser in enumerate(fusers):
        selection.consider(c, max(fuser.trace_.iterations - 1, 0), fuser)
    return selection.choices()


def estimate(
    choices: Sequence[Choice], ratings: Ratings, features: ItemTable | None, names: tuple[str, ...]
) -> np.ndarray:
    """(S, D) the truth of other items by the chosen states, each for its own dimensions."""
    values = [
        switched(choice.fuser, choice.fuser.fuse(ratings, features), choice.pick.switch, names) for choice in choices
    ]
    found = np.empty_like(values[0])
    for choice, value in zip(choices, values, strict=True):
        found[:, choice.pick.dimensions] = value[:, choice.pick.dimensions]
    return found


def resolve(fuser: Fuser, fused: Fused, labels: ItemTable) -> Switch:
    """Which estimated dimension is which, where the model leaves that open."""
    places = _places(fused, labels.columns)
    if not fuser.labels_can_switch:
        return Switch(places, np.ones(len(places)))
    scaling = fuser.scaling_
    known = (labels.value - scaling.loc[places]) / scaling.scale[places]
    return best_switch(scaling.standardise(_uncut(fused)), known)


def switched(fuser: Fuser, fused: Fused, switch: Switch, names: tuple[str, ...]) -> np.ndarray:
    """(S, len(names)) the truth with its dimensions put right, in the units of the dimensions they turned out to be."""
    places = _places(fused, names)
    scaling, scale = fuser.scaling_, fuser.scale_.select(places)
    right = scaling.loc[places] + scaling.scale[places] * switch.apply(scaling.standardise(_uncut(fused)))
    return np.asarray(np.clip(right, scale.low, scale.high))


def _uncut(fused: Fused) -> np.ndarray:
    """The truth as estimated: a dimension that turns out to be another one must not be cut at the wrong ends."""
    return fused.mean if fused.uncut is None else fused.uncut


def _places(fused: Fused, names: tuple[str, ...]) -> np.ndarray:
    return np.array([fused.dimensions.index(name) for name in names], dtype=np.int64)
