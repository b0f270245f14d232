"""The first screen of report.html: what is the answer, how certain is it, which annotators are reliable."""

from __future__ import annotations

from typing import Any, NamedTuple

from markupsafe import Markup

from unisono.report.report_figures import (
    as_coefficient,
    as_interval,
    as_number,
    as_share,
    course_figure,
    share_figure,
    strip_figure,
)
from unisono.tables.labels import counted

MOST = 5  # dimensions told
HARDLY_KNOWN = 0.5  # convention: width of an interval of reliability from which no verdict is given
STRANGERS = "Compare only those who rated the same: higher figures may be due to easier material."


class Line(NamedTuple):
    """A name, what is said of it, and a small picture of that."""

    name: str
    text: str
    picture: Markup = Markup("")


class Answer(NamedTuple):
    """The answer to one question: a sentence, a few lines, and where there is more."""

    question: str
    sentence: str
    lines: list[Line]
    to: str  # the section with the details


def in_short(data: dict[str, Any]) -> list[Answer]:
    """The three answers."""
    if data["kind"] == "categories":
        return [_classes(data), _sure_of_classes(data), _trust_in_classes(data)]
    if data["kind"] == "comparisons":
        return _of_comparisons(data)
    return [_answer(data), _certainty(data), _trust(data)]


def _answer(data: dict[str, Any]) -> Answer:
    things = counted(data["summary"]["items"], "item" if data["kind"] == "items" else "recording")
    names = data["dimensions"]
    lines = [_ends(data, d) for d in range(len(names[:MOST]))]
    lines += [_class_line(one) for one in data["categories"][: max(MOST - len(lines), 1)]]
    more = len(names) + len(data["categories"]) - len(lines)
    if more > 0:
        lines.append(Line("", f"and {counted(more, 'more dimension')}"))
    dims = counted(len(names) + len(data["categories"]), "dimension")
    sentence = f"Estimates of {things} on {dims}, each with an interval (truth.csv)."
    return Answer("What is the answer?", sentence, lines, "truth")


def _certainty(data: dict[str, Any]) -> Answer:
    figures = [one["figures"]["reliability"] for one in data["agreement"]["dimensions"]]
    known = [d for d, one in enumerate(figures) if one["value"] is not None]
    known.sort(key=lambda d: float(figures[d]["value"]))
    # Of many dimensions the least certain ones are told; else all, in their order.
    told = range(len(figures)) if len(figures) <= MOST else known[:MOST]
    lines = [
        Line(
            (name := data["dimensions"][d]),
            f"± {as_number(data['truth']['typical_width'][d] / 2, 2)}, reliability {as_interval(figures[d])}",
            share_figure(figures[d]["value"], f"reliability of {name}"),
        )
        for d in told
    ]
    lines.insert(0, Line("", _what_is_told(data)))
    if not known:
        return Answer("How sure is it?", "The ratings do not tell how reliable estimates are.", lines, "agreement")
    if len(told) < len(known):
        lines.append(Line("", f"and {counted(len(known) - len(told), 'more dimension')} with higher reliability"))
    sentence = _in_words(figures[known[0]], data["dimensions"][known[0]], data)
    return Answer("How sure is it?", sentence, lines, "agreement")


def _what_is_told(data: dict[str, Any]) -> str:
    """What the numbers of certainty are, and in what unit."""
    agreement = data["agreement"]
    bracketed = f" [{100 * agreement['level']:g} % interval]" if agreement["draws"] else ""
    return f"Typical ± (90 %), in units of the answers; reliability, 0 all error to 1 none{bracketed}"


def _in_words(figure: dict[str, Any], least: str, data: dict[str, Any]) -> str:
    """How far the least reliable dimension can be relied upon."""
    lowest = float(figure["value"])
    if figure["low"] is not None and figure["high"] - figure["low"] > HARDLY_KNOWN:
        ends = f"between {as_coefficient(figure['low'])} and {as_coefficient(figure['high'])}"
        return f"Hard to say: on {least} reliability lies {ends}; so few answers do not tell."
    where = "on every dimension" if len(data["dimensions"]) > 1 else f"on {least}"
    if lowest >= 0.9:
        return f"Very: reliability is .90 or more {where}."
    if lowest >= 0.75:
        things = "items" if data["kind"] == "items" else "moments"
        return f"Enough for comparing {things}: reliability is .75 or more {where}."
    if lowest >= 0.5:
        return f"Fair: on {least} more than a quarter of the differences is error."
    return f"Poorly: on {least} more than half of the differences between estimates is error."


