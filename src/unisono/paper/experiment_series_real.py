"""Films with traces of valence and arousal.

The paper's film corpus, with one expert as reference, is not public. In its place: the observers of a whole film
("Forrest Gump", which comes with the package) split at random into a group whose mean is the reference and a group
that is fused; the film is cut into ten pieces. Any other corpus in our format can be used:

    unisono reproduce series-real --data DIR --out OUT    (ratings.csv, reference.csv, features.csv if there are any)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from unisono.paper.experiment_claims import (
    Chapter,
    Claim,
    ClaimPart,
    Experiment,
    Numbers,
    Picture,
    Settings,
    Unit,
    Words,
)
from unisono.paper.experiment_data import Traced, cut, file_sums, require_tables
from unisono.paper.experiment_page import score_bars
from unisono.paper.experiment_reporting import (
    averaged,
    bars_over_splits,
    fold_units,
    over_folds,
    races_of,
    score_table,
)
from unisono.paper.paper_protocol import FOLDS, INDEPENDENT, JOINT, METRIC_NAMES, PROTOCOL, collected, race_fold
from unisono.tables.datasets import load_dataset
from unisono.tables.item_table import ItemTable
from unisono.tables.reading.clock_alignment import align_to
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

NAME = "series-real"
FILM = "forrest_gump_av"
TABLES = ("ratings.csv", "reference.csv")
PAPER = ("valence", "arousal")


def run_film(pieces: int, seconds: float, seed: int, restarts: int, model: str, fold: int) -> Numbers:
    """One model on one fold of the film; `seed` splits the observers."""
    traced = cut(split_observers(seed, seconds), pieces)
    return race_fold(traced, fold, model=model, restarts=restarts, seed=seed)


def run_corpus(folder: str, sums: Numbers, seed: int, restarts: int, model: str, fold: int) -> Numbers:
    """One model on one fold of a corpus of the reader's; `sums` make sure that the files are still the same."""
    place = Path(folder)
    ratings = read_ratings(place / "ratings.csv")
    reference = align_to(read_item_table(place / "reference.csv"), ratings)
    given = place / "features.csv"
    features = align_to(read_item_table(given), ratings, hold=1.0, complete=True) if given.is_file() else None
    traced = Traced(ratings, reference, features)
    traced = traced if ratings.M >= FOLDS else cut(traced, 10)
    return race_fold(traced, fold, model=model, restarts=restarts, seed=seed)


def split_observers(seed: int, seconds: float = np.inf) -> Traced:
    """The film's first `seconds` by half of its observers; the mean of the others is the reference."""
    ratings = load_dataset("forrest_gump").select_items([FILM])
    active = np.unique(ratings.annotator_of)
    fused = np.sort(np.random.default_rng(seed).permutation(active)[: (len(active) + 1) // 2])
    mine = np.isin(ratings.annotator_of, fused)
    others = ratings.select_judgements(~mine)
    mean = others.value.reshape(len(others.item_of), -1, ratings.D).mean(axis=0)
    reference = ItemTable.from_rows(
        mean, items=ratings.items, columns=ratings.dimensions, length=ratings.length, clock=ratings.clock
    )
    return _beginning(Traced(ratings.select_judgements(mine), reference, None), seconds)


def _beginning(traced: Traced, seconds: float) -> Traced:
    assert traced.ratings.clock is not None
    frames = int(min(seconds * traced.ratings.clock.rate, traced.ratings.length[0]))
    whole = int(traced.ratings.length[0])
    return traced if frames == whole else _first_piece(cut(traced, whole // frames))


def _first_piece(traced: Traced) -> Traced:
    first = traced.ratings.items[0]
    return Traced(traced.ratings.select_items([first]), traced.reference.select_items([first]), None)


def units(settings: Settings) -> list[Unit]:
    restarts = 1 if settings.quick else 20
    folder = settings.data.get(NAME)
    if folder is not None:
        require_tables(folder, TABLES)
        tables = (*TABLES, "features.csv") if (folder / "features.csv").is_file() else TABLES
        given = {"folder": str(folder), "sums": file_sums(folder, tables), "seed": settings.seed, "restarts": restarts}
        return fold_units("corpus", run_corpus, given, FOLDS, PROTOCOL)
    pieces, seconds, splits = (5, 700.0, 1) if settings.quick else (10, 7085.0, 2)
    found: list[Unit] = []
    for s in range(splits):
        given = {"pieces": pieces, "seconds": seconds, "seed": settings.seed + s, "restarts": restarts}
        found += fold_units(f"film-split{s}", run_film, given, FOLDS, PROTOCOL)
    return found


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    own = NAME in settings.data
    found = races_of("corpus" if own else "film", results)
    dimensions = tuple(next(iter(found[0]["scores"].values())))
    source = "the corpus given with --data" if own else "'Forrest Gump', observers split into two groups"
    said = Words(NAME, source=source, splits=len(found))
    return Chapter(
        lead=(said("data") + ("" if own else said("splits")),),
        tables=(score_table(said("scores"), found, dimensions, PROTOCOL),),
        pictures=(Picture(NAME, said("bars"), lambda: score_bars(bars_over_splits(found, dimensions, PROTOCOL))),),
        claims=_claims(said, found, dimensions),
        summary=averaged(found, dimensions, PROTOCOL),
    )


def _claims(said: Words, found: list[Numbers], dimensions: tuple[str, ...]) -> tuple[Claim, ...]:
    if not set(PAPER) <= set(dimensions):
        return tuple(said.untestable(one, said("other_dimensions")) for one in ("arousal", "valence", "balance"))
    aside = said("other_corpus")
    return (
        said.judge("arousal", [over_folds(found, "arousal", m, "higher") for m in METRIC_NAMES], aside),
        said.judge("valence", [over_folds(found, "valence", m, "lower") for m in METRIC_NAMES], aside),
        said.judge("balance", _balance(found), aside),
    )


def _balance(found: list[Numbers]) -> list[ClaimPart]:
    poor = float(np.mean(collected(found, INDEPENDENT, "arousal", "pearson")))
    joint = float(np.mean(collected(found, JOINT, "arousal", "pearson")))
    return [ClaimPart("independent", f"{poor:.3f}", poor < 0.3), ClaimPart("joint", f"{joint:.3f}", joint > 0.3)]


EXPERIMENT = Experiment(NAME, "Traces, real data: a film", "Sec. 4.2.3 (Real data)", units, report)
