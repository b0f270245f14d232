"""What is said of ratings that are still coming in: nothing too early, then what was planted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unisono as un
from unisono.api.study_planning import quality, quality_of_comparisons
from unisono.evaluate.study_quality import POINTS
from unisono.paper.simulation import simulate_comparisons
from unisono.tables.atomic_files import json_text


def ratings(habits: list[str], M: int = 30, D: int = 2, per_item: int | None = None) -> un.Ratings:
    """One row per habit; "honest" and "reversed" follow the truth, "random" nothing."""
    rng = np.random.default_rng(3)
    truth = rng.uniform(20, 80, size=(M, D))
    seen = {"honest": truth, "reversed": 100 - truth}
    rows = []
    for k, habit in enumerate(habits):
        values = seen[habit] if habit in seen else rng.uniform(20, 80, size=(M, D))
        noisy = values + 4 * rng.normal(size=(M, D))
        rows += [(m, k, noisy[m]) for m in range(M) if per_item is None or (m + k) % len(habits) < per_item]
    return un.Ratings.from_judgements(
        np.array([values for *_, values in rows]),
        np.array([m for m, *_ in rows]),
        np.array([k for _, k, _ in rows]),
        items=[f"i{m}" for m in range(M)],
        annotators=[f"r{k}" for k in range(len(habits))],
        dimensions=[f"d{d}" for d in range(D)],
        source="ratings.csv",
    )


@pytest.mark.parametrize(("raters", "items"), [(2, 30), (3, 4)])
def test_too_little_to_compare_is_too_early(raters: int, items: int) -> None:
    found = quality(ratings(["honest"] * raters, M=items))
    assert f"so far there are {raters} and {items}" in found.too_early
    assert found.truth == found.dimensions == []
    assert "Too early" in repr(found)
    assert not quality(ratings(["honest"] * 3, M=5)).too_early


def test_what_was_planted_is_found() -> None:
    table = ratings(["honest"] * 8 + ["reversed", "random"])
    found = quality(table)
    kinds = {(row["annotator"], row["kind"]) for row in found.unusual}
    assert ("r8", "flipped") in kinds
    assert ("r9", "spammer") in kinds
    assert {name for name, _ in kinds} == {"r8", "r9"}
    checked = un.check(table)
    for row, own in zip(found.dimensions, checked.dimensions, strict=True):
        assert row["alpha"] == list(own.alpha)[:3]
        assert row["others"] == own.others
    fused = un.fuse(table)
    for row, mean in zip(found.truth, fused.fused.mean, strict=True):
        assert [value for value, _, _ in row["values"]] == pytest.approx(mean.tolist(), rel=1e-4)
    assert json.loads(json_text(found.to_dict()))["raters"] == 10


def test_missing_ratings_are_counted_item_by_item() -> None:
    table = ratings(["honest"] * 6, per_item=2)
    found = quality(table, unrated=3, target=0.99)
    planned = un.plan(un.fuse(table))
    enough = planned.enough(0.99)
    assert enough is not None
    assert found.needed["per_item"] == enough > 2
    assert (found.needed["fewest"], found.needed["most"]) == (0, 2)
    assert found.needed["ratings"] == 30 * (enough - 2) + 3 * enough
    assert quality(table, target=0.5).needed["ratings"] == 0


def test_traces_are_thinned_and_reversed_hands_named() -> None:
    drawn = un.simulate_series(recordings=6, frames=150, annotators=6, features=2, noise=0.2, seed=2).ratings
    value = drawn.value.copy()
    mine = np.repeat(drawn.annotator_of == 0, drawn.length[drawn.item_of])
    value[mine] = -value[mine]
    found = quality(drawn.with_value(value))
    assert found.kind == "series"
    for row in found.truth:
        assert len(row["seconds"]) == len(row["series"][0]) <= POINTS
        assert row["seconds"][0] == 0.0
        assert row["seconds"][-1] == pytest.approx(30, abs=1)
        assert all(low <= mean <= high for series in row["series"] for mean, low, high in series)
    assert found.needed["tried"] is None
    assert found.needed["per_item"] == max(row["enough"] for row in found.dimensions)
    assert ("flipped", drawn.annotators[0]) in {(row["kind"], row["annotator"]) for row in found.unusual}


def test_a_study_of_comparisons_in_progress():
    """Agreement, comparisons still needed, who stands out, and how probable it is that items are above the next."""
    made = simulate_comparisons(items=20, annotators=12, comparisons=1500, spammers=2, flipped=1, seed=1)
    found, result = quality_of_comparisons(made.comparisons)
    agreed = un.agreement(comparisons=made.comparisons, draws=200, seed=0).dimensions[0]
    assert found.dimensions[0]["alpha"][0] == pytest.approx(agreed.alpha.value)
    bad = [who for who, gain in zip(made.annotators["annotator"], made.annotators["gain"], strict=True) if gain <= 0]
    assert {row["annotator"] for row in found.unusual if row["kind"] in ("spammer", "flipped")} == set(bad)
    assert found.judgements == 1500
    assert found.needed["most"] >= 150 > found.needed["per_item"]
    means = [row["values"][0][0] for row in found.truth]
    assert means == sorted(means, reverse=True)
    for row, following in zip(found.truth, found.truth[1:], strict=False):
        assert row["above"] == round(result.probability(row["item"], following["item"]).probability, 3)
    assert "above" not in found.truth[-1]
