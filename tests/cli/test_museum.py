"""Every piece of the museum through the command line: the expected reading, or the exact refusal."""

from __future__ import annotations

import json

import pytest

from command_line import unisono_here
from museum import MUSEUM


def test_it_is_worth_a_visit():
    assert len(MUSEUM) >= 40
    assert len({piece.name for piece in MUSEUM}) == len(MUSEUM)


@pytest.mark.parametrize("piece", MUSEUM, ids=lambda piece: piece.name)
def test_piece(tmp_path, piece):
    (tmp_path / "r.csv").write_bytes(piece.content)
    done = unisono_here("check", "r.csv", *piece.say, "--json", cwd=tmp_path)
    if piece.refusal is not None:
        assert (done.returncode, done.stdout, done.stderr) == (3, "", f"Error: {piece.refusal}\n")
        return
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert {row["name"]: (row["low"], row["mean"], row["high"]) for row in found["dimensions"]} == piece.dims
    assert (found["items"], found["annotators"], found["judgements"]) == piece.counts
    assert found["reading"]["left_out"] == piece.left_out
    assert found["reading"]["notes"] == list(piece.notes)


@pytest.mark.parametrize("name", ["annotators side by side", "words of agreement", "a name of two columns with bars"])
def test_pieces_can_be_fused(tmp_path, name):
    (piece,) = [one for one in MUSEUM if one.name == name]
    (tmp_path / "r.csv").write_bytes(piece.content)
    done = unisono_here("fuse", "r.csv", *piece.say, "--model", "mean", cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1 + piece.counts[0]
    for note in piece.notes:
        assert f"  {note}\n" in done.stderr
