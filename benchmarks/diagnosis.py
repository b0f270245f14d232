"""How far the diagnosis of annotators can be trusted: `python -m benchmarks.diagnosis`, tables of docs/annotators.md.

Simulated crowds with planted annotators, and real ratings in which some annotators' answers are shuffled over their
items (spammers by construction) or turned round. Real sets are looked for in the folder UNISONO_DATA, as for the
accuracy benchmark.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import unisono as un
from benchmarks.accuracy_sets import EMOBANK, _load
from benchmarks.planted_crowds import Crowd, area_under_curve, planted_crowd
from unisono.maths.grouped_sums import grouped_correlation, segment_sum, weighted_mean
from unisono.maths.metrics import ccc
from unisono.maths.raters.rater_diagnosis import Diagnosis, diagnose
from unisono.tables.ratings import Ratings

THIRD_BAD = {"spammer": 0.3, "flipped": 0.1}
MIXED = {"spammer": 0.1, "flipped": 0.05, "swapped": 0.1, "compressed": 0.1, "constant": 0.05}
BINS = ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01))
REAL = (("snow", "snow"), ("asset", "asset"), ("squality", "squality"), *(("emobank", name) for name in EMOBANK))


def main(seeds: int) -> None:
    print("\n| dimensions | scale | ratings each | noise | spammers: mean (least) | flipped: mean (least) |")
    print("|---|---|---|---|---|---|")
    for settings in _worlds():
        crowds = [planted_crowd(seed, THIRD_BAD, **settings) for seed in range(seeds)]
        found = [_diagnosed(crowd) for crowd in crowds]
        spam = [area_under_curve(f.spammer, c.kind == "spammer") for c, f in zip(crowds, found, strict=True)]
        flip = [area_under_curve(f.flipped.ravel(), c.flipped.ravel()) for c, f in zip(crowds, found, strict=True)]
        scale = "1 to 5" if settings["integer"] else "continuous"
        print(
            f"| {settings['dimensions']} | {scale} | {settings['ratings_each']} | {settings['noise']} "
            f"| {np.mean(spam):.3f} ({min(spam):.3f}) | {np.mean(flip):.3f} ({min(flip):.3f}) |"
        )
    _calibration(seeds)
    _truths(seeds)
    for group, name in REAL:
        _real(group, name)


def _worlds() -> list[dict]:
    usual = {"ratings_each": 20, "noise": 0.6}
    found = [{"dimensions": D, "integer": i} | usual for D in (1, 2) for i in (False, True)]
    found += [{"dimensions": D, "integer": True, "ratings_each": 20, "noise": 1.0} for D in (1, 2)]
    return found + [{"dimensions": 2, "integer": True, "ratings_each": n, "noise": 0.6} for n in (5, 10, 50)]


def _diagnosed(crowd: Crowd) -> Diagnosis:
    return diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)


def _calibration(seeds: int) -> None:
    """Of those given a probability, how many are it; with and without anybody planted."""
    head = " | ".join(f"{low:g} to {min(high, 1):g}" for low, high in BINS)
    print(f"\n| planted | said | {head} |\n|---|---|" + "---|" * len(BINS))
    for label, shares, settings in (
        ("30 % spammers, 10 % flipped", THIRD_BAD, {"integer": True}),
        ("the same, noise 1", THIRD_BAD, {"integer": True, "noise": 1.0}),
        ("the same, 5 ratings each", THIRD_BAD, {"integer": True, "ratings_each": 5}),
        ("some of every kind", MIXED, {}),
        ("nobody", {}, {"integer": True, "noise": 0.8}),
        ("nobody, one dimension", {}, {"dimensions": 1, "noise": 0.8}),
        ("nobody but spammers", {"spammer": 1.0}, {"integer": True}),
    ):
        crowds = [planted_crowd(seed, shares, **settings) for seed in range(100, 100 + seeds)]
        found = [_diagnosed(crowd) for crowd in crowds]
        for kind in ("spammer", "flipped", "swapped", "compressed"):
            said = [f.spammer if kind == "spammer" else f.of_kind(kind).ravel() for f in found]
            true = [_planted(crowd, kind) for crowd in crowds]
            print(f"| {label} | {kind} | {_cells(np.concatenate(said), np.concatenate(true))} |")


def _planted(crowd: Crowd, kind: str) -> np.ndarray:
    if kind == "spammer":
        return np.isin(crowd.kind, ("spammer", "constant"))
    return crowd.flipped.ravel() if kind == "flipped" else np.repeat(crowd.kind == kind, crowd.value.shape[1])


def _cells(said: np.ndarray, true: np.ndarray) -> str:
    parts = []
    for low, high in BINS:
        inside = (said >= low) & (said < high)
        parts.append(f"{true[inside].mean():.2f} of {inside.sum()}" if inside.any() else "–")
    return " | ".join(parts)


def _truths(seeds: int) -> None:
    """CCC of the fused truth with the planted annotators in, corrected for, and with their ratings taken out."""
    print("\n| model | scale | CCC with them | after the diagnosis | without them |\n|---|---|---|---|---|")
    for model in ("auto", "mean"):
        for integer in (False, True):
            found = []
            for seed in range(seeds):
                crowd = planted_crowd(seed, THIRD_BAD, integer=integer)
                # What an honest annotator without noise would say.
                truth = np.clip(3 + crowd.truth, 1, 5) if integer else crowd.truth
                ratings = _ratings(crowd)
                honest = ratings.select_judgements((crowd.kind == "honest")[crowd.annotator_of])
                versions = (ratings, _corrected(ratings, _diagnosed(crowd)), honest)
                rated = np.flatnonzero(np.all([np.bincount(v.item_of, minlength=v.M) > 0 for v in versions], axis=0))
                found.append([_accuracy(v.select_items(rated), truth[rated], model) for v in versions])
            cells = " | ".join(f"{mean:.3f}" for mean in np.mean(found, axis=0))
            print(f"| {model} | {'1 to 5' if integer else 'continuous'} | {cells} |")


def _corrected(ratings: Ratings, found: Diagnosis) -> Ratings:
    """Without those who are rather spammers than not, and with flipped answers turned round the annotator's mean."""
    seen = np.where(np.isnan(ratings.value), 0.0, ratings.value)
    n = np.maximum(segment_sum((~np.isnan(ratings.value)).astype(float), ratings.annotator_of, ratings.K), 1)
    middle = (segment_sum(seen, ratings.annotator_of, ratings.K) / n)[ratings.annotator_of]
    turned = np.where((found.flipped > 0.5)[ratings.annotator_of], 2 * middle - ratings.value, ratings.value)
    return ratings.with_value(turned).select_judgements((found.spammer < 0.5)[ratings.annotator_of])


