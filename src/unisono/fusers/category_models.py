"""Categories fused: class probabilities of items, and how annotators confuse classes.

The inference is crowd-kit's, or that of `class_confusions`. Dimension by dimension the model is chosen, fitted,
tempered by held-out answers, and described.

    found = fuse_categories(categories, model="auto", seed=0)
    found["topic"].probability      # (M, C)

crowd-kit pairs numbers with labels partly by their order of appearance and partly by their sorted order (its MACE
mixes up annotators otherwise), so it is only ever given codes for which the two orders are one. All restarts of its
MACE begin at the same place, so one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers.standardisation import learn_space
from unisono.maths.category_votes import (
    CROWD_ANSWERS,
    Votes,
    agreement_with_others,
    best_temperature,
    confusion,
    expected_accuracy,
    expected_confusion,
    hold_out,
    temper,
    vote_counts,
    vote_shares,
)
from unisono.maths.em_loop import EmTrace, relative_change, run_em
from unisono.maths.published import class_confusions
from unisono.tables import item_table, labels
from unisono.tables.categories import Categories, Choices

AUTO, MAJORITY = "auto", "majority"
LEAST_ANNOTATORS = 3  # convention: two who differ cannot be told apart
LEAST_ANSWERS = 5.0  # convention: answers of a typical annotator below which nothing is learned about them
MOST_FOR_GLAD = 20_000  # numerical: answers; crowd-kit's GLAD takes minutes beyond
SETTLED, MOST_STEPS = 1e-9, 500  # numerical: relative change at which a climb ends, and its most steps
MOST_FACTORS = 300  # numerical: answers to one item above which products of MACE's probabilities may underflow
MISSING = (
    "Fusing categories needs crowd-kit, which is not installed. "
    'Install it with: pip install "unisono[categories]". Or leave categories out with --categories none '
    '(categories="none" in Python).'
)


class Own(NamedTuple):
    """A model of `class_confusions`: regions of items, imagined answers, and whether it knows of features."""

    regions: int
    imagined: float
    features: bool


class CategoryModel(NamedTuple):
    """What a model is, and crowd-kit's class for it with its settings, given the seed."""

    about: str
    make: Callable[[int], Any] | None  # None: the inference is here
    own: Own | None = None  # None: votes are counted


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
    "smyth": CategoryModel("confusions by maximum likelihood, without crowd-kit", None, Own(1, 0.0, False)),
    "raykar": CategoryModel("confusions, and a predictor of the class from features", None, Own(1, 1.0, True)),
    "regions": CategoryModel("confusions that depend on the region an item lies in", None, Own(2, 1.0, True)),
    MAJORITY: CategoryModel("shares of the votes", None),
}


class Chosen(NamedTuple):
    """The model that is used, and why if it is not the one that was asked for."""

    name: str
    why: str | None = None


def find_category_model(name: str) -> str:
    """The name, if there is such a model; SettingsError with the nearest one if not."""
    if name != AUTO and name not in CATEGORY_MODELS:
        hint = labels.did_you_mean(name, [AUTO, *CATEGORY_MODELS])
        known = ", ".join([AUTO, *CATEGORY_MODELS])
        raise SettingsError(f"There is no model of categories '{name}'.{hint} Models: {known}.")
    return name


def choose(name: str, votes: Votes) -> Chosen:
    """`auto` is GLAD where annotators can be told apart, else the majority; MACE where GLAD would take too long."""
    if name != AUTO:
        return Chosen(name)
    if votes.counts is not None:
        return Chosen(MAJORITY, "where several classes were named at once, votes are weighted")
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


def class_probabilities(name: str, votes: Votes, seed: int, Z: np.ndarray | None = None) -> np.ndarray:
    """(M, C) probabilities of the classes by the model of this name; items without answers get those of all.

    `Z` (M, P) are scores of the items' features, of variance one.
    """
    _, make, own = CATEGORY_MODELS[name]
    if own is not None:
        return _by_confusions(own, votes, np.zeros((votes.M, 0)) if Z is None or not own.features else Z)
    if make is None:
        return vote_shares(votes)
    if votes.counts is not None:
        raise DataError(
            f"Several classes were named at once, and '{name}' takes one class per answer. Choose "
            f"another --category-model: {MAJORITY}, smyth, raykar or regions."
        )
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


