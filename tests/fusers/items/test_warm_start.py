"""A new batch from an earlier fit: nearly as if all had been fused together, through files, in chains."""

import numpy as np
import pytest

import unisono as un
from item_cases import drawn_from_the_model
from trace_world import trace_world

pytestmark = pytest.mark.slow

TOLERANCE = 0.15  # standard deviations of the error of an estimate, root mean square


def batches(sizes, *, seed, K=20):
    """Ratings of one crowd, all together and in batches of this many items."""
    ratings, _, _ = drawn_from_the_model(sum(sizes), seed=seed, K=K)
    ends = np.cumsum(sizes)
    return ratings, [
        ratings.select_items(list(ratings.items[end - n : end])) for n, end in zip(sizes, ends, strict=True)
    ]


def distance(found, together):
    """Root mean square difference to the fit of everything, in standard deviations of its errors."""
    place = [together.fused.items.index(item) for item in found.fused.items]
    away = (found.fused.mean - together.fused.mean[place]) / together.fused.sd[place]
    return float(np.sqrt(np.mean(away**2)))


@pytest.mark.parametrize("estimate", ["matched", "posterior"])
@pytest.mark.parametrize("sizes", [(100, 100), (150, 20)])
def test_a_second_batch_is_fused_nearly_as_if_all_had_been_fused_together(sizes, estimate):
    started, alone = [], []
    for seed in range(3):
        ratings, (one, two) = batches(sizes, seed=seed)
        together, first = un.fuse(ratings, estimate=estimate), un.fuse(one, estimate=estimate)
        started.append(distance(un.fuse(two, start=first.fuser, estimate=estimate), together))
        alone.append(distance(un.fuse(two, estimate=estimate), together))
    assert np.sqrt(np.mean(np.square(started))) < TOLERANCE
    assert np.mean(started) < 0.8 * np.mean(alone)


def test_a_chain_of_batches_through_files_forgets_nobody(tmp_path):
    ratings, parts = batches((60, 60, 60), seed=4)
    # Two annotators rate in the first batch alone.
    parts[1:] = [part.select_judgements(part.annotator_of > 1) for part in parts[1:]]
    everything = ratings.select_judgements((ratings.item_of < 60) | (ratings.annotator_of > 1))
    fit = un.fuse(parts[0])
    for number, part in enumerate(parts[1:]):
        folder = fit.save(tmp_path / str(number))
        fit, in_memory = un.fuse(part, start=folder), un.fuse(part, start=fit.fuser)
        np.testing.assert_array_equal(fit.fused.mean, in_memory.fused.mean)
        np.testing.assert_array_equal(fit.fused.cov, in_memory.fused.cov)
    last = un.load(fit.save(tmp_path / "last"))
    assert set(last.annotators_) == set(ratings.annotators)
    assert last.items_behind_ == 180
    assert last.judgements_.sum() == sum(part.J for part in parts)
    assert last.judgements_[last.annotators_.index("k0")] == np.sum(parts[0].annotator_of == 0)
    # Who has not rated since is still known, by what the first batch said.
    first = un.load(tmp_path / "0")
    k, j = first.annotators_.index("k0"), last.annotators_.index("k0")
    np.testing.assert_allclose(last.params_.B[j], first.params_.B[k], atol=1e-6)
    assert distance(fit, un.fuse(everything)) < 2 * TOLERANCE


def test_what_was_learnt_of_an_annotator_is_kept():
    """A biased annotator of the first batch who rates little in the second is still allowed for."""
    _, (one, two) = batches((120, 20), seed=5)
    biased = one.with_value(one.value + 3.0 * (one.annotator_of == 7)[:, None])
    keep = (two.annotator_of != 7) | (np.cumsum(two.annotator_of == 7) <= 2)
    shifted = two.with_value(two.value + 3.0 * (two.annotator_of == 7)[:, None]).select_judgements(keep)
    first = un.fuse(biased).fuser
    known = first.annotators_.index("k7")
    fitted = un.fuse(shifted, start=first).fuser
    bias = fitted.params_.b[fitted.annotators_.index("k7")] * fitted.scaling_.scale
    np.testing.assert_allclose(bias, first.params_.b[known] * first.scaling_.scale, atol=0.4)
    assert (bias > 2).all()
    stranger = un.fuse(shifted).fuser
    assert (stranger.params_.b[stranger.annotators_.index("k7")] * stranger.scaling_.scale < bias - 0.3).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda r, fit: un.fuse(r.with_dimensions(("v", "z")), start=fit), un.DataError, "'v' and 'z'.*'v' and 'a'"),
        (lambda r, fit: un.fuse(r.select_dimensions(("v",)), start=fit), un.DataError, "have to be the same"),
        (lambda r, fit: un.fuse(r, start=fit, model="mean"), un.DataError, "model 'auto' or 'joint'.*new one 'mean'"),
        (lambda r, fit: un.fuse(r, start=un.fuse(r, model="mean").fuser), un.DataError, "earlier fit is 'mean'"),
        (lambda r, fit: un.fuse(trace_world().ratings, start=fit), un.DataError, "ratings of items"),
        (lambda r, fit: un.fuse(r, start=fit, anchor="uncorrelated"), un.DataError, "anchor='average'"),
        (lambda r, fit: un.fuse(r, start=fit, transform="full"), un.DataError, "equal settings"),
        (lambda r, fit: un.fuse(r, start=fit, model="independent"), un.DataError, "model 'auto' or 'joint'"),
        (lambda r, fit: un.fuse(r, start="no such folder"), un.DataError, "not a saved fit"),
    ],
)
def test_what_cannot_be_started_from_is_refused_in_words(call, error, words):
    ratings, _, _ = drawn_from_the_model(15, seed=0)
    with pytest.raises(error, match=words):
        call(ratings, un.fuse(ratings).fuser)
