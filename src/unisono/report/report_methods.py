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
    what = f"{summary['items']:,} item{'s' * (summary['items'] != 1)}"
    if data["kind"] == "traces":
        what = (
            f"{summary['items']:,} recording{'s' * (summary['items'] != 1)} "
            f"({summary['seconds']:,.0f} s at {summary['rate']:g} Hz)"
        )
    unit = "judgements" if data["kind"] == "items" else "traces"
    per = as_number(summary["ratings_per_item"])
    dims = data["dimensions"]
    named = f" ({', '.join(dims)})" if len(dims) <= 12 else ""
    sentences = [
        f"{summary['annotators']:,} annotators gave {summary['judgements']:,} {unit} of {what} on {len(dims)} "
        f"dimension{'s' * (len(dims) != 1)}{named}, {per} per {'item' if data['kind'] == 'items' else 'recording'}; "
        f"{as_share(summary['missing_share'])} of the answers are missing.",
        f"They were fused with unisono {version} by {_model(data['model'], len(dims))}.",
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
        sentences.append(
            f"{count if count else 'No'} annotator{'s' * (count != 1)} had a probability over "
            f"{diagnosis['named_from']:g} of answering without regard to the items."
        )
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
    found = [
        f"Ratings by '{kinds['reference']}' on {kinds['labelled_items']:,} items defined the truth; others were "
        "modelled as groups whose members share a part of their error."
    ]
    if kinds.get("as_people_say"):
        found.append(f"As the same ones rated every item, the truth on {listed(kinds['as_people_say'])} is their mean.")
    for one in kinds["groups"]:
        if one["kind"] != kinds["reference"]:
            worth = ", ".join(f"{as_number(value, 2)} on {name}" for name, value in one["effective"].items())
            found.append(f"The {one['annotators']} of '{one['kind']}' were worth as many independent ones: {worth}.")
    return found


def _class_sentences(data: dict[str, Any]) -> list[str]:
    """How categories were fused."""
    found = []
    for one in data["categories"]:
        own, alpha = data["summary"]["categories"][one["name"]], one["agreement"]["alpha"]
        fused_by = WORDS["category_models"].get(own["model"], own["model"])
        found.append(
            f"Of {one['name']} ({len(one['classes'])} classes), {own['answers']:,} answers on {own['items']:,} items "
            f"by {own['annotators']:,} annotators were fused by {fused_by}; "
            f"nominal Krippendorff's alpha was {as_interval(alpha)}, the typical probability of the most probable "
            f"class {own['typical_probability']:.2f}."
        )
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
    software = (
        f"The unisono developers. ({_year(data)}). unisono: many raters, one truth (Version {_version(data)}) "
        "[Computer software]."
    )
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
