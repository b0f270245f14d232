"""What is said about annotators and about the crowd: in columns, in words, always with a probability."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import unisono as un
from benchmarks.planted_crowds import planted_crowd
from unisono.evaluate.alerts import NO_SIGNAL, signal_alerts
from unisono.evaluate.annotator_findings import finding_lines, findings
from unisono.fusers import make_fuser
from unisono.fusers.crowd import crowd_signal
from unisono.fusers.fusion_results import dimension_columns, overall_columns
from unisono.maths.raters.response_styles import KINDS
from unisono.tables.item_table import Clock
from unisono.tables.ratings import Ratings

DIMENSIONS = ("valence", "arousal")


def crowd_ratings(seed, shares, **settings):
    crowd = planted_crowd(seed, shares, **settings)
    ratings = Ratings.from_judgements(
        crowd.value,
        crowd.item_of,
        crowd.annotator_of,
        items=[f"item{m}" for m in range(len(crowd.truth))],
        annotators=[f"ann{k}" for k in range(crowd.K)],
        dimensions=DIMENSIONS,
    )
    return crowd, ratings


@pytest.mark.slow
@pytest.mark.parametrize("model", ["auto", "independent", "mean", "paper-joint"])
def test_every_model_comes_with_the_same_diagnosis(model):
    crowd, ratings = crowd_ratings(0, {"spammer": 0.3, "flipped": 0.1}, items=80)
    fuser = make_fuser(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        described = fuser.fit(ratings).describe()
    assert set(KINDS) <= set(dimension_columns(described))
    spammer = np.asarray(overall_columns(described)["spammer"])
    assert spammer[crowd.kind == "spammer"].mean() > spammer[crowd.kind != "spammer"].mean() + 0.3
    expected = make_fuser("median").fit(ratings).describe().diagnosis
    np.testing.assert_array_equal(spammer, expected.spammer)


def test_words_name_the_annotator_the_dimension_and_the_probability():
    crowd, ratings = crowd_ratings(5, {"spammer": 0.1, "flipped": 0.1, "swapped": 0.1, "compressed": 0.1})
    result = un.fuse(ratings, model="mean")
    found = result.summary_data["diagnosis"]
    assert found["spammers"]
    for row in found["spammers"]:
        assert crowd.kind[int(row["annotator"][3:])] == "spammer"
        assert 0.9 <= row["probability"] < 1
    right = {"flipped": "flipped", "swapped": "swapped", "compressed": "compressed"}
    named = [row for row in found["styles"] if row["style"] in right]
    assert {row["style"] for row in named} == set(right)
    hits = [crowd.kind[int(row["annotator"][3:])] == right[row["style"]] for row in named]
    assert np.mean(hits) > 0.9
    swapped = next(row for row in named if row["style"] == "swapped")
    assert swapped["follows"] == DIMENSIONS[1 - DIMENSIONS.index(swapped["dimension"])]
    text = result.summary()
    spammer = found["spammers"][0]
    assert f"'{spammer['annotator']}' ({spammer['probability']:.3f})" in text
    assert "annotators have a spammer probability above 0.9 (" in text
    assert "Reversed use of the scale (probability above 0.9): 'ann" in text
    best = max((row for row in named if row["style"] == "swapped"), key=lambda row: row["probability"])
    mistaken = f"'{best['annotator']}' {best['dimension']} for {best['follows']} ({best['probability']:.3f})"
    assert f"Dimensions confused (probability above 0.9): {mistaken}" in text


def test_an_honest_crowd_is_told_so():
    _, ratings = crowd_ratings(1, {}, items=80)
    text = un.fuse(ratings, model="mean").summary()
    assert "No annotator has a spammer probability above 0.9 (expected number of spammers: 0.0 of 20)." in text
    assert "Reversed" not in text


def test_who_is_just_short_of_being_named_is_not_passed_over():
    _, ratings = crowd_ratings(1, {}, items=80)
    annotators = make_fuser("mean").fit(ratings).describe()
    chance = np.full(len(annotators.annotators), 0.01)
    chance[[3, 4, 5]] = 0.878, 0.5, 0.95
    found = findings(replace(annotators, diagnosis=annotators.diagnosis._replace(spammer=chance)))
    names = annotators.annotators
    assert [row["annotator"] for row in found["spammers"]] == [names[5]]
    assert found["suspected"] == [
        {"annotator": names[3], "probability": 0.878},
        {"annotator": names[4], "probability": 0.5},
    ]
    line = f"Spammer probability of 0.5 to 0.9: '{names[3]}' (0.878), '{names[4]}' (0.500)."
    assert line in finding_lines(found, len(names))


@pytest.mark.parametrize(("swapped", "named"), [(0.48, ["harmful"]), (0.3, []), (0.02, [])])
def test_half_flipped_and_half_swapped_is_named(swapped, named):
    _, ratings = crowd_ratings(1, {}, items=80)
    annotators = make_fuser("mean").fit(ratings).describe()
    found, K = annotators.diagnosis, len(annotators.annotators)
    flipped, other, usual = np.full((K, 2), 0.01), np.zeros((K, 2, 2)), np.full((K, 2), 0.95)
    flipped[3, 0], other[3, 0, 1], usual[3, 0] = 0.46, swapped, 0.5 - swapped
    none = np.full((K, 2), 0.01)
    odd = found._replace(flipped=flipped, swapped=other, usual=usual, unrelated=none, constant=none)
    data = findings(replace(annotators, diagnosis=odd._replace(spammer=np.full(K, 0.01))))
    assert [row["style"] for row in data["styles"]] == named
    told = [line for line in finding_lines(data, K) if line.startswith("Answers reversed, confused or unrelated")]
    assert [f"'{annotators.annotators[3]}'" in line for line in told] == [True] * len(named)
    sure = odd._replace(flipped=np.where(flipped > 0.4, 0.95, flipped), spammer=np.full(K, 0.01))
    styles = findings(replace(annotators, diagnosis=sure))["styles"]
    assert [row["style"] for row in styles] == ["flipped"]  # once it is clear what it is, nothing else is said


def test_pure_noise_is_said_plainly():
    _, ratings = crowd_ratings(2, {"spammer": 1.0})
    with pytest.warns(un.DataWarning, match="do not clearly agree on valence") as told:
        result = un.fuse(ratings, model="mean")
    assert len([one for one in told if "clearly agree" in str(one.message)]) == 2
    assert [alert.kind for alert in result.alerts[:2]] == [NO_SIGNAL, NO_SIGNAL]
    assert "No annotator has a spammer probability" in result.summary()
    assert "Annotators do not clearly agree on arousal" in result.summary()


def test_a_crowd_with_signal_is_not_warned_about():
    _, ratings = crowd_ratings(3, {"spammer": 0.3, "flipped": 0.1})
    assert signal_alerts(ratings.dimensions, crowd_signal(ratings)) == []


def test_only_the_dimension_without_signal_is_named():
    _, ratings = crowd_ratings(4, {})
    value = ratings.value.copy()
    value[:, 1] = np.random.default_rng(0).normal(size=len(value))
    assert [alert.labels for alert in signal_alerts(ratings.dimensions, crowd_signal(ratings.with_value(value)))] == [
        ("arousal",)
    ]


def test_series_are_left_alone():
    rng = np.random.default_rng(0)
    ratings = Ratings.from_judgements(
        rng.normal(size=(40, 1)),
        np.zeros(2, dtype=int),
        np.arange(2),
        items=["r"],
        annotators=["x", "y"],
        dimensions=("v",),
        length=np.array([20]),
        clock=Clock(4.0, np.zeros(1)),
    )
    assert signal_alerts(ratings.dimensions, crowd_signal(ratings)) == []
