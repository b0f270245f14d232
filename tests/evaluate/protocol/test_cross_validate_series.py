"""The paper's protocol on recordings: widths, starts and iterations by validation, scores of all frames end to end."""

import json

import numpy as np
import pytest

import unisono as un
from trace_world import trace_world
from unisono.evaluate import cross_validation
from unisono.evaluate.held_out_ratings import item_folds
from unisono.fusers import make_fuser
from unisono.maths.metrics import ccc
from unisono.tables.item_table import Clock

pytestmark = pytest.mark.slow

FOLDS = 3
LENGTHS = (60, 50, 60, 45, 60, 40)


@pytest.fixture(scope="module")
def world():
    return trace_world(lengths=LENGTHS, gaps=False)


def paper(**settings):
    return {"paper-joint": make_fuser("paper-joint", series=True, **({"restarts": 2, "max_iter": 8} | settings))}


def run(world, truth=None, models=None, **settings):
    words = {"folds": FOLDS, "seed": 1} | settings
    models = paper() if models is None else models
    return un.cross_validate(world.ratings, world.truth if truth is None else truth, models=models, **words)


@pytest.mark.slow
def test_every_frame_is_predicted_once_whatever_the_number_of_workers(world):
    models = paper() | {name: make_fuser(name, series=True) for name in ("auto", "mean")}
    one, two = run(world, models=models), run(world, models=models, jobs=2)
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    for row in one.models:
        values = one.predictions[row.model].value
        assert values.shape == (sum(LENGTHS), 2)
        assert np.isfinite(values).all()
        # Scores are of the frames of all recordings together, not means over recordings.
        np.testing.assert_allclose(row.dimensions[0].ccc, ccc(values[:, 0], world.truth.value[:, 0]))
    figures = {row.model: row.ccc for row in one.models}
    assert figures["auto"] > figures["mean"] > 0.8
    assert {row.p > 0 for row in one.differences} == {True}  # paired t-tests over folds
    assert all(np.isnan(row.share) for row in one.differences)


@pytest.mark.slow
def test_widths_and_starts_are_chosen_on_the_validation_recordings(world):
    names = [(fuser.width, fuser.restarts) for fuser in paper()["paper-joint"].candidates(world.ratings)]
    assert names == [(W, 1) for W in (5, 10, 20, 50) for _ in range(2)]
    seeds = [fuser.seed for fuser in paper()["paper-joint"].candidates(world.ratings)]
    assert len(set(seeds)) == 2  # the same starts for every width
    (row,) = run(world).models
    for fold in row.folds:
        assert 0 <= fold.candidates[0] < 8
        assert 0 <= fold.iterations[0] < 8
    chosen, blind = run(world), run(world, models=paper(restarts=1, width=5))
    assert np.mean([f.validation_ccc for f in chosen.models[0].folds]) >= np.mean(
        [f.validation_ccc for f in blind.models[0].folds]
    )


def test_test_labels_are_never_looked_at(world, monkeypatch):
    part = item_folds(world.truth.items, FOLDS, np.random.default_rng(1))[0]
    rows = np.repeat(np.isin(world.truth.items, part.test), world.truth.length)
    value = world.truth.value.copy()
    value[rows] = np.random.default_rng(0).standard_normal((rows.sum(), 2))
    nonsense = un.ItemTable.from_rows(
        value,
        items=world.truth.items,
        columns=world.truth.columns,
        length=world.truth.length,
        clock=world.truth.clock,
    )

    def predicted(truth):
        found = run(world, truth, models=paper(width=5))
        return found.predictions["paper-joint"].select_items(part.test).value

    np.testing.assert_array_equal(predicted(world.truth), predicted(nonsense))

    def leaky(known, part):
        own = known.select_items(part.validation)
        test = np.resize(known.select_items(part.test).value, own.value.shape)
        return un.ItemTable.from_rows(
            test, items=own.items, columns=own.columns, length=own.length, clock=own.clock
        )  # test labels under the names of validation recordings

    monkeypatch.setattr(cross_validation, "visible_labels", leaky)
    assert not np.array_equal(predicted(world.truth), predicted(nonsense))


@pytest.mark.slow
def test_validation_recordings_as_gold(world):
    models = {"auto+gold": make_fuser("auto", series=True), "mean": make_fuser("mean", series=True)}
    gold, mean = run(world, models=models).models
    assert gold.ccc > mean.ccc
    assert gold.pearson > 0.95


@pytest.mark.slow
def test_without_choosing_an_iteration_the_best_final_state_counts(world):
    found = run(world, select_iteration=False)
    assert not found.selected
    folds, first = found.models[0].folds, run(world, models=paper(restarts=1, width=5), select_iteration=False)
    assert max(fold.candidates[0] for fold in folds) > 0
    assert min(fold.iterations[0] for fold in folds) > 0
    assert sum(fold.validation_ccc for fold in folds) > sum(fold.validation_ccc for fold in first.models[0].folds)


def test_a_reference_on_another_clock_is_brought_onto_that_of_the_ratings(world):
    t = world.truth
    first = np.cumsum(t.length) - t.length
    rows = np.concatenate([np.arange(f, f + n, 2) for f, n in zip(first, t.length, strict=True)])
    halved = un.ItemTable.from_rows(
        t.value[rows],
        items=t.items,
        columns=t.columns,
        length=(t.length + 1) // 2,
        clock=Clock(t.clock.rate / 2, t.clock.start),
    )
    models = {"mean": make_fuser("mean", series=True)}
    whole, half = run(world, models=models).models[0], run(world, halved, models=models).models[0]
    assert half.dimensions[0].n >= whole.dimensions[0].n - len(LENGTHS)
    np.testing.assert_allclose(half.pearson, whole.pearson, atol=0.01)