def _accuracy(ratings: Ratings, truth: np.ndarray, model: str) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fused = un.fuse(ratings, model=model).fused.mean
    return float(np.mean([ccc(fused[:, d], truth[:, d]) for d in range(truth.shape[1])]))


def _ratings(crowd: Crowd) -> Ratings:
    return Ratings.from_judgements(
        crowd.value,
        crowd.item_of,
        crowd.annotator_of,
        items=[f"i{m}" for m in range(len(crowd.truth))],
        annotators=[f"a{k}" for k in range(crowd.K)],
        dimensions=[f"d{d}" for d in range(crowd.value.shape[1])],
    )


def _real(group: str, name: str) -> None:
    try:
        ratings = _load(group, name)[0]
    except (AssertionError, un.DataError):
        return
    found = diagnose(ratings.value, ratings.item_of, ratings.annotator_of, ratings.K)
    left_out = weighted_mean(ratings.value, np.ones_like(ratings.value), ratings.item_of, ratings.M).left_out
    each = grouped_correlation(ratings.value, left_out, ratings.annotator_of, ratings.K)
    agreement = np.nan_to_num(each).mean(axis=1)
    named = found.spammer > 0.9
    print(f"\n{name}: {ratings.K} annotators, {ratings.J / ratings.K:.0f} ratings each")
    print(f"  shared {found.signal.share.round(2)} +- {found.signal.error.round(2)} {ratings.dimensions}")
    print(f"  spammers: {named.sum()} named, {found.spammer.sum():.1f} expected")
    if named.any():
        print(
            f"  agreement of the named: median {np.median(agreement[named]):.2f}, most {agreement[named].max():.2f};",
            end="",
        )
    print(f"  of the others: median {np.median(agreement[~named]):.2f}, least {agreement[~named].min():.2f}")
    for kind in ("flipped", "swapped", "compressed", "stretched", "constant"):
        print(f"  {kind}: {(found.of_kind(kind) > 0.9).sum(axis=0)}", end="")
    planted = [_plant(ratings, np.flatnonzero(~named & (agreement > np.median(agreement))), s) for s in range(5)]
    print(f"\n  planted among the better half: {np.mean(planted, axis=0).round(3)} (spammers, flipped)")


def _plant(ratings: Ratings, pool: np.ndarray, seed: int) -> tuple[float, float]:
    """A quarter of the pool shuffled over their items, a quarter turned round; areas under the curve in the pool."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(pool)
    quarter = max(len(pool) // 4, 1)
    value = ratings.value.copy()
    turned = np.zeros((ratings.K, ratings.D), dtype=bool)
    turned[order[quarter : 2 * quarter]] = True
    for k in order[:quarter]:
        rows = np.flatnonzero(ratings.annotator_of == k)
        value[rows] = value[rng.permutation(rows)]
    ends = np.nanmin(value, axis=0) + np.nanmax(value, axis=0)
    value = np.where(turned[ratings.annotator_of], ends - value, value)
    found = diagnose(value, ratings.item_of, ratings.annotator_of, ratings.K)
    shuffled = np.isin(np.arange(ratings.K), order[:quarter])
    return (
        area_under_curve(found.spammer[pool], shuffled[pool]),
        area_under_curve(found.flipped[pool].ravel(), turned[pool].ravel()),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
