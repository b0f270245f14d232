"""The alerts of report.html, warnings first: of ratings, estimation and annotators, each kind with advice."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

from unisono.maths.groups.judge_tests import HARMFUL, USELESS
from unisono.tables.labels import counted

WORDS = tomllib.loads(Path(__file__).with_name("report_words.toml").read_text(encoding="utf-8"))
ADVICE: dict[str, str] = WORDS["advice"]  # kind of alert -> what to do about it
TRACING_WORDS: dict[str, str] = WORDS["tracing"]  # what is unusual about traces -> in a sentence about an annotator
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
    message = f"The estimation stopped after {after}, before it converged."
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
            words = WORDS["styles"][one["style"]].format(**one)
            message = f"{one['annotator']} {words} (probability {one['probability']:.3f})."
            found.append({"kind": "styles", "severity": "note", "message": message})
    for one in summary.get("tracing") or ():
        message = f"{one['annotator']} {TRACING_WORDS[one['kind']]} on {one['dimension']} ({one['probability']:.3f})."
        found.append({"kind": "tracing", "severity": "note", "message": message})
    return found