def _by_confusions(own: Own, votes: Votes, Z: np.ndarray) -> np.ndarray:
    def climb(start: class_confusions.Confusions) -> tuple[class_confusions.Confusions, EmTrace]:
        how: dict[str, Any] = {"stop_when": relative_change(SETTLED), "max_iter": MOST_STEPS}
        return run_em(lambda at: class_confusions.step(votes, Z, at, own.imagined), start, **how)

    ends = [climb(start) for start in class_confusions.starts(votes, Z, own.regions, own.imagined)]
    best, _ = max(ends, key=lambda end: end[1].objective[-1])
    return np.asarray(class_confusions.expected(votes, Z, best).share.sum(axis=1))


def _fitted(model: Any, item: np.ndarray, annotator: np.ndarray, answer: np.ndarray) -> np.ndarray:
    import pandas as pd

    data = pd.DataFrame({"task": item, "worker": annotator, "label": answer})
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


@dataclass(frozen=True, eq=False)
class FusedChoices:
    """One dimension of categories."""

    name: str
    classes: tuple[str, ...]
    probability: np.ndarray  # (M, C) of every class
    votes: np.ndarray  # (M, C) answers
    answers: np.ndarray  # (K,) answers given
    accuracy: np.ndarray  # (K,) mean probability that an answer is right; NaN without answers
    agreement: np.ndarray  # (K,) how often it is what most others chose; NaN where nobody else answered
    confusion: np.ndarray  # (K, C, C) probability of each answer (last) given the true class
    confused: np.ndarray  # (K, C, C) expected number of answers behind it
    model: str
    why: str | None  # why this model, if another one would have been usual
    temperature: float  # 1: probabilities as the model has them; above: drawn away from certainty

    @property
    def best(self) -> np.ndarray:
        """(M,) the most probable class; of equal ones the first in canonical order."""
        return np.asarray(np.argmax(self.probability, axis=1))

    @property
    def answered(self) -> np.ndarray:
        """(M,) whether an item has an answer."""
        return np.asarray(self.votes.any(axis=1))


