"""Copies among those who compare: found where answers are equal beyond the model, not where pairs are easy."""

import numpy as np
import pytest

import unisono as un
from unisono.fusers.compared_copies import CopiedAnswers, merged
from unisono.tables.comparisons import Comparisons

M, K = 40, 12
ITEMS, PEOPLE = [f"i{m:02d}" for m in range(M)], [f"k{k:02d}" for k in range(K)]


def answers(seed, spread=1.0, design="random"):
    """Left, right, annotator and answer; everybody at random pairs, or all at the same."""
    rng = np.random.default_rng(seed)
    truth, gain, tau = rng.normal(0, spread, M), rng.normal(1, 0.3, K), np.exp(rng.normal(-1, 0.4, K))
    who, i = np.repeat(np.arange(K), 100), rng.integers(0, M, 100 * K)
    j = (i + rng.integers(1, M, 100 * K)) % M
    if design == "same":
        i, j = np.tile(i[:100], K), np.tile(j[:100], K)
    delta = gain[who] * (truth[i] - truth[j]) + rng.logistic(size=len(i))
    return i, j, who, np.where(np.abs(delta) < tau[who], 1, np.where(delta > 0, 0, 2)), rng


def table(i, j, who, answer):
    return Comparisons.from_answers((i, j, who, 0 * i, answer, np.arange(len(i))), (ITEMS, PEOPLE, ["q"]))


def with_copy(seed, changed=0.05, turned=True, **how):
    """k07 shows the same pairs as k03, some the other way round, and gives all but a few of the same answers."""
    i, j, who, answer, rng = answers(seed, **how)
    own = who == 3
    left, right, said = i[own], j[own], answer[own].copy()
    other = rng.random(len(said)) < changed
    said[other] = rng.integers(0, 3, other.sum())
    swap = turned & (rng.random(len(said)) < 0.5)
    left, right, said = np.where(swap, right, left), np.where(swap, left, right), np.where(swap, 2 - said, said)
    rest = who != 7
    both = zip((i, j, who, answer), (left, right, np.full(len(said), 7), said), strict=True)
    return table(*(np.concatenate([x[rest], more]) for x, more in both))


@pytest.mark.parametrize("design", ["random", "same"])
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_copies_are_found_and_others_are_not(design, spread):
    for seed in range(3):
        honest = un.fuse(comparisons=table(*answers(seed, spread, design)[:4]))
        assert not honest.copies
        found = un.fuse(comparisons=with_copy(seed, spread=spread, design=design))
        assert [set(one.annotators) for one in found.copies] == [{"k03", "k07"}]
        assert found.copies[0].equal > found.copies[0].expected + 0.02


def test_copies_count_once():
    compared = with_copy(0)
    result, kept = un.fuse(comparisons=compared), un.fuse(comparisons=compared, copies="keep")
    alone = un.fuse(comparisons=compared.rows(compared.annotator_of != 7))
    np.testing.assert_allclose(result.fused.mean, alone.fused.mean, atol=5e-3)
    assert not kept.copies
    assert np.abs(kept.fused.mean - alone.fused.mean).max() > 0.02
    assert "look like one annotator" in result.summary()
    assert "look like one annotator" not in kept.summary()


def test_what_a_set_answers():
    columns = {"left": [0, 1, 0, 2, 2], "right": [1, 0, 2, 0, 1], "who": [0, 1, 1, 2, 2], "answer": [0, 0, 1, 2, 2]}
    i, j, who, answer = (np.array(column) for column in columns.values())
    small = Comparisons.from_answers(
        (i, j, who, 0 * i, answer, np.arange(5)), (["a", "b", "c"], ["x", "y", "z"], ["q"])
    )
    found = merged(small, (CopiedAnswers(("x", "y"), 0.99, 10, 1.0, 0.5),))
    assert found.annotators == ("x", "z")
    rows = {tuple(row) for row in zip(found.left, found.right, found.annotator_of, found.answer, strict=True)}
    assert rows == {(0, 1, 0, 0), (0, 2, 0, 1), (2, 0, 1, 2), (2, 1, 1, 2)}
