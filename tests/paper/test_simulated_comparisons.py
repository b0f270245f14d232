"""Simulated comparisons have the truth and the annotators that were asked for, and are read again as they are."""

import json

import numpy as np
import pytest

import unisono as un
from command_line import unisono_here as run
from unisono.errors import SettingsError
from unisono.paper.simulation import simulate_comparisons


def test_what_was_drawn_is_found_again():
    drawn = simulate_comparisons(items=40, annotators=20, comparisons=6000, spammers=2, flipped=2)
    result = un.fuse(comparisons=drawn.comparisons)
    assert np.corrcoef(result.fused.mean[:, 0], drawn.truth.value[:, 0])[0, 1] > 0.95
    gain = dict(zip(drawn.annotators["annotator"], drawn.annotators["gain"], strict=True))
    found = result.annotators.to_dicts()
    assert np.corrcoef([gain[row["annotator"]] for row in found], [row["comparison_gain"] for row in found])[0, 1] > 0.9
    assert {row["annotator"] for row in found if row["comparison_flipped"] > 0.5} == {
        k for k, g in gain.items() if g < 0
    }


def test_seeds_decide_and_settings_are_looked_at():
    one, other = simulate_comparisons(seed=3), simulate_comparisons(seed=3)
    assert one.comparisons.data_hash == other.comparisons.data_hash
    assert one.comparisons.data_hash != simulate_comparisons(seed=4).comparisons.data_hash
    assert not (simulate_comparisons(ties=0).comparisons.answer == 1).any()
    with pytest.raises(SettingsError, match="two items"):
        simulate_comparisons(annotators=3)


def test_on_the_command_line(tmp_path):
    out = tmp_path / "drawn"
    found = run("simulate", "comparisons", "--items", "12", "--set", "comparisons=300", "--out", out)
    assert found.returncode == 0, found.stderr
    table = un.read_comparisons(out / "comparisons.csv")
    assert (table.n, len(table.items)) == (300, 12)
    assert json.loads((out / "annotators.json").read_text())["settings"]["comparisons"] == 300
    assert un.read_item_table(out / "truth.csv").items == table.items
    assert run("simulate", "items", "--set", "comparisons=300", "--out", tmp_path / "no").returncode == 2
