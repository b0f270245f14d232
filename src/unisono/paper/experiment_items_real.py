"""News headlines with seven emotions: ratings by paid workers against the experts of SemEval 2007.

The data (Snow et al. 2008) are not bundled, since no licence is stated: `unisono datasets fetch affective-text`, or
--data DIR, or UNISONO_DATA. Features are embeddings of the headlines; the paper's sent2vec has no installable
package, so WordLlama is used if the extra `text` is there, TF-IDF otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unisono.paper.experiment_claims import (
    OVER_ITEMS,
    Chapter,
    Claim,
    ClaimPart,
    Direction,
    Experiment,
    Lead,
    Numbers,
    Picture,
    Settings,
    Table,
    Unit,
    judge,
    over_splits,
    untestable,
)
from unisono.paper.experiment_data import affective_text, file_sums, require_tables
from unisono.paper.experiment_page import score_bars
from unisono.paper.experiment_reporting import averaged, bars_over_splits, number, score_table
from unisono.paper.paper_protocol import (
    DEFAULT,
    INDEPENDENT,
    JOINT,
    MEAN,
    METRIC_NAMES,
    NAMES,
    PROTOCOL,
    SHORT,
    compared,
    race,
    unaided,
)
from unisono.tables.item_table import ItemTable
from unisono.tables.media.text_features import best_method, text_features
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings
from unisono.tables.reading.side_information import read_item_texts

NAME = "items-real"
TABLES = ("ratings.csv", "reference.csv", "items.csv")
BETTER = ("anger", "disgust", "fear", "joy", "sadness")
WORSE = ("surprise", "valence")
EMOTIONS = (*BETTER, *WORSE)
UNAIDED = (JOINT, INDEPENDENT, MEAN, DEFAULT)
MISSING = (
    "The headlines are not bundled, because no licence is stated: run `unisono datasets fetch affective-text` first, "
    "or point --data items-real=DIR at a copy."
)


def run_split(folder: str, method: str, seed: int, sums: Numbers) -> Numbers:
    """The race with one split into folds; `sums` make sure that the files are still the same."""
    place = Path(folder)
    ratings, reference = read_ratings(place / "ratings.csv"), read_item_table(place / "reference.csv")
    return race(ratings, reference, features=headline_features(place, method), seed=seed)


def run_unaided(folder: str, method: str, seed: int, sums: Numbers) -> Numbers:
    """All headlines fused to convergence without a label."""
    place = Path(folder)
    ratings, reference = read_ratings(place / "ratings.csv"), read_item_table(place / "reference.csv")
    return {
        "with features": unaided(ratings, reference, models=UNAIDED, features=headline_features(place, method)),
        "without features": unaided(ratings, reference, models=UNAIDED),
    }


def headline_features(folder: Path, method: str) -> ItemTable:
    """Embeddings of the headlines, by item."""
    texts = read_item_texts(folder / "items.csv")
    value = text_features(list(texts.values()), method)
    return ItemTable.from_rows(value, items=list(texts), columns=[f"x{p + 1}" for p in range(value.shape[1])])


def units(settings: Settings) -> list[Unit]:
    folder = affective_text(settings.data.get(NAME))
    if folder is None:
        return []
    require_tables(folder, TABLES)
    common = {"folder": str(folder), "method": best_method(), "sums": file_sums(folder, TABLES)}
    splits = [
        Unit(f"split{s}", run_split, common | {"seed": settings.seed + s}) for s in range(1 if settings.quick else 5)
    ]
    return [*splits, Unit("unaided", run_unaided, common | {"seed": settings.seed})]


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    if not results:
        return Chapter((MISSING,), (), (), tuple(untestable(text, where, MISSING) for text, where in _TEXTS), {})
    splits = [result for key, result in results.items() if key.startswith("split")]
    alone = results["unaided"]
    return Chapter(
        lead=(
            "100 headlines, 10 ratings each by 38 workers, seven emotions; the experts' ratings are the reference. "
            f"Features: {best_method()}. Five folds, split in {len(splits)} way{'s' if len(splits) > 1 else ''}.",
            "An annotator has some 20 headlines, and the joint model 49 numbers to learn from 12 of them in training.",
        ),
        tables=(
            score_table("Test scores: mean over splits", splits, EMOTIONS, PROTOCOL),
            Table(
                "Fused to convergence without any label: mean over emotions",
                ("", *(f"{METRIC_NAMES[m]}, {kind}" for kind in alone for m in METRIC_NAMES)),
                tuple((NAMES[model], *_unaided_cells(alone, model)) for model in UNAIDED),
            ),
        ),
        pictures=(
            Picture(
                NAME,
                f"Performance of the model of items on the news headlines (features: {best_method()}; mean and sd over "
                f"{len(splits)} splits; the paper's Fig. 'Performance of global annotation model on the text emotions "
                "dataset').",
                lambda: score_bars(bars_over_splits(splits, EMOTIONS, PROTOCOL)),
            ),
        ),
        claims=_claims(splits, alone),
        summary={"features": best_method(), "scores": averaged(splits, EMOTIONS, PROTOCOL), "unaided": alone},
    )


_WHERE = "Sec. 4.1.3, Fig. 'Performance of global annotation model on the text emotions dataset'"
_TEXTS = (
    ("The joint model predicts anger, disgust, fear, joy and sadness better than the independent model.", _WHERE),
    ("The joint model performs worse than the independent model on surprise and valence.", _WHERE),
    (
        "Run until convergence, without labels, the joint model beats the plain mean of the ratings.",
        "Secs. 1 and 3.2.2",
    ),
)


def _claims(splits: list[Numbers], alone: Numbers) -> tuple[Claim, ...]:
    def parts(emotions: tuple[str, ...], direction: Direction) -> list[ClaimPart]:
        return [_part(splits, emotion, metric, direction) for emotion in emotions for metric in METRIC_NAMES]

    (better, _), (worse, _), (converged, place) = _TEXTS
    plain = alone["without features"]["scores"]
    means = {model: [_mean(plain[model], metric) for metric in METRIC_NAMES] for model in (JOINT, MEAN, DEFAULT)}
    found = [
        ClaimPart(
            f"mean {METRIC_NAMES[metric]}",
            f"{means[JOINT][i]:.3f} against {means[MEAN][i]:.3f} (our default {means[DEFAULT][i]:.3f})",
            means[JOINT][i] > means[MEAN][i],
            Lead(SHORT[JOINT], SHORT[MEAN], means[JOINT][i] - means[MEAN][i]),
        )
        for i, metric in enumerate(METRIC_NAMES)
    ]
    return (
        judge(better, _WHERE, OVER_ITEMS, parts(BETTER, "higher")),
        judge(worse, _WHERE, OVER_ITEMS, parts(WORSE, "lower")),
        judge(converged, place, "the mean over emotions is higher; one data set, nothing resampled", found),
    )


def _part(splits: list[Numbers], emotion: str, metric: str, direction: Direction) -> ClaimPart:
    tests = compared(splits, JOINT, INDEPENDENT, emotion, metric)
    what = f"{METRIC_NAMES[metric]} of {emotion}"
    return over_splits(what, [t["difference"] for t in tests], [t["share"] for t in tests], direction)


def _unaided_cells(alone: Numbers, model: str) -> tuple[str, ...]:
    return tuple(number([_mean(alone[kind]["scores"][model], metric)]) for kind in alone for metric in METRIC_NAMES)


def _mean(scores: Numbers, metric: str) -> float:
    return float(sum(scores[emotion][metric] for emotion in EMOTIONS) / len(EMOTIONS))


EXPERIMENT = Experiment(NAME, "Ratings of items, real data: news headlines", "Sec. 4.1.3 (Real data)", units, report)
