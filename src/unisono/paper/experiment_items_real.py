"""News headlines with seven emotions: ratings by paid workers against the experts of SemEval 2007.

The data (Snow et al. 2008) are not bundled, since no licence is stated: `unisono datasets fetch affective-text`, or
--data DIR, or UNISONO_DATA. Features are embeddings of the headlines; the paper's sent2vec has no installable
package, so WordLlama is used if the extra `text` is there, TF-IDF otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unisono.paper.experiment_claims import (
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
    Words,
    over_splits,
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
from unisono.tables.media.media_features import best_method, text_features
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings
from unisono.tables.reading.side_information import read_item_texts

NAME = "items-real"
TABLES = ("ratings.csv", "reference.csv", "items.csv")
BETTER = ("anger", "disgust", "fear", "joy", "sadness")
WORSE = ("surprise", "valence")
EMOTIONS = (*BETTER, *WORSE)
UNAIDED = (JOINT, INDEPENDENT, MEAN, DEFAULT)
CLAIMS = ("better", "worse", "converged")


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
    said = Words(NAME)
    if not results:
        return Chapter((said("missing"),), (), (), tuple(said.untestable(one, said("missing")) for one in CLAIMS), {})
    splits = [result for key, result in results.items() if key.startswith("split")]
    alone = results["unaided"]
    said = Words(NAME, method=best_method(), splits=len(splits))
    return Chapter(
        lead=(said("data", ways=f"{len(splits)} way{'s' if len(splits) > 1 else ''}"), said("few")),
        tables=(
            score_table(said("scores"), splits, EMOTIONS, PROTOCOL),
            Table(
                said("unaided"),
                ("", *(f"{METRIC_NAMES[m]}, {kind}" for kind in alone for m in METRIC_NAMES)),
                tuple((NAMES[model], *_unaided_cells(alone, model)) for model in UNAIDED),
            ),
        ),
        pictures=(Picture(NAME, said("bars"), lambda: score_bars(bars_over_splits(splits, EMOTIONS, PROTOCOL))),),
        claims=_claims(said, splits, alone),
        summary={"features": best_method(), "scores": averaged(splits, EMOTIONS, PROTOCOL), "unaided": alone},
    )


def _claims(said: Words, splits: list[Numbers], alone: Numbers) -> tuple[Claim, ...]:
    def parts(emotions: tuple[str, ...], direction: Direction) -> list[ClaimPart]:
        return [_part(splits, emotion, metric, direction) for emotion in emotions for metric in METRIC_NAMES]

    plain = alone["without features"]["scores"]
    means = {model: [_mean(plain[model], metric) for metric in METRIC_NAMES] for model in (JOINT, MEAN, DEFAULT)}
    found = [
        ClaimPart(
            f"mean {METRIC_NAMES[metric]}",
            f"{joint:.3f} against {mean:.3f} (our default {default:.3f})",
            joint > mean,
            Lead(SHORT[JOINT], SHORT[MEAN], joint - mean),
        )
        for metric, joint, mean, default in zip(METRIC_NAMES, *means.values(), strict=True)
    ]
    return (
        said.judge("better", parts(BETTER, "higher")),
        said.judge("worse", parts(WORSE, "lower")),
        said.judge("converged", found),
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
