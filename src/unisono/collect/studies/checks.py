"""Contradictions inside a study file, each with its key, its value and the way out; and whether a reply fits.

The same rule holds for raters, for attention checks and for known truth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from unisono.collect.studies.schema import LEAST, Dimension, Question, Study, Value
from unisono.errors import DataError
from unisono.tables.labels import as_number, meant_among

# A dimension becomes a column of the export, beside these.
RESERVED = ("item", "recording", "time", "annotator", "repetition")
_MOST_QUESTIONS = 40


def check_study(study: Study, path: Path) -> None:
    """Raises the first contradiction found."""
    for finder in _FINDERS:
        for key, value, way_out in finder(study):
            raise DataError(f"{path}: {key} is {value!r}. {way_out}")


Finding = tuple[str, object, str]


def _dimensions(study: Study) -> Iterator[Finding]:
    yield from _names("dimension", study.names, RESERVED)
    for number, dimension in enumerate(study.dimensions, 1):
        where = f"dimensions[{number}]"
        if study.mode == "trace" and dimension.kind != "slider":
            yield f"{where}.kind", dimension.kind, 'Only sliders can be traced: leave it out, or write mode = "rate".'
        if dimension.kind != "slider":
            if dimension.anchors:
                yield f"{where}.anchors", dimension.anchors, "Only sliders have anchors; label answers with choices."
            yield from check_choices(where, dimension)
        elif study.mode != "compare":
            yield from _scale(where, dimension)
    if not study.rated:
        yield "dimensions", study.names, "Add one that is no text: a slider, a Likert scale or a choice."


def _names(what: str, names: Sequence[str], reserved: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the names of dimensions, or of questions."""
    for number, name in enumerate(names, 1):
        key = f"{what}s[{number}].name"
        if name.lower() in reserved:
            yield key, name, "The export has a column of that name; choose another."
        if name in names[: number - 1]:
            yield key, name, f"Another {what} has this name; choose another."


def _scale(where: str, dimension: Dimension) -> Iterator[Finding]:
    if dimension.choices:
        yield f"{where}.choices", dimension.choices, 'Sliders have anchors; write kind = "choice" or "likert".'
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


def _questions(study: Study) -> Iterator[Finding]:
    yield from _names("question", [question.name for question in study.questions], ("annotator",))
    for number, question in enumerate(study.questions, 1):
        where = f"questions[{number}]"
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
                yield key, name, meant_among(name, study.names, "dimensions")
            if study.dimensions[study.names.index(name)].kind != "slider":
                yield key, name, "A pad joins two sliders, and this is none."
            if name in used:
                yield key, name, "A dimension can be on one axis only."
            used.add(name)


def _items(study: Study) -> Iterator[Finding]:
    items = study.items
    for key in ("hold", "move"):
        low, high = getattr(items, key)
        if not 0 < low <= high:
            yield f"items.{key}", [low, high], "Write [least, most] seconds, both above 0."
    if not items.regimes or len(set(items.regimes)) < len(items.regimes):
        yield "items.regimes", items.regimes, "Name one or both of 'saturation' and 'brightness', each once."
    if items.source in ("colours", "walks"):
        yield from _colour_names(study)
    still = items.source in ("colours", "table") or (items.source == "files" and items.media in ("image", "text"))
    if study.mode != "trace" and items.source == "walks":
        yield "mode", study.mode, 'Colours that move are traced: write mode = "trace", or choose another source.'
    if study.mode == "trace" and still:
        yield "mode", study.mode, "Only moving items can be traced: source 'walks', or files that are video or audio."


def _colour_names(study: Study) -> Iterator[Finding]:
    for number, dimension in enumerate(study.dimensions, 1):
        if dimension.name in ("saturation", "brightness") and (dimension.min, dimension.max) != (0, 100):
            yield f"dimensions[{number}].max", dimension.max, f"The truth of {dimension.name} runs from 0 to 100."
    if not set(study.names) & {"saturation", "brightness"}:
        yield "dimensions", study.names, "Name one of them 'saturation' or 'brightness': their truth is known."


def _reference(study: Study) -> Iterator[Finding]:
    if study.reference is None:
        return
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
        for name, value in check.expected.items():
            asked = {one.name: one for one in study.asked}
            if name not in asked:
                yield f"{key}.expected", name, meant_among(name, list(asked), "dimensions")
            yield from _expected(f"{key}.expected.{name}", asked[name], value)
        if check.id and check.id in [one.id for one in study.checks[: number - 1]]:
            yield f"{key}.id", check.id, "Another check has this id; choose another."


