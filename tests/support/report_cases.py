"""Dossiers of small fusions, for tests of the report."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

import unisono as un
from unisono.data import Ratings
from unisono.evaluate.dossier.build import Subject, build_dossier
from unisono.io.json_text import json_text


def dossier_of(ratings: Ratings, **settings: Any) -> dict[str, Any]:
    """As report.json holds it: through JSON and back."""
    result = un.fuse(ratings, **settings)
    subject = Subject(result.model, result.fuser, result.ratings, result.fused, result.described, result.summary_data)
    return json.loads(json_text(build_dossier(subject, created="2024-05-06", command="unisono fuse ratings.csv")))


@cache
def summaries() -> Ratings:
    """A part of the bundled ratings of summaries."""
    whole = un.load_dataset("squality")
    return whole.select_items(list(whole.items[:60]))


@cache
def dossier_of_items() -> dict[str, Any]:
    return dossier_of(summaries())


@cache
def dossier_of_traces() -> dict[str, Any]:
    return dossier_of(un.load_dataset("green_intensity"))


def awkward_ratings(seed: int = 0) -> Ratings:
    """Names that are code, one spammer, missing answers, an item that one person rated, a constant rater."""
    rng = np.random.default_rng(seed)
    M, K = 25, 5
    truth = rng.normal(size=(M, 2))
    item, who = (index.ravel() for index in np.meshgrid(np.arange(M), np.arange(K), indexing="ij"))
    value = 4 + 1.2 * truth[item] + 0.4 * rng.normal(size=(M * K, 2))
    value[who == 3] = rng.normal(4, 1.3, size=(M, 2))
    value[who == 4] = 2.0
    value[::7, 0] = np.nan
    keep = (item > 0) | (who == 1)
    return Ratings.from_judgements(
        value[keep],
        item[keep],
        who[keep],
        items=[f"</script><b>item {m}</b> ä" for m in range(M)],
        annotators=["<img src=x onerror=alert(1)>", "b & c", "'q\"", "spam", "ever the same"],
        dimensions=["va<lence", "arousal"],
        source="a <table>.csv",
    )
