"""All kinds of files that can be imported, by name, with the options each one takes.

The module of a kind is imported when the kind is asked for, so that listing the kinds costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from unisono.tables.importing.import_request import Request
    from unisono.tables.importing.imported_answers import Answers, Imported


Reader = Callable[[Sequence[str], "Answers", "Request"], None]
_LABELS = ("--item", "--annotator")
_PATHS = ("--records", "--kind", "--dimension", "--value", "--time", "--time-unit")
_FILES = ("--names", "--shift")
_TRIALS = (*_LABELS, *_FILES, "--time-unit")


class Kind(NamedTuple):
    """A kind of file: who reads it, what it is, and which options mean something for it."""

    reader: str  # module:function
    about: str
    takes: frozenset[str]


def _kind(reader: str, about: str, *takes: str) -> Kind:
    return Kind(reader, about, frozenset({"--dim", *takes}))


KINDS: dict[str, Kind] = {
    "json": _kind("json_mapper:read_json", "any JSON or JSON lines, by paths", *_LABELS, *_PATHS),
    "mturk": _kind("crowd_platforms:read_mturk", "Mechanical Turk batch results (CSV)", *_LABELS),
    "label-studio": _kind("annotation_tools:read_label_studio", "Label Studio export (JSON, CSV, TSV)", "--item"),
    "argilla": _kind("argilla_records:read_argilla", "Argilla records (JSON, flat or nested)", "--item"),
    "toloka": _kind("crowd_platforms:read_toloka", "Toloka assignments (TSV)", "--item"),
    "prolific": _kind("crowd_platforms:read_prolific", "a ratings table joined with a Prolific export (CSV)", *_LABELS),
    "prodigy": _kind("annotation_tools:read_prodigy", "Prodigy db-out (JSON lines)", "--item"),
    "crowd-kit": _kind("crowd_platforms:read_crowd_kit", "crowd-kit table task, worker, label (CSV)"),
    "doccano": _kind("annotation_tools:read_doccano", "doccano export (JSON lines per user, or their zip)", "--names"),
    "sureal": _kind("annotation_tools:read_sureal", "sureal dataset (JSON)"),
    "inspect": _kind("evaluation_tools:read_inspect", "Inspect AI log (JSON or .eval)", "--kind"),
    "promptfoo": _kind("evaluation_tools:read_promptfoo", "promptfoo output (JSON)"),
    "deepeval": _kind("evaluation_tools:read_deepeval", "DeepEval test run (JSON)"),
    "helm": _kind("evaluation_tools:read_helm", "HELM scenario_state.json with a jury's annotations"),
    "mt-bench": _kind("annotation_tools:read_mt_bench", "MT-Bench judgments: scores or pairs (JSON lines)"),
    "alt-test": _kind("annotation_tools:read_alt_test", "alt-test annotations {annotator: {item: value}} (JSON)"),
    "langfuse": _kind("evaluation_tools:read_langfuse", "Langfuse scores (API JSON, JSON lines, CSV)", *_LABELS),
    "langsmith": _kind("evaluation_tools:read_langsmith", "LangSmith feedback (JSON, JSON lines, CSV)", *_LABELS),
    "mlflow": _kind("evaluation_tools:read_mlflow", "MLflow traces with assessments (JSON, JSON lines)"),
    "phoenix": _kind("evaluation_tools:read_phoenix", "Phoenix span annotations (JSON, JSON lines, CSV)", *_LABELS),
    "ragas": _kind("tables_of_scores:read_ragas", "Ragas results (CSV, JSON lines), a file per judge", *_LABELS),
    "openai-evals": _kind("tables_of_scores:read_openai_evals", "OpenAI evals log (JSON lines)"),
    "potato": _kind("tables_of_scores:read_potato", "Potato annotations (JSON lines per user)", "--names"),
    "carma": _kind("trace_recorders:read_carma", "CARMA and carma2 (CSV)", *_FILES),
    "darma": _kind("trace_recorders:read_darma", "DARMA, two axes of a joystick (CSV)", *_FILES),
    "pagan": _kind("trace_recorders:read_pagan", "PAGAN log of GTrace or BTrace (CSV)", *_FILES),
    "ranktrace": _kind("trace_recorders:read_ranktrace", "PAGAN log of RankTrace, without ends (CSV)", *_FILES),
    "affecttracker": _kind("trace_recorders:read_affecttracker", "AffectTracker log (text without header)", *_FILES),
    "nova": _kind("timeline_formats:read_nova", "NOVA/SSI continuous annotations (.annotation)", *_FILES),
    "elan": _kind("timeline_formats:read_elan", "ELAN tiers that hold numbers (.eaf)", *_FILES, "--rate"),
    "muse": _kind("timeline_formats:read_muse", "MuSe-Toolbox raw annotations, or fused labels (CSV)", *_FILES),
    "recola": _kind("timeline_formats:read_recola", "RECOLA ratings (CSV)", *_FILES),
    "avec": _kind("timeline_formats:read_avec", "AVEC gold standard (ARFF): a reference", *_FILES),
    "jspsych": _kind("trace_recorders:read_jspsych", "jsPsych trials: CoRVid traces, or sliders (JSON, CSV)", *_TRIALS),
}


def find_kind(name: str) -> Kind:
    """The kind of that name; raises ValueError with the nearest one."""
    if name in KINDS:
        return KINDS[name]
    from unisono.tables.labels import did_you_mean

    hint = did_you_mean(name, KINDS).replace("'", "")
    raise ValueError(f"There is no kind '{name}'.{hint} See unisono import --list.")


def import_files(name: str, files: Sequence[str], answers: Answers, request: Request) -> Imported:
    """Reads files of one kind; raises ValueError for options that mean nothing there, DataError for bad files."""
    kind = find_kind(name)
    for option in request.given():
        if option not in kind.takes:
            raise ValueError(f"{option} means nothing for {name}; it takes {', '.join(sorted(kind.takes))}.")
    if request.names is not None:
        from unisono.tables.importing.import_request import name_pattern

        name_pattern(request.names)
    module, function = kind.reader.split(":")
    reader: Reader = getattr(importlib.import_module(f"unisono.tables.importing.{module}"), function)
    if name != "json":
        answers.rename = {source: named for named, source in request.dims}
    if request.shift is not None:
        answers.shift = request.shift
        answers.say(f"Every time was moved by {request.shift:g} s.")
    reader(files, answers, request)
    return answers.finish()
