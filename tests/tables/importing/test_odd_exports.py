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
    assert "no ratings: agreement, total_annotations" in said


def test_label_studio_pairwise_and_choices_are_kept_as_words(imported):
    # labelstud.io/tags/pairwise: {"type": "pairwise", "value": {"selected": "left"}}
    def result(form: str, value: dict) -> dict:
        return {"from_name": form, "to_name": "x", "type": form, "value": value}

    tasks = [
        {"id": m, "data": {}, "annotations": [
            {"completed_by": k, "result": [
                result("pairwise", {"selected": ["left", "right"][(m + (m == k)) % 2]}),
                result("choices", {"choices": [["calm", "loud"][(m // 2 + (m == k)) % 2]]}),
            ]} for k in range(3)]}
        for m in range(6)
    ]  # fmt: skip
    table, said = imported("label-studio", {"tasks.json": json.dumps(tasks)})
    assert set(table.get_column("pairwise")) == {"left", "right"}
    assert set(table.get_column("choices")) == {"calm", "loud"}
    assert "Words: pairwise" in said


def test_prodigy_words_are_kept(imported):
    # prodi.gy/docs/recipes, textcat.manual: the labels chosen are in "accept"
    rows = [
        {"_input_hash": m, "_annotator_id": who, "answer": "accept", "accept": [["GOOD", "BAD"][(m + (m == k)) % 2]]}
        for m in range(6)
        for k, who in enumerate(("anna", "ben", "carl"))
    ]
    table, _ = imported("prodigy", {"out.jsonl": "\n".join(map(json.dumps, rows))})
    assert set(table.get_column("accept")) == {"GOOD", "BAD"}


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
