"""Contradictions inside a study file, each with its key, its value and the way out; and whether a reply fits.

The same rule holds for raters, for attention checks and for known truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from unisono.collect.studies.schema import LEAST, LETTERS, Dimension, Question, Study, Value
from unisono.errors import DataError
from unisono.tables.labels import as_number, listed, nearest

# A dimension becomes a column of the export, beside these.
RESERVED = ("item", "recording", "time", "annotator", "repetition")
_NAME = re.compile(r"[^\W\d][\w -]{0,39}")
_LONGEST = 20_000
_YEAR = 365 * 24 * 60
_MOST_QUESTIONS = 40


def check_study(study: Study, path: Path) -> None:
    """Raises the first contradiction found."""
    for finder in _FINDERS:
        for key, value, way_out in finder(study):
            raise DataError(f"{path}: {key} is {value!r}. {way_out}")


Finding = tuple[str, object, str]


def _texts(study: Study) -> Iterator[Finding]:
    if not study.title.strip():
        yield "title", study.title, "Give the study a title; raters see it."
    if not study.texts.instructions.strip():
        yield "texts.instructions", study.texts.instructions, "Tell raters what to do."
    for name in ("instructions", "welcome", "consent", "thanks", "contact"):
        if len(text := getattr(study.texts, name)) > _LONGEST:
            yield f"texts.{name}", text[:40] + "...", f"Shorten it to {_LONGEST} characters."
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", study.language):
        yield "language", study.language, "Write a language code such as 'en' or 'pt-BR'."


def _dimensions(study: Study) -> Iterator[Finding]:
    if not study.dimensions:
        yield "dimensions", [], "Add at least one [[dimensions]] table."
    yield from _names("dimension", study.names, RESERVED)
    for number, dimension in enumerate(study.dimensions, 1):
        where = f"dimensions[{number}]"
        if study.mode == "trace" and dimension.kind != "slider":
            yield f"{where}.kind", dimension.kind, 'Only sliders can be traced: leave it out, or write mode = "rate".'
        if dimension.kind != "slider":
            yield from _offered(where, dimension)
        elif study.mode != "compare":
            yield from _scale(where, dimension)
    if study.dimensions and not study.rated:
        yield "dimensions", study.names, "Add one that is no text: a slider, a Likert scale or a choice."


def _names(what: str, names: Sequence[str], reserved: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the names of dimensions, or of questions."""
    for number, name in enumerate(names, 1):
        key = f"{what}s[{number}].name"
        if not _NAME.fullmatch(name):
            yield key, name, "Start with a letter; use letters, digits, '_', '-', at most 40."
        if name.lower() in reserved:
            yield key, name, "The export has a column of that name; choose another."
        if name in names[: number - 1]:
            yield key, name, f"Another {what} has this name; choose another."


def _scale(where: str, dimension: Dimension) -> Iterator[Finding]:
    if dimension.choices:
        yield (
            f"{where}.choices",
            dimension.choices,
            'Sliders have anchors; write kind = "choice" or "likert" for these.',
        )
    if not all(map(math.isfinite, (dimension.min, dimension.max, dimension.step))):
        yield f"{where}.min", dimension.min, "min, max and step must be finite numbers."
    if dimension.min >= dimension.max:
        yield f"{where}.min", dimension.min, f"It must lie below max, which is {dimension.max}."
    if not 0 < dimension.step <= dimension.max - dimension.min:
        yield f"{where}.step", dimension.step, "It must be above 0 and no wider than the scale."
    if len(dimension.anchors) < 2:
        yield f"{where}.anchors", dimension.anchors, "Label at least both ends; a bare scale means nothing to raters."
    for point in dimension.points:
        if not dimension.min <= point.at <= dimension.max:
            yield f"{where}.anchors", point.at, f"Put the anchor between {dimension.min} and {dimension.max}."


def _offered(where: str, dimension: Dimension) -> Iterator[Finding]:
    if dimension.anchors:
        yield f"{where}.anchors", dimension.anchors, "Only sliders have anchors; label answers with choices."
    yield from check_choices(where, dimension)
    if dimension.kind == "choice":
        yield from check_categories(where, dimension)


def _questions(study: Study) -> Iterator[Finding]:
    yield from _names("question", [question.name for question in study.questions], ("annotator",))
    for number, question in enumerate(study.questions, 1):
        where = f"questions[{number}]"
        if not question.question.strip():
            yield f"{where}.question", question.question, "Write what raters are asked."
        yield from check_choices(where, question)
        yield from check_number(where, question)
    for when in PAGES:
        if (count := sum(question.when == when for question in study.questions)) > _MOST_QUESTIONS:
            yield "questions", f"{count} {when}", f"Ask at most {_MOST_QUESTIONS} on a page."


