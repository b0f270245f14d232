"""Votes, confusion and agreement with the others, against loops over answers."""

from __future__ import annotations

import numpy as np
import pytest

from category_cases import crowd
from reference import naive_categories
from unisono.maths.category_votes import (
    Votes,
    agreement_with_others,
    confusion,
    expected_accuracy,
    expected_confusion,
    pooled_confusion,
    vote_counts,
    vote_shares,
)


@pytest.fixture(params=range(3))
def votes(request):
    found = crowd(request.param, M=12, K=6, C=4, per_item=3).votes
    keep = np.random.default_rng(request.param).random(found.n) < 0.8
    return found.only(keep & (found.annotator != 5))  # somebody is silent, some items have one answer or none


def probabilities(votes):
    return np.random.default_rng(9).dirichlet(np.ones(votes.C), votes.M)


def test_confusion_equals_loops(votes):
    p = probabilities(votes)
    expected = naive_categories.confusion_counts(votes.item, votes.annotator, votes.answer, p, votes.K)
    np.testing.assert_allclose(expected_confusion(votes, p), expected, rtol=1e-12, atol=1e-12)


def test_confusion_is_completed_by_the_crowd(votes):
    count = expected_confusion(votes, probabilities(votes))
    found = confusion(count, 10.0)
    np.testing.assert_allclose(found.sum(axis=2), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found[5], pooled_confusion(count), rtol=1e-12)


def test_accuracy_is_the_mean_probability_of_the_answers(votes):
    p = probabilities(votes)
    own = votes.annotator == 2
    found = expected_accuracy(votes, p)
    assert found[2] == pytest.approx(
        np.mean([p[m, c] for m, c in zip(votes.item[own], votes.answer[own], strict=True)])
    )
    assert np.isnan(found[5])


def test_agreement_with_others_equals_loops(votes):
    expected = naive_categories.agreement_with_others(votes.item, votes.annotator, votes.answer, votes.K)
    np.testing.assert_allclose(agreement_with_others(votes), expected, rtol=1e-12)


def test_items_without_answers_get_the_shares_of_all():
    votes = Votes(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 0]), 2, 3, 2)
    np.testing.assert_allclose(vote_counts(votes), [[1, 2], [0, 0]])
    np.testing.assert_allclose(vote_shares(votes), [[1 / 3, 2 / 3], [1 / 3, 2 / 3]])
