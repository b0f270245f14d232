"""What deserves attention beyond the table itself, as alerts and in words.

Shared signal: dimensions on which annotators do not agree more than chance allows. Duplicates: annotators whose answers
agree more than chance allows. Gold: known truths that fit the ratings no better than one more rating would. Kinds: who
defines the truth, and whether human labels confirm the judges. Checks of the table alone are `check_ratings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unisono.errors import spoken
from unisono.fusers import crowd, fuser
from unisono.maths.raters.rater_signal import SharedSignal
from unisono.maths.structure_words import Counting
from unisono.tables.labels import listed
from unisono.tables.rating_checks import Alert, check_ratings, wild_alerts
from unisono.tables.ratings import Ratings

COPIES = "copies"  # the kind of alert
NAMED = 8  # annotators of one set that are named
COUNTED_ONCE = (
    "They are merged and weighted as one annotator; --copies keep (copies='keep' in Python) keeps them apart."
)
COUNTED_EACH = "They are kept apart, as was asked for."
ALONE = "Nobody else rated these items, so they are kept apart: the result rests on one independent annotator."
WILL_COUNT_ONCE = "`unisono fuse` merges them and weights them as one annotator; the agreement figures keep them apart."


def copy_alerts(copies: crowd.Copies, counted: str = WILL_COUNT_ONCE) -> list[Alert]:
    """One alert for each set of copies; `counted` says what became of them."""
    return [Alert(COPIES, "warning", spoken(f"{_copy_words(one)} {counted}"), one.annotators) for one in copies.sets]


def how_counted(merged: bool | None) -> str:
    """What became of the copies in a fusion: whether they could be merged; None if they were not to."""
    if merged is None:
        return COUNTED_EACH
    return COUNTED_ONCE if merged else ALONE


def _copy_words(one: crowd.CopySet) -> str:
    names = len(one.annotators)
    most_alike = "Two of them" if names > 2 else "They"
    so = (
        f"Annotators {listed(one.annotators, NAMED)} look like duplicates of one annotator "
        f"(probability {one.probability:.3f})."
    )
    if one.traces:
        return (
            f"{so} What the others do not explain of their traces correlates {one.equal:.3f} over the {one.answers:,} "
            f"frames that both rated; {one.by_chance:.2f} is usual here."
        )
    return (
        f"{so} {most_alike} gave the same answer to {_percent(one.equal)} of the "
        f"{one.answers:,} questions that both answered; {_percent(one.by_chance)} would be chance."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


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
    words = WILL_COUNT_ONCE
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
        Alert(NO_SIGNAL, "warning", _signal_words(name, float(share), float(error)), (name,))
        for name, share, error, unclear in zip(
            dimensions, signal.share, signal.error, signal.told & ~signal.clear, strict=True
        )
        if unclear
    ]


def _signal_words(dimension: str, share: float, error: float) -> str:
    return (
        f"Annotators do not clearly agree on {dimension}: they share {max(share, 0.0):.2f} of the variance "
        f"of an answer, and answers that share nothing would show {error:.2f} by chance; it may well be nothing. "
        f"If so, the fused {dimension} is noise, and nothing can be said about single annotators."
    )


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
            slope = fuser.interval_words(*(found[key] for key in ("slope", "slope_low", "slope_high")))
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
