"""The methods paragraph with the numbers filled in, what the model assumed, how to cite and how to do it again."""

from __future__ import annotations

from typing import Any

from unisono.report.page.formats import as_number, as_share

MODELS = {  # name -> what it does, as a paper would say it
    "auto": "a joint model of all dimensions",
    "joint": "a joint model of all dimensions",
    "independent": "the same model for each dimension by itself",
    "paper-joint": "the joint model as published by Ramakrishna, Gupta and Narayanan (2020)",
    "paper-independent": "the independent model as published by Ramakrishna, Gupta and Narayanan (2020)",
    "mean": "the plain mean of the ratings",
    "median": "the median of the ratings",
    "zscore-mean": "the mean of ratings standardised within annotators",
    "ewe": "the evaluator-weighted estimator",
    "weighted-mean": "the mean weighted by the annotators' precision, biases removed",
    "aligned-mean": "the mean of traces moved onto each other in time",
}
JOINT = ("auto", "joint", "independent", "paper-joint", "paper-independent")
ITEMS_ASSUMED = (
    "Every answer is the item's true value, changed by the annotator's bias and gain (and by leakage between "
    "dimensions where the model has it), plus noise of the annotator's own size.",
    "Errors of different annotators are independent. An error that all of them make alike cannot be seen in the "
    "ratings, and no interval here contains it.",
    "A dimension means what the typical annotator answers on it, unless known truths (gold) say otherwise.",
    "True values of the items vary about as a normal distribution does.",
)
TRACES_ASSUMED = (
    "Every trace follows the true course with the annotator's delay, bias and gain, plus noise that may last.",
    "Delays are seen only relative to each other; what fixes their mean is said with the annotators.",
    "Errors of different annotators are independent, but for a small share that bands allow for.",
    "A dimension means what the typical annotator traces, unless known truths or features say otherwise.",
)
AVERAGE_ASSUMED = (
    "An average: every annotator is believed as the formula says, and no model of annotators is fitted.",
)


def assumptions(data: dict[str, Any]) -> tuple[str, ...]:
    """Sentences about what the estimates rest on."""
    if data["model"] in MODELS and data["model"] not in JOINT:
        return AVERAGE_ASSUMED
    return ITEMS_ASSUMED if data["kind"] == "items" else TRACES_ASSUMED


def methods_paragraph(data: dict[str, Any]) -> str:
    """For the methods section of a paper; every number is from this fusion."""
    summary = data["summary"]
    version = summary["provenance"].get("unisono", "")
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
        f"They were fused with unisono {version} by {MODELS.get(data['model'], data['model'])}.",
    ]
    if summary["iterations"]:
        settled = "estimates settled" if summary["stop"] == "converged" else "estimation was stopped"
        sentences.append(
            f"The {settled} after {summary['iterations']} iterations.".replace("The estimates", "Estimates")
        )
    sentences.append(data["agreement"]["apa"])
    diagnosis = summary.get("diagnosis")
    if diagnosis is not None:
        count = len(diagnosis["spammers"])
        sentences.append(
            f"{count if count else 'No'} annotator{'s' * (count != 1)} had a probability over "
            f"{diagnosis['named_from']:g} of answering without regard to the items; nobody was excluded by hand."
        )
    sentences.append("Estimates are reported with 90% intervals.")
    return " ".join(sentences)


def citation(data: dict[str, Any]) -> tuple[str, ...]:
    """What to cite: the software with its version, and the paper of the model."""
    version = data["summary"]["provenance"].get("unisono", "")
    return (
        f"The unisono developers. unisono: many raters, one truth. Version {version}. Software.",
        "Ramakrishna, A., Gupta, R., and Narayanan, S. (2020). Joint Multi-Dimensional Model for Global and "
        "Time-Series Annotations. arXiv:2005.03117.",
    )


def python_lines(data: dict[str, Any]) -> str:
    """The same fusion in Python."""
    seed = data["summary"]["provenance"].get("seed", 0)
    return (
        "import unisono as un\n\n"
        f"result = un.fuse({data['source']!r}, model={data['model']!r}, seed={seed})\n"
        'result.save("out")'
    )
