"""`unisono export`: fused truth in the formats of other tools, read back where we can."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from command_line import unisono_here
from importing_cases import CASES, SAMPLES, arguments


@pytest.fixture(scope="module")
def fused(tmp_path_factory):
    """Folders of fused items and fused traces."""
    folder = tmp_path_factory.mktemp("fused")
    for name, case in (("items", "inspect"), ("traces", "nova")):
        unisono_here(*arguments(CASES[case], SAMPLES), "-o", f"{name}.csv", cwd=folder)
        assert unisono_here("fuse", f"{name}.csv", "--out", name, cwd=folder).returncode == 0
    return folder


def run(fused, kind, what, out, *options):
    return unisono_here("export", kind, fused / what, "-o", out, *options, cwd=out.parent)


def test_scores_for_inspect(tmp_path, fused):
    assert run(fused, "inspect", "items", tmp_path / "s.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    truth = pl.read_csv(fused / "items" / "truth.csv")
    assert [f"{line['id']}/epoch {line['epoch']}" for line in lines] == truth.get_column("item").to_list()
    assert [line["value"]["fluency"] for line in lines] == truth.get_column("fluency").to_list()
    assert [line["metadata"]["fluency"]["sd"] for line in lines] == truth.get_column("fluency_sd").to_list()
    assert len({(line["id"], line["epoch"]) for line in lines}) == len(lines)


def test_predictions_for_label_studio_come_back_as_a_judge(tmp_path, fused):
    out = tmp_path / "tasks.json"
    assert run(fused, "label-studio", "items", out, "--dim", "fluency", "--to-name", "text").returncode == 0
    tasks = json.loads(out.read_text())
    assert tasks[0]["predictions"][0]["result"][0]["to_name"] == "text"
    out.write_text(json.dumps([task | {"annotations": []} for task in tasks]))
    done = unisono_here("import", "label-studio", out, "--item", "data.item", cwd=tmp_path)
    back, truth = pl.read_csv(done.stdout.encode()), pl.read_csv(fused / "items" / "truth.csv")
    assert back.get_column("kind").unique().to_list() == ["judge"]
    np.testing.assert_allclose(back.get_column("fluency"), truth.get_column("fluency"), rtol=1e-12)


def test_labels_for_crowd_kit(tmp_path, fused):
    done = run(fused, "crowd-kit", "items", tmp_path / "l.csv")
    assert done.returncode == 3
    assert "--dim" in done.stderr
    assert not list(tmp_path.iterdir())
    assert run(fused, "crowd-kit", "items", tmp_path / "l.csv", "--dim", "fluency").returncode == 0
    assert pl.read_csv(tmp_path / "l.csv").columns == ["task", "label"]


def test_annotations_for_nova_come_back(tmp_path, fused):
    assert run(fused, "nova", "traces", tmp_path / "nova").returncode == 0
    files = sorted((tmp_path / "nova").glob("*/*.annotation"))
    done = unisono_here("import", "nova", *files, cwd=tmp_path)
    back, truth = pl.read_csv(done.stdout.encode()), pl.read_csv(fused / "traces" / "truth.csv")
    for name in ("arousal", "valence"):
        np.testing.assert_allclose(back.get_column(name), truth.get_column(name), rtol=1e-5)
    assert back.get_column("time").to_list() == truth.get_column("time").to_list()
    assert back.get_column("item").to_list() == truth.get_column("recording").to_list()


def test_confidence_falls_as_the_sd_grows(tmp_path, fused):
    run(fused, "nova", "traces", tmp_path / "nova")
    (data,) = (tmp_path / "nova").glob("*/*arousal*~")
    sure = np.array([float(line.split(";")[1]) for line in data.read_text().splitlines()])
    truth = pl.read_csv(fused / "traces" / "truth.csv")
    sd, variance = truth.get_column("arousal_sd").to_numpy(), truth.get_column("arousal").to_numpy().var()
    np.testing.assert_allclose(sure, variance / (variance + sd**2), atol=6e-5)


def test_recordings_that_begin_late_are_padded_for_nova(tmp_path):
    rows = "".join(f"film,{2 + t / 5},{t},1,{t - 1},{t + 1}\n" for t in range(10))
    (tmp_path / "truth.csv").write_text("recording,time,v,v_sd,v_low,v_high\n" + rows)
    unisono_here("export", "nova", "truth.csv", "-o", "nova", cwd=tmp_path)
    done = unisono_here("import", "nova", tmp_path / "nova/film/recording.v.unisono.annotation", cwd=tmp_path)
    back = pl.read_csv(done.stdout.encode())
    assert back.get_column("time").to_list() == [2 + t / 5 for t in range(10)]
    assert back.get_column("v").to_list() == list(range(10))


def test_tiers_for_elan_come_back_as_means(tmp_path, fused):
    assert run(fused, "elan", "traces", tmp_path / "elan", "--rate", "1").returncode == 0
    done = unisono_here("import", "elan", *(tmp_path / "elan").glob("*.eaf"), "--rate", "1", cwd=tmp_path)
    back, truth = pl.read_csv(done.stdout.encode()), pl.read_csv(fused / "traces" / "truth.csv")
    means = truth.group_by(pl.col("time").floor(), maintain_order=True).agg(pl.col("valence").mean())
    np.testing.assert_allclose(back.get_column("valence"), means.get_column("valence"), rtol=1e-3)


@pytest.mark.parametrize(
    ("kind", "what", "options", "code", "word"),
    [
        ("nova", "items", (), 3, "takes traces"),
        ("inspect", "traces", (), 3, "one value per item"),
        ("inspect", "items", ("--rate", "3"), 2, "--rate means nothing for inspect"),
        ("label-studio", "items", ("--dim", "x"), 3, "no 'x'"),
    ],
)
def test_what_does_not_fit_is_refused_and_writes_nothing(tmp_path, fused, kind, what, options, code, word):
    done = run(fused, kind, what, tmp_path / "out", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert word in done.stderr
    assert not list(tmp_path.iterdir())
