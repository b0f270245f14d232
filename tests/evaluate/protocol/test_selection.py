"""States of an estimation: what a callback is shown is what stopping there would have given."""

import warnings

import numpy as np
import pytest

import unisono as un
from unisono.evaluate.iteration_selection import Labelled, Selection, estimate, select
from unisono.fusers import Independent, Joint, make_fuser
from unisono.paper.simulation import simulate_items

pytestmark = pytest.mark.slow

ML = {"inference": "ml", "noise": "diagonal", "anchor": "none"}


def world(seed=0, **settings):
    return simulate_items(**({"items": 30, "annotators": 6, "features": 3, "bias": 0.3} | settings), seed=seed)


def states_of(fuser, w):
    seen = []
    fuser.fit(w.ratings, w.features, on_state=lambda i, state: seen.append((i, state)))
    return seen


@pytest.mark.parametrize("kind", [Joint, Independent])
@pytest.mark.parametrize("settings", [{}, ML], ids=["bayes", "ml"])
def test_a_state_is_what_stopping_there_gives(kind, settings):
    w = world()
    seen = states_of(kind(**settings), w)
    assert [i for i, _ in seen] == list(range(len(seen)))
    assert len(seen) > 4
    for i in (0, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", un.ConvergenceWarning)
            stopped = kind(**settings, max_iter=i + 1).fit(w.ratings, w.features)
        one, other = stopped.fuse(), seen[i][1].fuse()
        np.testing.assert_array_equal(other.mean, one.mean)
        np.testing.assert_array_equal(other.cov, one.cov)
        assert seen[i][1].trace_.iterations == i + 1
    again = seen[-1][1].fuse(w.ratings, w.features)
    np.testing.assert_allclose(again.mean, kind(**settings).fit(w.ratings, w.features).fuse().mean, rtol=1e-9)


def test_watching_changes_nothing():
    w = world()
    watched = Joint()
    seen = []
    watched.fit(w.ratings, on_state=lambda i, state: seen.append(state))
    np.testing.assert_array_equal(watched.fuse().mean, Joint().fit(w.ratings).fuse().mean)
    assert watched not in seen


def test_a_baseline_has_one_state():
    w = world()
    seen = states_of(make_fuser("mean"), w)
    assert [i for i, _ in seen] == [0]
    np.testing.assert_array_equal(seen[0][1].fuse().mean, make_fuser("mean").fit(w.ratings).fuse().mean)


def test_the_best_state_is_kept_for_all_dimensions_or_for_each():
    w = world(seed=2)
    validation = Labelled(w.ratings, w.truth, w.features)
    together, each = Selection(validation, separate=False), Selection(validation, separate=True)
    states = states_of(make_fuser("paper-independent"), w)
    for i, state in states:
        together.consider(0, i, state)
        each.consider(0, i, state)
    fused = [state.fuse(w.ratings, w.features).mean for _, state in states]
    ccc = np.array([[_ccc(mean[:, d], w.truth.value[:, d]) for d in range(2)] for mean in fused])
    (one,) = together.choices()
    assert one.pick.iteration == ccc.mean(axis=1).argmax()
    assert one.pick.score == pytest.approx(ccc.mean(axis=1).max())
    assert [choice.pick.iteration for choice in each.choices()] == ccc.argmax(axis=0).tolist()
    values = estimate(each.choices(), w.ratings, w.features, w.truth.columns)
    for d in range(2):
        np.testing.assert_allclose(values[:, d], fused[ccc[:, d].argmax()][:, d])


def test_the_better_candidate_is_chosen():
    w = world(seed=1, items=60, annotators=8, bias=2.0, ratings_per_item=3)
    validation = Labelled(w.ratings, w.truth, None)
    for candidates, best in ((["mean", "auto"], 1), (["auto", "mean"], 0)):
        (choice,) = select([make_fuser(name) for name in candidates], w.ratings, None, validation)
        assert choice.pick.candidate == best


def test_a_switched_model_is_put_right_in_the_units_of_the_ratings():
    w = world(seed=3, items=60, noise=0.1, transform="identity", bias=0.0)
    exchanged = un.ItemTable.from_rows(-w.truth.value[:, ::-1], items=w.truth.items, columns=w.truth.columns)
    validation = Labelled(w.ratings, exchanged, None)
    (choice,) = select([make_fuser("paper-joint")], w.ratings, None, validation)
    assert choice.pick.switch.order.tolist() == [1, 0]
    assert choice.pick.switch.sign.tolist() == [-1, -1]
    values = estimate([choice], w.ratings, None, exchanged.columns)
    assert all(_ccc(values[:, d], exchanged.value[:, d]) > 0.9 for d in range(2))
    # A model whose dimensions cannot switch is taken at its word.
    (kept,) = select([make_fuser("auto")], w.ratings, None, validation)
    assert kept.pick.switch.order.tolist() == [0, 1]


def _ccc(x, y):
    from unisono.maths.metrics import ccc

    return ccc(x, y)
