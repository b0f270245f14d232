"""What is expected of kinds, and when labels may choose."""

import numpy as np

import unisono as un
from judged_tables import judged_ratings
from unisono.fusers.group_fit import GroupUnits, expectations
from unisono.maths.groups.group_priors import JUDGES, MANY_LABELS, PEOPLE, REFERENCE
from unisono.tables.annotator_kinds import Division


def division(reference=True):
    names, machines = ("human", "crowd", "judge"), (False, False, True)
    return Division(names, np.array([0, 1, 2]), reference, machines)


def units(*scale):
    return GroupUnits(np.zeros((3, 1)), np.array(scale, dtype=float)[:, None])


def test_labels_choose_among_shares_of_all_kinds():
    found = expectations(division(), units(1, 1, 1), None, None, 30)
    assert [kinds[1].shared for kinds in found] == list(PEOPLE.tried)
    assert [kinds[2].shared for kinds in found] == list(JUDGES.tried)
    assert all(kinds[0] == REFERENCE for kinds in found)


def test_what_is_stated_or_clear_is_not_chosen():
    for stated, shares, labelled in ((0.2, None, 30), (None, np.array([0, 0.1, 0.5]), 30), (None, None, MANY_LABELS)):
        (only,) = expectations(division(), units(1, 1, 1), stated, shares, labelled)
        assert only[0] == REFERENCE
        expected = (0.2, 0.2) if stated else (0.1, 0.5) if shares is not None else (PEOPLE.shared, JUDGES.shared)
        assert (only[1].shared, only[2].shared) == expected
    (alone,) = expectations(division(reference=False), units(1, 1, 1), None, None, 30)
    assert alone[0].shared == PEOPLE.shared


def test_people_on_another_scale_are_not_expected_to_have_the_same_level():
    first, *_ = expectations(division(), units(1, 20, 1), None, None, 30)
    assert first[1].map_items == JUDGES.map_items
    assert first[1].level_items == JUDGES.level_items
    assert first[1].shared == PEOPLE.tried[0]


def test_a_fit_says_which_share_it_expects():
    ratings, _ = judged_ratings(items=80, labels=40, shared=0.7)
    assert un.items.Groups().fit(ratings).fit_.shared.tolist()[1] >= 0.4
    assert un.items.Groups(shared=0.25).fit(ratings).fit_.shared.tolist() == [0, 0.25]
    nothing = un.items.Groups(shared=0.0).fit(ratings)
    assert (nothing.groups().share[1] < 0.6).all()
    assert np.isfinite(nothing.fuse().sd).all()
    assert un.items.Groups().expecting(np.array([0.0, 0.1])).fit(ratings).fit_.shared.tolist() == [0, 0.1]
