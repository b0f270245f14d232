"""Spammers and unusual response styles: what the diagnosis of a fit says about single annotators.

Plain values, and sentences that always carry the probability. Who is named is decided here: from a probability of
NAMED_FROM, suspected from SUSPECTED_FROM.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc

from unisono.evaluate.alerts import WORDS
from unisono.fusers.fusion_results import INTERVAL, Annotators
from unisono.maths.items.item_estimates import half_width
from unisono.maths.raters.rater_diagnosis import Diagnosis
from unisono.tables import rows_of

NAMED_FROM = 0.9  # probability from which an annotator is named
SUSPECTED_FROM = 0.5  # more likely a spammer than not: too much to be told that nobody looks like one
CHANCE = 0.05  # convention: of calling annotators different who are not
# Measured: of 30 crowds of equals each, none to one is said to differ with 1 or 2, one to three with 4.
SHRUNKEN = 2.0  # figures that are drawn to the crowd lie closer together than their intervals are wide
TINY = 1e-9  # numerical: an error that is none
NAMED = 5  # names in one line of words
HARMFUL = ("flipped", "swapped", "unrelated", "constant")  # styles that make answers useless or worse

STYLES: dict[str, str] = WORDS["styles"]
TRACING: dict[str, str] = WORDS["tracing"]


def tracing_findings(annotators: Annotators) -> list[dict[str, Any]] | None:
    """Whose traces are unusual on a dimension, with a probability of at least NAMED_FROM; None: not diagnosed."""
    if annotators.tracing is None:
        return None
    return [
        {
            "annotator": annotators.annotators[k],
            "dimension": annotators.dimensions[d],
            "kind": kind,
            "probability": _rounded(probability[k, d]),
        }
        for kind, probability in annotators.tracing.items()
        for d in range(len(annotators.dimensions))
        for k in _most_probable(probability[:, d], probability[:, d] >= NAMED_FROM)
    ]


def tracing_lines(rows: list[dict[str, Any]], by_gold: bool) -> list[str]:
    """The same for a person to read; of flipped ones it is said which way is right."""
    over = f"probability above {NAMED_FROM:g}"
    if not rows:
        return [f"No annotator's traces look unusual ({over})."]
    lines = []
    for kind, words in TRACING.items():
        named = [row | {"on": row["dimension"]} for row in rows if row["kind"] == kind]
        if named:
            which = f" {WORDS['upside_down']['gold' if by_gold else 'majority']}" if kind == "flipped" else ""
            lines.append(f"{words} ({over}): {_names(sorted(named, key=lambda row: -row['probability']))}.{which}")
    return lines


def findings(annotators: Annotators) -> dict[str, Any] | None:
    """Who is a spammer, and who uses a dimension unlike the others, with a probability of at least NAMED_FROM."""
    found = annotators.diagnosis
    if found is None:
        return None
    spammer = found.spammer >= NAMED_FROM
    suspected = (found.spammer >= SUSPECTED_FROM) & ~spammer
    styles = [
        row
        for kind in STYLES
        for d in range(len(annotators.dimensions))
        for row in _of_dimension(annotators, kind, d, _probability(found, kind)[:, d], spammer)
    ]
    people = {"annotator": annotators.annotators, "probability": [_rounded(p) for p in found.spammer]}
    return {
        "named_from": NAMED_FROM,
        "expected_spammers": round(float(found.spammer[annotators.ratings > 0].sum()), 2),
        "spammers": rows_of(people, _most_probable(found.spammer, spammer)),
        "suspected": rows_of(people, _most_probable(found.spammer, suspected)),
        "styles": styles,
    }


def _probability(found: Diagnosis, kind: str) -> np.ndarray:
    """(K, D) of a style; of harmful answers the sum of what may be wrong, 0 where it is clear what."""
    if kind != "harmful":
        return found.of_kind(kind)
    parts = np.stack([found.of_kind(name) for name in HARMFUL])
    return np.asarray(np.where((parts >= NAMED_FROM).any(axis=0), 0.0, parts.sum(axis=0)))


def finding_lines(data: dict[str, Any], annotators: int) -> list[str]:
    """The same for a person to read."""
    least, spammers = f"{data['named_from']:g}", data["spammers"]
    over = f"probability above {least}"
    has = "annotator has" if annotators == 1 else "annotators has" if len(spammers) == 1 else "annotators have"
    who = f"{len(spammers)} of {annotators} {has}" if spammers else "No annotator has"
    named = f": {_names(spammers)}" if spammers else ""
    expected = f"expected number of spammers: {data['expected_spammers']:.1f} of {annotators}"
    lines = [f"{who} a spammer probability above {least} ({expected}){named}."]
    if data.get("suspected"):
        lines.append(f"Spammer probability of {SUSPECTED_FROM:g} to {least}: {_names(data['suspected'])}.")
    for kind, words in STYLES.items():
        own = [row for row in data["styles"] if row["style"] == kind]
        rows = [
            row | {"on": f"{row['dimension']} for {row['follows']}" if kind == "swapped" else row["dimension"]}
            for row in own
        ]
        if rows:
            lines.append(f"{words} ({over}): {_names(sorted(rows, key=lambda row: -row['probability']))}.")
    return lines


def differ_in_reliability(annotators: Annotators, ranked: np.ndarray, known: np.ndarray) -> bool:
    """Whether the annotators `ranked` (n,) differ in reliability on a dimension `known` (D,) bool beyond chance.

    By Fisher's z of validity, the root of reliability, each with the error that its interval has towards the others:
    by Cochran's Q, which sees many small differences, or by the largest, which sees a single annotator. Models that
    give no intervals are believed.
    """
    if annotators.ends is None:
        return True
    z = [np.arctanh(np.sqrt(part[ranked])) for part in (annotators.reliability, *annotators.ends["reliability"])]
    value, low, high = z
    dims = np.flatnonzero(known)
    return any(_differ(value[:, d], low[:, d], high[:, d], CHANCE / 2 / len(dims)) for d in dims)


def _differ(x: np.ndarray, low: np.ndarray, high: np.ndarray, chance: float) -> bool:
    """Whether numbers x (n,) with 90 % intervals differ, which equal ones are called so often by either test."""
    told = np.isfinite(x + low + high)
    n = int(told.sum())
    if n < 2:
        return False
    x, low, high = x[told], low[told], high[told]
    # Ends are those of Student's t, since level and unit of all are uncertain, which makes nobody differ from others.
    error = np.where(x < np.median(x), high - x, x - low) / half_width(INTERVAL, max(n - 1, 2))
    weight = 1 / np.maximum(error, TINY) ** 2
    square = SHRUNKEN * weight * (x - weight @ x / weight.sum()) ** 2
    return bool(chdtrc(n - 1, square.sum()) < chance or n * chdtrc(1, square.max()) < chance)


def _of_dimension(
    annotators: Annotators, kind: str, d: int, probability: np.ndarray, spammer: np.ndarray
) -> list[dict[str, Any]]:
    assert annotators.diagnosis is not None
    return [
        {
            "annotator": annotators.annotators[k],
            "dimension": annotators.dimensions[d],
            "style": kind,
            "probability": _rounded(probability[k]),
        }
        | (
            {"follows": annotators.dimensions[int(annotators.diagnosis.swapped[k, d].argmax())]}
            if kind == "swapped"
            else {}
        )
        for k in _most_probable(probability, (probability >= NAMED_FROM) & ~spammer)
    ]


def _most_probable(probability: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    index = np.flatnonzero(chosen)
    return index[np.argsort(-probability[index], kind="stable")]


def _rounded(probability: float) -> float:
    # Never certain: what a model says with probability one it says under its assumptions.
    return min(round(float(probability), 3), 0.999)


def _names(rows: list[dict[str, Any]]) -> str:
    shown = [
        f"'{row['annotator']}' {row['on']} ({row['probability']:.3f})"
        if "on" in row
        # A spammer is one on every dimension.
        else f"'{row['annotator']}' ({row['probability']:.3f})"
        for row in rows[:NAMED]
    ]
    more = len(rows) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
