"""The bound of the default as it ships, classes of annotators included, never falls."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unisono as un
from item_cases import ratings_of
from unisono.fusers.joint_items import Joint
from unisono.fusers.warm_start import prior_fit_of, with_earlier_annotators
from unisono.tables.datasets import dataset_path
from unisono.tables.item_table import ItemTable
from unisono.tables.reading.ratings_reader import read_ratings


def crowd(seed, kind, M=40, K=8, n=4):
    """Random tables: honest annotators, with spammers among them, whole numbers that pile up at the ends, or two."""
    rng = np.random.default_rng(seed)
    D = 3 if kind == "whole" else 2
    truth = rng.normal(size=(M, D)) @ (0.7 * np.eye(D) + 0.3)
    item_of = np.repeat(np.arange(M), n)
    annotator_of = np.concatenate([rng.choice(K, n, replace=False) for _ in range(M)])
    gain, bias = 1 + 0.2 * rng.normal(size=(K, D)), 0.4 * rng.normal(size=(K, D))
    value = gain[annotator_of] * truth[item_of] + bias[annotator_of] + 0.7 * rng.normal(size=(M * n, D))
    if kind == "spammers":
        spam = annotator_of < 3
        value[spam] = rng.normal(size=(spam.sum(), D))
    if kind in ("whole", "two"):
        value = np.clip(np.round(value + 3), 1, 5) if kind == "whole" else np.round(value > 0.3)
    return ratings_of(value, item_of, annotator_of)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["honest", "spammers", "whole", "two"])
@pytest.mark.parametrize("censored", [False, True])
def test_the_bound_of_the_default_never_falls(seed, kind, censored):
    ratings = crowd(seed, kind)
    trace = Joint(censored=censored).fit(ratings).trace_
    assert trace.converged
    assert trace.objective[-1] > trace.objective[0] + (0.02 if kind == "two" else 0.05) * ratings.J
    assert trace.largest_fall == 0.0


@given(
    seed=st.integers(0, 2**32 - 1),
    M=st.integers(2, 25),
    K=st.integers(1, 7),
    D=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.3]),
    whole=st.sampled_from([None, 2, 3, 5, 9]),
    features=st.booleans(),
    reading=st.sampled_from([{}, {}, {"censored": False}]),
)
@settings(max_examples=60, derandomize=True)
def test_the_bound_of_the_default_never_falls_on_random_tables(seed, M, K, D, missing, whole, features, reading):
    rng = np.random.default_rng(seed)
    keep = rng.random((M, K)) < rng.uniform(0.3, 1.0)
    keep[np.arange(M), rng.integers(K, size=M)] = True
    item_of, annotator_of = np.nonzero(keep)
    X = rng.normal(size=(M, 2))
    truth = rng.normal(size=(M, D)) @ rng.normal(size=(D, D)) + X.sum(axis=1, keepdims=True) * features
    value = truth[item_of] * rng.normal(1, 0.6, size=(K, D))[annotator_of] + rng.normal(size=(K, D))[annotator_of]
    value += rng.uniform(0.05, 2.0, size=(K, 1))[annotator_of] * rng.normal(size=value.shape)
    if whole:
        value = np.clip(np.round((1 + whole) / 2 + value), 1, whole)
    hidden = rng.random(value.shape) < missing
    hidden[np.arange(len(value)), rng.integers(D, size=len(value))] = False
    value[hidden] = np.nan
    if np.isnan(value).all(axis=0).any():
        return
    ratings = ratings_of(value, item_of, annotator_of)
    table = ItemTable.from_rows(X, items=ratings.items, columns=("x", "y")) if features else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = Joint(**reading, max_iter=60, tol=1e-6).fit(ratings, table).trace_
    assert trace.largest_fall == 0.0


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(3, 8),
    D=st.integers(1, 4),
    grades=st.sampled_from([3, 4, 5, 7, None]),
    level=st.floats(-1.0, 1.5),
    alike=st.floats(0.0, 0.99),
    spammers=st.booleans(),
)
@settings(max_examples=40, derandomize=True)
def test_the_bound_never_falls_in_a_second_batch(seed, K, D, grades, level, alike, spammers):
    """Answers piled up at the ends, dimensions that go together, and annotators of whom much is known already."""
    rng = np.random.default_rng(seed)
    M = 40
    root = np.linalg.cholesky(alike * np.ones((D, D)) + (1 - alike) * np.eye(D) + 1e-9 * np.eye(D))
    item_of, annotator_of = np.nonzero(rng.random((M, K)) < 0.7)
    value = level + (rng.normal(size=(M, D)) @ root.T)[item_of] + 0.5 * rng.normal(size=(K, D))[annotator_of]
    value += 0.6 * rng.normal(size=(len(value), D)) @ root.T
    if spammers:
        value[annotator_of == 0] = rng.normal(size=(np.sum(annotator_of == 0), D))
    if grades:
        value = np.clip(np.round((1 + grades) / 2 + value), 1, grades)
    ratings = ratings_of(value, item_of, annotator_of)
    if ratings.M < 10:
        return
    first, second = (
        ratings.select_items(part) for part in (ratings.items[: ratings.M // 2], ratings.items[ratings.M // 2 :])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        earlier = Joint(max_iter=3000).fit(first)
        later = (
            Joint(max_iter=60, tol=1e-6).start_from(earlier).fit(with_earlier_annotators(second, prior_fit_of(earlier)))
        )
    assert earlier.trace_.largest_fall == later.trace_.largest_fall == 0.0


def test_an_earlier_fit_that_did_not_settle_is_refused():
    ratings = crowd(0, "whole")
    with pytest.warns(Warning, match="before it converged"):
        unsettled = un.fuse(ratings, max_iter=2)
    with pytest.raises(un.DataError, match=r"did not settle: EM stopped after 2 iterations.*max_iter"):
        un.fuse(ratings, start=unsettled.fuser)


def test_the_bound_on_squality():
    ratings = read_ratings(dataset_path("squality"))
    result = un.fuse(ratings)
    trace = result.fuser.trace_
    assert trace.converged
    assert trace.largest_fall == 0.0
    assert trace.objective[-1] > trace.objective[0] + 0.1 * ratings.J
    assert result.fit.trace.path()["falls"] == 0


def test_a_saved_fit_says_what_the_objective_did(tmp_path):
    result = un.fuse(crowd(0, "honest"))
    result.save(tmp_path / "out")
    saved = un.load(tmp_path / "out").trace_
    assert saved.path() == result.fuser.trace_.path()
    assert '"largest_fall_at"' in next((tmp_path / "out" / "fit").glob("*.json")).read_text()
