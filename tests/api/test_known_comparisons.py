"""What is known beside comparisons: known truths, an earlier fit, kinds, features, strengths, rankings."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from comparison_cases import world
from unisono.errors import DataError
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.comparison_knowledge import without_ratings
from unisono.tables.comparisons import Comparisons
from unisono.tables.item_table import ItemTable

M, K = 60, 20
ITEMS = [f"i{m:02d}" for m in range(M)]


def comparisons(w, rows=slice(None), **how):
    d = w.data
    strength = (d.step[: d.N] + 1)[rows] if d.steps > 1 else None
    columns = d.left // d.D, d.right // d.D, d.who, d.left % d.D, d.answer, np.arange(d.N)
    names = tuple(f"q{d}" for d in range(d.D))
    people = [f"k{k:02d}" for k in range(d.K)]
    return Comparisons.from_answers(tuple(c[rows] for c in columns), (ITEMS, people, names), strength=strength, **how)


def known(truth, at, name="q0"):
    return pl.DataFrame({"item": [ITEMS[m] for m in at], name: truth[at]})


def covered(fuser, truth, unit=1.0):
    rng = np.random.default_rng(0)
    i = rng.integers(0, M, 2000)
    j = (i + rng.integers(1, M, 2000)) % M
    mean, variance = fuser.posterior_.differences(i * fuser.posterior_.D, j * fuser.posterior_.D)
    return (np.abs(unit * mean - truth[i] + truth[j]) < 1.645 * unit * np.sqrt(variance)).mean()


def test_known_truths_give_unit_and_level():
    inside, missed, between = [], [], []
    for seed in range(4):
        w = world(M=M, K=K, N=2000, seed=seed)
        truth, at = 50 + 10 * w.truth[:, 0], np.random.default_rng(seed).permutation(M)[:15]
        result = un.fuse(comparisons=comparisons(w), gold=known(truth, at))
        away = (result.fused.mean[:, 0] - truth)[np.setdiff1d(np.arange(M), at)]
        inside.append(np.abs(away) < 1.645 * result.fused.sd[np.setdiff1d(np.arange(M), at), 0])
        missed.append(np.sqrt((away**2).mean()))
        between.append(covered(result.fuser, truth, result.fuser.scaling_.scale[0]))
    assert np.mean(missed) < 4  # of truths that spread by 10
    assert 0.85 < np.mean(inside) < 0.96
    assert 0.86 < np.mean(between) < 0.96
    assert "Known truths" in result.summary()


def test_known_truths_connect_components(tmp_path):
    w = world(M=M, K=K, N=2000, islands=2)
    truth = 50 + 10 * w.truth[:, 0]
    table, gold = comparisons(w), known(truth, [0, 5, 10, 15, 20, 35, 40, 45, 50, 55])
    with pytest.raises(DataError, match="different components"):
        un.fuse(comparisons=table).probability("i00", "i59")
    result = un.fuse(comparisons=table, gold=gold)
    assert 0 < result.probability("i00", "i59").probability < 1
    assert np.corrcoef(result.fused.mean[:, 0], truth)[0, 1] > 0.9
    result.save(tmp_path / "out", report=False)
    loaded = un.load(tmp_path / "out")
    np.testing.assert_array_equal(loaded.fuse().mean, result.fused.mean)
    assert loaded.probability("i00", "i59") == result.probability("i00", "i59")


def test_known_truths_that_run_the_other_way_are_refused_or_obeyed():
    w = world(M=M, K=K, N=2000)
    table, truth = comparisons(w), w.truth[:, 0]
    upside_down = known(100 - 10 * truth, np.arange(0, M, 4))
    with pytest.raises(DataError, match="run against the ratings"):
        un.fuse(comparisons=table, gold=upside_down)
    obeyed = un.fuse(comparisons=table, gold=upside_down, gold_anyway=True)
    assert np.corrcoef(obeyed.fused.mean[:, 0], truth)[0, 1] < -0.9
    chances = obeyed.predict_comparisons(pl.DataFrame({"annotator": ["k00"], "left": ["i01"], "right": ["i02"]}))
    plain = un.fuse(comparisons=table).predict_comparisons(
        pl.DataFrame({"annotator": ["k00"], "left": ["i01"], "right": ["i02"]})
    )
    np.testing.assert_allclose(chances.to_numpy(), plain.to_numpy(), atol=0.05)
    with pytest.raises(DataError, match="3 that differ are needed"):
        un.fuse(comparisons=table, gold=known(truth, [0, 1]))
    with pytest.raises(DataError, match="nobody compared"):
        un.fuse(comparisons=table, gold=known(truth, [0, 1, 2], "other"))


def test_an_earlier_fit_is_worth_its_comparisons(tmp_path):
    r, gains = [], []
    for seed in range(3):
        w = world(M=M, K=K, N=3000, seed=seed, flipped=0.1)
        first, second = comparisons(w, slice(0, 2400)), comparisons(w, slice(2400, None))
        earlier = un.fuse(comparisons=first)
        earlier.save(tmp_path / f"out{seed}", report=False)
        alone, later = un.fuse(comparisons=second), un.fuse(comparisons=second, start=tmp_path / f"out{seed}")
        r.append([np.corrcoef(x.fused.mean[:, 0], w.truth[:, 0])[0, 1] for x in (alone, later)])
        gains.append([np.abs(_gains(x) - w.gain).mean() for x in (alone, later, earlier)])
        assert later.annotators["comparisons"].sum() == 3000
    assert np.mean(r, axis=0)[1] > np.mean(r, axis=0)[0] + 0.005
    alone, later, earlier = np.mean(gains, axis=0)
    assert later < earlier < alone


def _gains(result):
    return result.annotators["comparison_gain"].to_numpy()


def test_an_earlier_fit_without_anybody_in_common():
    w = world(M=M, K=K, N=1000)
    table = comparisons(w)
    earlier = un.fuse(comparisons=table)
    d = pl.DataFrame(table.columns()).with_columns(annotator=pl.lit("x") + pl.col("annotator"))
    with pytest.raises(DataError, match="no annotator of the fit to start from"):
        un.fuse(comparisons=d, start=earlier.fuser)
    with pytest.raises(DataError, match="earlier fit of comparisons"):
        un.fuse(comparisons=table, start=un.fuse(un.load_dataset("squality")).fuser)


def _people_and_judges(seed, N=3000):
    """Six judges, who give four of five answers, share an error of .8 beside truths of sd 1."""
    rng = np.random.default_rng(seed)
    truth, shared = rng.normal(size=M), rng.normal(0, 0.8, M)
    who = np.where(rng.random(N) < 0.2, rng.integers(0, 14, N), rng.integers(14, K, N))
    i = rng.integers(0, M, N)
    j = (i + rng.integers(1, M, N)) % M
    delta = truth[i] - truth[j] + np.where(who >= 14, shared[i] - shared[j], 0.0) + rng.logistic(size=N)
    people = [f"human{k:02d}" for k in range(14)] + [f"gpt-{k:02d}" for k in range(14, K)]
    answer = np.where(np.abs(delta) < 0.4, 1, np.where(delta > 0, 0, 2))
    return Comparisons.from_answers((i, j, who, 0 * i, answer, np.arange(N)), (ITEMS, people, ["q0"])), truth


def test_kinds_err_together(tmp_path):
    inside, r = [], []
    for seed in range(4):
        table, truth = _people_and_judges(seed)
        both, alike = un.fuse(comparisons=table, kinds={"judge": "gpt-*"}), un.fuse(comparisons=table)
        inside.append([covered(x.fuser, truth) for x in (both, alike)])
        r.append([np.corrcoef(x.fused.mean[:, 0], truth)[0, 1] for x in (both, alike)])
    told, as_one = np.mean(inside, axis=0)
    assert 0.86 < told < 0.95
    assert as_one < 0.7
    assert np.mean(r, axis=0)[0] > np.mean(r, axis=0)[1] + 0.03
    assert "judge" in both.summary()
    assert both.fused.mean.shape == (M, 1)
    both.save(tmp_path / "out", report=False)
    loaded = un.load(tmp_path / "out")
    asked = (["gpt-15", "human03", "new"], ["i01"] * 3, ["i02"] * 3)
    np.testing.assert_array_equal(loaded.answer_chances(*asked), both.fuser.answer_chances(*asked))


def test_features_are_levels_of_the_truth(tmp_path):
    gained, inside = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        system = rng.integers(0, 6, M)
        truth = 1.2 * rng.normal(size=6)[system] + 0.6 * rng.normal(size=M)
        i = rng.integers(0, M, 400)
        j = (i + rng.integers(1, M, 400)) % M
        answer = np.where(truth[i] - truth[j] + rng.logistic(size=400) > 0, 0, 2)
        table = Comparisons.from_answers((i, j, 0 * i, 0 * i, answer, np.arange(400)), (ITEMS, ["k"], ["q0"]))
        features = ItemTable.from_rows(
            np.eye(6)[system], items=ITEMS, columns=[f"s{s}" for s in range(6)], source="systems"
        )
        told, plain = un.fuse(comparisons=table, features=features), un.fuse(comparisons=table)
        gained.append([np.corrcoef(x.fused.mean[:, 0], truth)[0, 1] for x in (told, plain)])
        inside.append(covered(told.fuser, truth))
    assert np.mean(gained, axis=0)[0] > np.mean(gained, axis=0)[1] + 0.03
    assert 0.86 < np.mean(inside) < 0.96
    told.save(tmp_path / "out", report=False)
    predicted = un.load(tmp_path / "out").predict(features).mean[:, 0]
    np.testing.assert_allclose(predicted, told.fuser.predict(features).mean[:, 0])
    assert np.corrcoef(predicted, truth)[0, 1] > 0.7


def test_strengths_tell_more_than_their_signs(tmp_path):
    r, inside = [], []
    for seed in range(4):
        w = world(M=M, K=K, N=1500, seed=seed, steps=3)
        table = comparisons(w)
        written = pl.DataFrame(table.columns()).rename({"strength": "score"}).drop("dimension")
        read = un.read_comparisons(written.with_columns(pl.col("score").cast(pl.Int64)))
        np.testing.assert_array_equal(read.strength, table.strength)
        signs = Pairwise().compare(Comparisons.from_answers(_columns(table), (ITEMS, table.annotators, ["q0"])))
        fits = Pairwise().compare(read).fit(without_ratings(read)), signs.fit(without_ratings(table))
        r.append([np.corrcoef(f.fuse().mean[:, 0], w.truth[:, 0])[0, 1] for f in fits])
        inside.append(covered(fits[0], w.truth[:, 0]))
    assert np.mean(r, axis=0)[0] > np.mean(r, axis=0)[1] + 0.005
    assert 0.86 < np.mean(inside) < 0.94


def _columns(t):
    return t.left, t.right, t.annotator_of, t.dimension_of, t.answer, t.ranking


def _rankings(seed, n, whole):
    """Of n items each, by choosing the best of those that are left; or of each the best and the worst."""
    rng, rows = np.random.default_rng(seed), []
    truth = rng.normal(size=M)
    for ranking in range(150):
        shown = rng.permutation(M)[:n]
        order = shown[np.argsort(-truth[shown] - rng.gumbel(size=n))]
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if whole or a == 0 or b == n - 1]
        rows += [(order[a], order[b], ranking % 10, 0, 0, ranking) for a, b in pairs]
    people = [f"k{k}" for k in range(10)]
    columns = tuple(np.array(column) for column in zip(*rows, strict=True))
    return Comparisons.from_answers(columns, (ITEMS, people, ["q0"]), sided=False), truth


@pytest.mark.parametrize(("n", "whole"), [(3, True), (5, True), (8, True), (5, False)])
def test_intervals_from_rankings_cover(n, whole):
    inside, each = [], []
    for seed in range(4):
        table, truth = _rankings(seed, n, whole)
        alone = Comparisons.from_answers((*_columns(table)[:5], np.arange(table.n)), (ITEMS, table.annotators, ["q0"]))
        fits = [Pairwise().compare(x).fit(without_ratings(x)) for x in (table, alone)]
        inside.append(covered(fits[0], truth))
        each.append(covered(fits[1], truth))
    assert 0.85 < np.mean(inside) < 0.96, np.mean(inside)
    assert np.mean(each) < np.mean(inside)  # pairs that count as if they were independent
    assert n < 5 or np.mean(each) < 0.82