def _pads(study: Study) -> Iterator[Finding]:
    used: set[str] = set()
    for number, pad in enumerate(study.pads, 1):
        for axis, name in (("x", pad.x), ("y", pad.y)):
            key = f"pads[{number}].{axis}"
            if name not in study.names:
                yield key, name, _known(name, study.names, "dimensions")
            if study.dimensions[study.names.index(name)].kind != "slider":
                yield key, name, "A pad joins two sliders, and this is none."
            if name in used:
                yield key, name, "A dimension can be on one axis only."
            used.add(name)


def _items(study: Study) -> Iterator[Finding]:
    items = study.items
    for key, least in (("per_regime", 1), ("count", 1), ("seconds", 1.0)):
        if not getattr(items, key) >= least:
            yield f"items.{key}", getattr(items, key), f"It must be at least {least}."
    if items.seconds > 3600:
        yield "items.seconds", items.seconds, "Make it an hour at most."
    for key in ("hold", "move"):
        low, high = getattr(items, key)
        if not 0 < low <= high:
            yield f"items.{key}", [low, high], "Write [least, most] seconds, both above 0."
    if not items.regimes or len(set(items.regimes)) < len(items.regimes):
        yield "items.regimes", items.regimes, "Name one or both of 'saturation' and 'brightness', each once."
    if study.practice.count < 0:
        yield "practice.count", study.practice.count, "Use 0 for no practice, or a number above it."
    if items.source in ("colours", "walks"):
        yield from _colour_names(study)
    still = items.source in ("colours", "table") or (items.source == "files" and items.media in ("image", "text"))
    if study.mode != "trace" and items.source == "walks":
        yield "mode", study.mode, 'Colours that move are traced: write mode = "trace", or choose another source.'
    if study.mode == "trace" and still:
        yield "mode", study.mode, "Only moving items can be traced: source 'walks', or files that are video or audio."


def _colour_names(study: Study) -> Iterator[Finding]:
    if not 0 <= study.items.fixed <= 100:
        yield "items.fixed", study.items.fixed, "Saturation and brightness go from 0 to 100."
    for number, dimension in enumerate(study.dimensions, 1):
        if dimension.name in ("saturation", "brightness") and (dimension.min, dimension.max) != (0, 100):
            yield f"dimensions[{number}].max", dimension.max, f"The truth of {dimension.name} runs from 0 to 100."
    if not set(study.names) & {"saturation", "brightness"}:
        yield "dimensions", study.names, "Name one of them 'saturation' or 'brightness': their truth is known."


def _design(study: Study) -> Iterator[Finding]:
    for key in ("ratings_per_item", "items_per_rater", "break_every"):
        if getattr(study.design, key) < 0:
            yield f"design.{key}", getattr(study.design, key), "Use 0 for no limit, or a number above it."
    if not 0 <= study.design.play_share <= 1:
        yield "design.play_share", study.design.play_share, "Choose a share from 0 (none of it) to 1 (all of it)."
    if not 0 < study.design.free_after_minutes <= _YEAR:
        yield "design.free_after_minutes", study.design.free_after_minutes, "Choose minutes above 0, a year at most."


def _reference(study: Study) -> Iterator[Finding]:
    if study.reference is None:
        return
    if study.reference.every < 1:
        yield "reference.every", study.reference.every, "It must be 1 or more: a reference after so many items."
    if study.items.source == "colours":
        for name in ("saturation", "brightness"):
            value = study.reference.values.get(name)
            if value is None or not 0 <= value <= 100:
                yield f"reference.values.{name}", value, "Give a number from 0 to 100."
    elif not study.reference.items:
        yield "reference.items", [], "Name the items that serve as hidden references."


def _attention(study: Study) -> Iterator[Finding]:
    for number, check in enumerate(study.checks, 1):
        key = f"checks[{number}]"
        if check.after < 1:
            yield f"{key}.after", check.after, "It must be 1 or more: the check comes after so many items."
        if not check.expected:
            yield f"{key}.expected", {}, "Say which value each dimension should get."
        for name, value in check.expected.items():
            asked = {one.name: one for one in study.asked}
            if name not in asked:
                yield f"{key}.expected", name, _known(name, list(asked), "dimensions")
            yield from _expected(f"{key}.expected.{name}", asked[name], value)
        if check.id and check.id in [one.id for one in study.checks[: number - 1]]:
            yield f"{key}.id", check.id, "Another check has this id; choose another."
        if not check.tolerance >= 0:
            yield f"{key}.tolerance", check.tolerance, "It must be 0 or more."


