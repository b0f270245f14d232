"""Models of other papers: equal to naive versions, bounds that never fall, what was planted is found again."""

import numpy as np
import pytest
from scipy import stats

import unisono as un
from fuser_checks import fitted, small_world
from reference import naive_published as naive
from unisono.fusers import make_fuser
from unisono.maths.published import annotator_types, curved_annotators, item_regions
from unisono.maths.published.published_answers import Answers

MODULES = (annotator_types, item_regions, curved_annotators)


def crowd(seed=0, M=40, K=8, D=1, P=2, missing=0.4):
    """Answers with holes, annotators with biases, features that tell something of the truth."""
    rng = np.random.default_rng(seed)
    truth, Z = rng.normal(size=(M, D)), rng.normal(size=(M, P))
    item, who = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    y = (
        truth[item]
        + 0.4 * rng.normal(size=(K, D))[who]
        + rng.uniform(0.2, 1, K)[who, None] * rng.normal(size=(M * K, D))
    )
    y[rng.random(y.shape) < missing] = np.nan
    return Answers(y, item, who, M, K, Z - Z.mean(axis=0))


def begin(module, answers):
    return (module.starts(answers, 2) if module is item_regions else module.starts(answers))[0]


def after(module, answers, steps):
    state = begin(module, answers)
    for _ in range(steps):
        state = module.step(answers, state)[0]
    return state


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("seed", range(4))
def test_objectives_never_fall(module, seed):
    answers = crowd(seed, D=2 if module is curved_annotators else 1, missing=(0.0, 0.4, 0.7, 0.9)[seed])
    state, path = begin(module, answers), []
    for _ in range(60):
        state, value = module.step(answers, state)
        path.append(value)
    assert np.diff(path).min() > -1e-9 * max(map(abs, path))
    assert path[-1] > path[0] + 1


def test_evidence_of_types_equals_integrals_over_offset_and_precision():
    answers = crowd(1, M=12, K=4)
    state = after(annotator_types, answers, 3)
    _, evidence, _ = annotator_types._annotators(answers, state)
    y, item, who = answers.single()
    for k in range(answers.K):
        own = who == k
        for t in range(4):
            kappa = annotator_types.SPAMMER_OFFSET if annotator_types.TYPES[t] == "spammer" else state.kappa
            given = y[own], state.mean[item[own]], state.var[item[own]], annotator_types.SLOPE[t]
            prior = bool(annotator_types.OFFSET[t]), kappa, annotator_types.SHAPE, state.rate
            expected = np.log(state.pi[t]) + naive.type_evidence(*given, *prior)
            assert evidence[k, t] == pytest.approx(expected, abs=1e-8)


def test_truths_under_types_equal_sums_over_answers():
    answers = crowd(2, M=10, K=4)
    state = after(annotator_types, answers, 3)
    known = annotator_types.learned(answers, state)
    mean, var = annotator_types.truth(answers, known)
    for m in range(answers.M):
        precision, linear = 1 / float(known.spread), 0.0
        for y, item, k in zip(*answers.single(), strict=True):
            for t, slope in enumerate(annotator_types.SLOPE) if item == m else ():
                weight = known.share[k, t] * known.precision[k, t]
                precision += weight * slope**2
                linear += weight * slope * (y - known.offset[k, t])
        assert var[m] == pytest.approx(1 / precision, rel=1e-10)
        assert mean[m] == pytest.approx(linear / precision, abs=1e-10)


def test_planted_types_are_found():
    rng = np.random.default_rng(0)
    M, K = 120, 12
    truth, item, who = rng.normal(size=M), np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    slope = np.array([1.0] * 9 + [-1.0, 0.0, 0.0])[who]
    bias = np.array([0.0] * 5 + [1.2, -1.2, 1.0, -1.0] + [0.0] * 3)[who]
    y = slope * truth[item] + bias + np.where(slope == 0, 1.0, 0.3) * rng.normal(size=M * K)
    answers = Answers(y[:, None], item, who, M, K, np.zeros((M, 0)))
    found = annotator_types.learned(answers, after(annotator_types, answers, 60))
    best = np.argmax(found.share[:-1], axis=1)
    assert [annotator_types.TYPES[t] for t in best[5:]] == ["biased"] * 4 + ["adversary"] + ["spammer"] * 2
    assert set(best[:5].tolist()) <= {0, 1}
    assert np.abs(found.offset[:5, 1]).max() < 0.1
    assert np.corrcoef(annotator_types.truths(answers, found).mean[:, 0], truth)[0, 1] > 0.99


