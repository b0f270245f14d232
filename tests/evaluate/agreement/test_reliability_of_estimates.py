"""The headline of the report: how far the fused estimate goes with the truth, in small worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unisono as un

SEEDS = range(8)


def table(item, annotator, value):
    return pl.DataFrame(
        {"item": [f"i{m:03d}" for m in item], "annotator": [f"a{k:02d}" for k in annotator], "value": value}
    )


def answered(seed, M, K, n, noise=0.6, of_item=None, cuts=None):
    """Answers of n annotators of K to each of M items; with `cuts` as steps of a scale. Beside them the truth."""
    rng = np.random.default_rng(seed)
    truth, bias = rng.normal(size=M), 0.4 * rng.normal(size=K)
    each = np.broadcast_to(n, M)
    item = np.repeat(np.arange(M), each)
    who = np.concatenate([rng.choice(K, count, replace=False) for count in each])
    spread = noise * (1 if of_item is None else of_item[item])
    y = bias[who] + truth[item] + spread * rng.normal(size=len(item))
    if cuts is not None:
        y = 1.0 + (y[:, None] > cuts).sum(axis=1)
        many = truth + 0.7 * rng.normal(size=(4000, 1))  # what many others would answer on average
        truth = 1.0 + (many[:, :, None] > cuts).sum(axis=2).mean(axis=0)
    return table(item, who, y), truth


def unclear(seed):
    noise = np.exp(0.6 * np.random.default_rng([7, seed]).normal(size=60))
    return answered(seed, 60, 12, np.clip(np.round(5 / noise), 1, 8).astype(int), of_item=noise)


WORLDS = {
    "plain": lambda seed: answered(seed, 60, 12, 4),
    "five items": lambda seed: answered(seed, 5, 5, 5),
    "three annotators": lambda seed: answered(seed, 40, 3, 3),
    "most answer five": lambda seed: answered(seed, 60, 12, 4, cuts=np.array([-2.5, -2.1, -1.7, -0.9])),
    "unclear items have few answers": unclear,
}


def claimed(ratings, truth):
    result = un.fuse(ratings)
    order = {f"i{m:03d}": m for m in range(len(truth))}
    true = truth[[order[item] for item in result.ratings.items]]
    figure = un.agreement(ratings, fit=result, draws=5).dimensions[0].figures["reliability"]
    return figure, float(np.corrcoef(result.fused.mean[:, 0], true)[0, 1] ** 2)


@pytest.mark.parametrize("world", WORLDS)
def test_the_headline_is_the_squared_correlation_with_the_truth(world):
    found = [claimed(*WORLDS[world](seed)) for seed in SEEDS]
    assert np.mean([figure.value for figure, _ in found]) == pytest.approx(
        np.mean([true for _, true in found]), abs=0.05
    )
    assert sum(figure.low <= true <= figure.high for figure, true in found) >= len(SEEDS) - 1


def test_five_items_tell_less_than_fifty():
    few, many = (claimed(*answered(1, M, 5, 5))[0] for M in (5, 50))
    assert few.high - few.low > 2 * (many.high - many.low)


def test_answers_that_share_nothing_are_not_called_reliable():
    rng = np.random.default_rng(3)
    item, who = np.divmod(np.arange(240), 4)
    figure, _ = claimed(table(item, (who + item) % 12, rng.normal(size=240)), rng.normal(size=60))
    assert figure.low < 0.05
    assert figure.value < 0.35


def test_three_items_are_too_few_to_say():
    assert np.isnan(claimed(*answered(2, 3, 5, 5))[0].value)


def test_a_saved_fit_says_the_same(tmp_path):
    ratings, _ = answered(4, 30, 6, 3)
    result = un.fuse(ratings)
    result.save(tmp_path / "out")
    ours, saved = (un.agreement(ratings, fit=fit, draws=5).dimensions[0] for fit in (result, tmp_path / "out"))
    assert ours.figures["reliability"] == saved.figures["reliability"]