def _trust(data: dict[str, Any]) -> Answer:
    summary = data["summary"]
    lines = [] if summary.get("unranked") else [*_ranked(summary, "most"), *_ranked(summary, "least")]
    if summary.get("alike"):
        lines.append(Line("", summary["alike"]))
    if lines and data["agreement"]["groups"] > 1:
        lines.insert(0, Line("", STRANGERS))
    sentence = f"{_trust_in_words(summary)}{_who_is_constant(summary)}"
    return Answer("Whom do I trust?", sentence, lines, "kinds" if "kinds" in summary else "annotators")


def _ranked(summary: dict[str, Any], end: str) -> list[Line]:
    """The annotators at one end, under what they are."""
    who = summary[f"{end}_reliable"]
    lines = [
        Line(
            one["annotator"],
            f"{one['reliability']:.2f}",
            share_figure(one["reliability"], f"reliability of {one['annotator']}", best=end == "most"),
        )
        for one in who
    ]
    head = "Most reliable (share of variance due to the truth)" if end == "most" else "Least reliable"
    return [Line("", head), *lines] if lines else []


def _who_is_constant(summary: dict[str, Any]) -> str:
    """Who never changes the answer: no model can tell a reliable person from that, so an all-clear must not hide it."""
    said = [one["message"] for one in summary.get("alerts", ()) if one["kind"] == "constant-raters"]
    if len(said) > 1:
        return f" Some never change their answer: see the warnings about {counted(len(said), 'dimension')} above."
    return f" {said[0]}" if said else ""


def _trust_in_words(summary: dict[str, Any]) -> str:
    everybody = counted(summary["annotators"], "annotator")
    diagnosis = summary.get("diagnosis")
    if "kinds" in summary:
        return _kinds_in_words(summary["kinds"])
    if summary.get("unranked"):
        return str(summary["unranked"])
    if summary.get("tracing") is not None:
        odd = len({one["annotator"] for one in summary["tracing"]})
        return f"{odd if odd else 'None'} of {everybody} traced unusually."
    if not diagnosis:
        return f"{everybody}; this model does not look for spammers."
    if diagnosis["spammers"]:
        return f"Not {_named(diagnosis['spammers'])}, whose spammer probability is above {diagnosis['named_from']:g}."
    if diagnosis.get("suspected"):
        return f"Look at {_named(diagnosis['suspected'])} first: more likely a spammer than not. Nobody else is."
    return f"None of {everybody} looks like a spammer."


def _named(found: list[dict[str, Any]]) -> str:
    names = ", ".join(one["annotator"] for one in found[:4])
    return f"{names} and {len(found) - 4} more" if len(found) > 4 else names


def _kinds_in_words(kinds: dict[str, Any]) -> str:
    if kinds["reference"] is None:
        return "Nobody from outside: there is one kind of annotators, and what they err in common cannot be seen."
    others = [
        f"the {one['annotators']} of '{one['kind']}' are worth {_worth(one)} independent annotators"
        for one in kinds["groups"]
        if one["kind"] != kinds["reference"]
    ]
    said = "said, who rated every item" if kinds.get("as_people_say") else "would say"
    return f"Truth is what '{kinds['reference']}' {said}; {'; '.join(others)}."


def _worth(group: dict[str, Any]) -> str:
    known = [value for value in group["effective"].values() if value is not None]
    low, high = (as_number(end, 2) for end in (min(known), max(known)))
    return low if low == high else f"{low} to {high}"


def _ends(data: dict[str, Any], d: int) -> Line:
    """Which items are highest and lowest, or between what values traces move, on the scale of the answers."""
    name = data["dimensions"][d]
    rows = [row["values"][d] for row in data["truth"]["rows"] if row["values"][d][0] is not None]
    if data["kind"] == "items":
        found = data["truth"]["extremes"][d]
        told = ", ".join(f"{end} {as_number(one['estimate'])} ({_whose(one)})" for end, one in found.items())
        points = [value[0] for value in rows]
        return Line(name, told, strip_figure(points, _scale(data, name), f"{name}: estimates of {len(points)} items"))
    if not rows:
        return Line(name, "nothing known")
    low, high = min(row[1] for row in rows), max(row[2] for row in rows)
    told = f"from {as_number(low)} to {as_number(high)}"
    first = data["curves"]["recordings"][0]["name"]
    if len(rows) > 1:
        told += f"; drawn: {first}"
    return Line(name, told, course_figure(data["curves"]["sketch"][d], (low, high), f"{name}: the course of {first}"))