def test_regions_and_truths_equal_joint_normals():
    answers = crowd(3, M=15, K=5)
    params = after(item_regions, answers, 5)
    items = item_regions._expected(answers, params)
    y, item, who = answers.single()
    for m in range(answers.M):
        own = [(int(k), float(v)) for k, v in zip(who[item == m], y[item == m], strict=True)]
        prior = float(params.mu + answers.Z[m] @ params.theta)
        given = params.pi, params.center, params.width, prior, float(params.s2), params.bias, params.noise
        share, mean, var, total = naive.region_posterior(own, answers.Z[m], *given)
        np.testing.assert_allclose(items.share[m], share, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(items.mean[m], mean, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(items.var[m], var, rtol=1e-8)
        assert items.log_density[m] == pytest.approx(total, abs=1e-8)


def region_world(seed):
    """Half of the annotators are sure of items with a low score, the other half of those with a high one."""
    rng = np.random.default_rng(seed)
    M, K = 300, 8
    truth, Z = rng.normal(size=M), rng.choice([-1.5, 1.5], size=M)[:, None] + 0.5 * rng.normal(size=(M, 1))
    item, who = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    sure = (Z[item, 0] > 0) == (who < K // 2)
    y = truth[item] + np.where(sure, 0.2, 1.5) * rng.normal(size=M * K)
    return Answers(y[:, None], item, who, M, K, Z - Z.mean()), truth


@pytest.mark.parametrize("seed", range(3))
def test_expertise_by_region_is_found_and_pays(seed):
    answers, truth = region_world(seed)

    def error(R):
        runs = []
        for state in item_regions.starts(answers, R):
            for _ in range(80):
                state, value = item_regions.step(answers, state)
            runs.append((value, state))
        params = max(runs, key=lambda run: run[0])[1]
        return params, np.mean((item_regions.truths(answers, params).mean[:, 0] - truth) ** 2)

    params, own = error(2)
    _, one = error(1)
    noise = params.noise[:-1, np.argsort(params.center[:, 0])]
    assert (noise[:4, 0] > 3 * noise[:4, 1]).all()
    assert (noise[4:, 1] > 3 * noise[4:, 0]).all()
    assert own < 0.6 * one


def test_the_curved_bound_of_items_equals_nodes_one_by_one():
    answers = crowd(4, M=6, K=3, D=2)
    state = after(curved_annotators, answers, 4)
    p = state.params
    evidence = curved_annotators._evidence(answers, p)
    found = curved_annotators._items_bound(evidence, state.mean, state.V, p.Sigma) + evidence.constant
    for m in range(answers.M):
        rows = np.flatnonzero(answers.item == m)
        own = [
            (answers.annotator[j], d, answers.y[j, d])
            for j in rows
            for d in range(2)
            if answers.y[j, d] == answers.y[j, d]
        ]
        expected = naive.curved_item_bound(own, state.mean[m], state.V[m], p.B, p.cov, p.noise, p.Sigma, 7)
        assert found[m] == pytest.approx(expected, rel=1e-8)


def test_rows_of_curved_annotators_are_where_the_bound_is_highest():
    """The bound as a whole falls wherever one step of rows, noise, Sigma or omega is moved from."""
    answers = crowd(5, M=30, K=4, D=2)
    state = after(curved_annotators, answers, 30)
    mean, V = state.mean, state.V
    moments = curved_annotators._moments(mean, V)
    best = curved_annotators._rows_and_noise(answers, moments, state.params)

    def bound(params):
        other = state._replace(params=params)
        evidence = curved_annotators._evidence(answers, params)
        items = curved_annotators._items_bound(evidence, mean, V, params.Sigma) + evidence.constant
        return items.sum() + curved_annotators._prior_bound(other)

    rows = best._replace(noise=state.params.noise)  # rows are best for the noise before, noise for these rows
    rng = np.random.default_rng(0)
    for size in (1e-2, -1e-2):
        away = rows.B.copy()
        away[:-1] += size * rng.normal(size=away[:-1].shape)
        assert bound(rows._replace(B=away)) < bound(rows)
        assert bound(best._replace(noise=np.vstack([best.noise[:-1] * (1 + size), best.noise[-1:]]))) < bound(best)
        assert bound(rows._replace(cov=np.concatenate([rows.cov[:-1] * (1 + size), rows.cov[-1:]]))) < bound(rows)


def v_world(seed, M=250, K=8):
    """Half of the annotators answer arousal higher the further valence is from the middle, the others lower."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 2))
    item, who = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    bend = np.where(np.arange(K) < K // 2, 0.8, -0.8)[who]
    mean = truth[item] + np.column_stack([0 * bend, bend * (np.abs(truth[item, 0]) - np.sqrt(2 / np.pi))])
    return Answers(mean + 0.3 * rng.normal(size=mean.shape), item, who, M, K, np.zeros((M, 0))), truth


def test_a_step_that_is_too_far_is_halved(monkeypatch):
    answers, _ = v_world(1, M=60, K=4)
    state = after(curved_annotators, answers, 2)
    state.params.B[:, 1, -2] = np.where(np.arange(5) < 2, 2.0, -2.0)
    evidence, Sigma = curved_annotators._evidence(answers, state.params), state.params.Sigma
    mean, V, reached = state.mean, state.V, curved_annotators._items_bound(evidence, state.mean, state.V, Sigma)
    moved = []
    for halvings in (8, 8, 1, 8):
        monkeypatch.setattr(curved_annotators, "HALVINGS", halvings)
        found = curved_annotators._better(evidence, mean, V, Sigma, reached)
        assert (found[2] >= reached).all()
        moved.append(int((found[0] != mean).any(axis=1).sum()))
        if halvings > 1 and len(moved) < 3:
            mean, V, reached = found
    assert moved[2] < moved[3]


def test_planted_v_shapes_are_found():
    answers, truth = v_world(0)
    params = after(curved_annotators, answers, 80).params
    at = curved_annotators.names_of(("valence", "arousal")).index("|valence|")
    np.testing.assert_allclose(params.B[:4, 1, at], 0.8, atol=0.25)
    np.testing.assert_allclose(params.B[4:-1, 1, at], -0.8, atol=0.25)
    assert np.abs(params.B[:-1, 0, at]).max() < 0.15
    found = curved_annotators.truths(answers, params).mean
    assert np.corrcoef(found[:, 1], truth[:, 1])[0, 1] > 0.985


def test_a_straight_crowd_is_left_straight():
    rng = np.random.default_rng(1)
    M, K = 200, 8
    truth, item, who = rng.normal(size=(M, 2)), np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    answers = Answers(truth[item] + 0.4 * rng.normal(size=(M * K, 2)), item, who, M, K, np.zeros((M, 0)))
    params = after(curved_annotators, answers, 80).params
    assert np.abs(params.B[:-1, :, 3:]).max() < 0.12


def test_curved_is_a_transform_of_the_joint_model():
    fuser = make_fuser("joint", transform="curved", max_iter=7)
    assert (type(fuser), fuser.max_iter) == (type(make_fuser("curved")), 7)
    ratings = small_world(items=12).ratings
    result = un.fuse(ratings, transform="curved")
    assert result.model == result.fit.kind == "curved"
    np.testing.assert_array_equal(result.fused.mean, un.fuse(ratings, model="curved").fused.mean)
    with pytest.raises(un.SettingsError, match=r"un\.items\.Curved"):
        un.items.Joint(transform="curved").fit(ratings)
    with pytest.raises(un.SettingsError, match="no setting latent"):
        make_fuser("auto", transform="curved", latent="full")


@pytest.mark.parametrize("name", ["types", "regions", "curved", "raykar"])
def test_the_order_of_dimensions_does_not_matter(name):
    ratings = small_world(seed=3, items=40).ratings
    turned = ratings.select_dimensions(ratings.dimensions[::-1])
    first, second = (fitted(lambda: make_fuser(name), own).fuse().mean for own in (ratings, turned))
    np.testing.assert_allclose(second[:, ::-1], first, rtol=1e-7, atol=1e-8)


def test_raykars_model_equals_its_dense_likelihood():
    """Noise of each annotator and predictor by EM: the log likelihood of y ~ N(w'x, 1/gamma + 1/tau) with one truth."""
    world = small_world(seed=1, items=60, missing=0.0)
    fuser = fitted(lambda: make_fuser("raykar"), world.ratings, features=world.features)
    p, z = fuser.params_, fuser.scaling_.standardise(world.ratings.value)
    Z = fuser.space_.scores(world.features, world.ratings.items).Z
    total = 0.0
    for d in range(2):
        for m in range(60):
            rows = np.flatnonzero(world.ratings.item_of == m)
            who = world.ratings.annotator_of[rows]
            cov = np.full((len(who), len(who)), p.Sigma[d, d]) + np.diag(p.N[who, d, d])
            mean = np.full(len(who), p.mu[d] + Z[m] @ p.theta[:, d])
            total += stats.multivariate_normal.logpdf(z[rows, d], mean, cov)
    assert fuser.trace_.objective[-1] == pytest.approx(total, rel=1e-8)
    np.testing.assert_array_equal(p.F, np.tile(np.eye(2), (world.ratings.K, 1, 1)))
    np.testing.assert_array_equal(p.b, 0)
