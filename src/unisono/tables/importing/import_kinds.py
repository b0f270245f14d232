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
_LABELS = frozenset({"--item", "--annotator"})
_PATHS = frozenset({"--records", "--kind", "--dimension", "--value", "--time", "--time-unit"})
_FILES = frozenset({"--names", "--shift"})
_ALL = frozenset({"--dim"})


class Kind(NamedTuple):
    """A kind of file: who reads it, what it is, and which options mean something for it."""

    family: str
    reader: str  # module:function
    about: str
    takes: frozenset[str] = _ALL


KINDS: dict[str, Kind] = {
    "json": Kind("anything", "json_mapper:read_json", "any JSON or JSON lines, by paths", _ALL | _LABELS | _PATHS),
    "mturk": Kind("crowd", "crowd_platforms:read_mturk", "Mechanical Turk batch results (CSV)", _ALL | _LABELS),
    "label-studio": Kind(
        "crowd", "annotation_tools:read_label_studio", "Label Studio export (JSON, CSV, TSV)", _ALL | {"--item"}
    ),
    "argilla": Kind(
        "crowd", "argilla_records:read_argilla", "Argilla records (JSON, flat or nested)", _ALL | {"--item"}
    ),
    "toloka": Kind("crowd", "crowd_platforms:read_toloka", "Toloka assignments (TSV)", _ALL | {"--item"}),
    "prolific": Kind(
        "crowd", "crowd_platforms:read_prolific", "a ratings table joined with a Prolific export (CSV)", _ALL | _LABELS
    ),
    "prodigy": Kind("crowd", "annotation_tools:read_prodigy", "Prodigy db-out (JSON lines)", _ALL | {"--item"}),
    "crowd-kit": Kind("crowd", "crowd_platforms:read_crowd_kit", "crowd-kit table task, worker, label (CSV)"),
    "doccano": Kind(
        "crowd",
        "annotation_tools:read_doccano",
        "doccano export (JSON lines per user, or their zip)",
        _ALL | {"--names"},
    ),
    "sureal": Kind("crowd", "annotation_tools:read_sureal", "sureal dataset (JSON)"),
    "inspect": Kind("evaluation", "evaluation_tools:read_inspect", "Inspect AI log (JSON or .eval)", _ALL | {"--kind"}),
    "promptfoo": Kind("evaluation", "evaluation_tools:read_promptfoo", "promptfoo output (JSON)"),
    "deepeval": Kind("evaluation", "evaluation_tools:read_deepeval", "DeepEval test run (JSON)"),
    "helm": Kind("evaluation", "evaluation_tools:read_helm", "HELM scenario_state.json with a jury's annotations"),
    "mt-bench": Kind(
        "evaluation", "annotation_tools:read_mt_bench", "MT-Bench judgments: scores or pairs (JSON lines)"
    ),
    "alt-test": Kind(
        "evaluation", "annotation_tools:read_alt_test", "alt-test annotations {annotator: {item: value}} (JSON)"
    ),
    "langfuse": Kind(
        "evaluation", "evaluation_tools:read_langfuse", "Langfuse scores (API JSON, JSON lines, CSV)", _ALL | _LABELS
    ),
    "langsmith": Kind(
        "evaluation", "evaluation_tools:read_langsmith", "LangSmith feedback (JSON, JSON lines, CSV)", _ALL | _LABELS
    ),
    "mlflow": Kind("evaluation", "evaluation_tools:read_mlflow", "MLflow traces with assessments (JSON, JSON lines)"),
    "phoenix": Kind(
        "evaluation",
        "evaluation_tools:read_phoenix",
        "Phoenix span annotations (JSON, JSON lines, CSV)",
        _ALL | _LABELS,
    ),
    "ragas": Kind(
        "evaluation", "tables_of_scores:read_ragas", "Ragas results (CSV, JSON lines), a file per judge", _ALL | _LABELS
    ),
    "openai-evals": Kind("evaluation", "tables_of_scores:read_openai_evals", "OpenAI evals log (JSON lines)"),
    "potato": Kind(
        "crowd", "tables_of_scores:read_potato", "Potato annotations (JSON lines per user)", _ALL | {"--names"}
    ),
    "carma": Kind("traces", "trace_recorders:read_carma", "CARMA and carma2 (CSV)", _ALL | _FILES),
    "darma": Kind("traces", "trace_recorders:read_darma", "DARMA, two axes of a joystick (CSV)", _ALL | _FILES),
    "pagan": Kind("traces", "trace_recorders:read_pagan", "PAGAN log of GTrace or BTrace (CSV)", _ALL | _FILES),
    "ranktrace": Kind(
        "traces", "trace_recorders:read_ranktrace", "PAGAN log of RankTrace, without ends (CSV)", _ALL | _FILES
    ),
    "affecttracker": Kind(
        "traces", "trace_recorders:read_affecttracker", "AffectTracker log (text without header)", _ALL | _FILES
    ),
    "nova": Kind(
        "traces", "timeline_formats:read_nova", "NOVA/SSI continuous annotations (.annotation)", _ALL | _FILES
    ),
    "elan": Kind(
        "traces", "timeline_formats:read_elan", "ELAN tiers that hold numbers (.eaf)", _ALL | _FILES | {"--rate"}
    ),
    "muse": Kind(
        "traces", "timeline_formats:read_muse", "MuSe-Toolbox raw annotations, or fused labels (CSV)", _ALL | _FILES
    ),
    "recola": Kind("traces", "timeline_formats:read_recola", "RECOLA ratings (CSV)", _ALL | _FILES),
    "avec": Kind("traces", "timeline_formats:read_avec", "AVEC gold standard (ARFF): a reference", _ALL | _FILES),
    "jspsych": Kind(
        "traces",
        "trace_recorders:read_jspsych",
        "jsPsych trials: CoRVid traces, or sliders (JSON, CSV)",
        _ALL | _FILES | _LABELS | {"--time-unit"},
    ),
}


def find_kind(name: str) -> Kind:
    """The kind of that name; raises ValueError with the nearest one."""
    if name in KINDS:
        return KINDS[name]
    from unisono.tables.labels import nearest

    close = nearest(name, KINDS)
    raise ValueError(
        f"There is no kind '{name}'.{f' Did you mean {close}?' if close else ''} See unisono import --list."
    )


def import_files(name: str, files: Sequence[str], answers: Answers, request: Request) -> Imported:
    """Reads files of one kind; raises ValueError for options that mean nothing there, DataError for bad files."""
    kind = find_kind(name)
    for option in request.given():
        if option not in kind.takes:
            raise ValueError(f"{option} means nothing for {name}; it takes {', '.join(sorted(kind.takes))}.")
    if request.names is not None:
        from unisono.tables.importing.import_request import FileNames

        FileNames(request.names)
    module, function = kind.reader.split(":")
    reader: Reader = getattr(importlib.import_module(f"unisono.tables.importing.{module}"), function)
    if name != "json":
        answers.rename = {source: named for named, source in request.dims}
    if request.shift is not None:
        answers.shift = request.shift
        answers.say(f"Every time was moved by {request.shift:g} s.")
    reader(files, answers, request)
    return answers.finish()
