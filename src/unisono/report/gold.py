"""Known truths in words: what they changed, and whether they look like truths at all."""

from __future__ import annotations

from typing import Any

from unisono.data.checks import Alert
from unisono.fusers.gold_refusal import interval_words

DOUBTED = "doubted-gold"  # the kind of alert; a fusion warns of it at once


def gold_lines(gold: dict[str, Any]) -> list[str]:
    """What known truths changed, dimension by dimension."""
    lines = [f"Known truths of {gold['items']} item{'s' * (gold['items'] != 1)}:"]
    for name, found in gold.items():
        if name == "items" or found["error"] is None:
            continue
        if found["turned"]:
            done = "were observations that turned and scaled the dimension"
        else:
            done = f"moved the estimates by {found['offset']:+.3g} and stretched them {found['scale']:.2f} times"
        lines.append(f"  {name:<16} {done}")
        if found.get("slope") is not None:
            slope = interval_words(*(found[key] for key in ("slope", "slope_low", "slope_high")))
            lines.append(f"  {'':<16} their slope on the estimates without them: {slope}{_obeyed(found)}")
    return lines


def _obeyed(found: dict[str, Any]) -> str:
    return "; another meaning, obeyed as you asked" if found.get("refuted") else ""


def gold_alerts(notes: dict[str, Any]) -> list[Alert]:
    """One for each dimension whose known truths agree with the ratings no better than one more rating would.

    Of those that are obeyed though they mean something else, that is known.
    """
    gold = notes.get("gold") or {}
    return [
        Alert(DOUBTED, "warning", _doubt(name, found), (name,))
        for name, found in gold.items()
        if name != "items"
        and found["error"] is not None
        and found["no_better_than_a_rating"]
        and not found.get("refuted")
    ]


def _doubt(name: str, found: dict[str, Any]) -> str:
    error = f"{found['error']:.3g}"
    if found["turned"]:
        doubt = f"are missed by {error} when hidden, as if guessed (they spread by {found['spread']:.3g})"
    else:
        doubt = f"differ from the estimates by {error}, a rating does by {found['rating_error']:.3g}"
    return f"Known truths of '{name}' {doubt}: they look no better than a rating. Are they really known?"
