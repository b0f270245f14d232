"""Agreement of many ratings: a million items by five of five thousand annotators, one dimension, 1000 draws.

Seconds are divided by those of the variance components alone without intervals, because machines differ.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.measure import in_own_process, peak_megabytes
from unisono.maths.agreement.agreement_bootstrap import coded
from unisono.maths.agreement.intraclass_reliability import variance_components
from unisono.tables.ratings import Ratings

EACH, ANNOTATORS = 5, 5000


def run(items: int = 1_000_000) -> dict[str, Any]:
    return in_own_process("benchmarks.agreement", items)


def ratings_of(items: int) -> Ratings:
    """Answers from 1 to 7 with severity; every item is answered by five annotators."""
    rng = np.random.default_rng(0)
    first, step = rng.integers(0, ANNOTATORS, items), rng.integers(1, ANNOTATORS // EACH, items)
    who = np.sort((first[:, None] + step[:, None] * np.arange(EACH)) % ANNOTATORS, axis=1).ravel()
    item = np.repeat(np.arange(items), EACH)
    severity, noise = 0.5 * rng.normal(size=ANNOTATORS)[who], 0.8 * rng.normal(size=len(who))
    answers = np.clip(np.round(4 + np.repeat(rng.normal(size=items), EACH) + severity + noise), 1, 7)
    labels = [f"i{m}" for m in range(items)], [f"k{k}" for k in range(ANNOTATORS)]
    return Ratings.from_judgements(answers[:, None], item, who, items=labels[0], annotators=labels[1], dimensions=["d"])


def measure(items: int) -> dict[str, Any]:
    from unisono.api import agreement

    ratings = ratings_of(items)
    before = peak_megabytes()
    start = time.perf_counter()
    variance_components(coded(ratings.value[:, 0], ratings.item_of, ratings.annotator_of))
    components = time.perf_counter() - start
    start = time.perf_counter()
    agreement(ratings)
    seconds = time.perf_counter() - start
    return {
        "ratings": len(ratings.value),
        "seconds of variance components": components,
        "seconds of everything, 1000 draws": seconds,
        "everything over components": seconds / components,
        "MB before": before,
        "MB at most": peak_megabytes(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
