"""What deserves attention beyond the table itself, as alerts and in words.

Shared signal: dimensions on which annotators do not agree more than chance allows. Duplicates: annotators whose answers
agree more than chance allows. Gold: known truths that fit the ratings no better than one more rating would. Kinds: who
defines the truth, and whether human labels confirm the judges. Checks of the table alone are `check_ratings`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from unisono.errors import spoken
from unisono.fusers import crowd, fuser
from unisono.maths.raters.rater_signal import SharedSignal
from unisono.maths.structure_words import Counting
from unisono.tables import Ratings, listed
from unisono.tables.rating_checks import Alert, check_ratings, wild_alerts

COPIES = "copies"  # the kind of alert
NAMED = 8  # annotators of one set that are named
WORDS = tomllib.loads(Path(__file__).with_name("finding_words.toml").read_text(encoding="utf-8"))


def said(about: str, what: str, /, **slots: Any) -> str:
    """A sentence of finding_words.toml with its slots filled in."""
    return str(WORDS[about][what].format(**slots))


def copy_alerts(copies: crowd.Copies, counted: str) -> list[Alert]:
    """One alert for each set of copies; `counted` says what became of them."""
    return [Alert(COPIES, "warning", spoken(f"{_copy_words(one)} {counted}"), one.annotators) for one in copies.sets]


def how_counted(merged: bool | None) -> str:
    """What became of the copies in a fusion: whether they could be merged; None if they were not to."""
    return said("copies", "each" if merged is None else "once" if merged else "alone")


def _copy_words(one: crowd.CopySet) -> str:
    most_alike = "Two of them" if len(one.annotators) > 2 else "They"
    share = {"equal": f"{100 * one.equal:.0f} %", "by_chance": f"{100 * one.by_chance:.0f} %"}
    how = said("copies", "traces" if one.traces else "items", one=one, most_alike=most_alike, **share)
    return f"{said('copies', 'who', who=listed(one.annotators, NAMED), one=one)} {how}"


NO_SIGNAL = "no-shared-signal"  # the kind of alert


def rating_alerts(ratings: Ratings, copies: Counting | None = None) -> list[Alert]:
    """What in the ratings deserves a look, the gravest first; `copies` says how a fusion counted them.

    Copies agree with each other whatever they answer: what annotators share is told without them.
    """
    return [*_crowd_alerts(ratings, copies), *check_ratings(ratings)]


def urgent_alerts(ratings: Ratings, copies: Counting) -> list[Alert]:
    """Those of them that a fusion warns of at once, without looking for the others."""
    return [*_crowd_alerts(ratings, copies), *wild_alerts(ratings)]


def _crowd_alerts(ratings: Ratings, copies: Counting | None) -> list[Alert]:
    counted = crowd.count_copies(ratings, copies or "merge")
    words = said("copies", "later")
    if copies is not None:
        words = how_counted(None if copies == "keep" else counted is not ratings)
    return [
        *signal_alerts(ratings.dimensions, crowd.crowd_signal(counted)),
        *copy_alerts(crowd.crowd_copies(ratings), words),
    ]


def unclear_dimensions(dimensions: Sequence[str], signal: SharedSignal | None) -> tuple[str, ...]:
    """The dimensions of those alerts."""
    return tuple(alert.labels[0] for alert in signal_alerts(dimensions, signal))


def nothing_shared(unclear: Sequence[str], dimensions: Sequence[str], so: str) -> str:
    """Results that rest on a shared signal, where there may be none: on what, and what that means for them."""
    where = "any dimension" if len(unclear) == len(dimensions) > 1 else listed(unclear, len(unclear))
    return f"Annotators do not clearly agree on {where}: {so}"


def signal_alerts(dimensions: Sequence[str], signal: SharedSignal | None) -> list[Alert]:
    """One alert for each dimension on which annotators do not clearly agree more than chance would let them.

    Nothing is said of dimensions with too few items to tell, nor where there is no signal to speak of (traces).
    """
    if signal is None:
        return []
    return [
        Alert(NO_SIGNAL, "warning", said("signal", "unclear", name=name, share=max(share, 0.0), error=error), (name,))
        for name, share, error, unclear in zip(
            dimensions, signal.share, signal.error, signal.told & ~signal.clear, strict=True
        )
        if unclear
    ]


DOUBTED = "doubted-gold"  # the kind of alert; a fusion warns of it at once


def gold_lines(gold: dict[str, Any]) -> list[str]:
    """What known truths changed, dimension by dimension."""
    lines = [f"Known truths of {gold['items']} item{'s' * (gold['items'] != 1)}:"]
    for name, found in gold.items():
        if name == "items" or found["error"] is None:
            continue
        lines.append(f"  {name:<16} {said('gold', 'turned' if found['turned'] else 'moved', **found)}")
        if found.get("slope") is not None:
            obeyed = "; another meaning, obeyed as you asked" if found.get("refuted") else ""
            slope = fuser.interval_words(*(found[key] for key in ("slope", "slope_low", "slope_high")))
            lines.append(f"  {'':<16} their slope on the estimates without them: {slope}{obeyed}")
    return lines


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
    return said("gold", "doubt", name=name, how=said("gold", "hidden" if found["turned"] else "beside", **found))


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
        yield Alert(NO_REFERENCE if judges else ASSUMED, "warning" if judges else "note", spoken(_unseen(kinds)), ())
        return
    groups = kinds["groups"][1:]
    judges = tuple(one["kind"] for one in groups if one["judges"])
    share, reliable = _mean(kinds["foretold"]), _mean(kinds["reliable"])
    slots = kinds | {"others": _quoted(one["kind"] for one in groups), "share": max(share, 0.0), "reliable": reliable}
    slots |= {"enough": ENOUGH_LABELS, "judges": _quoted(judges)}

    def alert(about: str, severity: str, *labels: str, more: Sequence[str] = (), **further: Any) -> Alert:
        return Alert(about, severity, "".join(said("kinds", one, **slots | further) for one in (about, *more)), labels)

    if kinds["belief"] < 1:
        doubts = {"chance": kinds["labelled_items"] < CLEAR_LABELS, "noisy": reliable < RELIABLE}
        more = [name for name, so in doubts.items() if so]
        yield alert(USELESS, "warning", *(one["kind"] for one in groups), more=more)
    for name, slope in kinds.get("against", {}).items():
        yield alert(AGAINST, "warning", name, name=name, slope=slope)
    if kinds["labelled_items"] < ENOUGH_LABELS:
        yield alert(FEW_LABELS, "warning", kinds["reference"])
    if len(judges) > 1:
        yield alert(FAMILIES, "note", *judges)
    for one in groups:
        if one["own_units"]:
            yield alert(OTHER_UNITS, "note", one["kind"], kind=one["kind"])


def _quoted(kinds: Iterable[str]) -> str:
    return " and ".join(f"'{kind}'" for kind in kinds)


def kind_lines(kinds: dict[str, Any]) -> list[str]:
    """The groups as a person reads them."""
    known = kinds["reference"] is not None
    lines = [said("kinds", "truth", **kinds)] if known else []
    for one in kinds["groups"]:
        if one["kind"] != kinds["reference"]:
            spans = {"effective": _span(one["effective"], 1), "share": _span(one["share"])}
            lines.append(said("kinds", "worth", **one | spans))
            lines += [f"    leniency {_span(one['leniency'])}, gain {_span(one['gain'])}"] if known else []
    return [*lines, said("kinds", "foretold", foretold=_span(kinds["foretold"]))] if known else lines


def first_line(kinds: dict[str, Any]) -> list[str]:
    """What has to be known before anything else is read."""
    return [_unseen(kinds), ""] if kinds["reference"] is None else []


def _unseen(kinds: dict[str, Any]) -> str:
    (group,) = kinds["groups"]
    return said("kinds", NO_REFERENCE if group["judges"] else ASSUMED, **group, shared=f"{_mean(group['share']):.0%}")


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
