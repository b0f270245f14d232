"""Confusions by region with a predictor: equal to loops, an objective that never falls, what was planted is found."""

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation.classification import DawidSkene

from category_cases import crowd
from reference import naive_published as naive
from unisono.fusers.category_models import class_probabilities
from unisono.maths.category_votes import Votes, vote_shares
from unisono.maths.published import class_confusions


def scored(seed=0, M=40, K=6, P=2, weighted=False):
    """Votes of a crowd, feature scores that tell of the class, and weights below one."""
    found = crowd(seed, M=M, K=K)
    rng = np.random.default_rng(seed)
    Z = np.column_stack([found.truth + 0.7 * rng.normal(size=M), rng.normal(size=(M, P - 1))])
    counts = rng.choice([1.0, 0.5], size=found.votes.n) if weighted else None
    return found.votes._replace(counts=counts), Z - Z.mean(axis=0), found.truth


@pytest.mark.parametrize(("R", "imagined"), [(1, 0.0), (1, 1.0), (2, 1.0), (3, 1.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_falls(R, imagined, weighted):
    votes, Z, _ = scored(R, weighted=weighted)
    for start in class_confusions.starts(votes, Z, R, imagined):
        found, path = start, []
        for _ in range(40):
            found, value = class_confusions.step(votes, Z, found, imagined)
            path.append(value)
        assert np.diff(path).min() > -1e-8
        assert path[-1] > path[0]


@pytest.mark.parametrize("R", [1, 2])
def test_regions_and_classes_equal_loops(R):
    votes, Z, _ = scored(4, weighted=True)
    found = class_confusions.starts(votes, Z, R)[-1]
    for _ in range(4):
        found, _ = class_confusions.step(votes, Z, found)
    items = class_confusions.expected(votes, Z, found)
    for m in range(votes.M):
        rows = np.flatnonzero(votes.item == m)
        own = [(votes.annotator[j], votes.answer[j], votes.weight[j]) for j in rows]
        share, total = naive.class_posterior(own, Z[m], found.theta, found.w, *found.places)
        np.testing.assert_allclose(items.share[m], share, rtol=1e-8, atol=1e-12)
        assert items.log_density[m] == pytest.approx(total, abs=1e-8)


@pytest.mark.slow
def test_smyth_is_crowd_kits_dawid_skene_step_by_step(monkeypatch):
    votes = crowd(6, M=60, K=8).votes
    monkeypatch.setattr(class_confusions, "TINY", 1e-10)  # the floor that they have
    data = pd.DataFrame({"task": votes.item, "worker": votes.annotator, "label": votes.answer})
    Z = np.zeros((votes.M, 0))
    (found,) = class_confusions.starts(votes, Z, 1, 0.0)
    for steps in range(1, 6):
        theirs = DawidSkene(n_iter=steps, tol=0).fit_predict_proba(data.sort_values("label", kind="stable"))
        ours = class_confusions.expected(votes, Z, found).share[:, 0]
        np.testing.assert_allclose(theirs.loc[range(60), range(3)].to_numpy(), ours, rtol=1e-6, atol=1e-8)
        found, _ = class_confusions.step(votes, Z, found, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_predictor_learned_jointly_helps_where_answers_are_few(seed):
    rng = np.random.default_rng(seed)
    M, K = 300, 10
    truth = rng.integers(0, 2, M)
    Z = np.column_stack([2.0 * truth - 1 + rng.normal(size=M), rng.normal(size=(M, 3))])
    item = np.repeat(np.arange(M), 2)
    who = np.concatenate([rng.choice(K, 2, replace=False) for _ in range(M)])
    answer = np.where(rng.random(2 * M) < np.linspace(0.55, 0.95, K)[who], truth[item], 1 - truth[item])
    votes = Votes(item, who, answer, M, K, 2)
    right = {
        name: np.mean(class_probabilities(name, votes, 0, Z - Z.mean(axis=0)).argmax(axis=1) == truth)
        for name in ("smyth", "raykar", "majority")
    }
    assert right["raykar"] > right["smyth"] + 0.03
    assert right["raykar"] > right["majority"] + 0.05


@pytest.mark.parametrize("seed", range(3))
def test_expertise_by_region_is_found(seed):
    """Half of the annotators know items on the left, the other half those on the right."""
    rng = np.random.default_rng(seed)
    M, K, C = 400, 4, 3
    truth, side = rng.integers(0, C, M), rng.choice([-1.0, 1.0], size=M)
    Z = (1.5 * side + 0.4 * rng.normal(size=M))[:, None]
    item, who = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    knows = (side[item] > 0) == (who < K // 2)
    answer = np.where(rng.random(M * K) < np.where(knows, 0.85, 0.1), truth[item], rng.integers(0, C, M * K))
    votes = Votes(item, who, answer, M, K, C)
    right = {
        name: np.mean(class_probabilities(name, votes, 0, Z - Z.mean()).argmax(axis=1) == truth)
        for name in ("raykar", "regions")
    }
    assert right["regions"] > right["raykar"] + 0.01
    found = max(
        (_climbed(votes, Z - Z.mean(), start) for start in class_confusions.starts(votes, Z - Z.mean(), 2)),
        key=lambda end: end[1],
    )[0]
    hits = np.diagonal(found.theta, axis1=2, axis2=3).mean(axis=2)[np.argsort(found.places.center[:, 0])]
    assert hits[1, :2].min() > hits[0, :2].max() + 0.2
    assert hits[0, 2:].min() > hits[1, 2:].max() + 0.2


def _climbed(votes, Z, found):
    value = -np.inf
    for _ in range(100):
        found, value = class_confusions.step(votes, Z, found)
    return found, value


def test_features_that_tell_nothing_change_little():
    votes, _, _ = scored(7, M=120, K=8)
    noise = np.random.default_rng(0).normal(size=(120, 2))
    with_noise, without = (class_probabilities("raykar", votes, 0, Z) for Z in (noise - noise.mean(axis=0), None))
    assert np.mean(with_noise.argmax(axis=1) == without.argmax(axis=1)) > 0.97


def test_weights_below_one_count_less():
    votes = Votes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 0]), 2, 2, 2)
    half = votes._replace(counts=np.array([1.0, 0.5, 1.0, 1.0]))
    np.testing.assert_allclose(vote_shares(half)[0], [2 / 3, 1 / 3])
    np.testing.assert_allclose(vote_shares(votes)[0], [0.5, 0.5])