@dataclass(frozen=True, eq=False)
class FusedCategories:
    """All dimensions of categories that were fused."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[FusedChoices, ...]
    frame_kind: str | None = None

    def __iter__(self) -> Iterator[FusedChoices]:
        return iter(self.dimensions)

    def __getitem__(self, name: str) -> FusedChoices:
        return next(one for one in self.dimensions if one.name == name)

    def __repr__(self) -> str:
        return self.introduction("Fused categories").text()

    def _repr_html_(self) -> str:
        return self.introduction("Fused categories").html()

    def introduction(self, title: str, hint: str = "") -> labels.Introduction:
        """How many classes each dimension has and how sure the most probable ones are."""
        rows = [
            (one.name, str(len(one.classes)), one.model, f"{float(np.median(one.probability.max(axis=1))):.2f}")
            for one in self
        ]
        header = ("dimension", "classes", "model", "typical probability")
        return labels.Introduction.of(f"{title} of {labels.counted(len(self.items), 'item')}", header, rows, hint)

    def truth_columns(self, items: Sequence[str] | None = None) -> dict[str, Any]:
        """For each dimension the most probable class and its probability; null where an item has no answer.

        In the order of `items`, which may be more than those with categories.
        """
        wanted = self.items if items is None else tuple(items)
        place = {item: m for m, item in enumerate(self.items)}
        index = np.array([place.get(item, -1) for item in wanted], dtype=np.int64)
        table: dict[str, Any] = {}
        for one in self:
            known = (index >= 0) & one.answered[index]
            best = one.best[index]
            table[one.name] = [one.classes[c] if k else None for c, k in zip(best, known, strict=True)]
            sure = np.round(one.probability[index, best], 6)
            table[f"{one.name}_probability"] = [float(p) if k else None for p, k in zip(sure, known, strict=True)]
        return table

    def class_columns(self) -> dict[str, Any]:
        """The columns of categories.csv: item, dimension, class, probability, votes; items with answers alone."""
        table: dict[str, list[Any]] = {name: [] for name in ("item", "dimension", "class", "probability", "votes")}
        for one in self:
            rows = np.flatnonzero(one.answered)
            C = len(one.classes)
            table["item"] += [self.items[m] for m in rows for _ in range(C)]
            table["dimension"] += [one.name] * (len(rows) * C)
            table["class"] += list(one.classes) * len(rows)
            table["probability"] += np.round(one.probability[rows], 6).reshape(-1).tolist()
            table["votes"] += one.votes[rows].astype(np.int64).reshape(-1).tolist()
        return table

    def annotator_columns(self) -> dict[str, Any]:
        """One row per annotator and dimension: what annotators.csv says of categories."""
        shown = [one.answers > 0 for one in self]
        return {
            "annotator": [self.annotators[k] for own in shown for k in np.flatnonzero(own)],
            "dimension": [one.name for one, own in zip(self, shown, strict=True) for _ in range(int(own.sum()))],
            "ratings": np.concatenate([one.answers[own] for one, own in zip(self, shown, strict=True)]),
            "accuracy": np.concatenate([one.accuracy[own] for one, own in zip(self, shown, strict=True)]),
            "agreement": np.concatenate([one.agreement[own] for one, own in zip(self, shown, strict=True)]),
        }

    def overall_columns(self, annotators: Sequence[str] | None = None) -> dict[str, Any]:
        """One row per annotator: what annotators_overall.csv says of categories, in the order of `annotators`.

        Means over all answers, whatever the dimension; those to which nobody else answered do not count for agreement.
        """
        place = {name: k for k, name in enumerate(self.annotators)}
        row = np.array([place.get(name, -1) for name in annotators or self.annotators], dtype=np.int64)

        def mean(figures: list[np.ndarray]) -> np.ndarray:
            known = [np.where(np.isnan(own), 0.0, one.answers) for one, own in zip(self, figures, strict=True)]
            total = sum(n * np.nan_to_num(own) for n, own in zip(known, figures, strict=True))
            n = np.sum(known, axis=0)
            return np.where(row >= 0, np.where(n > 0, total / np.maximum(n, 1), np.nan)[row], np.nan)

        return {
            "category_answers": np.where(row >= 0, np.sum([one.answers for one in self], axis=0)[row], 0).astype(
                np.int64
            ),
            "category_accuracy": mean([one.accuracy for one in self]),
            "category_agreement": mean([one.agreement for one in self]),
        }

    def confusion_columns(self) -> dict[str, Any]:
        """The columns of confusion.csv: annotator, dimension, truth, answer, probability, expected answers behind."""
        header = ("annotator", "dimension", "truth", "answer", "probability", "answers")
        table: dict[str, list[Any]] = {name: [] for name in header}
        for one in self:
            C = len(one.classes)
            rows = np.flatnonzero(one.answers > 0)
            table["annotator"] += [self.annotators[k] for k in rows for _ in range(C * C)]
            table["dimension"] += [one.name] * (len(rows) * C * C)
            table["truth"] += [name for name in one.classes for _ in range(C)] * len(rows)
            table["answer"] += list(one.classes) * (C * len(rows))
            table["probability"] += np.round(one.confusion[rows], 6).reshape(-1).tolist()
            table["answers"] += np.round(one.confused[rows], 3).reshape(-1).tolist()
        return table


def fuse_categories(
    categories: Categories, *, model: str = "auto", seed: int = 0, features: item_table.ItemTable | None = None
) -> FusedCategories:
    """Class probabilities of every item on every dimension of categories, and every annotator's accuracy.

    `model` is `auto` or a name of `CATEGORY_MODELS`; `seed` decides everything random; `features` go to the models that
    know of them. A DataError says how to install crowd-kit where a model needs it and it is not there.
    """
    find_category_model(model)
    Z = None
    if features is not None and takes_features(model):
        Z = learn_space(features, categories.items, intercept=True, standardise=True)[1].Z
        Z = Z / np.maximum(Z.std(axis=0), np.finfo(float).tiny)
    found = tuple(_fused(categories, one, model, seed, Z) for one in categories)
    return FusedCategories(categories.items, categories.annotators, found, categories.frame_kind)


def takes_features(model: str) -> bool:
    """Whether a model of categories knows of features of items."""
    own = CATEGORY_MODELS[model].own if model in CATEGORY_MODELS else None
    return own is not None and own.features


def _fused(categories: Categories, one: Choices, model: str, seed: int, Z: np.ndarray | None) -> FusedChoices:
    sizes = len(categories.items), len(categories.annotators), len(one.classes)
    votes = Votes(one.item_of, one.annotator_of, one.answer, *sizes, one.weight)
    chosen = choose(model, votes)
    p = class_probabilities(chosen.name, votes, seed, Z)
    plain = chosen.name == MAJORITY or one.weight is not None
    temperature = 1.0 if plain else _temperature(chosen.name, votes, seed, Z)
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


def _temperature(name: str, votes: Votes, seed: int, Z: np.ndarray | None) -> float:
    """From one answer of every item that has three or more, which a second fit does not see."""
    held = hold_out(votes, np.random.default_rng(seed))
    if not held.any():
        return 1.0
    seen, unseen = votes.only(~held), votes.only(held)
    return best_temperature(class_probabilities(name, seen, seed, Z), seen, unseen)
