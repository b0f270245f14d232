"""The summary of a fusion: plain values for summary.json, and the text that `fuse` prints.

Traces have two more sentences: what the time axis means, since ratings show only differences between delays, and in
what unit the truth is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.evaluate import annotator_findings
from unisono.evaluate.alerts import NO_SIGNAL, first_line, gold_lines, kind_lines, nothing_shared, said
from unisono.fusers.fusion_results import Annotators, Fit
from unisono.tables import Ratings, item_table, labels
from unisono.tables.rating_checks import Alert


def delay_words(notes: dict[str, Any]) -> str | None:
    """A sentence or two about delays, from the notes of a fuser; None for ratings of items."""
    convention = notes.get("delay_convention")
    if convention is None:
        return None
    if convention == "aligned":
        given = notes.get("delay_given")
        return said("delays", "aligned", less=f", less {given:g} s as given" if given else "")
    if notes["mean_delay"] is None:
        return said("delays", "unmoved")
    return f"{said('delays', 'relative')} {said('delays', convention, lag=format(notes['mean_delay'], 'g'))}"


def unit_words(notes: dict[str, Any], dimensions: tuple[str, ...] | list[str]) -> str | None:
    """A sentence or two, from the notes of a fuser; None where annotators share a scale by assumption."""
    unit = notes.get("unit")
    if unit is None:
        return None
    sd = ", ".join(f"{name} {value:g}" for name, value in zip(dimensions, notes["truth_sd"], strict=True))
    return said("units", unit, factor=notes["gain_factor"], sd=sd, up=said("up", notes["direction"]))


LONG_NAME = 40  # characters from which a name is not waited for when others are aligned
SHOWN = 3  # annotators named at either end
ENOUGH = 5  # ratings below which an annotator is not ranked


def summarise(
    fit: Fit, ratings: Ratings, annotators: Annotators, alerts: Sequence[Alert], notes: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What was fused, how far annotators agree, who is reliable, what to look at; `notes` of the fuser come last."""
    clock = ratings.clock
    series = {} if clock is None else {"rate": clock.rate, "seconds": float(ratings.length.sum() / clock.rate)}
    counts = Counts(
        ratings.M,
        ratings.K,
        ratings.dimensions,
        ratings.J,
        int((~np.isnan(ratings.value)).sum()),
        ratings.value.size,
        item_table.reading_data(ratings),
        ratings.is_series,
    )
    return series | summary_of(fit, counts, annotators, alerts, notes)


class Counts(NamedTuple):
    """How much was fused, and how it was read."""

    items: int
    annotators: int
    dimensions: tuple[str, ...]
    judgements: int
    numbers: int
    cells: int  # numbers, had everybody answered everything they were asked
    reading: dict[str, Any] | None
    series: bool = False


