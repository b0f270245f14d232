"""Codes for missing answers in tables that are read stretch by stretch, and ways out that work when pasted."""

from __future__ import annotations

import shlex

import numpy as np
import polars as pl
import pytest

from awkward_tables import ways_out
from command_line import unisono_here
from sharded_cases import crowd_table


@pytest.fixture
def coded(tmp_path):
    """One answer of 200 is -99, or a word, also beyond the rows that tell columns apart; and a table set right."""
    right = crowd_table(items=400)
    place = pl.int_range(pl.len()) % 200 == 199
    assert right.height > 2000
    right = right.with_columns(pl.when(place).then(None).otherwise(pl.col("arousal")).alias("arousal"))
    right.write_csv(tmp_path / "right.csv")
    right.with_columns(pl.when(place).then(-99.0).otherwise(pl.col("arousal")).alias("arousal")).write_csv(
        tmp_path / "coded.csv"
    )
    text = pl.when(place).then(pl.lit("refused")).otherwise(pl.col("arousal").cast(pl.String))
    right.with_columns(text.alias("arousal")).write_csv(tmp_path / "worded.csv")
    return tmp_path


def truth(folder, *words: str) -> np.ndarray:
    """(M, 2) in one file of a table, in a folder of shards."""
    out = folder / f"out{len(list(folder.glob('out*')))}"
    done = unisono_here("fuse", *words, "--out", out, cwd=folder)
    assert done.returncode == 0, done.stderr
    whole = out / "truth.csv"
    found = pl.read_csv(whole) if whole.exists() else pl.read_parquet(out / "truth" / "*.parquet")
    return found.sort("item").select("valence", "arousal").to_numpy()


def test_codes_are_refused_and_both_ways_out_work(coded):
    assert unisono_here("shard", "coded.csv", "-o", "shards", "--rows", "500", cwd=coded).returncode == 0
    expected = truth(coded, "right.csv", "--engine", "serial")
    for words in (["shards"], ["coded.csv", "--engine", "serial"]):
        done = unisono_here("fuse", *words, "--out", "never", cwd=coded)
        assert done.returncode == 3
        assert "coded.csv: arousal is -99, where all others are from 1 to 7" in done.stderr
        missing, scale = ways_out(done.stderr)
        np.testing.assert_allclose(truth(coded, *words, *shlex.split(missing)), expected, atol=1e-3)
        assert np.abs(truth(coded, *words, *shlex.split(scale)) - expected).max() > 1
    assert not (coded / "never").exists()


def test_codes_may_be_said_when_shards_are_made(coded):
    refused = unisono_here("shard", "worded.csv", "-o", "shards", cwd=coded)
    assert refused.returncode == 3
    expected = truth(coded, "right.csv", "--engine", "serial")
    for name, code in (("coded", "-99"), ("worded", "refused")):
        done = unisono_here("shard", f"{name}.csv", "-o", name, "--missing", code, cwd=coded)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(truth(coded, name), expected, atol=1e-3)
    late = unisono_here("fuse", "coded", "--missing", "refused", "--out", "never", cwd=coded)
    assert "missing: 'refused' is no number" in late.stderr