def _expected(key: str, asked: Dimension, value: Value) -> Iterator[Finding]:
    if asked.kind == "text":
        yield key, value, "Attention checks ask for no free text; name another dimension."
    elif asked.kind == "choice" and value not in asked.choices:
        yield key, value, meant_among(str(value), asked.choices, "choices")
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
    if raters.full_code and raters.full_code == raters.completion_code:
        yield "raters.full_code", raters.full_code, "Choose another code than that of those who have finished."


def _compare(study: Study) -> Iterator[Finding]:
    """Comparisons ask who has more, or most and least, and show nothing alone."""
    several = study.mode == "compare" and study.compare.together > 2
    for number, dimension in enumerate(study.dimensions, 1):
        where, name = f"dimensions[{number}]", dimension.name
        if several and dimension.kind != "text" and not dimension.least.strip():
            yield f"{where}.least", "", "Ask which item has least of it; question asks which has most."
        if not several and dimension.least:
            yield f"{where}.least", dimension.least, "It is asked of three items or more (compare.together)."
        if several and name + LEAST in study.names:
            yield f"{where}.name", name, f"Choose a name beside '{name + LEAST}'."
        if study.mode == "compare" and dimension.kind not in ("slider", "text"):
            yield f"{where}.kind", dimension.kind, "Raters say which of two has more: leave kind out."
    if study.mode != "compare":
        return
    if study.pads:
        yield "pads", [pad.x for pad in study.pads], "Comparisons have no pad; leave it out."
    if study.reference is not None:
        yield "reference", study.reference.items, "Comparisons have no hidden references; leave [reference] out."
    if study.practice.count or study.practice.items:
        yield "practice", study.practice.items or study.practice.count, "Comparisons are not practised; leave it out."


_FINDERS = (_dimensions, _questions, _pads, _items, _reference, _attention, _raters, _compare)


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
        if len(labels) > _MOST_POINTS:
            yield key, labels, f"Offer at most {_MOST_POINTS} points, or use a slider."
        if not labels[0] or not labels[-1]:
            yield key, labels, "Label at least both ends; a bare scale means nothing to raters."
    else:
        yield from _words(key, labels, categories=isinstance(asked, Dimension))
    seen: set[str] = set()
    for label in filter(None, labels):
        if label.casefold() in seen:
            yield key, label, "This answer is there twice; choose another word."
        seen.add(label.casefold())


def check_number(where: str, asked: Question) -> Iterator[Finding]:
    """What is wrong with the ends of a number."""
    low, high = asked.min, asked.max
    if asked.kind != "number" and (low, high) != (None, None):
        yield f"{where}.min", low, 'Only numbers have ends; write kind = "number", or leave min and max out.'
    elif (low is None) != (high is None):
        yield f"{where}.min", low, "Give both min and max, or neither."
    elif low is not None and high is not None and not (low < high and math.isfinite(high - low)):
        yield f"{where}.min", low, f"It must lie below max, which is {high}."


def _words(key: str, labels: list[str], *, categories: bool) -> Iterator[Finding]:
    """What is wrong with words to choose from; those about items have to be read as categories."""
    most = _MOST_CATEGORIES if categories else _MOST_CHOICES
    if len(labels) > most:
        yield key, f"{len(labels)} words", f"Offer at most {most}."
    for label in labels:
        if not label:
            yield key, label, "Every choice needs a word."
        if len(label) > _LONGEST_CHOICE:
            yield key, label, f"Shorten it to {_LONGEST_CHOICE} characters; the instructions can say more."
        if categories and label.lower() in _EMPTY_WORDS:
            yield key, label, "Tables read this as no answer at all; choose another word."
        if categories and as_number(label, comma=True) is not None:
            yield key, label, 'Choices are words; write kind = "likert" for numbers.'


# Characters of a free text; the browser stops there too.
LONGEST_TEXT = 2000
# Of a step, by which sums of decimal fractions may be off.
_ROUNDING = 1e-6
PAGES = ("before", "after")


def reply_fault(asked: Dimension | Question, value: Value) -> str | None:
    """What is wrong with the reply, or None."""
    if asked.kind == "text":
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            return f"{asked.name} must be text of at most {LONGEST_TEXT} characters"
        return f"{asked.name} must not be empty" if asked.required and not value.strip() else None
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
