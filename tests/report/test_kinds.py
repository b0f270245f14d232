"""What is said about kinds of annotators."""

import pytest

from unisono.evaluate.alerts import USELESS, kind_alerts


def notes(reliable, belief=0.0, labelled=40):
    each = [{"kind": name, "judges": name == "judge", "own_units": False} for name in ("human", "judge")]
    told = {"foretold": {"d": 0.01}, "reliable": {"d": reliable}, "belief": belief, "labelled_items": labelled}
    return {"kinds": {"reference": "human", "groups": each} | told}


def test_who_is_not_believed_is_named_with_what_counts_instead():
    (alert,) = kind_alerts(notes(0.7, belief=0.25))
    assert alert.kind == USELESS
    assert "so they count for 25% and the mean of 'human' for the rest" in alert.message
    assert not kind_alerts(notes(0.7, belief=1.0))


@pytest.mark.parametrize(("reliable", "doubted"), [(0.7, False), (0.2, True)])
def test_labels_full_of_noise_are_doubted_as_well(reliable, doubted):
    (alert,) = kind_alerts(notes(reliable))
    assert ("may be they who follow no truth" in alert.message) == doubted
