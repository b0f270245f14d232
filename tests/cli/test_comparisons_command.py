"""`unisono fuse --comparisons` and `unisono check --comparisons`."""

import json

from command_line import unisono_here as run

CSV = "annotator,left,right,q\nk,a,b,left\nm,b,a,left\nk,b,c,tie\nm,c,a,right\nn,a,c,left\nn,x,y,left\n"


def test_fused_and_checked(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(CSV)
    fused = run("fuse", "--comparisons", path, "--out", tmp_path / "out")
    assert fused.returncode == 0, fused.stderr
    assert (tmp_path / "out" / "truth.csv").read_text().startswith("item,q,q_sd,q_low,q_high,component\n")
    checked = run("check", "--comparisons", path)
    assert "2 components" in checked.stdout
    assert run("check", "--comparisons", path, "--strict").returncode == 1
    data = json.loads(run("check", "--comparisons", path, "--json").stdout)
    assert data["components"] == [3, 2]
    advised = run("next", tmp_path / "out", "--pairs", "2")
    assert advised.returncode == 0, advised.stderr
    assert "information" in advised.stdout
    assert len(json.loads(run("next", tmp_path / "out", "--pairs", "2", "--json").stdout)["pairs"]) == 2


def test_ratings_and_comparisons_together(tmp_path):
    (tmp_path / "pairs.csv").write_text(CSV)
    rows = [f"{item},{who},{(3 * i + k) % 5}" for i, item in enumerate("abcxy") for k, who in enumerate("kmn")]
    (tmp_path / "ratings.csv").write_text("\n".join(["clip,who,q", *rows]) + "\n")
    ratings = (tmp_path / "ratings.csv", "--item", "clip", "--annotator", "who", "--scale", "0:4")
    found = run("fuse", *ratings, "--comparisons", tmp_path / "pairs.csv", "--out", tmp_path / "out")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "out" / "truth.csv").read_text().startswith("item,q,q_sd,q_low,q_high\n")
    assert (tmp_path / "out" / "comparison_annotators.csv").exists()


def test_without_any_table(tmp_path):
    for name in ("fuse", "check"):
        found = run(name)
        assert found.returncode == 2
        assert "RATINGS" in found.stderr
        assert "--comparisons" in found.stderr


def test_left_out_and_predicted(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(CSV + CSV.split("\n", 1)[1] * 5)
    found = run("compare", "--comparisons", path, "--set", "folds=3")
    assert found.returncode == 0, found.stderr
    assert "all annotators alike: log-loss" in found.stdout
    assert json.loads(run("compare", "--comparisons", path, "--json").stdout)["folds"] == 5


def test_bad_rows_have_exit_code_3(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(CSV.replace("k,b,c,tie", "k,b,c,ties?!x"))
    found = run("fuse", "--comparisons", path)
    assert found.returncode == 3
    assert "pairs.csv row 4: q is 'ties?!x'" in found.stderr
