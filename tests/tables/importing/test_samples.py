"""Every sample through the real command: into a table that `check` reads without a warning, or refused whole."""

from __future__ import annotations

import shutil

import polars as pl
import pytest

from command_line import unisono_here
from importing_cases import CASES, DAMAGES, SAMPLES, arguments
from unisono.tables.importing.import_kinds import KINDS


@pytest.mark.parametrize("name", CASES)
def test_a_sample_becomes_a_table_that_check_reads(tmp_path, name):
    case = CASES[name]
    done = unisono_here(*arguments(case, SAMPLES), "-o", "ratings.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    for words in [*case.said, "Range: ", f"Written to ratings.csv: {case.rows} rows"]:
        assert words in done.stderr
    table = pl.read_csv(tmp_path / "ratings.csv")
    assert ",".join(table.columns) == case.columns
    assert table.height == case.rows
    command = ("check", "ratings.csv")
    if "annotator" not in table.columns:
        command = ("score", "ratings.csv", "ratings.csv")
        if "system" in table.columns:
            command = ("leaderboard", "ratings.csv", "--by", "system", "--prompt", "prompt")
    read = unisono_here(*command, cwd=tmp_path)
    assert (read.returncode, read.stderr) == (0, "")


@pytest.mark.parametrize("name", ["inspect", "promptfoo", "helm", "mt-bench", "openai-evals"])
def test_from_a_log_to_a_leaderboard(tmp_path, name):
    """As docs/judges.md has it; a log of one system is read beside that of another."""
    case = CASES[name]
    shutil.copytree(SAMPLES, tmp_path / "in")
    for file in case.files if name in ("inspect", "helm") else ():
        text = (tmp_path / "in" / file).read_text(encoding="utf-8")
        (tmp_path / "in" / f"{file}.b.json").write_text(text.replace("system-a", "system-b"), encoding="utf-8")
        case = case._replace(files=[*case.files, f"{file}.b.json"])
    done = unisono_here(*arguments(case, tmp_path / "in"), "-o", "scores.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    dimension = {"mt-bench": "score", "openai-evals": "correct"}.get(name, "fluency")
    board = unisono_here(
        *("leaderboard", "scores.csv", "--by", "system", "--prompt", "prompt", "--dim", dimension, "--out", "board"),
        *(("--set", "reference_kind=judge") if name == "mt-bench" else ()),
        cwd=tmp_path,
    )
    assert board.returncode == 0, board.stderr
    systems = pl.read_csv(tmp_path / "board" / "systems.csv")["system"]
    assert systems.n_unique() >= 2
    assert systems.str.contains("system-a|alpha").any()


def test_every_kind_but_the_mapper_has_a_sample():
    assert {case.kind for case in CASES.values()} == set(KINDS) - {"json"}


@pytest.mark.parametrize("name", CASES)
def test_a_sample_cut_short_is_refused_with_file_and_line(tmp_path, name):
    case = CASES[name]
    shutil.copytree(SAMPLES, tmp_path / "in")
    cut = next((file for file in case.files if (tmp_path / "in" / f"{file}~").exists()), None)
    target = tmp_path / "in" / (f"{cut}~" if cut else case.files[-1])
    data = target.read_bytes()
    # In the middle of a row, and of whatever is opened there.
    target.write_bytes(data[: data.rindex(b"\n", 0, len(data) * 2 // 3) + 4])
    refused(tmp_path, case, [target.name])


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: f"{damage.case}: {damage.old.strip()[:20]}")
def test_a_damaged_sample_is_refused_with_file_and_line(tmp_path, damage):
    shutil.copytree(SAMPLES, tmp_path / "in")
    target = tmp_path / "in" / damage.file
    text = target.read_text(encoding="utf-8")
    assert damage.old in text
    target.write_text(text.replace(damage.old, damage.new, 1), encoding="utf-8")
    refused(tmp_path, CASES[damage.case], damage.words)


def refused(folder, case, words):
    done = unisono_here(*arguments(case, folder / "in"), "-o", "out/ratings.csv", "--dropped", "out/d.csv", cwd=folder)
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1
    for word in ["Error: ", *words]:
        assert word in done.stderr
    assert " line " in done.stderr or " row " in done.stderr
    assert [path.name for path in folder.iterdir()] == ["in"]
