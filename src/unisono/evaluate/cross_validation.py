"""Cross-validation with the paper's protocol: items in train, validation and test folds, scored and compared.

    found = cross_validate_models(ratings, reference, models=["paper-joint", "paper-independent"])

A model is fitted to the ratings of the training items and scored on the validation items after every iteration; the
best parameters fuse the test items with their ratings alone. Test labels never reach the function that does this: they
are used once, here, after all predictions have come back. Items may be recordings: scores are then of all their frames
put end to end, and the published models choose filter width and random start on the validation recordings as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import ConvergenceWarning, taken
from unisono.evaluate.held_out_ratings import ItemFold, item_folds
from unisono.evaluate.iteration_selection import Choice, Labelled, Pick, estimate, last_state, select
from unisono.evaluate.scoring import DimensionScore, rated_reference, score_tables
from unisono.fusers import Fuser, make_fuser
from unisono.maths.metrics import (
    RESAMPLES,
    SIGNIFICANT,
    better_share,
    ccc,
    paired_t,
    pearson,
    resample_counts,
    resampled_scores,
)
from unisono.scale.executors import OnTask, Workers, run_tasks
from unisono.tables import Clock, ItemTable, Ratings, listed

METRICS = ("ccc", "pearson")


@dataclass(frozen=True)
class FoldOutcome:
    """One fold of one model: what was chosen on the validation items, and how the test items came out."""

    candidates: tuple[int, ...]  # per choice: one for all dimensions, or one for each
    iterations: tuple[int, ...]
    validation_ccc: float
    order: tuple[int, ...]  # dimension d is sign[d] times dimension order[d] of the model
    sign: tuple[int, ...]
    ccc: tuple[float, ...]  # per dimension, on the test items
    pearson: tuple[float, ...]


@dataclass(frozen=True)
class ModelResult:
    """One model over all folds; scores are of all test predictions together."""

    model: str
    ccc: float  # mean over dimensions
    pearson: float
    dimensions: tuple[DimensionScore, ...]
    folds: tuple[FoldOutcome, ...]


@dataclass(frozen=True)
class Difference:
    """Two models on one dimension by one metric, first minus second."""

    first: str
    second: str
    dimension: str
    metric: str
    difference: float
    share: float  # of bootstrap resamples in which the first is better; NaN for series
    p: float  # paired t-test over folds; for ratings of items NaN
    better: str | None  # the model that is significantly better


@dataclass(frozen=True)
class CrossValidation:
    """What `unisono cross-validate` prints."""

    source: str
    reference: str
    items: int
    folds: int
    seed: int
    selected: bool  # whether an iteration was chosen on the validation items
    models: tuple[ModelResult, ...]
    differences: tuple[Difference, ...]
    predictions: Mapping[str, ItemTable]  # of every item with a reference, by the fold that tested it

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the predictions."""
        plain = {name: getattr(self, name) for name in ("source", "reference", "items", "folds", "seed", "selected")}
        return plain | {
            "models": [asdict(row) for row in self.models],
            "differences": [asdict(row) for row in self.differences],
        }


def model_result(model: str, predicted: ItemTable, reference: ItemTable, folds: Sequence[FoldOutcome]) -> ModelResult:
    """Scores of the test predictions of all folds, put end to end."""
    scores = score_tables(predicted, reference).dimensions
    return ModelResult(
        model,
        float(np.mean([score.ccc for score in scores])),
        float(np.mean([score.pearson for score in scores])),
        scores,
        tuple(folds),
    )


def differences(
    results: Sequence[ModelResult], predictions: Mapping[str, ItemTable], reference: ItemTable, seed: int, series: bool
) -> tuple[Difference, ...]:
    """Every pair of models on every dimension: bootstrap over items, for series a paired t-test over folds."""
    if series:
        pairs = combinations(results, 2)
        return tuple(row for one, other in pairs for row in _by_folds(one, other, reference.columns))
    counts = resample_counts(reference.M, RESAMPLES, np.random.default_rng(seed))
    drawn = {row.model: resampled_scores(predictions[row.model].value, reference.value, counts) for row in results}
    found: list[Difference] = []
    for one, other in combinations(results, 2):
        for metric in METRICS:
            a, b = (getattr(drawn[row.model], metric) for row in (one, other))
            # Ties count for neither, so both sides are asked.
            for d, (ahead, behind) in enumerate(zip(better_share(a, b), better_share(b, a), strict=True)):
                better = one.model if ahead >= SIGNIFICANT else other.model if behind >= SIGNIFICANT else None
                found.append(_difference_of(one, other, d, metric, float(ahead), float("nan"), better))
    return tuple(found)


