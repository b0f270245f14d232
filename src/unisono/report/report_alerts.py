"""The alerts of report.html, warnings first: of ratings, estimation and annotators, each kind with advice."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from unisono.maths.groups.judge_tests import HARMFUL, USELESS
from unisono.tables.labels import counted

ADVICE = {  # kind of alert -> what to do about it
    "no-shared-signal": "Do not use this dimension before you have looked at its instructions and at single answers.",
    "no-reference": "Let people rate a few of the items, ten at least, drawn at random.",
    "useless-judges": "Look at what these annotators were asked, and at single answers, before you use them.",
    "few-labels": "Let people rate more of the items, drawn at random.",
    "other-units": "Make sure that these annotators were meant to use another scale.",
    "judges-of-several-kinds": "Make them one kind, unless you know that they err independently.",
    "disconnected-groups": "Let at least one annotator of each group rate a few items of the other.",
    "unrated-items": "Collect ratings of them, or leave them out of what you publish.",
    "single-rating-items": "Their estimates rest on one opinion: collect a second one where it matters.",
    "silent-annotators": "Check whether their answers were lost on the way.",
    "single-rating-annotators": "One answer tells nothing about a person: their bias and noise are guesses.",
    "constant-dimension": "There is nothing to estimate on this dimension; leave it out.",
    "constant-raters": "Look whether they understood the task; their constant answers carry no information.",
    "alone-in-time": "Compare the time columns: seconds and milliseconds, or different starts, are the usual cause.",
    "empty-traces": "Check the export of these traces.",
    "wild-values": "Look at these answers, correct them or take them out, and fuse again.",
    "unusual-values": "Look at these answers: typing errors and codes for 'no answer' are the usual cause.",
    "different-scales": "Nothing to do if it is meant so; every dimension is estimated in its own unit.",
    "repeated-blocks": "Look at the order of their answers; a pattern that returns is seldom an opinion.",
    "impossible-times": "Nobody reads that fast: leave these answers out, or look at the clock of your tool.",
    "copies": "Ask whether they are the same person, shared an account or copied; they count as one opinion.",
    "assumed-share": "Nothing in the ratings shows it: state the share you assumed when you publish.",
    "tracing": "Look at the traces; the model has taken it into account.",
    "not-converged": "Fuse again with a larger --max-iter, and do not publish these numbers before.",
    "spammers": "Look at their answers before you decide; they already count for little.",
    "suspected": "Look at their answers before you decide; a few careful answers may look like this by chance.",
    "no-agreement": "Look at the question and at single answers before you use these classes.",
    "constant-annotators": "Look whether they understood the task; one answer to everything tells nothing.",
    "no-replacement": "Do not let them stand in for a person there; fused with people's ratings they still help.",
    "styles": "Look at their answers and at the instructions; the model has taken it into account.",
}
STYLE_WORDS = {
    "flipped": "uses {dimension} the other way round",
    "swapped": "seems to mistake {dimension} for {follows}",
    "compressed": "uses a small part of the scale of {dimension}",
    "stretched": "exaggerates on {dimension}",
    "unrelated": "gives answers on {dimension} that follow no truth",
    "harmful": "gives answers on {dimension} that mislead or tell nothing, in which way is not clear",
}
TRACING_WORDS = {
    "flipped": "traces the other way round",
    "unrelated": "follows no truth",
    "flat": "hardly moves",
    "late": "begins to move late",
    "drifting": "drifts",
}
MOST_NAMED = 6  # findings of one kind that are told; the table of annotators has all


def look_at(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that deserves a look, warnings first: of the ratings, of the estimation, of annotators.

    One entry per kind, with its messages: advice is told once.
    """
    found = [*_of_estimation(data["summary"]), *data["summary"].get("alerts", ()), *_of_annotators(data["summary"])]
    found += _of_judges(data)
    found += [alert for one in data["categories"] for alert in one["alerts"]]
    order = {kind: place for place, kind in reversed(list(enumerate(one["kind"] for one in found)))}
    found.sort(key=lambda one: (one["severity"] != "warning", order[one["kind"]]))
    return [
        {
            "kind": kind,
            "severity": severity,
            "messages": _some([one["message"] for one in alike]),
            "advice": ADVICE.get(kind, ""),
        }
        for (severity, kind), alike in groupby(found, key=lambda one: (one["severity"], one["kind"]))
    ]


def _some(messages: list[str]) -> list[str]:
    more = len(messages) - MOST_NAMED
    if more <= 1:
        return messages
    return [*messages[:MOST_NAMED], f"And {more} more like these: see the annotators."]


def _of_estimation(summary: dict[str, Any]) -> list[dict[str, str]]:
    if not summary.get("iterations") or summary["stop"] != "max_iter":
        return []
    after = counted(summary["iterations"], "iteration")
    message = f"The estimation stopped after {after}, before estimates had settled."
    return [{"kind": "not-converged", "severity": "warning", "message": message}]


def _of_judges(data: dict[str, Any]) -> list[dict[str, str]]:
    """Judges who are useless or harmful, with the dimensions where they are."""
    found = []
    for one in data.get("replacements") or ():
        for word in (USELESS, HARMFUL):
            where = [data["dimensions"][d] for d, said in enumerate(one["verdict"]) if said.startswith(word)]
            if where:
                on = "every dimension" if len(where) == len(one["verdict"]) > 1 else ", ".join(where)
                message = f"{one['annotator']} is {word} beside people on {on}."
                found.append({"kind": "no-replacement", "severity": "note", "message": message})
    return found


def _of_annotators(summary: dict[str, Any]) -> list[dict[str, str]]:
    found = []
    diagnosis = summary.get("diagnosis")
    if diagnosis:
        for one in diagnosis["spammers"]:
            message = f"{one['annotator']} looks like a spammer (probability {one['probability']:.3f})."
            found.append({"kind": "spammers", "severity": "warning", "message": message})
        for one in diagnosis.get("suspected", ()):
            message = f"{one['annotator']} is more likely a spammer than not (probability {one['probability']:.3f})."
            found.append({"kind": "suspected", "severity": "note", "message": message})
        for one in diagnosis["styles"]:
            words = STYLE_WORDS[one["style"]].format(**one)
            message = f"{one['annotator']} {words} (probability {one['probability']:.3f})."
            found.append({"kind": "styles", "severity": "note", "message": message})
    for one in summary.get("tracing") or ():
        message = f"{one['annotator']} {TRACING_WORDS[one['kind']]} on {one['dimension']} ({one['probability']:.3f})."
        found.append({"kind": "tracing", "severity": "note", "message": message})
    return found
