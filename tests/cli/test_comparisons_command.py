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


def test_without_any_table(tmp_path):
    for name in ("fuse", "check"):
        found = run(name)
        assert found.returncode == 2
        assert "RATINGS" in found.stderr
        assert "--comparisons" in found.stderr


def test_bad_rows_have_exit_code_3(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(CSV.replace("k,b,c,tie", "k,b,c,ties?!x"))
    found = run("fuse", "--comparisons", path)
    assert found.returncode == 3
    assert "pairs.csv row 4: q is 'ties?!x'" in found.stderr
