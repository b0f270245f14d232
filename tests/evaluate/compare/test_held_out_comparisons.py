"""Comparisons left out: nothing leaks, splits are fair, and what annotators are worth shows."""

import numpy as np
import pytest

import unisono as un
from comparison_cases import world
from unisono.errors import DataError
from unisono.evaluate.held_out_comparisons import _clustered, compare_left_out, fold_of
from unisono.tables.comparisons import Comparisons


def table_of(w, ranking=None):
    d = w.data
    columns = d.left, d.right, d.who, np.zeros(d.N, dtype=int), d.answer, np.arange(d.N) if ranking is None else ranking
    return Comparisons.from_answers(columns, ([f"i{m}" for m in range(d.M)], [f"k{k}" for k in range(d.K)], ["q"]))


def test_annotators_told_apart_predict_better_where_they_differ():
    crowd = table_of(world(M=30, K=12, N=2400, flipped=0.3, spammers=0.1))
    found = compare_left_out(crowd, folds=3)
    apart, alike = found.rows
    assert apart.log_loss < alike.log_loss - 0.05
    assert apart.log_loss_all < alike.log_loss_all
    assert apart.accuracy > alike.accuracy
    np.testing.assert_allclose(found.gain, alike.log_loss - apart.log_loss, rtol=1e-9)
    assert "predicts better" in str(found)
    assert un.compare(comparisons=crowd, folds=3).to_dict() == found.to_dict()


def test_noise_is_predicted_no_better_than_its_shares():
    """Answers that nothing explains: whoever saw them would predict them better."""
    w = world(M=20, K=10, N=1500)
    rng = np.random.default_rng(3)
    noise = table_of(w._replace(data=w.data._replace(answer=rng.choice([0, 2], w.data.N))))
    assert 0.68 < compare_left_out(noise, folds=3).rows[0].log_loss < 0.73


def test_rankings_and_pairs_are_left_out_whole():
    crowd = table_of(world(M=30, K=12, N=900), ranking=np.arange(900) // 3)
    fold = fold_of(crowd, 5, 0, "rows")
    assert all(len(set(fold[crowd.ranking == r])) == 1 for r in np.unique(crowd.ranking))
    by_pair = fold_of(crowd, 5, 0, "pairs")
    pair = np.minimum(crowd.left, crowd.right) * 30 + np.maximum(crowd.left, crowd.right)
    assert all(len(set(by_pair[pair == p])) == 1 for p in np.unique(pair))
    assert len(set(fold)) == len(set(by_pair)) == 5


def test_sides_of_left_out_answers_are_those_of_all():
    """Also where sides were drawn with the seed of the split."""
    for seed in range(5):
        first = np.random.default_rng(seed).permutation(2000) % 2
        w = world(M=20, K=10, N=2000)
        crowd = table_of(w._replace(data=w.data._replace(answer=2 * first)))
        fold, share = fold_of(crowd, 5, seed, "rows"), (crowd.answer == 0).mean()
        for out in range(5):
            held = crowd.answer[fold == out] == 0
            assert abs(held.mean() - share) < 3.5 * np.sqrt(share * (1 - share) / len(held))


def test_standard_errors_count_annotators():
    who = np.repeat(np.arange(20), 50)
    rng = np.random.default_rng(0)
    each = rng.normal(size=20)[who]
    mean, error = _clustered(each, who)
    np.testing.assert_allclose(mean, each.mean())
    np.testing.assert_allclose(error, each[::50].std(ddof=1) / np.sqrt(20), rtol=1e-9)


def test_too_few_rows():
    with pytest.raises(DataError, match="cannot be divided into 5 folds"):
        compare_left_out(table_of(world(M=5, K=2, N=4, spammers=0)))
