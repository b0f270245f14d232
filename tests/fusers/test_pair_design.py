"""Pairs to compare next: the most informative ones, every item once, sides drawn; better than pairs at random."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

import unisono as un
from comparison_cases import world
from unisono.errors import SettingsError
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.fusers.pair_design import next_pairs
from unisono.maths.comparisons.comparison_posterior import answer_information
from unisono.tables.comparisons import Comparisons


def table_of(left, right, who, answer, items):
    zero = np.zeros(len(left), dtype=int)
    labels = [f"i{m}" for m in range(items)], [f"k{k}" for k in range(int(max(who)) + 1)], ["q"]
    return Comparisons.from_answers((left, right, who, zero, answer, np.arange(len(left))), labels)


def fitted(table):
    return Pairwise().compare(table).fit(without_ratings(table))


def test_information_equals_quadrature():
    def entropy(p):
        return -p * np.log(p) - (1 - p) * np.log(1 - p)

    for mean, sd in ((0.0, 0.3), (1.0, 0.5), (-2.0, 0.8)):

        def density(x, mean=mean, sd=sd):
            return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))

        def s(x):
            return 1 / (1 + np.exp(-x))

        ends = mean - 9 * sd, mean + 9 * sd
        p = quad(lambda x: density(x) * s(x), *ends)[0]
        expected = entropy(p) - quad(lambda x: density(x) * entropy(s(x)), *ends)[0]
        np.testing.assert_allclose(answer_information(np.array([mean]), np.array([sd**2]))[0], expected, rtol=1e-4)


def test_every_item_once_and_the_best_first():
    d = world(M=30, K=10, N=600).data
    fuser = fitted(table_of(d.left, d.right, d.who, d.answer, 30))
    found = next_pairs(fuser, 12)
    assert len(set(found.left) | set(found.right)) == 24
    assert (np.diff(found.information) <= 0).all()
    assert len(next_pairs(fuser, 100).left) == 15
    assert next_pairs(fuser, 12).left == found.left
    every = next_pairs(fuser, 15)
    assert 0 < sum(int(a[1:]) < int(b[1:]) for a, b in zip(every.left, every.right, strict=True)) < 15
    assert un.next_ratings(un.fuse(comparisons=table_of(d.left, d.right, d.who, d.answer, 30)), pairs=5).columns()
    with pytest.raises(SettingsError, match="pairs=0"):
        next_pairs(fuser, 0)


def test_components_are_connected_first():
    left, right = np.array([0, 1, 3, 4] * 10), np.array([1, 2, 4, 5] * 10)
    fuser = fitted(table_of(left, right, np.arange(40) % 4, np.tile([0, 2], 20), 6))
    one, two = (int(side[0][1:]) for side in next_pairs(fuser, 1)[:2])
    assert (one < 3) != (two < 3)


def test_they_tell_more_than_pairs_at_random():
    """Correlation with the truth of 60 items after 15 batches of 30 pairs, one answer each."""
    r = [[_after_batches(seed, informed) for seed in range(4)] for informed in (True, False)]
    assert np.mean(r[0]) > np.mean(r[1]) + 0.005


def _after_batches(seed, informed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1.5, 60)
    pairs = [(m, (m + 1) % 60) for m in range(60)]
    answers = [_answer(rng, truth, *pair) for pair in pairs]
    for _ in range(15):
        more = rng.permutation(60).reshape(30, 2).tolist()
        if informed:
            batch = next_pairs(_of(pairs, answers), 30)
            more = [(int(a[1:]), int(b[1:])) for a, b in zip(batch.left, batch.right, strict=True)]
        pairs += more
        answers += [_answer(rng, truth, *pair) for pair in more]
    return np.corrcoef(_of(pairs, answers).posterior_.mean[:, 0], truth)[0, 1]


def _of(pairs, answers):
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    return fitted(table_of(left, right, np.zeros(len(left), dtype=int), np.array(answers), 60))


def _answer(rng, truth, i, j):
    return 0 if rng.random() < 1 / (1 + np.exp(truth[j] - truth[i])) else 2


def test_a_plan_foretells_what_comparisons_reach():
    def found(N, seed):
        w = world(N=N, seed=seed)
        d = w.data
        fuser = fitted(table_of(d.left, d.right, d.who, d.answer, 100))
        return fuser, float(np.corrcoef(fuser.fuse().mean[:, 0], w.truth[:, 0])[0, 1])

    plan = un.plan(un.fuse(comparisons=compared(3000, 9)), most=40)
    assert plan.columns()["comparisons"][0] == 1
    for N in (500, 1000, 2000):
        r = np.mean([found(N, seed)[1] for seed in range(3)])
        assert abs(plan.correlation[2 * N // 100 - 1, 0] - r) < 0.04
    assert plan.enough(0.9) == np.flatnonzero(plan.correlation[:, 0] >= 0.9)[0] + 1
    assert (np.diff(plan.correlation[3:, 0]) > 0).all()
    assert "comparisons per item" in str(plan)


def compared(N, seed):
    d = world(N=N, seed=seed).data
    return table_of(d.left, d.right, d.who, d.answer, 100)


def test_what_a_rating_is_worth(tmp_path):
    """A precise rating is worth more comparisons than a careless one."""
    table, worth = compared(1000, 0), []
    truth = world(N=1000, seed=0).truth[:, 0]
    for noise in (0.5, 2.0):
        rng = np.random.default_rng(0)
        items, who = np.tile(np.arange(100), 3), np.repeat(["x", "y", "z"], 100)
        rows = {"item": [f"i{m}" for m in items], "annotator": who, "q": truth[items] + noise * rng.normal(size=300)}
        result = un.fuse(pl.DataFrame(rows), comparisons=table, scale="none")
        worth.append(un.plan(result).worth["q"])
    assert worth[0] > 3 * worth[1]
    result.save(tmp_path / "out", report=False)
    np.testing.assert_allclose(un.plan(tmp_path / "out").worth["q"], worth[1])
    assert not un.plan(un.fuse(comparisons=table)).worth
