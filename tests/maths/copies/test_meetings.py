"""Who meets whom: everybody where that is affordable, never more than was allowed."""

import numpy as np

from copied_crowds import crowd, with_copy
from reference import naive_copies
from unisono.maths.copies import copy_meetings
from unisono.maths.copies.copy_meetings import candidate_pairs, first_look, meetings_of, rare_pairs


def test_meetings_are_those_of_the_naive_reference():
    value, item_of, who, _ = crowd(np.random.default_rng(0), items=40, annotators=15, per_item=6)
    look = first_look(value, item_of, who, 15)
    counted = {pair: n for pair, n in naive_copies.meetings(item_of, who).items() if n >= copy_meetings.LEAST_ITEMS}
    assert look.every_item
    assert look.every_pair
    found = dict(zip(map(tuple, look.meetings.pair.tolist()), np.bincount(look.meetings.of).tolist(), strict=True))
    assert found == counted
    met = look.meetings
    np.testing.assert_array_equal(item_of[met.one], item_of[met.other])
    np.testing.assert_array_equal(np.stack([who[met.one], who[met.other]], axis=1), met.pair[met.of])


def test_pairs_looked_up_meet_where_all_do():
    planted = with_copy(np.random.default_rng(1), items=50)
    look = first_look(*planted[:4])
    pair = np.array([[planted.original, planted.copy]])
    found = meetings_of(pair, *planted[:4])
    of = np.flatnonzero((look.meetings.pair == pair).all(axis=1))
    assert len(found.of) == (look.meetings.of == of).sum() == 50
    assert len(meetings_of(np.array([[0, 1]]), *planted[:4]).pair) == 0  # who agrees little is no copy


def test_rare_answers_lead_to_copies():
    planted = with_copy(np.random.default_rng(2), items=30, annotators=300, dims=2, levels=7)
    found = candidate_pairs(*planted[:4]).tolist()
    assert [planted.original, planted.copy] in found[:20]
    assert len(found) <= copy_meetings.CANDIDATES * planted.K


def test_pairs_of_many_annotators_numbered_by_small_integers_do_not_wrap_around():
    who = np.array([70_000, 99_999] * 3, dtype=np.int32)
    token = np.repeat(np.arange(3, dtype=np.uint64), 2)
    assert rare_pairs(who, token, 100_000).tolist() == [[70_000, 99_999]]
