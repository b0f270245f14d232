"""Verdicts follow from numbers: every direction, every way to fail."""

import numpy as np
import pytest

from unisono.paper.experiment_claims import ClaimPart, Lead, judge, over_sets, over_splits, too_small, untestable
from unisono.paper.experiment_reporting import over_folds

CLEAR = [0.9, 0.91, 0.92, 0.9]
LOW = [0.5, 0.52, 0.51, 0.53]


def test_a_claim_holds_only_if_every_part_does():
    good, bad = ClaimPart("a", "1", True), ClaimPart("b", "2", False)
    assert judge("x", "y", "z", [good, good]).verdict == "holds"
    broken = judge("x", "y", "z", [good, bad])
    assert broken.verdict == "does not hold"
    assert broken.reason == "Not so for b."
    assert "a: 1; b: 2" in broken.measured
    assert judge("x", "y", "z", []).verdict == "cannot be tested"
    assert untestable("x", "y", "no data").reason == "no data"


def compared(*by):
    return judge("x", "y", "z", [ClaimPart("part", "1", True, Lead("joint", "mean", value)) for value in by])


@pytest.mark.parametrize(
    ("by", "seen"),
    [
        ([0.012], "joint ahead by .012"),
        ([0.012, 0.0119], "joint ahead by .012"),
        ([0.11, 0.012], "joint ahead by .012 to .110"),
        ([-0.012, -0.5], "mean ahead by .012 to .500"),
        ([0.1, -0.012, 0.2], "joint ahead in 2 of 3 parts (-0.012 to +0.200)"),
        ([0.0001, -0.0002], "joint and mean level"),
        ([0.0, -0.02], "mean ahead by .000 to .020"),
        ([1.5], "joint ahead by 1.500"),
        # Where nothing could be compared, the parts themselves say it.
        ([float("nan")], "as the paper says"),
    ],
)
def test_the_direction_is_who_is_ahead_and_by_how_much(by, seen):
    assert compared(*by).direction == seen


def test_without_two_models_the_direction_is_whether_the_paper_is_met():
    good, bad = ClaimPart("a", "1", True), ClaimPart("b", "2", False)
    assert judge("x", "y", "z", [good, good]).direction == "as the paper says"
    assert judge("x", "y", "z", [bad]).direction == "not as the paper says"
    assert judge("x", "y", "z", [good, bad, bad]).direction == "as the paper says in 1 of 3 parts"


@pytest.mark.parametrize("holds", [True, False])
def test_a_small_run_earns_no_verdict_but_shows_its_direction(holds):
    claim = judge("x", "y", "z", [ClaimPart("a", "1", holds, Lead("joint", "mean", 0.012))])
    small = too_small(claim)
    assert (small.verdict, small.reason) == ("too small to judge", "")
    assert small.judgement == "too small to judge; joint ahead by .012"
    assert small.measured == claim.measured
    assert claim.judgement == claim.verdict


def test_what_cannot_be_tested_stays_so_in_a_small_run():
    claim = untestable("x", "y", "no data")
    assert too_small(claim) == claim


@pytest.mark.parametrize("part", [over_sets("x", [0.9, 0.8], [0.5, 0.6]), over_splits("x", [0.3, 0.3], [0.9, 0.9])])
def test_tests_of_two_models_say_who_leads(part):
    assert part.lead == ("joint", "independent", pytest.approx(0.3))


@pytest.mark.parametrize(
    ("first", "second", "direction", "holds"),
    [
        (CLEAR, LOW, "higher", True),
        (LOW, CLEAR, "higher", False),
        (LOW, CLEAR, "lower", True),
        (CLEAR, LOW, "lower", False),
        (CLEAR, LOW, "similar", False),
        ([0.5, 0.6, 0.4, 0.5], [0.6, 0.5, 0.5, 0.4], "similar", True),
        # not significant, but far from similar
        ([0.9, -0.9, 0.8, 0.5], [0.9, 0.9, 0.7, 0.6], "similar", False),
        # ahead on average but not surely
        ([0.9, 0.2, 0.8, 0.5], [0.2, 0.6, 0.7, 0.6], "higher", False),
    ],
)
def test_over_simulated_sets_a_difference_must_be_sure(first, second, direction, holds):
    assert over_sets("x", first, second, direction).holds is holds


def test_one_data_set_is_told_as_such():
    part = over_sets("x", [0.9], [0.5])
    assert part.holds
    assert "no test" in part.found


@pytest.mark.parametrize(
    ("difference", "share", "direction", "holds"),
    [
        ([0.1, 0.1, 0.1], [0.99, 0.97, 0.5], "higher", True),
        ([0.1, 0.1, 0.1], [0.99, 0.9, 0.5], "higher", False),
        ([-0.1, -0.1, -0.1], [0.01, 0.02, 0.5], "lower", True),
        ([-0.1, -0.1, -0.1], [0.99, 0.97, 0.96], "lower", False),
        ([0.0, 0.1, -0.1], [0.5, 0.6, 0.4], "similar", True),
        ([0.3, 0.3, 0.3], [0.5, 0.6, 0.4], "similar", False),
        ([-0.1, -0.1, -0.1], [0.01, 0.02, 0.03], "similar", False),
    ],
)
def test_over_splits_most_of_them_must_be_sure(difference, share, direction, holds):
    assert bool(over_splits("x", difference, share, direction).holds) is holds


def test_nan_scores_are_left_out():
    assert over_sets("x", [*CLEAR, float("nan")], [*LOW, 0.1]).holds
    assert np.isfinite(float(over_sets("x", [*CLEAR, float("nan")], [*LOW, 0.1]).found.split()[0]))


@pytest.mark.parametrize(
    ("by_fold", "joint", "direction", "holds"),
    [
        ([0.1, 0.11, 0.12], 0.8, "higher", True),
        ([0.1, -0.1, 0.1], 0.8, "higher", False),
        ([-0.1, -0.11, -0.12], 0.6, "lower", True),
        ([0.1, -0.1, 0.0], 0.72, "similar", True),
        ([0.1, -0.1, 0.0], -0.5, "similar", False),
    ],
)
def test_over_folds_the_t_test_decides_and_similar_has_to_look_similar(by_fold, joint, direction, holds):
    row = {"first": "paper-joint", "second": "paper-independent", "dimension": "d", "metric": "ccc", "by_fold": by_fold}
    scores = {"paper-joint": {"d": {"ccc": joint}}, "paper-independent": {"d": {"ccc": 0.7}}}
    part = over_folds([{"scores": scores, "differences": [row]}], "d", "ccc", direction)
    assert part.holds is holds
    assert part.lead == ("joint", "independent", pytest.approx(np.mean(by_fold)))