def _by_folds(one: ModelResult, other: ModelResult, names: Sequence[str]) -> Iterator[Difference]:
    for metric in METRICS:
        for d in range(len(names)):
            pairs = zip(one.folds, other.folds, strict=True)
            tested = paired_t(np.array([getattr(a, metric)[d] - getattr(b, metric)[d] for a, b in pairs]))
            significant = tested.p < 1 - SIGNIFICANT
            better = (one if tested.mean > 0 else other).model if significant else None
            yield _difference_of(one, other, d, metric, float("nan"), tested.p, better)


def _difference_of(
    one: ModelResult, other: ModelResult, d: int, metric: str, share: float, p: float, better: str | None
) -> Difference:
    a, b = one.dimensions[d], other.dimensions[d]
    gap = getattr(a, metric) - getattr(b, metric)
    return Difference(one.model, other.model, a.name, metric, gap, share, p, better)


GOLD = "+gold"  # after a model's name: the validation labels are given to it as known truths
PROTOCOL = ("paper-joint", "paper-independent", "auto", "auto+gold", "mean")


class Entrant(NamedTuple):
    """A model in the race: one fuser, or several to choose from (windows, starts), all unfitted."""

    name: str
    fusers: tuple[Fuser, ...]
    gold: bool


class FoldData(NamedTuple):
    """All that a model may see of one fold. There is no place in it for test labels."""

    train: Ratings
    validation: Labelled
    test: Ratings
    features: ItemTable | None


def cross_validate_models(
    ratings: Ratings,
    reference: ItemTable,
    *,
    models: Sequence[str] | Mapping[str, Fuser | Sequence[Fuser]] = PROTOCOL,
    features: ItemTable | None = None,
    folds: int = 5,
    seed: int = 0,
    select_iteration: bool = True,
    jobs: Workers = 1,
    on_task: OnTask | None = None,
) -> CrossValidation:
    """Test predictions of every model for every item with a reference, scored and compared."""
    entrants = _entrants(models, ratings)
    known, rest = rated_reference(ratings, reference)
    rounds = item_folds(known.items, folds, np.random.default_rng(seed))
    tasks = [
        (entrant, fold_data(ratings, known, features, part, rest), select_iteration)
        for entrant in entrants
        for part in rounds
    ]
    outcomes = run_tasks(run_fold, tasks, jobs, on_task)
    results, predictions = [], {}
    for i, entrant in enumerate(entrants):
        own = outcomes[i * folds : (i + 1) * folds]
        values = _end_to_end([value for value, _ in own], rounds, known)
        scored = [_outcome(value, picks, part, known) for (value, picks), part in zip(own, rounds, strict=True)]
        predictions[entrant.name] = values
        results.append(model_result(entrant.name, values, known, scored))
    return CrossValidation(
        source=ratings.source,
        reference=reference.source,
        items=known.M,
        folds=folds,
        seed=seed,
        selected=select_iteration,
        models=tuple(results),
        differences=differences(results, predictions, known, seed, ratings.is_series),
        predictions=predictions,
    )


def run_fold(entrant: Entrant, fold: FoldData, select_iteration: bool) -> tuple[np.ndarray, list[Pick]]:
    """The truth (S, D) of the test items, and what was picked on the way."""
    names = fold.validation.labels.columns
    candidates = [one for fuser in entrant.fusers for one in fuser.candidates(fold.train)]
    with taken(ConvergenceWarning):  # stopping early is what the protocol is about
        if entrant.gold:
            choices = _with_gold(entrant.fusers[0], fold)
        elif select_iteration:
            choices = select(candidates, fold.train, fold.features, fold.validation)
        else:
            fitted = [fuser.fit(fold.train, fold.features) for fuser in candidates]
            choices = last_state(fitted, fold.validation)
    return estimate(choices, fold.test, fold.features, names), [choice.pick for choice in choices]