def _expected(key: str, asked: Dimension, value: Value) -> Iterator[Finding]:
    if asked.kind == "text":
        yield key, value, "Attention checks ask for no free text; name another dimension."
    elif asked.kind == "choice" and value not in asked.choices:
        yield key, value, _known(str(value), asked.choices, "choices")
    elif reply_fault(asked, value):
        low, high = asked.ends
        whole = " in whole numbers" if asked.kind == "likert" else ""
        yield key, value, f"The scale runs from {low} to {high}{whole}."


def _raters(study: Study) -> Iterator[Finding]:
    raters = study.raters
    if raters.return_url and urlsplit(raters.return_url).scheme != "https":
        yield "raters.return_url", raters.return_url, "It must start with https://."
    if raters.source == "prolific" and not raters.completion_code:
        yield "raters.completion_code", "", "Copy the completion code from your study's page at Prolific."
    for key in ("completion_code", "full_code"):
        if not re.fullmatch(r"[\w-]{0,40}", code := getattr(raters, key)):
            yield f"raters.{key}", code, "Use letters, digits, '_' and '-', at most 40."
    if raters.full_code and raters.full_code == raters.completion_code:
        yield "raters.full_code", raters.full_code, "Choose another code than that of those who have finished."
    for key in ("requests_per_second", "joins_per_minute", "raters", "events_per_rater"):
        value = getattr(study.limits, key)
        if not (value > 0 and math.isfinite(value)):
            yield f"limits.{key}", value, "It must be a number above 0."


def _compare(study: Study) -> Iterator[Finding]:
    """Comparisons ask who has more, or most and least, and show nothing alone."""
    if study.compare.partners < 0:
        yield "compare.partners", study.compare.partners, "Use 0 for all others, or a number above it."
    if not 2 <= study.compare.together <= len(LETTERS):
        yield "compare.together", study.compare.together, f"Show 2 to {len(LETTERS)} items at a time."
    several = study.mode == "compare" and study.compare.together > 2
    for number, dimension in enumerate(study.dimensions, 1):
        if several and dimension.kind != "text" and not dimension.least.strip():
            yield f"dimensions[{number}].least", "", "Ask which item has least of it; question asks which has most."
        if not several and dimension.least:
            yield (
                f"dimensions[{number}].least",
                dimension.least,
                "It is asked of three items or more (compare.together).",
            )
        if several and dimension.name + LEAST in study.names:
            yield f"dimensions[{number}].name", dimension.name, f"Choose a name beside '{dimension.name + LEAST}'."
    if study.mode != "compare":
        return
    for number, dimension in enumerate(study.dimensions, 1):
        if dimension.kind not in ("slider", "text"):
            yield (
                f"dimensions[{number}].kind",
                dimension.kind,
                "Raters say which of two has more: leave kind out.",
            )
    if study.pads:
        yield "pads", [pad.x for pad in study.pads], "Comparisons have no pad; leave it out."
    if study.reference is not None:
        yield "reference", study.reference.items, "Comparisons have no hidden references; leave [reference] out."
    if study.practice.count or study.practice.items:
        yield "practice", study.practice.items or study.practice.count, "Comparisons are not practised; leave it out."


def _trace(study: Study) -> Iterator[Finding]:
    if not 1 <= study.trace.rate <= 60:
        yield "trace.rate", study.trace.rate, "Choose 1 to 60 samples per second; 25 to 30 is usual."
    if not 0 <= study.trace.countdown <= 10:
        yield "trace.countdown", study.trace.countdown, "Choose 0 to 10 seconds."


def _known(name: str, known: list[str], what: str) -> str:
    close = nearest(name, known)
    return f"Did you mean '{close}'?" if close else f"The {what} are {listed(known)}."


_FINDERS = (
    *(_texts, _dimensions, _questions, _pads, _items, _design, _reference, _attention, _raters, _trace, _compare),
)


# What `unisono fuse` takes for a category: so many words, of so many characters.
_MOST_CATEGORIES, _LONGEST_CHOICE = 50, 60
# Countries of the world and then some.
_MOST_CHOICES = 300
# Beyond this a slider is easier to answer.
_MOST_POINTS = 11
# Words that `unisono fuse` and others take for a missing answer.
_EMPTY_WORDS = {"na", "nan", "null"}


def check_choices(where: str, asked: Dimension | Question) -> Iterator[Finding]:
    """What is wrong with the answers of a question that is no slider."""
    key = f"{where}.choices"
    if asked.kind in ("text", "number"):
        if asked.choices:
            yield key, asked.choices, 'This kind offers none; write kind = "choice" to offer them.'
        return
    if len(asked.choices) < 2:
        yield key, asked.choices, "Offer at least two."
    labels = [label.strip() for label in asked.choices]
    if asked.kind == "likert":
        yield from _likert(key, labels)
    else:
        yield from _words(key, labels)
    yield from _doubled(key, labels)


