"""Where annotators share nothing, no command speaks as if they did; two annotators are not ranked."""

import json

import numpy as np
import pytest

from command_line import unisono_here


def write(path, answers, dimensions):
    M, K, _ = answers.shape
    rows = [f"i{m},w{k}," + ",".join(map(str, answers[m, k])) for m in range(M) for k in range(K)]
    path.write_text("\n".join(["item,annotator," + ",".join(dimensions), *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A dimension of pure noise beside one that is not, and a table of noise alone, both fused."""
    rng = np.random.default_rng(1)
    place = tmp_path_factory.mktemp("noise")
    truth = rng.integers(1, 6, size=(40, 1, 1))
    seen = np.clip(truth + rng.integers(-1, 2, size=(40, 4, 1)), 1, 5)
    nothing = rng.integers(1, 6, size=(40, 4, 2))
    write(place / "half.csv", np.concatenate([seen, nothing[:, :, :1]], axis=2), ["clear", "noisy"])
    write(place / "none.csv", nothing, ["noisy", "idle"])
    for name in ("half", "none"):
        assert unisono_here("fuse", place / f"{name}.csv", "--out", place / name).returncode == 0
    return place


def test_plan_says_so_instead_of_figures(noise):
    none = unisono_here("plan", noise / "none").stdout
    assert none.startswith("Annotators do not clearly agree on any dimension: how many ratings would be enough")
    assert "0." not in none
    half = unisono_here("plan", noise / "half").stdout
    assert half.startswith("Annotators do not clearly agree on 'noisy':")
    assert "–" in half
    found = json.loads(unisono_here("plan", noise / "half", "--json").stdout)
    assert found["unclear"] == ["noisy"]
    assert set(found["plan"]["noisy_r"]) == {None}
    assert found["plan"]["clear_r"][0] > 0.5


def test_next_leaves_noise_out(noise):
    none = unisono_here("next", noise / "none").stdout
    assert "cannot be told from these ratings" in none
    assert "uncertainty" not in none
    found = json.loads(unisono_here("next", noise / "half", "--json").stdout)
    assert found["unclear"] == ["noisy"]
    assert max(row["uncertainty"] for row in found["items"]) < 1


def test_compare_is_not_sure_of_anything(noise):
    few = ("--models", "auto,mean", "--folds", 3)
    shown = unisono_here("compare", noise / "none.csv", *few).stdout
    assert "who predicts noise best" in shown
    assert "sure" not in shown
    half = unisono_here("compare", noise / "half.csv", *few).stdout
    assert "Annotators do not clearly agree on 'noisy'" in half
    assert "Is the default better" in half


def test_the_summary_ranks_nobody(noise):
    data = json.loads((noise / "none" / "summary.json").read_text())
    assert data["most_reliable"] == data["least_reliable"] == []
    assert "nobody can be called more reliable" in data["unranked"]
    half = json.loads((noise / "half" / "summary.json").read_text())
    assert not half["unranked"]
    assert half["alike"].startswith("Annotators do not differ")  # they are drawn alike


def test_two_annotators_are_not_ranked_without_a_word(tmp_path):
    rng = np.random.default_rng(2)
    answers = np.clip(rng.integers(1, 6, size=(40, 1, 1)) + rng.integers(-1, 2, size=(40, 2, 1)), 1, 5)
    table = write(tmp_path / "two.csv", answers, ["v"])
    done = unisono_here("fuse", table, "--out", tmp_path / "out")
    assert "Two annotators cannot be told apart" in done.stdout
    assert "Most reliable" not in done.stdout
    assert "Two annotators cannot be told apart" in unisono_here("next", tmp_path / "out").stdout
    gold = tmp_path / "gold.csv"
    gold.write_text("item,v\n" + "".join(f"i{m},{answers[m].mean():g}\n" for m in range(12)))
    known = unisono_here("fuse", table, "--gold", gold, "--out", tmp_path / "known").stdout
    assert "Two annotators" not in known
    assert "beyond chance" in known