def summary_of(
    fit: Fit, counts: Counts, annotators: Annotators, alerts: Sequence[Alert], notes: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The same of ratings that need not be at hand."""
    notes = {} if notes is None else notes
    unclear = [alert.labels[0] for alert in alerts if alert.kind == NO_SIGNAL]
    unranked = _why_unranked(annotators, unclear, known=bool(notes.get("gold")))
    # A single trace is many ratings.
    best, worst = ([], []) if unranked else _ends(annotators, 1 if counts.series else ENOUGH, unclear)
    words = delay_words(notes)
    told = notes | ({} if words is None else {"delay_words": words})
    unit = unit_words(notes, counts.dimensions)
    told |= {} if unit is None else {"unit_words": unit}
    return {
        "reading": counts.reading,
        "model": fit.model,
        "items": counts.items,
        "annotators": counts.annotators,
        "dimensions": list(counts.dimensions),
        "judgements": counts.judgements,
        "numbers": counts.numbers,
        "missing_share": round(1 - counts.numbers / max(counts.cells, 1), 6),
        "ratings_per_item": round(counts.judgements / max(counts.items, 1), 3),
        "agreement": {name: _typical(annotators.agreement[:, d]) for d, name in enumerate(counts.dimensions)},
        "most_reliable": best,
        "least_reliable": worst,
        "unranked": unranked,
        "alike": "" if unranked or best else said("reliability", "alike"),
        "unclear": unclear,
        "diagnosis": annotator_findings.findings(annotators),
        "tracing": annotator_findings.tracing_findings(annotators),
        "iterations": fit.trace.iterations,
        "stop": fit.trace.stop,
        "objective": fit.trace.path(),
        "alerts": [{"kind": alert.kind, "severity": alert.severity, "message": alert.message} for alert in alerts],
        "provenance": fit.provenance,
        **told,
    }


def summary_text(data: dict[str, Any]) -> str:
    """The summary as a person reads it."""
    kinds = data.get("kinds")
    lines = [
        *(first_line(kinds) if kinds else []),
        *item_table.reading_lines(data["reading"]),
        f"Fused {_what(data)} by {labels.counted(data['annotators'], 'annotator')} "
        f"on {labels.counted(len(data['dimensions']), 'dimension')} "
        f"({', '.join(data['dimensions'])}) with the model '{data['model']}'.",
        f"{_each(data)}: {data['ratings_per_item']:g}; missing answers: {100 * data['missing_share']:.1f} %.",
        "",
        "Correlation of an annotator with the truth fused from the others (median over annotators):",
        *_aligned([(name, _number(value)) for name, value in data["agreement"].items()]),
    ]
    if kinds:
        lines += ["", *kind_lines(kinds)]
    for title, key in (("Most reliable annotators", "most_reliable"), ("Least reliable annotators", "least_reliable")):
        if data[key]:
            lines += ["", f"{title} (share of the variance of their ratings that is due to the truth):"]
            lines += _aligned(
                [
                    (who["annotator"], f"{_number(who['reliability'])}   {_given(data, who['ratings'])}")
                    for who in data[key]
                ]
            )
    if why := data["unranked"] or data.get("alike"):
        lines += ["", why]
    if data.get("windows_tried"):
        tried = ", ".join(f"{one['name']}: {one['rmse']:.4f}" for one in data["windows_tried"])
        lines += ["", f"Error on held-out stretches, in standard deviations of the ratings, by window: {tried}."]
    if data.get("delay_words"):
        lines += ["", f"Time: {data['delay_words']}"]
    if data.get("unit_words"):
        lines += ["", f"Unit: {data['unit_words']}"]
    if data["diagnosis"] is not None:
        lines += ["", *annotator_findings.finding_lines(data["diagnosis"], data["annotators"])]
    if data.get("tracing") is not None:
        lines += ["", *annotator_findings.tracing_lines(data["tracing"], data.get("direction") == "gold")]
    if data.get("response"):
        where = f"{data['response']['dimensions']} of {len(data['dimensions'])} dimensions"
        lines += ["", f"Ratings at the minimum or maximum of the scale are treated as censored on {where}."]
    if data.get("gold"):
        lines += ["", *gold_lines(data["gold"])]
    if data["iterations"]:
        lines += ["", _convergence_line(data)]
    if data["alerts"]:
        lines += ["", "To look at:", *(f"  - {alert['message']}" for alert in data["alerts"])]
    return "\n".join(lines)


def _convergence_line(data: dict[str, Any]) -> str:
    """Whether estimation converged, and whether the objective rose all the way there: two different things."""
    how = "Estimation converged" if data["stop"] == "converged" else "Estimation stopped before it converged,"
    path = data["objective"]
    rose = "the objective rose at every step"
    if path["falls"]:
        times = "once" if path["falls"] == 1 else f"{path['falls']} times, at most"
        rose = f"the objective fell {times} by {path['largest_fall']:.3g} (iteration {path['largest_fall_at']})"
    return f"{how} after {labels.counted(data['iterations'], 'iteration')}; {rose}."


def _what(data: dict[str, Any]) -> str:
    if "rate" not in data:
        return f"{labels.counted(data['judgements'], 'judgement')} of {labels.counted(data['items'], 'item')}"
    traces = f"{labels.counted(data['judgements'], 'trace')} of {labels.counted(data['items'], 'recording')}"
    frames = "frame" if data["rate"] == 1 else "frames"
    return f"{traces} ({data['seconds']:,.0f} s at {data['rate']:g} {frames} per second)"


def _each(data: dict[str, Any]) -> str:
    return "Traces per recording" if "rate" in data else "Ratings per item"


def _given(data: dict[str, Any], count: int) -> str:
    return labels.counted(count, "trace" if "rate" in data else "rating")


def _why_unranked(annotators: Annotators, unclear: Sequence[str], *, known: bool) -> str:
    """Why nobody is called more reliable than others; empty if there is no reason. `known`: some truths are."""
    if unclear and len(unclear) == len(annotators.dimensions):
        return nothing_shared(unclear, annotators.dimensions, "nobody can be called more reliable than others.")
    opinions = int((_first_of_their_set(annotators) & (annotators.ratings > 0)).sum())
    return said("reliability", "two") if opinions == 2 and not known else ""


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    """Names and what is said of them, below each other."""
    width = max([16, *(len(name) for name, _ in rows if len(name) <= LONG_NAME)])
    return [f"  {name:<{width}} {text}" for name, text in rows]


def _ends(
    annotators: Annotators, least: int, unclear: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The most and the least reliable annotators, by mean reliability over dimensions; nobody is in both lists.

    Nobody is in either where they do not differ beyond chance.
    """
    known = np.isfinite(annotators.reliability) & ~np.isin(annotators.dimensions, unclear)
    mean = np.where(known, annotators.reliability, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    ranked = np.flatnonzero((annotators.ratings >= least) & known.any(axis=1) & _first_of_their_set(annotators))
    if not annotator_findings.differ_in_reliability(annotators, ranked, known.any(axis=0)):
        return [], []
    ranked = ranked[np.argsort(-mean[ranked], kind="stable")]
    shown = min(SHOWN, len(ranked) // 2)

    reliability = [round(value, 4) for value in mean.tolist()]
    table = {"annotator": annotators.annotators, "reliability": reliability, "ratings": annotators.ratings}
    return labels.rows_of(table, ranked[:shown]), labels.rows_of(table, ranked[::-1][:shown])


def _first_of_their_set(annotators: Annotators) -> np.ndarray:
    """(K,) one of every set of copies, so that an opinion is named once."""
    everybody = np.arange(len(annotators.annotators))
    return np.ones(len(everybody), dtype=bool) if annotators.voice is None else annotators.voice == everybody


def _typical(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return round(float(np.median(known)), 4) if len(known) else None


def _number(value: float | None) -> str:
    return "   ?" if value is None else f"{value:5.2f}"