def check_categories(where: str, asked: Dimension) -> Iterator[Finding]:
    """What keeps the words of a choice from being read as categories."""
    key = f"{where}.choices"
    if len(asked.choices) > _MOST_CATEGORIES:
        yield key, f"{len(asked.choices)} words", f"Offer at most {_MOST_CATEGORIES}."
    for label in map(str.strip, asked.choices):
        if label.lower() in _EMPTY_WORDS:
            yield key, label, "Tables read this as no answer at all; choose another word."
        if as_number(label, comma=True) is not None:
            yield key, label, 'Choices are words; write kind = "likert" for numbers.'


def check_number(where: str, asked: Question) -> Iterator[Finding]:
    """What is wrong with the ends of a number."""
    low, high = asked.min, asked.max
    if asked.kind != "number" and (low, high) != (None, None):
        yield f"{where}.min", low, 'Only numbers have ends; write kind = "number", or leave min and max out.'
    elif (low is None) != (high is None):
        yield f"{where}.min", low, "Give both min and max, or neither."
    elif low is not None and high is not None and not (low < high and math.isfinite(high - low)):
        yield f"{where}.min", low, f"It must lie below max, which is {high}."


def _likert(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST_POINTS:
        yield key, labels, f"Offer at most {_MOST_POINTS} points, or use a slider."
    if not labels[0] or not labels[-1]:
        yield key, labels, "Label at least both ends; a bare scale means nothing to raters."


def _words(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST_CHOICES:
        yield key, f"{len(labels)} words", f"Offer at most {_MOST_CHOICES}."
    for label in labels:
        if not label:
            yield key, label, "Every choice needs a word."
        if len(label) > _LONGEST_CHOICE:
            yield key, label, f"Shorten it to {_LONGEST_CHOICE} characters; the instructions can say more."


def _doubled(key: str, labels: list[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for label in labels:
        if label and label.casefold() in seen:
            yield key, label, "This answer is there twice; choose another word."
        seen.add(label.casefold())


# Characters of a free text; the browser stops there too.
LONGEST_TEXT = 2000
# Of a step, by which sums of decimal fractions may be off.
_ROUNDING = 1e-6
PAGES = ("before", "after")


def reply_fault(asked: Dimension | Question, value: Value) -> str | None:
    """What is wrong with the reply, or None."""
    if asked.kind == "text":
        return _text_fault(asked, value)
    if asked.kind == "choice":
        return None if value in asked.choices else f"{asked.name} must be one of {', '.join(asked.choices)}"
    if isinstance(value, str) or not math.isfinite(value):
        return f"{asked.name} must be a number"
    low, high = asked.ends
    if not low <= value <= high:
        return f"{asked.name} must lie between {low} and {high}"
    if asked.kind == "likert" and value != int(value):
        return f"{asked.name} must be a whole number"
    return None


def step_fault(asked: Dimension, value: Value) -> str | None:
    """What raters answer lies on a step of the slider; what is known to be true may lie between two."""
    if asked.kind != "slider" or isinstance(value, str):
        return None
    steps = (value - asked.min) / asked.step
    # Steps such as 0.1 have no exact form, and browsers let the handle stand at the end where no step falls on it.
    if abs(steps - round(steps)) <= _ROUNDING or value in asked.ends:
        return None
    return f"{asked.name} must lie on a step of {asked.step:g}"


def _text_fault(asked: Dimension | Question, value: Value) -> str | None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return f"{asked.name} must be text of at most {LONGEST_TEXT} characters"
    return f"{asked.name} must not be empty" if asked.required and not value.strip() else None


def questionnaire_fault(study: Study, when: str, replies: Mapping[str, Value]) -> str | None:
    """What is wrong with a page of the questionnaire, or None."""
    page = {question.name: question for question in study.questions if question.when == when}
    if not replies.keys() <= page.keys():
        return "there is no such question"
    if any(question.required and name not in replies for name, question in page.items()):
        return "not all questions are answered"
    return next((fault for name, value in replies.items() if (fault := reply_fault(page[name], value))), None)


def pages_due(study: Study, sent: Collection[str], replies: Collection[str]) -> list[str]:
    """Pages of the questionnaire that a rater has still to fill in: never sent, or edited since to ask for more."""
    return [
        when
        for when in PAGES
        if (page := [question for question in study.questions if question.when == when])
        and (when not in sent or any(question.required and question.name not in replies for question in page))
    ]