def _with_gold(fuser: Fuser, fold: FoldData) -> list[Choice]:
    """Fitted to training and validation items together, the truth of the latter being known."""
    both = _joined(fold.train, fold.validation.ratings)
    labels = fold.validation.labels
    fuser.fit(both, fold.features, labels)
    return last_state([fuser], fold.validation)


def _entrants(models: Sequence[str] | Mapping[str, Fuser | Sequence[Fuser]], ratings: Ratings) -> list[Entrant]:
    if isinstance(models, Mapping):
        given = {name: (m,) if isinstance(m, Fuser) else tuple(m) for name, m in models.items()}
    else:
        words = {"series": ratings.is_series}
        given = {name: (make_fuser(name.removesuffix(GOLD), **words),) for name in dict.fromkeys(models)}
    return [Entrant(name, fusers, name.endswith(GOLD)) for name, fusers in given.items()]


def fold_data(
    ratings: Ratings, known: ItemTable, features: ItemTable | None, part: ItemFold, rest: tuple[str, ...] = ()
) -> FoldData:
    """What models are shown of a fold; `rest` are items without a reference, which can only train."""
    labels = visible_labels(known, part)
    require_unseen(labels, part)
    validation = Labelled(ratings.select_items(list(part.validation)), labels, features)
    test = ratings.select_items(list(part.test))
    return FoldData(ratings.select_items([*part.train, *rest]), validation, test, features)


def visible_labels(known: ItemTable, part: ItemFold) -> ItemTable:
    """The labels that a fold's models are shown: those of its validation items."""
    return known.select_items(part.validation)


def require_unseen(labels: ItemTable, part: ItemFold) -> None:
    """Refuses to go on when a label of the test fold is among those that models are shown."""
    leaked = sorted(set(labels.items) & set(part.test))
    if leaked:
        raise AssertionError(f"The labels of test items {listed(leaked)} were about to be shown to the models.")


def _joined(one: Ratings, other: Ratings) -> Ratings:
    """Two sets of items by the same annotators."""
    clock = None if one.clock is None or other.clock is None else _clock(one.clock, other.clock)
    return Ratings.from_judgements(
        np.concatenate([one.value, other.value]),
        np.concatenate([one.item_of, other.item_of + one.M]),
        np.concatenate([one.annotator_of, other.annotator_of]),
        items=one.items + other.items,
        annotators=one.annotators,
        dimensions=one.dimensions,
        scale=one.scale,
        length=np.concatenate([one.length, other.length]),
        clock=clock,
        source=one.source,
    )


def _clock(one: Clock, other: Clock) -> Clock:
    return Clock(one.rate, np.concatenate([one.start, other.start]))


def _end_to_end(values: Sequence[np.ndarray], rounds: Sequence[ItemFold], known: ItemTable) -> ItemTable:
    """The test predictions of all folds as one table, in the order of the reference."""
    order = [item for part in rounds for item in part.test]
    in_order = known.select_items(order)
    table = ItemTable.from_rows(
        np.concatenate(values),
        items=order,
        columns=known.columns,
        length=in_order.length,
        clock=in_order.clock,
        source="test predictions",
    )
    return table.select_items(known.items)


def _outcome(value: np.ndarray, picks: Sequence[Pick], part: ItemFold, known: ItemTable) -> FoldOutcome:
    """Test scores of one fold; the only place where a fold's own test labels are looked at."""
    truth = known.select_items(part.test).value
    D = known.P
    order, sign = np.arange(D), np.ones(D, dtype=np.int64)
    for pick in picks:
        order[pick.dimensions] = pick.switch.order[pick.dimensions]
        sign[pick.dimensions] = pick.switch.sign[pick.dimensions]
    return FoldOutcome(
        candidates=tuple(pick.candidate for pick in picks),
        iterations=tuple(pick.iteration for pick in picks),
        validation_ccc=float(np.average([p.score for p in picks], weights=[len(p.dimensions) for p in picks])),
        order=tuple(order.tolist()),
        sign=tuple(sign.tolist()),
        ccc=tuple(ccc(value[:, d], truth[:, d]) for d in range(D)),
        pearson=tuple(pearson(value[:, d], truth[:, d]) for d in range(D)),
    )
