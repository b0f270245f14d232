"""Simulated people: Nayatani's factor as others compute it, and annotators who differ as they should."""

import numpy as np

from unisono.collect.stimuli.colours import rgb_of
from unisono.maths.metrics import pearson
from unisono.paper.experiment_data import brightness_factor, draw_people, judged, perceived
from unisono.paper.experiment_items_artificial import effect_of, simulate_regime
from unisono.paper.experiment_series_artificial import RATE, simulate_traces


def test_the_factor_equals_that_of_colour_science():
    # HelmholtzKohlrausch_effect_object_Nayatani1997(..., L_a=63.66, method="VCC") of colour-science 0.4.7
    rgb = np.array([[0, 0.6, 0], [0, 0, 0.6], [0.3, 0.6, 0.3], [1, 0, 0], [0.2, 0.3, 0.9]])
    known = [1.07179164, 1.81453186, 1.04781662, 1.51348601, 1.56753216]
    np.testing.assert_allclose(brightness_factor(rgb), known, rtol=2e-4)


def test_greys_have_no_effect_and_saturation_adds_to_it():
    np.testing.assert_allclose(brightness_factor(np.array([[0.0] * 3, [0.2] * 3, [1.0] * 3])), 1.0)
    for hue in ("green", "blue"):
        colours = np.array([rgb_of(hue, s, 60.0) for s in (0, 25, 50, 75, 100)]) / 255
        assert (np.diff(brightness_factor(colours)) > 0).all()


def test_people_answer_on_the_scale_and_each_in_their_own_way():
    rng = np.random.default_rng(0)
    people = draw_people(5, rng)
    seen = perceived(np.full((200, 3), 0.5), np.full((200, 2), 50.0), 1.0)
    answers = np.stack([judged(seen, people, k, rng.standard_normal((200, 2))) for k in range(5)])
    assert answers.min() >= 0
    assert answers.max() <= 100
    np.testing.assert_allclose(answers.mean(axis=1), 50 + people.bias, atol=4)


def test_the_regimes_have_the_effect_one_way_only():
    found = {regime: effect_of(simulate_regime(regime, 0, 50, 12), regime) for regime in ("saturation", "brightness")}
    assert np.mean(found["saturation"]) > 0.25
    assert abs(np.mean(found["brightness"])) < 0.1


def test_a_reference_comes_after_every_ten_images_and_is_not_scored():
    task = simulate_regime("saturation", 0, 25, 3)
    assert [name for name in task.ratings.items if name.startswith("reference")] == ["reference1", "reference2"]
    assert task.ratings.items[10] == "reference1"
    assert task.truth.items == tuple(f"image{m + 1}" for m in range(25))
    assert task.truth.columns == ("saturation",)


def test_traces_are_late():
    traced = simulate_traces(0, 2, 60.0, 4)
    first = np.arange(traced.ratings.length[0])
    truth = traced.reference.value[first, 0]
    trace = traced.ratings.judgement(0)[:, 0]
    lags = [pearson(trace[lag:], truth[: len(truth) - lag]) for lag in range(25)]
    assert RATE * 0.8 <= int(np.argmax(lags)) <= RATE * 3.2
