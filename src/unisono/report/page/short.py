"""What a tired reader wants first: the alerts with what to do, and three answers."""

from __future__ import annotations

from typing import Any

from unisono.data.introduction import counted
from unisono.report.page.formats import as_interval, as_number

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
    "unusual-values": "Look at these answers: typing errors and codes for 'no answer' are the usual cause.",
    "different-scales": "Nothing to do if it is meant so; every dimension is estimated in its own unit.",
    "repeated-blocks": "Look at the order of their answers; a pattern that returns is seldom an opinion.",
    "impossible-times": "Nobody reads that fast: leave these answers out, or look at the clock of your tool.",
    "copies": "Ask whether they are the same person, shared an account or copied; they count as one opinion.",
    "assumed-share": "Nothing in the ratings shows it: state the share you assumed when you publish.",
    "tracing": "Look at the traces; the model has taken it into account.",
    "not-converged": "Fuse again with a larger --max-iter, and do not publish these numbers before.",
    "spammers": "Look at their answers before you decide; they already count for little.",
    "styles": "Look at their answers and at the instructions; the model has taken it into account.",
}
STYLE_WORDS = {
    "flipped": "uses {dimension} the other way round",
    "swapped": "seems to mistake {dimension} for {follows}",
    "compressed": "uses a small part of the scale of {dimension}",
    "stretched": "exaggerates on {dimension}",
    "unrelated": "gives answers on {dimension} that follow no truth",
}
TRACING_WORDS = {
    "flipped": "traces the other way round",
    "unrelated": "follows no truth",
    "flat": "hardly moves",
    "late": "begins to move late",
    "drifting": "drifts",
    "copied": "makes the errors of another annotator",
}
MOST_STYLES = 6


def advice_for(kind: str) -> str:
    """What to do about an alert; empty where there is nothing to say."""
    return ADVICE.get(kind, "")


def look_at(data: dict[str, Any]) -> list[dict[str, str]]:
    """Everything that deserves a look, warnings first: of the ratings, of the estimation, of annotators."""
    summary = data["summary"]
    found = []
    if summary["iterations"] and summary["stop"] == "max_iter":
        message = f"The estimation stopped after {summary['iterations']} iterations, before estimates had settled."
        found.append({"kind": "not-converged", "severity": "warning", "message": message})
    found += [dict(alert) for alert in summary["alerts"]]
    diagnosis = summary.get("diagnosis")
    if diagnosis:
        for one in diagnosis["spammers"]:
            message = f"{one['annotator']} looks like a spammer (probability {one['probability']:.3f})."
            found.append({"kind": "spammers", "severity": "warning", "message": message})
        styles = diagnosis["styles"]
        for one in styles[:MOST_STYLES]:
            words = STYLE_WORDS[one["style"]].format(**one)
            message = f"{one['annotator']} {words} (probability {one['probability']:.3f})."
            found.append({"kind": "styles", "severity": "note", "message": message})
        if len(styles) > MOST_STYLES:
            message = f"{len(styles) - MOST_STYLES} more uses of a scale unlike the others': see the annotators."
            found.append({"kind": "styles", "severity": "note", "message": message})
    for one in summary.get("tracing") or ():
        message = f"{one['annotator']} {TRACING_WORDS[one['kind']]} on {one['dimension']} ({one['probability']:.3f})."
        found.append({"kind": "tracing", "severity": "note", "message": message})
    return sorted(found, key=lambda one: one["severity"] != "warning")


def in_short(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What is the answer, how sure is it, whom to trust: a heading, a line and a few lines each."""
    return [_answer(data), _certainty(data), _trust(data)]


def _answer(data: dict[str, Any]) -> dict[str, Any]:
    summary = data["summary"]
    things = "items" if data["kind"] == "items" else "recordings"
    lines = [f"{name}: {_ends(data, d)}" for d, name in enumerate(data["dimensions"][:6])]
    more = len(data["dimensions"]) - 6
    if more > 0:
        lines.append(f"and {more} more dimension{'s' * (more != 1)}")
    count = f"{summary['items']:,} {things if summary['items'] != 1 else things[:-1]}"
    return {
        "question": "What is the answer?",
        "line": f"One estimate for each of {count} on {counted(len(data['dimensions']), 'dimension')}, in truth.csv.",
        "lines": lines,
        "to": "truth",
    }


def _certainty(data: dict[str, Any]) -> dict[str, Any]:
    figures = [one["figures"] for one in data["agreement"]["dimensions"]]
    values = [one["reliability"]["value"] for one in figures]
    known = [value for value in values if value is not None]
    lines = [
        f"{name}: reliability {as_interval(figures[d]['reliability'])}, typical 90 % interval "
        f"± {as_number(data['truth']['typical_width'][d] / 2, 2)}"
        for d, name in enumerate(data["dimensions"][:6])
    ]
    return {
        "question": "How sure is it?",
        "line": _in_words(min(known)) if known else "The ratings do not tell how reliable the estimates are.",
        "lines": lines,
        "to": "agreement",
    }


def _in_words(lowest: float) -> str:
    if lowest >= 0.9:
        return "Very: reliability is .90 or more on every dimension."
    if lowest >= 0.75:
        return "Well enough for comparing items: reliability is .75 or more on every dimension."
    if lowest >= 0.5:
        return "Fair: on at least one dimension a quarter of the differences or more is error."
    return "Poorly on at least one dimension: half of the differences between estimates or more is error."


def _trust(data: dict[str, Any]) -> dict[str, Any]:
    summary = data["summary"]
    best, worst = summary["most_reliable"], summary["least_reliable"]
    lines = []
    if best:
        lines.append("most reliable: " + ", ".join(f"{who['annotator']} ({who['reliability']:.2f})" for who in best))
    if worst:
        lines.append("least reliable: " + ", ".join(f"{who['annotator']} ({who['reliability']:.2f})" for who in worst))
    diagnosis = summary.get("diagnosis")
    if summary.get("unranked"):
        line, lines = summary["unranked"], []
    elif summary.get("tracing") is not None:
        odd = {one["annotator"] for one in summary["tracing"]}
        line = f"{len(odd)} of {counted(summary['annotators'], 'annotator')} with unusual traces."
    elif not diagnosis:
        line = f"{counted(summary['annotators'], 'annotator')}; this model does not look for spammers."
    elif diagnosis["spammers"]:
        names = ", ".join(one["annotator"] for one in diagnosis["spammers"][:4])
        count = len(diagnosis["spammers"])
        line = (
            f"Not {names}{' and others' if count > 4 else ''}: {'it looks' if count == 1 else 'they look'} like spam."
        )
    else:
        line = f"Nobody among {counted(summary['annotators'], 'annotator')} looks like a spammer."
    return {"question": "Whom do I trust?", "line": line, "lines": lines, "to": "annotators"}


def _ends(data: dict[str, Any], d: int) -> str:
    """Which items are highest and lowest, or between what values a trace moves."""
    if data["kind"] == "items":
        found = data["truth"]["extremes"][d]
        told = (f"{end} {one['item']} ({as_number(one['estimate'])})" for end, one in found.items())
        return ", ".join(told)
    rows = [row["values"][d] for row in data["truth"]["rows"] if row["values"][d][1] is not None]
    if not rows:
        return "nothing known"
    return f"from {as_number(min(row[1] for row in rows))} to {as_number(max(row[2] for row in rows))}"
