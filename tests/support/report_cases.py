"""Dossiers of small fusions, for tests of the report."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import unisono as un
from category_cases import crowd
from judged_tables import judged_ratings
from unisono.report.report_data import Subject, build_category_dossier, build_dossier
from unisono.tables.atomic_files import json_text
from unisono.tables.ratings import Ratings


def dossier_of(ratings: Any, **settings: Any) -> dict[str, Any]:
    """As report.json holds it: through JSON and back."""
    result = un.fuse(ratings, **settings)
    words = None if result.chosen is None else result.chosen.for_report()
    subject = Subject(
        *(result.model, result.fuser, result.ratings, result.estimate, result.described, result.summary_data, words)
    )
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


@cache
def dossier_of_wide_trace() -> dict[str, Any]:
    """Somebody's traces are twelve times as large as everybody else's."""
    ratings = un.load_dataset("green_intensity")
    own = np.repeat(ratings.annotator_of == 3, np.diff(ratings.offset))
    return dossier_of(ratings.with_value(np.where(own[:, None], 12 * ratings.value, ratings.value)))


@cache
def dossier_of_judges() -> dict[str, Any]:
    """People on a part of the items, judges who err together on all of them."""
    return dossier_of(judged_ratings(3, items=60, labels=24, per_label=3)[0])


def mixed_table() -> pl.DataFrame:
    """Numbers beside classes whose names are code."""
    table = crowd(5, M=30, K=8, C=3).frame()
    code = {word: f"<i>{word}</i>" for word in table["feeling"].unique()}
    level = {word: i for i, word in enumerate(sorted(code))}
    return table.with_columns(
        strength=pl.col("feeling").replace_strict(level, return_dtype=pl.Float64) + 0.1 * pl.int_range(pl.len()) % 0.7,
        feeling=pl.col("feeling").replace(code),
    )


@cache
def dossier_of_both() -> dict[str, Any]:
    """Numbers and categories in one table."""
    return dossier_of(mixed_table(), categories=["feeling"])


@cache
def dossier_of_categories() -> dict[str, Any]:
    """Categories alone."""
    result = un.fuse(crowd(5, M=40, K=8, C=4, spammers=1).frame(), categories=["feeling"])
    data = build_category_dossier(result.chosen.for_report(), result.summary_data, created="2024-05-06")
    return json.loads(json_text(data))


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
