"""The page on R, run in R, and its results beside those of Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.tables.datasets import dataset_path

PAGE = Path(__file__).parents[1] / "docs" / "r.md"


@pytest.mark.slow
def test_the_page_runs_in_r_and_gives_what_python_gives(tmp_path):
    program = shutil.which("Rscript")
    assert program, "R is missing; tools/install-system-packages installs it"
    blocks = re.findall(r"^```r\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    checks = 'stopifnot(abs(coef(fit)[["overall"]] - 1) < .25, is.character(truth$item))\n'
    (tmp_path / "page.R").write_text("".join([*blocks, checks]), encoding="utf-8")
    shutil.copy(dataset_path("squality"), tmp_path / "squality.csv")
    source = Path(un.__file__).parents[1]
    world = os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(source), "MPLBACKEND": "agg"}
    done = subprocess.run([program, "page.R"], cwd=tmp_path, env=world, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Fused 900 judgements of 300 items by 4 annotators" in done.stdout
    assert "ICC" in done.stdout
    in_r = pl.read_csv(tmp_path / "truth.csv")
    in_python = un.fuse(un.load_dataset("squality"), seed=1).truth
    assert in_r.columns == in_python.columns
    for name in in_r.columns[1:]:
        np.testing.assert_allclose(in_r[name], in_python[name], rtol=1e-9)
    for name in ("truth.pdf", "annotators.pdf", "out/report.html"):
        assert (tmp_path / name).stat().st_size > 1000
