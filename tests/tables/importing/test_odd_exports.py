"""Oddities of real exports, written after the tools' documentation or source, which each test names."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import unisono_here


@pytest.fixture
def imported(tmp_path):
    """Runs an import of contents by name; the table and what was said, or the error."""

    def run(kind: str, files: dict[str, str], *options: str) -> tuple[pl.DataFrame, str]:
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        done = unisono_here("import", kind, *files, *options, "-o", "out.csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return pl.read_csv(tmp_path / "out.csv"), done.stderr

    return run


def refused(folder, kind: str, files: dict[str, str], *options: str) -> str:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = unisono_here("import", kind, *files, *options, "-o", "out.csv", cwd=folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert not (folder / "out.csv").exists()
    return done.stderr


def test_mturk_rows_lack_the_cells_of_approve_and_reject_and_words_are_kept(imported):
    # docs.aws.amazon.com/AWSMechTurk/latest/RequesterUI/ReviewingResultsOutsideoftheRUI.html: the requester fills both
    # columns in, and the header names them before.
    header = "HITId,WorkerId,AssignmentStatus,Input.id,Answer.emotion,Answer.funny,Answer.comment,Approve,Reject"
    rows = [
        f"H{m},W{k},Submitted,clip{m},{['joy', 'fear'][(m + (m == k)) % 2]},{str(m % 2 == k % 2).lower()},text {m} {k}"
        for m in range(6)
        for k in range(3)
    ]
    table, said = imported("mturk", {"batch.csv": "\n".join([header, *rows])})
    assert table.columns == ["item", "annotator", "kind", "emotion", "funny"]
    assert set(table.get_column("emotion")) == {"joy", "fear"}
    assert "Words: emotion" in said
    assert "Dropped 18: comment is text" in said


def promptfoo(results: list[dict], version: int = 3) -> dict[str, str]:
    return {"out.json": json.dumps({"results": {"version": version, "results": results}})}


def graded(*components: tuple[str, float]) -> dict:
    found = [{"pass": True, "score": score, "reason": "", "assertion": {"type": form}} for form, score in components]
    return {"pass": True, "score": 1, "reason": "", "componentResults": found}


def test_promptfoo_two_assertions_of_one_type_stay_apart_and_an_empty_label_hides_no_id(imported):
    # promptfoo/promptfoo src/types: EvaluateResult has promptIdx, testIdx and provider {id, label?}
    results = [
        {
            "promptIdx": 0,
            "testIdx": test,
            "provider": {"id": system, "label": ""},
            "vars": {},
            "gradingResult": graded(("regex", 1), ("regex", 0), ("contains", 1)),
        }
        for test in range(2)
        for system in ("lab:a", "lab:b")
    ]
    table, _ = imported("promptfoo", promptfoo(results))
    assert table.columns[-5:] == ["annotator", "kind", "regex", "regex 2", "contains"]
    assert set(table.get_column("item")) == {f"lab:{s}/test {t}" for s in "ab" for t in range(2)}
    by = table.filter(pl.col("annotator") == "regex")
    assert by.get_column("regex").to_list() == [1] * 4
    assert by.get_column("regex 2").to_list() == [0] * 4


@pytest.mark.parametrize("version", [1, 2])
def test_promptfoo_of_the_first_versions_is_told_apart_by_variables_and_prompts(imported, version):
    # promptfoo/promptfoo src/types, EvaluateSummaryV2: results without indices, and a table beside them
    results = [
        {
            "provider": {"id": "lab:a"},
            "prompt": {"raw": prompt},
            "vars": {"q": q},
            "gradingResult": graded(("equals", 1)),
        }
        for q in "xyz"
        for prompt in ("short", "long")
    ]
    table, _ = imported("promptfoo", promptfoo(results, version))
    assert set(table.get_column("item")) == {f"prompt {p}/test {t}" for p in range(2) for t in range(3)}


def test_langfuse_blobs_are_in_snake_case_and_name_authors(imported):
    # langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields, field group score_provenance
    rows = [
        {"id": f"s{m}{who}", "trace_id": f"t{m}", "observation_id": None, "name": "quality", "value": m + 1,
         "source": source, "data_type": "NUMERIC", "author_user_id": who if source == "ANNOTATION" else None,
         "evaluator_id": None if source == "ANNOTATION" else who}
        for m in range(3)
        for who, source in (("anna", "ANNOTATION"), ("ben", "ANNOTATION"), ("eval-7", "EVAL"))
    ]  # fmt: skip
    table, _ = imported("langfuse", {"scores.jsonl": "\n".join(map(json.dumps, rows))})
    assert set(table.get_column("annotator")) == {"anna", "ben", "eval-7"}
    assert set(table.get_column("item")) == {"t0", "t1", "t2"}


def test_langfuse_tables_of_the_interface_have_an_author(imported):
    # langfuse.com/docs/api-and-data-platform/features/export-from-ui: all columns of the table are exported
    rows = ["id,traceId,source,name,value,stringValue,author"]
    rows += [f"{m}{who},t{m},ANNOTATION,quality,{m + 1},,{who}" for m in range(3) for who in ("anna", "ben")]
    table, _ = imported("langfuse", {"scores.csv": "\n".join(rows)})
    assert set(table.get_column("annotator")) == {"anna", "ben"}


def test_argilla_1_as_it_was_pushed_to_the_hub(imported):
    # docs.v1.argilla.io, FeedbackDataset on the Hugging Face Hub: a list of responses under every question, and
    # QUESTION-suggestion with QUESTION-suggestion-metadata
    rows = [
        {"text": f"text {m}", "external_id": f"r{m}", "metadata": "{}",
         "quality": [{"user_id": who, "value": 1 + m, "status": "submitted"} for who in ("u1", "u2")]
         + [{"user_id": "u3", "value": None, "status": "discarded"}],
         "quality-suggestion": 2, "quality-suggestion-metadata": {"type": "model", "score": None, "agent": "judge-1"}}
        for m in range(3)
    ]  # fmt: skip
    table, said = imported("argilla", {"data.jsonl": "\n".join(map(json.dumps, rows))})
    assert set(table.get_column("annotator")) == {"u1", "u2", "judge-1"}
    assert set(table.get_column("item")) == {"r0", "r1", "r2"}
    assert "Dropped 3: the response is discarded" in said


@pytest.mark.parametrize(("name", "ids"), [("all.jsonl", [1, 2]), ("admin.jsonl", [1, 2, 1])])
def test_doccano_files_of_all_users_are_refused(tmp_path, name, ids):
    # doccano/doccano, backend/data_export: without "per user", all labels of all users go to all.jsonl
    lines = "\n".join(json.dumps({"id": i, "text": "t", "label": ["3"]}) for i in ids)
    error = refused(tmp_path, "doccano", {name: lines})
    assert "looks like an export of all users in one file" in error
    if name == "all.jsonl":
        done = unisono_here("import", "doccano", name, "--names", "{annotator}.jsonl", cwd=tmp_path)
        assert done.returncode == 0


def test_label_studio_metadata_are_no_ratings(imported):
    # HumanSignal/label-studio-sdk, converter/exports/csv2.py, and the fields of a task in the documentation of exports
    header = "agreement,annotation_id,annotator,id,lead_time,quality,total_annotations"
    rows = [f"{50 + 10 * k},{m}{k},{k},{m},4.2,{1 + (m + k) % 5},2" for m in range(4) for k in range(3)]
    table, said = imported("label-studio", {"export.csv": "\n".join([header, *rows])})
    assert table.columns == ["item", "annotator", "kind", "quality"]
    assert "tasks and annotations, which --dim takes: agreement (12), total_annotations (12)" in said


def pairwise(data: dict, *chosen: str, to_name: str = "text1,text2", moods: tuple[str, ...] = ()) -> dict:
    # labelstud.io/templates/pairwise_comparison; the result is {"type": "pairwise", "value": {"selected": "left"}}
    about = {"from_name": "pw", "to_name": to_name, "type": "pairwise"}
    results = [[{**about, "value": {"selected": one}}] for one in chosen]
    for own, mood in zip(results, moods, strict=False):
        own.append({"from_name": "mood", "to_name": "x", "type": "choices", "value": {"choices": [mood]}})
    return {"data": data, "annotations": [{"completed_by": k, "result": own} for k, own in enumerate(results)]}


def test_label_studio_pairs_are_comparisons_of_what_the_task_holds(imported, tmp_path):
    tasks = [
        {"id": 7, **pairwise({"text1": "a cat", "text2": "a dog", "topic": "pets"}, "left", "right", "both")},
        {"id": 8, **pairwise({"text1": "a dog", "text2": "a fish", "topic": "pets"}, "right", "right")},
    ]
    table, said = imported("label-studio", {"tasks.json": json.dumps(tasks)})
    assert table.columns == ["annotator", "kind", "left", "right", "pw"]
    assert table.row(1) == (1, "human", "a cat", "a dog", "right")
    assert "Comparisons: pw left 1, tie 0, right 3 (4 answers)" in said
    assert "Dropped 1: pw is 'both', neither left nor right" in said
    assert unisono_here("check", "--comparisons", "out.csv", cwd=tmp_path).returncode == 0
    table, _ = imported("label-studio", {"tasks.json": json.dumps(tasks)}, "--item", "data.topic,data.text1")
    assert table.select("left", "right").row(0) == ("pets", "a cat")
    unnamed = [{"id": 7, **pairwise({"html": "<b>"}, "left", to_name="x,y")}]
    table, said = imported("label-studio", {"tasks.json": json.dumps(unnamed)})
    assert table.row(0) == (0, "human", "7/left", "7/right", "left")
    assert "they have no names in the task but its own (--item data.A,data.B names others)" in said


def test_label_studio_pairs_beside_choices_are_taken_by_name(imported):
    # labelstud.io/tags/choices: {"type": "choices", "value": {"choices": ["calm"]}}
    moods = [tuple(("calm", "loud")[(m // 2 + (m == k)) % 2] for k in range(3)) for m in range(6)]
    tasks = [
        {"id": m, **pairwise({"text1": f"t{m}", "text2": f"t{m + 1}"}, "left", "right", "left", moods=moods[m])}
        for m in range(6)
    ]
    table, said = imported("label-studio", {"tasks.json": json.dumps(tasks)})
    assert set(table.get_column("mood")) == {"calm", "loud"}
    assert "Dropped 18: a comparison, no rating (--dim pw takes comparisons alone)" in said
    table, said = imported("label-studio", {"tasks.json": json.dumps(tasks)}, "--dim", "pw")
    assert table.height == 18
    assert "Dropped 18: mood was not asked for" in said


def played(question: int, first: str, second: str) -> dict:
    # lm-sys/FastChat fastchat/llm_judge/common.py, play_a_match_pair: the second game has the models swapped
    about = {"question_id": question, "model_1": "alpha", "model_2": "beta", "turn": 1, "tstamp": 1.0}
    return {**about, "judge": ["gpt-4", "pair-v2"], "g1_winner": first, "g2_winner": second}


def test_mt_bench_pairs_are_two_games_each_and_fuse_reads_them(imported, tmp_path):
    rows = [played(81, "model_1", "model_1"), played(82, "model_2", "tie"), played(83, "model_1", "model_2")]
    rows += [played(84, "error", "model_2"), played(85, "tie", "model_1")]
    # huggingface.co/datasets/lmsys/mt_bench_human_judgments: people say who won, and contradictions are ties
    people = [
        {"question_id": 81, "model_a": a, "model_b": b, "winner": winner, "judge": "author_1", "turn": 1}
        for a, b, winner in (("beta", "gamma", "model_a"), ("gamma", "alpha", "tie (inconsistent)"))
    ]
    files = {"gpt-4_pair.jsonl": rows, "human.jsonl": people}
    table, said = imported("mt-bench", {name: "\n".join(map(json.dumps, own)) for name, own in files.items()})
    assert table.columns == ["annotator", "kind", "prompt", "left", "right", "winner"]
    one = table.filter(pl.col("prompt") == "question 85/turn 1")
    assert one.select("left", "right", "winner").rows() == [("alpha", "beta", "tie"), ("beta", "alpha", "right")]
    assert "Dropped 1: g1_winner is 'error', which is no winner (gpt-4_pair.jsonl line 4)" in said
    assert "'tie (inconsistent)' counts as a tie." in said
    assert set(table.select("annotator", "kind").unique().rows()) == {("gpt-4", "judge"), ("author_1", "human")}
    fused = unisono_here("fuse", "--comparisons", "out.csv", "--out", "fused", cwd=tmp_path)
    assert fused.returncode == 0, fused.stderr
    assert set(pl.read_csv(tmp_path / "fused" / "truth.csv").get_column("item")) == {"alpha", "beta", "gamma"}


RANKED = [["one", "two", "three"], ["three", "one", "two"], ["two", "one", "three"]]


def argilla_2(order: list[str]) -> object:
    # argilla-io/argilla, argilla/responses.py: rankings are given back as the list of values, the best first
    return order


def argilla_1(order: list[str]) -> object:
    # docs.v1.argilla.io, RankingQuestion: a list of {"rank", "value"}
    return [{"rank": order.index(name) + 1, "value": name} for name in sorted(order)]


def argilla_pushed(order: list[str]) -> object:
    # the same as datasets of the Hugging Face hub hold sequences of objects: an object of lists
    return {"rank": [order.index(name) + 1 for name in sorted(order)], "value": sorted(order)}


@pytest.mark.parametrize("form", [argilla_2, argilla_1, argilla_pushed])
def test_argilla_rankings_are_comparisons_of_options(imported, tmp_path, form):
    rows = [
        {"id": f"r{m}", "responses": {
            "best": [{"value": form(order), "user_id": f"u{k}"} for k, order in enumerate(RANKED)],
            "tags": [{"value": ["x", "y"][: 1 + k % 2], "user_id": f"u{k}"} for k in range(3)]}}
        for m in range(2)
    ]  # fmt: skip
    table, said = imported("argilla", {"records.json": json.dumps(rows)}, "--dim", "best")
    assert table.columns == ["ranking", "annotator", "kind", "item", "rank"]
    own = table.filter((pl.col("ranking") == "r0") & (pl.col("annotator") == "u1"))
    assert dict(own.select("item", "rank").rows()) == {"r0/three": 1, "r0/one": 2, "r0/two": 3}
    assert "Rankings: best 2 rankings of items." in said
    assert "Dropped 6: tags was not asked for" in said
    done = unisono_here("check", "--comparisons", "out.csv", cwd=tmp_path)
    assert "18 comparisons of 6 items by 3 annotators" in done.stdout + done.stderr


def test_langsmith_experiments_are_read_as_to_pandas_writes_them(imported):
    # langchain-ai/langsmith-sdk, python/langsmith/evaluation/_runner.py, _flatten_experiment_results: inputs.*,
    # outputs.*, error, reference.*, feedback.*, execution_time, example_id, id
    header = "inputs.question,outputs.answer,error,reference.answer,feedback.correct,feedback.note,execution_time,"
    files = {
        f"{system}.csv": header + "example_id,id\n" + "".join(
            f"q{m},a{m},,b{m},{(m + shift) % 3 / 2},text {m} {system},0.{m},e{m},run-{system}{m}\n" for m in range(4)
        )
        for shift, system in enumerate(("alpha", "beta"))
    }  # fmt: skip
    table, said = imported("langsmith", files)
    assert table.columns == ["item", "system", "prompt", "annotator", "correct"]
    assert table.row(0) == ("alpha/e0", "alpha", "e0", "evaluators", 0.0)
    assert table.height == 8
    assert "inputs.question (8), outputs.answer (8), reference.answer (8), execution_time (8)" in said
    assert "Dropped 8: note is text" in said


def test_langsmith_experiments_of_the_interface_are_read_by_what_is_left(imported):
    # docs.langchain.com/langsmith/analyze-an-experiment#download-experiment-results-as-a-csv does not list the columns;
    # the view has inputs, outputs, reference outputs, feedback, cost, tokens, latency and status, under plain names
    header = "id,inputs,outputs,reference_outputs,status,latency,total_tokens,total_cost,correctness"
    rows = [f'r{m},"{{""q"": {m}}}",a,b,success,1.2,300,0.01,{m % 2}' for m in range(4)]
    table, said = imported("langsmith", {"experiment.csv": "\n".join([header, *rows])}, "--annotator", "gpt-judge")
    assert table.columns == ["item", "system", "prompt", "annotator", "correctness"]
    assert set(table.get_column("annotator")) == {"gpt-judge"}
    assert "latency (4), total_tokens (4), total_cost (4)" in said


def test_prodigy_words_are_kept(imported):
    # prodi.gy/docs/recipes, textcat.manual: the labels chosen are in "accept"
    rows = [
        {"_input_hash": m, "_annotator_id": who, "answer": "accept", "accept": [["GOOD", "BAD"][(m + (m == k)) % 2]]}
        for m in range(6)
        for k, who in enumerate(("anna", "ben", "carl"))
    ]
    table, _ = imported("prodigy", {"out.jsonl": "\n".join(map(json.dumps, rows))})
    assert set(table.get_column("accept")) == {"GOOD", "BAD"}


def test_what_cannot_be_taken_is_an_error_with_the_way_out(tmp_path):
    row = {"_input_hash": 1, "_annotator_id": "anna", "answer": "accept", "score": None}
    said = refused(tmp_path, "prodigy", {"file.json": json.dumps(row)}, "--dim", "score")
    assert "file.json line 1: there is no 'score'. Name the field of the rating with --dim NAME=FIELD." in said
    two = {
        "id": "r",
        "responses": {name: [{"value": RANKED[0], "user_id": "u"}] for name in ("best", "worst")},
    }
    said = refused(tmp_path, "argilla", {"file.json": json.dumps([two])})
    assert "rankings on 'best' beside" in said
    assert "Take one: --dim best." in said


def test_inspect_a_graded_scorer_is_the_grading_model_and_a_custom_one_is_asked_about(imported):
    # inspect.aisi.org.uk/scorers.html: model_graded_qa uses the role `grader`, else the model that is evaluated
    log = {
        "eval": {"task": "t", "model": "lab/evaluated", "model_roles": {"grader": {"model": "lab/grader"}},
                 "scorers": [{"name": "model_graded_qa", "options": {}}, {"name": "my_scorer", "options": {}}]},
        "samples": [
            {"id": m, "epoch": 1, "scores": {"model_graded_qa": {"value": "CI"[m % 2]}, "my_scorer": {"value": m / 4}}}
            for m in range(4)
        ],
    }  # fmt: skip
    for options, kind in (((), "code"), (("--kind", "=judge"), "judge")):
        table, said = imported("inspect", {"log.json": json.dumps(log)}, *options)
        kinds = dict(table.select("annotator", "kind").unique().iter_rows())
        assert kinds == {"lab/grader": "judge", "my_scorer": kind}
        assert f"Nothing says what scorer 'my_scorer' is: it counts as {kind}" in said
