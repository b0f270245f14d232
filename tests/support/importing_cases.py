"""Samples of other tools' files, written for the tests from the documented layouts, and how they are to be read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SAMPLES = Path(__file__).parent.parent / "samples" / "importing"


class Case(NamedTuple):
    """Words of `unisono import`, the shape of the table, and what has to be said."""

    kind: str
    files: list[str]
    rows: int
    columns: str
    said: list[str]
    options: tuple[str, ...] = ()


class Damage(NamedTuple):
    """A replacement in one file of a case, and what the error has to say."""

    case: str
    file: str
    old: str
    new: str
    words: list[str]


def arguments(case: Case, folder: Path) -> list[str]:
    """The command line of a case whose samples lie in `folder`."""
    return ["import", case.kind, *(str(folder / file) for file in case.files), *case.options]


CASES = {
    "mturk": Case(
        "mturk",
        ["mturk/batch.csv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["Item: Input.id", "Dropped 1: the assignment was rejected (batch.csv row 17)", "comment is text", "no time"],
    ),
    "mturk several items": Case(
        "mturk",
        ["mturk/several.csv"],
        12,
        "item,annotator,kind,arousal",
        ["Input.clip1, Input.clip2", "Dropped nothing"],
    ),
    "mturk elements": Case(
        "mturk", ["mturk/elements.csv"], 15, "item,annotator,kind,arousal,calm,valence", ["Range: valence 1 to 5"]
    ),
    "toloka": Case(
        "toloka",
        ["toloka/assignments.tsv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["is rejected (assignments.tsv row 17)", "a control task (assignments.tsv row 18)"],
    ),
    "prolific": Case(
        "prolific",
        ["prolific/ratings.csv", "prolific/export.csv"],
        15,
        "item,annotator,kind,valence,arousal",
        ["NOCODE", "status is rejected", "not in the export"],
    ),
    "crowd-kit": Case(
        "crowd-kit",
        ["crowd-kit/labels.csv"],
        15,
        "item,annotator,valence",
        ["Dropped 1: an exact copy (labels.csv row 17)", "Range: valence 1 to 5 (15 answers)"],
        ("--dim", "valence=label"),
    ),
    "label-studio": Case(
        "label-studio",
        ["label-studio/tasks.json"],
        20,
        "item,annotator,kind,valence,arousal",
        ["cancelled", "a rating of a region", "'textarea', which is no rating"],
        ("--item", "data.name"),
    ),
    "label-studio table": Case(
        "label-studio",
        ["label-studio/export.csv"],
        15,
        "item,annotator,kind,arousal,valence",
        ["its data, which --dim takes: year (15)"],
    ),
    "argilla": Case(
        "argilla", ["argilla/flat.json"], 20, "item,annotator,kind,quality,style", ["is a draft (flat.json line 88)"]
    ),
    "argilla columns": Case(
        "argilla", ["argilla/columns.json"], 20, "item,annotator,kind,quality,style", ["is a draft (columns.json line"]
    ),
    "argilla nested": Case("argilla", ["argilla/nested.json"], 15, "item,annotator,kind,quality", ["Dropped nothing"]),
    "prodigy": Case(
        "prodigy",
        ["prodigy/clips.jsonl"],
        15,
        "item,annotator,kind,valence,arousal",
        ["the answer is ignore (clips.jsonl line 16)", "the last one counts (clips.jsonl line 2"],
        ("--dim", "valence=accept", "--dim", "arousal"),
    ),
    "doccano": Case(
        "doccano",
        ["doccano/anna.jsonl", "doccano/ben.jsonl"],
        10,
        "item,annotator,kind,label",
        ["several answers (ben.jsonl line 6)", "no answer (ben.jsonl line 7)"],
    ),
    "doccano zip": Case(
        "doccano", ["doccano/export.zip"], 10, "item,annotator,kind,label", ["export.zip/ben.jsonl line 6"]
    ),
    "doccano old": Case("doccano", ["doccano/old.jsonl"], 15, "item,annotator,kind,label", ["Dropped nothing"]),
    # github.com/explodinggradients/ragas, src/ragas/dataset_schema.py: SingleTurnSample, EvaluationResult.to_pandas
    "ragas": Case(
        "ragas",
        ["ragas/judge-1.csv", "ragas/judge-2.csv"],
        10,
        "item,annotator,kind,faithfulness,answer_relevancy",
        [
            "Inputs, which are no scores: user_input (10), retrieved_contexts (10), response (10)",
            "called by their file",
        ],
    ),
    # github.com/openai/evals, evals/record.py: Event, record_match, record_metrics, LocalRecorder
    "openai-evals": Case(
        "openai-evals",
        ["openai-evals/alpha.jsonl", "openai-evals/beta.jsonl"],
        8,
        "item,system,prompt,correct,bleu",
        ["Dropped 8: an event of type 'sampling'", "Range: correct 0 to 1 (8 answers)"],
    ),
    # github.com/davidjurgens/potato before version 2: annotated_instances.jsonl in a folder per user
    "potato": Case(
        "potato",
        [f"potato/{who}/annotated_instances.jsonl" for who in ("alice", "bob", "cleo")],
        18,
        "item,annotator,kind,awkward,calm,emotion",
        ["Dropped 3: annotations of spans", "Words: emotion ", "Range: awkward 1 to 5"],
    ),
    # github.com/davidjurgens/potato, potato/export/tabular_exporter.py: JSONLExporter
    "potato 2": Case(
        "potato",
        ["potato/annotations.jsonl"],
        18,
        "item,annotator,kind,awkward,calm,emotion",
        ["Dropped 3: annotations of spans", "Words: emotion ", "Range: awkward 1 to 5"],
    ),
    "sureal": Case(
        "sureal",
        ["sureal/dataset.json"],
        17,
        "item,annotator,kind,score",
        ["averaged (10 answers)", "score is empty (dataset.json line 83)"],
    ),
    "inspect": Case(
        "inspect",
        ["inspect/log.json"],
        29,
        "item,system,prompt,sample,annotator,kind,model_graded_qa,fluency,faithfulness,includes",
        ["no scores (log.json line 370)", "fluency is empty", "a list of scores", "Epochs"],
    ),
    "inspect archive": Case(
        "inspect",
        ["inspect/log.eval"],
        29,
        "item,system,prompt,sample,annotator,kind,model_graded_qa,fluency,faithfulness,includes",
        ["log.eval/samples/9_epoch_1.json line 1"],
    ),
    "promptfoo": Case(
        "promptfoo",
        ["promptfoo/out.json"],
        29,
        "item,system,prompt,annotator,kind,fluency,faithfulness,contains",
        ["a component without assertion (out.json line 158)", "no graded components"],
    ),
    "deepeval": Case(
        "deepeval",
        ["deepeval/run1.json", "deepeval/run2.json"],
        10,
        "item,annotator,kind,Coherence,Faithfulness",
        ["no score (run2.json line 33)"],
    ),
    "helm": Case(
        "helm",
        ["helm/scenario_state.json"],
        14,
        "item,system,prompt,sample,annotator,kind,fluency,faithfulness,safety",
        ["no annotations (scenario_state.json line 266)"],
    ),
    "mt-bench": Case(
        "mt-bench",
        ["mt-bench/human.jsonl", "mt-bench/judge-1_single.jsonl", "mt-bench/judge-2_single.jsonl"],
        44,
        "item,system,prompt,annotator,kind,score",
        [
            "Dropped 1: a comparison, no rating (--dim winner takes comparisons alone)",
            "the score is -1",
            "(judge-2_single.jsonl line 4)",
        ],
    ),
    "alt-test": Case(
        "alt-test",
        ["alt-test/human_annotations.json", "alt-test/llm_annotations.json"],
        25,
        "item,annotator,kind,fluency,coherence",
        ["fluency is empty (human_annotations.json line 19)"],
    ),
    "langfuse": Case(
        "langfuse",
        ["langfuse/scores.json"],
        15,
        "item,annotator,kind,fluency",
        ["polite was not asked for", "userId"],
        ("--dim", "fluency=human_fluency", "--dim", "fluency"),
    ),
    "langfuse table": Case(
        "langfuse",
        ["langfuse/scores.csv"],
        10,
        "item,annotator,kind,fluency",
        ["Dropped nothing"],
        ("--dim", "fluency=human_fluency", "--dim", "fluency"),
    ),
    "langsmith": Case(
        "langsmith",
        ["langsmith/feedback.jsonl"],
        15,
        "item,annotator,kind,fluency",
        ["note is empty (feedback.jsonl line 17)", "the last one counts (feedback.jsonl line 2)"],
    ),
    "mlflow": Case(
        "mlflow",
        ["mlflow/traces.json"],
        15,
        "item,annotator,kind,fluency,grounded",
        ["overridden by a later assessment (traces.json line 91)", "an expectation", "the judge failed"],
    ),
    "phoenix": Case("phoenix", ["phoenix/annotations.json"], 15, "item,annotator,kind,correctness", ["tone is text"]),
    "phoenix table": Case(
        "phoenix", ["phoenix/annotations.csv"], 15, "item,annotator,kind,correctness", ["Dropped nothing"]
    ),
    "carma": Case(
        "carma",
        ["carma/anna.csv", "carma/ben.csv"],
        59,
        "item,annotator,time,valence",
        ["the end of bins of 1 s", "Scale: -100 to 100", "empty (ben.csv row 16)"],
        ("--dim", "valence=rating"),
    ),
    "carma2": Case(
        "carma",
        ["carma/film two/anna.csv", "carma/film two/ben.csv"],
        114,
        "item,annotator,time,rating",
        ["the start of bins of 0.1 s", "moved by 0.05 s", "empty (anna.csv row 2"],
        ("--shift", "0.05"),
    ),
    "darma": Case(
        "darma",
        ["darma/anna.csv", "darma/ben.csv"],
        80,
        "item,annotator,time,Affiliation,Dominance",
        ["the end of bins of 0.5 s", "Scale: -1000 to 1000", "Affiliation is empty (ben.csv row 14)"],
    ),
    "pagan": Case(
        "pagan",
        ["pagan/log.csv"],
        383,
        "item,annotator,time,rating",
        ["from milliseconds", "closes a session (log.csv row 104", "the last one counts"],
    ),
    "pagan test mode": Case(
        "pagan",
        ["pagan/test/p1.csv", "pagan/test/p2.csv"],
        118,
        "item,annotator,time,rating",
        ["Dropped nothing"],
        ("--names", "{item}/{annotator}.csv"),
    ),
    "ranktrace": Case(
        "ranktrace",
        ["ranktrace/log.csv"],
        380,
        "item,annotator,time,arousal",
        ["Scale: none", "closes a session"],
        ("--dim", "arousal=rating"),
    ),
    "affecttracker": Case(
        "affecttracker",
        ["affecttracker/room/anna.txt", "affecttracker/room/ben.txt"],
        190,
        "item,annotator,time,valence,arousal",
        ["from the first row", "an exact copy (anna.txt row 66", "Scale: -1 to 1"],
    ),
    "nova": Case(
        "nova",
        [
            f"nova/session1/novice.{scheme}.{who}.annotation"
            for scheme, who in [
                ("arousal", "anna"),
                ("arousal", "ben"),
                ("laughter", "anna"),
                ("valence", "anna"),
                ("valence", "ben"),
            ]
        ],
        97,
        "item,annotator,time,arousal,valence",
        ["5 per second", "type DISCRETE", "arousal is empty"],
    ),
    "elan": Case(
        "elan",
        ["elan/talk.eaf"],
        200,
        "item,annotator,time,valence,arousal",
        ["sampled 10 times per second", "speech is text", "its interval has no time", "hangs on another annotation"],
    ),
    "muse": Case(
        "muse",
        ["muse/arousal/17.csv", "muse/valence/17.csv"],
        179,
        "item,annotator,time,arousal,valence",
        ["seconds as written", "arousal is empty (17.csv row 10)"],
    ),
    "muse fused": Case(
        "muse",
        ["muse/fused/arousal/17.csv", "muse/fused/valence/17.csv"],
        60,
        "item,time,arousal,valence",
        ["from milliseconds", "A reference"],
    ),
    "recola": Case(
        "recola",
        ["recola/arousal/P16.csv", "recola/valence/P16.csv"],
        720,
        "item,annotator,time,arousal,valence",
        ["every 40 ms", "Dropped nothing"],
    ),
    "avec": Case(
        "avec",
        ["avec/arousal/train_1.arff", "avec/valence/train_1.arff"],
        100,
        "item,time,arousal,valence",
        ["frameTime", "A reference"],
    ),
    "jspsych": Case(
        "jspsych",
        ["jspsych/anna.json", "jspsych/ben.json"],
        400,
        "item,annotator,time,rating",
        ["since the trial began", "a trial without trace (anna.json line 2"],
    ),
    "jspsych sliders": Case(
        "jspsych",
        ["jspsych/sliders/anna.csv", "jspsych/sliders/ben.csv"],
        8,
        "item,annotator,kind,rating",
        ["a trial without stimulus (anna.csv row 2"],
    ),
}

DAMAGES = [
    Damage("mturk", "mturk/batch.csv", '"WorkerId"', '"Worker"', ["batch.csv row 1", "'WorkerId'"]),
    Damage("mturk", "mturk/batch.csv", '"fine","1"', '"fine","oops"', ["batch.csv row 2", "'oops'", "--labels"]),
    Damage("mturk elements", "mturk/elements.csv", "[{", "[[{", ["elements.csv row 2", "taskAnswers", "not JSON"]),
    Damage("toloka", "toloka/assignments.tsv", "ASSIGNMENT:status", "STATUS", ["assignments.tsv row 1", "no column"]),
    Damage("toloka", "toloka/assignments.tsv", "\tw02\t", "\t\t", ["assignments.tsv row 3", "worker_id"]),
    Damage("prolific", "prolific/export.csv", "Status", "State", ["export.csv row 1", "'Status'"]),
    Damage("prolific", "prolific/ratings.csv", "PROLIFIC_PID", "PID", ["ratings.csv row 1", "PROLIFIC_PID"]),
    Damage("crowd-kit", "crowd-kit/labels.csv", "worker", "person", ["labels.csv row 1", "'worker'"]),
    Damage(
        "crowd-kit", "crowd-kit/labels.csv", "clip2,w1,", "clip2,w1,x", ["labels.csv row 5", "where others are numbers"]
    ),
    Damage("label-studio", "label-studio/tasks.json", '"completed_by"', '"by"', ["tasks.json line 9", "completed_by"]),
    Damage("label-studio", "label-studio/tasks.json", '"result": [', '"result": "[', ["tasks.json line", "not JSON"]),
    Damage("label-studio", "label-studio/tasks.json", '"rating": 1', '"rating": {}', ["tasks.json line", "an object"]),
    Damage("label-studio table", "label-studio/export.csv", '"annotator"', '"by"', ["export.csv row 1", "'annotator'"]),
    Damage("argilla", "argilla/flat.json", '"id"', '"key"', ["flat.json line 2", "item"]),
    Damage("argilla", "argilla/flat.json", '"u-ben",', "", ["flat.json line", "3 answers, 2 users"]),
    Damage(
        "argilla nested",
        "argilla/nested.json",
        '"quality": [',
        '"quality": 3, "x": [',
        ["nested.json line", "not a list"],
    ),
    Damage("prodigy", "prodigy/clips.jsonl", '"_input_hash"', '"hash"', ["clips.jsonl line 1", "item"]),
    Damage("prodigy", "prodigy/clips.jsonl", '"accept": [1]', '"accept": {}', ["clips.jsonl line", "an object"]),
    Damage("doccano", "doccano/ben.jsonl", '"label"', '"lable"', ["ben.jsonl line 1", "'label'"]),
    Damage("doccano", "doccano/ben.jsonl", '{"id": 2', '[{"id": 2', ["ben.jsonl line 2", "not JSON"]),
    Damage("sureal", "sureal/dataset.json", '"os": {', '"os": "none", "x": {', ["dataset.json line", "not a list"]),
    Damage("sureal", "sureal/dataset.json", "dis_videos", "videos", ["dataset.json line 1", "'dis_videos'"]),
    Damage("inspect", "inspect/log.json", '"samples": [', '"samples": 3, "x": [', ["log.json line", "not a list"]),
    Damage("inspect", "inspect/log.json", '"eval"', '"run"', ["log.json line 1", "'eval'"]),
    Damage(
        "inspect", "inspect/log.json", '"fluency": 0.51', '"fluency": "fine"', ["log.json line", "'fine'", "--labels"]
    ),
    Damage("promptfoo", "promptfoo/out.json", '"testIdx"', '"idx"', ["out.json line", "testIdx"]),
    Damage("promptfoo", "promptfoo/out.json", '"results": [', '"table": [', ["out.json line", "old version"]),
    Damage("deepeval", "deepeval/run1.json", '"testCases"', '"cases"', ["run1.json line 1", "'testCases'"]),
    Damage(
        "deepeval",
        "deepeval/run1.json",
        '"metricsData": [',
        '"metricsData": 1, "x": [',
        ["run1.json line", "not a list"],
    ),
    Damage("helm", "helm/scenario_state.json", '"request_states"', '"states"', ["scenario_state.json line 1"]),
    Damage("helm", "helm/scenario_state.json", '"score": 4', '"score": {}', ["scenario_state.json line", "an object"]),
    Damage("mt-bench", "mt-bench/human.jsonl", '"question_id"', '"id"', ["human.jsonl line 1", "question_id"]),
    Damage("mt-bench", "mt-bench/human.jsonl", '"score": 6', '"score": "six"', ["human.jsonl line 1", "'six'"]),
    Damage(
        "alt-test", "alt-test/llm_annotations.json", '"judge-1": {', '"judge-1": 3, "x": {', ["line 2", "an object"]
    ),
    Damage("alt-test", "alt-test/human_annotations.json", ": 4", ': "four"', ["human_annotations.json line", "'four'"]),
    Damage("langfuse", "langfuse/scores.json", '"name"', '"label"', ["scores.json line", "'name'"]),
    Damage("langfuse", "langfuse/scores.json", '"traceId"', '"trace"', ["scores.json line 8", "datasetRunId"]),
    Damage("langfuse table", "langfuse/scores.csv", '""model""', "model", ["scores.csv row 3", "not an object"]),
    Damage("langsmith", "langsmith/feedback.jsonl", '"key"', '"name"', ["feedback.jsonl line 1", "'key'"]),
    Damage("langsmith", "langsmith/feedback.jsonl", '"feedback_source": {', '"feedback_source": 3, "x": {', ["line 1"]),
    Damage(
        "mlflow", "mlflow/traces.json", '"source": {', '"source": [], "x": {', ["traces.json line", "not an object"]
    ),
    Damage("mlflow", "mlflow/traces.json", '"trace_id"', '"id"', ["traces.json line", "request_id"]),
    Damage("phoenix", "phoenix/annotations.json", '"name"', '"called"', ["annotations.json line", "annotation_name"]),
    Damage("phoenix", "phoenix/annotations.json", '"result": {', '"result": [], "x": {', ["annotations.json line"]),
    Damage("carma", "carma/ben.csv", "%%%%%%", "", ["ben.csv row", "%%%%%%"]),
    Damage("carma", "carma/ben.csv", "12.00,", "noon,", ["ben.csv row 21", "'noon'"]),
    Damage("carma2", "carma/film two/ben.csv", "time,rating", "t,rating", ["ben.csv row", "%%%%%%"]),
    Damage("darma", "darma/anna.csv", "Second,", "Minute,", ["anna.csv row 4", "'Second'"]),
    Damage("darma", "darma/anna.csv", "\n5.00,", "\nfive,", ["anna.csv row 15", "'five'"]),
    Damage("pagan", "pagan/log.csv", "VideoTime", "Time", ["log.csv row 1", "VideoTime"]),
    Damage("pagan", "pagan/log.csv", ",250,15", ",soon,15", ["log.csv row 2", "'soon'"]),
    Damage("pagan test mode", "pagan/test/p1.csv", ",500,27", ",500,up", ["p1.csv row 3", "'up'"]),
    Damage("ranktrace", "ranktrace/log.csv", "OriginalName", "Name", ["log.csv row 1", "OriginalName"]),
    Damage("affecttracker", "affecttracker/room/ben.txt", "31.200", "31,200", ["ben.txt row 1", "decimal commas"]),
    Damage("affecttracker", "affecttracker/room/ben.txt", "NA", "up", ["ben.txt row 1", "'up'"]),
    Damage("nova", "nova/session1/novice.arousal.anna.annotation", 'sr="5"', 'sr="x"', ["annotation line 5", "sr"]),
    Damage("nova", "nova/session1/novice.arousal.ben.annotation", '"50"', '"60"', ["annotation~ line 50", "says 60"]),
    Damage("nova", "nova/session1/novice.arousal.anna.annotation", "<scheme", "<plan", ["line 2", "<scheme>"]),
    Damage("nova", "nova/session1/novice.valence.ben.annotation~", ";", "", ["annotation~ line 1", "score;confidence"]),
    Damage("elan", "elan/talk.eaf", 'TIME_VALUE="1000"', 'TIME_VALUE="soon"', ["talk.eaf line", "TIME_VALUE"]),
    Damage("elan", "elan/talk.eaf", "<ANNOTATION_VALUE>4<", "<ANNOTATION_VALUE>x<", ["talk.eaf line", "'x'"]),
    Damage(
        "elan",
        "elan/talk.eaf",
        "<ANNOTATION_DOC",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><ANNOTATION_DOC",
        ["line 2", "document type"],
    ),
    Damage("muse", "muse/arousal/17.csv", "timeStamp", "moment", ["17.csv row 1", "not the time"]),
    Damage("muse", "muse/arousal/17.csv", "\n2.50,", "\n2.50,x", ["17.csv row 12", "where others are numbers"]),
    Damage("muse fused", "muse/fused/arousal/17.csv", "\n500,", "\nx,", ["17.csv row 4", "'x'"]),
    Damage("recola", "recola/valence/P16.csv", "time ", "t", ["P16.csv row 1", "not the time"]),
    Damage("recola", "recola/valence/P16.csv", "0.04;", "0.04;;", ["P16.csv row 3", "8 cells"]),
    Damage("avec", "avec/valence/train_1.arff", "frameTime", "time", ["train_1.arff line 1", "frametime"]),
    Damage("avec", "avec/valence/train_1.arff", ",0.04,", ",x,", ["train_1.arff row 10", "frameTime"]),
    Damage("jspsych", "jspsych/anna.json", '"rt": [', '"rt": [[], ', ["anna.json line", "same length"]),
    Damage("jspsych", "jspsych/ben.json", '"response": [', '"response": ["up", ', ["ben.json line", "same length"]),
    Damage("jspsych sliders", "jspsych/sliders/ben.csv", ",10,", ",ten,", ["ben.csv row 3", "'ten'"]),
]