def _whose(end: dict[str, Any]) -> str:
    """The item at an end, or how many share it: none of several is the lowest."""
    return f"item {end['item']}" if end.get("equal", 1) == 1 else counted(end["equal"], "item")


def _scale(data: dict[str, Any], name: str) -> tuple[float | None, float | None]:
    """Where answers end, if it is known."""
    how = data["summary"]["reading"]
    found = how["scale"].get(name, {}) if how else {}
    return found.get("low"), found.get("high")


def _class_line(one: dict[str, Any]) -> Line:
    common = sorted(zip(one["items_by_class"], one["classes"], strict=True), key=lambda pair: -pair[0])
    return Line(one["name"], ", ".join(f"{label} {count:,}" for count, label in common[:4] if count))


def _classes(data: dict[str, Any]) -> Answer:
    lines = [_class_line(one) for one in data["categories"][:MOST]]
    things, dims = counted(data["summary"]["items"], "item"), counted(len(data["categories"]), "dimension")
    sentence = f"The most probable class of each of {things} on {dims} (truth.csv)."
    return Answer("What is the answer?", sentence, lines, "categories")


def _sure_of_classes(data: dict[str, Any]) -> Answer:
    lines, unsure = [], 0
    for one in data["categories"][:MOST]:
        found = data["summary"]["categories"][one["name"]]
        unsure += found["unsure_items"]
        text = f"typical probability {as_share(found['typical_probability'])}, alpha " + as_interval(
            one["agreement"]["alpha"]
        )
        lines.append(Line(one["name"], text, share_figure(found["typical_probability"], f"certainty of {one['name']}")))
    sentence = "Every item has a class that is more probable than all others together."
    if unsure:
        sentence = f"For {counted(unsure, 'item')} no class is more probable than all others together."
    return Answer("How sure is it?", sentence, lines, "categories")


def _trust_in_classes(data: dict[str, Any]) -> Answer:
    lines = []
    for one in data["categories"][:2]:
        found = data["summary"]["categories"][one["name"]]
        for end in ("most", "least"):
            who = found[f"{end}_accurate"]
            if who:
                about = " (share of right answers)" if end == "most" else ""
                lines.append(Line("", f"{end.capitalize()} accurate on {one['name']}{about}"))
                lines += [
                    Line(
                        a["annotator"],
                        f"{a['accuracy']:.2f}",
                        share_figure(a["accuracy"], f"accuracy of {a['annotator']}", best=end == "most"),
                    )
                    for a in who
                ]
    voted = all(found["model"] == "majority" for found in data["summary"]["categories"].values())
    believed = "every vote counts the same" if voted else "who is right more often counts for more"
    sentence = f"{counted(data['summary']['annotators'], 'annotator')}; {believed}."
    return Answer("Whom do I trust?", sentence, lines, "categories")


def _of_comparisons(data: dict[str, Any]) -> list[Answer]:
    dims, summary = data["summary"]["dimensions"], data["summary"]
    found = [
        Line(name, f"highest {', '.join(one['highest'])}; lowest {', '.join(one['lowest'])}")
        for name, one in list(dims.items())[:MOST]
    ]
    sure = [
        Line(name, f"± {as_number(1.645 * one['typical_sd'], 2)}, truths spread with sd {as_number(one['spread'], 2)}")
        for name, one in list(dims.items())[:MOST]
    ]
    sentence = f"Estimates of {counted(data['truth']['of'], 'item')}, each with an interval (truth.csv)."
    doubted = {"Spammers": summary["spammers"], "Upside down": summary["flipped"]}
    who = [Line(what, ", ".join(names[:MOST])) for what, names in doubted.items() if names]
    people, some = counted(data["people"]["of"], "annotator"), "of whom some" if who else "none of whom"
    return [
        Answer("What is the answer?", sentence, found, "truth"),
        Answer("How sure is it?", summary["connected"], sure, "truth"),
        Answer("Whom to trust?", f"{people}, {some} look unreliable.", who, "annotators"),
    ]
