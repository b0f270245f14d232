"""Ratings without anything in common: `fuse` and `check` say so, on the right stream."""

from __future__ import annotations

import numpy as np
import pytest

from command_line import unisono_here

pytestmark = pytest.mark.slow


def noise_table() -> bytes:
    rng = np.random.default_rng(1)
    rows = [f"i{m},a{k},{rng.integers(1, 6)},{m + rng.integers(0, 3)}\n" for m in range(30) for k in range(5)]
    return ("item,annotator,mood,size\n" + "".join(rows)).encode()


def test_fuse_warns_on_stderr_and_in_the_summary(tmp_path):
    done = unisono_here("fuse", "-", "--model", "mean", "--out", "out", cwd=tmp_path, stdin=noise_table())
    assert done.returncode == 0, done.stderr
    assert "Warning: standard input: Annotators do not clearly agree on mood" in done.stderr
    assert "size" not in done.stderr
    assert "Annotators do not clearly agree on mood" in done.stdout
    assert "spammer" in (tmp_path / "out" / "annotators_overall.csv").read_text().splitlines()[0].split(",")


def test_check_warns_and_strict_fails():
    done = unisono_here("check", "-", "--strict", stdin=noise_table())
    assert done.returncode == 1
    assert "warning: Annotators do not clearly agree on mood: they share 0.0" in done.stdout
