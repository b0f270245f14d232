"""Kinds of annotators in words: who defines the truth, what judges do in common, whether labels bear them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono.data.checks import Alert

NO_REFERENCE, ASSUMED, USELESS = "no-reference", "assumed-share", "useless-judges"
FEW_LABELS, OTHER_UNITS, FAMILIES = "few-labels", "other-units", "judges-of-several-kinds"
AGAINST = "reference-against-the-others"
KIND_WARNINGS = (NO_REFERENCE, USELESS, AGAINST)  # alerts that are said at once
ENOUGH_LABELS = 10  # labelled items below which intervals were too narrow on record
RELIABLE = 0.3  # convention: share of the variance of labels that is truth below which labels are doubted as well
CLEAR_LABELS = 20  # convention: labelled items below which useless judges are but a suspicion


def kind_alerts(notes: dict[str, Any]) -> list[Alert]:
    """What about the kinds of annotators deserves a look."""
    return list(_alerts(notes["kinds"])) if "kinds" in notes else []


def _alerts(kinds: dict[str, Any]) -> Iterator[Alert]:
    if kinds["reference"] is None:
        judges = kinds["groups"][0]["judges"]
        yield Alert(NO_REFERENCE if judges else ASSUMED, "warning" if judges else "note", _unseen(kinds), ())
        return
    others = " and ".join(f"'{one['kind']}'" for one in kinds["groups"][1:])
    if kinds["belief"] < 1:
        share, reliable = _mean(kinds["foretold"]), _mean(kinds["reliable"])
        chance = f" With {kinds['labelled_items']} labelled items this may be chance."
        message = (
            f"Ratings of the kind {others} foretell next to nothing of those of '{kinds['reference']}' "
            f"({max(share, 0.0):.2f} of their variance, of which {reliable:.2f} is not noise), so they count for "
            f"{kinds['belief']:.0%} and the mean of '{kinds['reference']}' for the rest. Items that nobody else rated "
            f"are hardly known: look at what these annotators were asked."
            f"{chance if kinds['labelled_items'] < CLEAR_LABELS else ''}"
            f"{_noisy(kinds['reference']) if reliable < RELIABLE else ''}"
        )
        yield Alert(USELESS, "warning", message, tuple(one["kind"] for one in kinds["groups"][1:]))
    for name, slope in kinds.get("against", {}).items():
        message = (
            f"On '{name}' the ratings by '{kinds['reference']}' run against those of {others} (slope {slope:.2g}): one "
            "of the two has the scale upside down, and nothing here tells which. Turn the one round that has."
        )
        yield Alert(AGAINST, "warning", message, (name,))
    if kinds["labelled_items"] < ENOUGH_LABELS:
        message = (
            f"'{kinds['reference']}' rated only {kinds['labelled_items']} items: with fewer than {ENOUGH_LABELS}, "
            "intervals of the others are too narrow."
        )
        yield Alert(FEW_LABELS, "warning", message, (kinds["reference"],))
    judges = [f"'{one['kind']}'" for one in kinds["groups"][1:] if one["judges"]]
    if len(judges) > 1:
        message = (
            f"{' and '.join(judges)} are kinds of their own, so that their errors are taken to be independent. "
            "Judges of different families mostly err together: make them one kind unless you know better."
        )
        yield Alert(FAMILIES, "note", message, tuple(one["kind"] for one in kinds["groups"][1:] if one["judges"]))
    for one in kinds["groups"][1:]:
        if one["own_units"]:
            message = f"'{one['kind']}' rates on a scale of its own; its ratings were standardised by themselves."
            yield Alert(OTHER_UNITS, "note", message, (one["kind"],))


def _noisy(reference: str) -> str:
    return f" Those of '{reference}' are mostly noise: it may be they who follow no truth, and nothing here tells."


def kind_lines(kinds: dict[str, Any]) -> list[str]:
    """The groups as a person reads them."""
    lines = []
    if kinds["reference"] is not None:
        labelled = kinds["labelled_items"]
        lines.append(f"Truth is what '{kinds['reference']}' would say; they rated {labelled:,} items.")
    for one in kinds["groups"]:
        if one["kind"] == kinds["reference"]:
            continue
        lines.append(
            f"  {one['kind']}: {one['annotators']} annotators, worth {_span(one['effective'], 1)} independent ones "
            f"(shared error {_span(one['share'])} of their error)"
        )
        if kinds["reference"] is not None:
            lines.append(f"    leniency {_span(one['leniency'])}, gain {_span(one['gain'])}")
    if kinds["reference"] is not None:
        lines.append(f"  They foretell {_span(kinds['foretold'])} of the variance of the reference's ratings.")
    return lines


def first_line(kinds: dict[str, Any]) -> list[str]:
    """What has to be known before anything else is read."""
    return [_unseen(kinds), ""] if kinds["reference"] is None else []


def _unseen(kinds: dict[str, Any]) -> str:
    (group,) = kinds["groups"]
    who, share = f"{group['annotators']} annotators", f"{_mean(group['share']):.0%}"
    if not group["judges"]:
        return f"The errors of the {who} are assumed to be shared to {share} (--shared); their ratings do not show it."
    return (
        f"No rating by people: what the {who} ('{group['kind']}') do in common (level, scale, shared error) cannot be "
        f"seen. Their errors are assumed to be shared to {share} (--shared); a few ratings by people would show it, "
        "and no assumption makes up for them."
    )


def _span(values: dict[str, float | None], digits: int = 2) -> str:
    """`.31`, or `.12 to .45` over dimensions."""
    known = sorted(value for value in values.values() if value is not None and value == value)
    if not known:
        return "?"
    low, high = f"{known[0]:.{digits}f}", f"{known[-1]:.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _mean(values: dict[str, float]) -> float:
    known = [value for value in values.values() if value == value]
    return sum(known) / max(len(known), 1)
