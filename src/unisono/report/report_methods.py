"""The methods paragraph of report.html with its numbers, model assumptions, citation, and how to run it again."""

from __future__ import annotations

from typing import Any

from unisono.report.report_alerts import WORDS
from unisono.report.report_figures import as_interval, as_number, as_share
from unisono.tables.labels import counted, listed

MODELS: dict[str, str] = WORDS["models"]  # name -> what it does, as a paper would say it
JOINT = (
    *("auto", "joint", "independent", "groups", "paper-joint", "paper-independent"),
    *("types", "regions", "raykar", "curved"),
)


def _said(what: str, /, **slots: Any) -> str:
    return str(WORDS["methods"][what].format(**slots))


def assumptions(data: dict[str, Any]) -> tuple[str, ...]:
    """Sentences about what the estimates rest on."""
    if data["kind"] == "categories":
        return ()
    of = data["kind"]
    if data["model"] in ("dpcca", "dpctw"):
        of = "dynamics"
    elif data["model"] in MODELS and data["model"] not in JOINT:
        of = "averages"
    elif "kinds" in data["summary"]:
        of = "one_group" if data["summary"]["kinds"]["reference"] is None else "groups"
    return tuple(WORDS["assumptions"][of])


def methods_paragraph(data: dict[str, Any]) -> str:
    """For the methods section of a paper; every number is from this fusion."""
    if data["kind"] == "comparisons":
        return str(data["methods"])
    summary = data["summary"]
    version = summary["provenance"].get("unisono", "")
    if data["kind"] == "categories":
        return " ".join([f"Answers were fused with unisono {version}.", *_class_sentences(data)])
    things = counted(summary["items"], "item" if data["kind"] == "items" else "recording")
    dims, named = counted(len(data["dimensions"]), "dimension"), ", ".join(data["dimensions"])
    slots = {
        "unit": "judgements" if data["kind"] == "items" else "traces",
        "what": things if data["kind"] == "items" else _said("recordings", things=things, **summary),
        "dimensions": f"{dims} ({named})" if len(data["dimensions"]) <= 12 else dims,
        "per": as_number(summary["ratings_per_item"]),
        "thing": "item" if data["kind"] == "items" else "recording",
        "missing": as_share(summary["missing_share"]),
    }
    sentences = [
        _said("counts", **summary | slots),
        f"They were fused with unisono {version} by {_model(data['model'], len(data['dimensions']))}.",
    ]
    if summary.get("response", {}).get("kind") == "ends":
        sentences.append("Ratings at the minimum or maximum of the scale were treated as censored.")
    if summary["iterations"]:
        ended = "converged" if summary["stop"] == "converged" else "was stopped"
        sentences.append(f"The estimation {ended} after {counted(summary['iterations'], 'iteration')}.")
    sentences.append(data["agreement"]["apa"])
    diagnosis = summary.get("diagnosis")
    if diagnosis is not None:
        count = len(diagnosis["spammers"])
        who = counted(count, "annotator") if count else "No annotators"
        sentences.append(_said("spammers", count=who, **diagnosis))
    sentences += _kind_sentences(summary)
    sentences.append("Estimates are reported with 90% intervals.")
    return " ".join([*sentences, *_class_sentences(data)])


def _model(name: str, dimensions: int) -> str:
    """What a model does; of one dimension nothing is joint."""
    alone = dimensions == 1 and name in ("auto", "joint", "independent")
    return MODELS["one dimension"] if alone else MODELS.get(name, name)


def _kind_sentences(summary: dict[str, Any]) -> list[str]:
    """Who defined the truth, and what the others were worth."""
    kinds = summary.get("kinds")
    if kinds is None or kinds["reference"] is None:
        return []
    found = [_said("kinds", **kinds)]
    if kinds.get("as_people_say"):
        found.append(_said("same_people", dimensions=listed(kinds["as_people_say"])))
    for one in kinds["groups"]:
        if one["kind"] != kinds["reference"]:
            worth = ", ".join(f"{as_number(value, 2)} on {name}" for name, value in one["effective"].items())
            found.append(_said("worth", worth=worth, **one))
    return found


def _class_sentences(data: dict[str, Any]) -> list[str]:
    """How categories were fused."""
    found = []
    for one in data["categories"]:
        own, alpha = data["summary"]["categories"][one["name"]], one["agreement"]["alpha"]
        slots = {"fused_by": WORDS["category_models"].get(own["model"], own["model"]), "alpha": as_interval(alpha)}
        found.append(_said("classes", name=one["name"], number=len(one["classes"]), **own | slots))
    return found


PAPER = {
    "author": "Ramakrishna, Anil and Gupta, Rahul and Narayanan, Shrikanth",
    "title": "Joint Multi-Dimensional Model for Global and Time-Series Annotations",
    "year": "2020",
    "eprint": "2005.03117",
    "archivePrefix": "arXiv",
}


def citation(data: dict[str, Any]) -> tuple[str, ...]:
    """What to cite, in the style of the APA: the software with its version, and the paper of the model."""
    software = _said("software", year=_year(data), version=_version(data))
    paper = f"Ramakrishna, A., Gupta, R., & Narayanan, S. ({PAPER['year']}). {PAPER['title']}. arXiv:{PAPER['eprint']}."
    return (software,) if data["kind"] == "categories" else (software, paper)


def bibtex(data: dict[str, Any]) -> str:
    """The same as entries of BibTeX."""
    software = {
        "author": "{The unisono developers}",
        "title": "unisono: many raters, one truth",
        "year": _year(data),
        "note": f"Computer software, version {_version(data)}",
    }
    entries = {"unisono": software} | ({} if data["kind"] == "categories" else {"ramakrishna2020joint": PAPER})
    return "\n".join(
        f"@misc{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}"
        for key, fields in entries.items()
    )


def _version(data: dict[str, Any]) -> str:
    return str(data["summary"]["provenance"].get("unisono", ""))


def _year(data: dict[str, Any]) -> str:
    return str(data["created"])[:4]


def python_lines(data: dict[str, Any]) -> str:
    """The same fusion in Python."""
    seed = data["summary"]["provenance"].get("seed", 0)
    model = f", model={data['model']!r}" if data["kind"] != "categories" else ""
    return f'import unisono as un\n\nresult = un.fuse({data["source"]!r}{model}, seed={seed})\nresult.save("out")'
