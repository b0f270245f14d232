"""`un.agreement` from a table to figures, words and plain data."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import unisono as un
from rated_tables import crossed
from trace_world import trace_world
from unisono.evaluate.agreement_measure import clusters
from unisono.evaluate.overview import overview
from unisono.maths.agreement.agreement_bootstrap import coded
from unisono.maths.agreement.intraclass_reliability import design_of, icc_draws
from unisono.tables.ratings import Ratings

MODELS = ("auto", "mean")


def table(seed=0, units=30, raters=5, missing=0.2, D=2, step=None):
    columns = [crossed(seed + d, units, raters, missing)[0] for d in range(D)]
    value = np.stack(columns, axis=1)
    value = value if step is None else np.round(value / step) * step
    unit, rater = np.divmod(np.arange(units * raters), raters)
    return Ratings.from_judgements(
        value,
        unit,
        rater,
        items=[f"i{m}" for m in range(units)],
        annotators=[f"k{k}" for k in range(raters)],
        dimensions=[f"d{d}" for d in range(D)],
        source="my.csv",
    )


def test_figures_are_those_of_the_maths_with_an_interval_each():
    ratings = table()
    found = un.agreement(ratings, draws=200)
    for d, one in enumerate(found.dimensions):
        data = coded(ratings.value[:, d], ratings.item_of, ratings.annotator_of)
        expected = icc_draws(data, design_of(data)).icc
        for name, value in expected.items():
            figure = one.figures[name]
            assert figure.value == pytest.approx(value[0])
            assert figure.low <= figure.value <= figure.high <= 1
        assert one.figures["reliability"] == one.figures["G(q,k)"]
        assert sum(one.figures[f"share of {part}"].value for part in ("items", "annotators", "the rest")) == (
            pytest.approx(1)
        )


def test_check_shows_the_same_numbers():
    ratings = table()
    found, seen = un.agreement(ratings), overview(ratings)
    for one, row in zip(found.dimensions, seen.dimensions, strict=True):
        assert row.icc_a1 == one.figures["ICC(A,1)"]
        assert row.icc_ck == one.figures["ICC(C,k)"]
        assert row.alpha == one.figures["alpha (interval)"]
    assert seen.dimensions[0].others == pytest.approx(np.nanmedian(found.by_annotator["r_others"][:, 0]))


def test_the_seed_decides_everything_random():
    first, again, other = (un.agreement(table(), draws=100, seed=seed).columns() for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["low"], again["low"])
    np.testing.assert_array_equal(first["value"], other["value"])
    assert first["low"][0] != other["low"][0]


def test_plain_data_hold_everything_and_can_be_json():
    found = un.agreement(table(step=1.0), draws=50, matrices=True)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["dimensions"][0]["figures"]["ICC(A,1)"]["also"] == "ICC(2,1)"
    assert set(data["multivariate"]) == {"all dimensions", "least reliable composite", "most reliable composite"}
    assert np.array(data["dimensions"][1]["matrices"]["CCC"], dtype=float).shape == (5, 5)
    assert [row["annotator"] for row in data["annotator_table"]] == [f"k{k}" for k in range(5)]
    assert len(pl.DataFrame(found.columns())) == 2 * len(found.dimensions[0].figures)
    assert len(pl.DataFrame(found.annotator_columns())) == 5
    assert "d1" in repr(found)
    assert "<table>" in found._repr_html_()


def test_words_name_both_schemes_and_give_every_icc_its_interval():
    found = un.agreement(table(), draws=100)
    figure = found.dimensions[0].figures["ICC(A,1)"]
    text = found.apa()
    value = f"{figure.value:.2f}".lstrip("0")
    assert f"ICC(A,1) [Shrout and Fleiss: ICC(2,1)] = {value}, 95% CI [" in text
    assert text.count("95% CI [") == 4
    scores = found.heds()["quality_criteria"][0]["inter_annotator_agreement_scores"]
    assert all("[" in score for score in scores.values())


def test_a_fit_gives_the_reliability_of_its_estimate(tmp_path):
    ratings = table()
    result = un.fuse(ratings, model="mean")
    found = un.agreement(ratings, fit=result, draws=50)
    assert found.reliability_of == "the fused estimate"
    variance, spread = np.mean(result.fused.sd[:, 0] ** 2), np.var(result.fused.mean[:, 0], ddof=1)
    assert found.dimensions[0].figures["reliability"].value == pytest.approx(1 - variance / spread)
    result.save(tmp_path / "out")
    saved = un.agreement(ratings, fit=tmp_path / "out", draws=50)
    assert saved.dimensions[0].figures["reliability"].value == pytest.approx(1 - variance / spread)
    with pytest.raises(un.DataError, match="not of the items"):
        un.agreement(ratings.select_items(["i1", "i2", "i3"]), fit=result)


def test_posterior_means_are_known_as_such():
    assert un.items.Joint(estimate="posterior").gives_posterior_means()
    assert un.make_fuser("paper-joint").gives_posterior_means()
    assert not un.items.Joint().gives_posterior_means()
    assert not un.items.Mean().gives_posterior_means()


def test_traces_are_drawn_by_stretches_and_also_compared_without_delays():
    ratings = trace_world(seed=0, lengths=(400, 300), noise=0.1).ratings
    done = []
    found = un.agreement(ratings, draws=100, on_task=lambda n, total: done.append((n, total)))
    assert found.resampled == "stretches of 10 s"
    assert done == [(n, 5) for n in range(1, 6)]
    for plain, moved in zip(found.dimensions, found.lag_corrected, strict=True):
        assert moved.figures["ICC(C,1)"].value > plain.figures["ICC(C,1)"].value
    assert found.delay.shape == (ratings.K, 2)
    blocks = clusters(ratings.length, ratings.clock)
    assert len(blocks) == 700
    assert len(np.unique(blocks)) == 8 + 6


def test_what_no_rating_of_traces_shows_is_said_once():
    traces = un.load_dataset("green_intensity")
    told = {model: " ".join(un.agreement(traces, fit=un.fuse(traces, model=model), draws=0).notes) for model in MODELS}
    assert all(text.count("such as a common delay") == 1 for text in told.values())
    assert "common delay" not in " ".join(un.agreement(table(D=1, missing=0.0), draws=0).notes)
    # G(q,k) is no figure of a fused estimate.
    assert "variance components." in told["mean"]
    assert "G(q,k) is the reliability of the mean rating" in " ".join(un.agreement(traces, draws=0).notes)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda y, i, k: np.where(True, 3.0, y), "all answers are equal"),
        (lambda y, i, k: np.where(i < 29, 1.0, np.round(y)), "one and the same"),
        (lambda y, i, k: np.where(i < 3, y, np.nan), "fewer than five items"),
        (lambda y, i, k: np.where((i < 15) == (k < 2), y, np.nan), "2 groups that share no item"),
        (lambda y, i, k: np.where(k == 0, y, np.where(k == 1, -y, np.nan)), "less than chance"),
        (lambda y, i, k: np.where(i == k, y, np.where((i == 0) & (k > 0), y, np.nan)), ""),
    ],
)
def test_traps_end_in_a_note_not_in_a_wrong_number(change, word):
    ratings = table(D=1, missing=0.0)
    value = change(ratings.value[:, 0], ratings.item_of, ratings.annotator_of)[:, None]
    found = un.agreement(ratings.with_value(value), draws=60)
    assert word in " ".join(found.notes)
    values = [figure.value for name, figure in found.dimensions[0].figures.items() if "SEM" not in name]
    assert not np.any(np.array(values) > 1)
    json.dumps(found.to_dict())
    assert found.apa()


def test_bad_settings_and_ratings_without_overlap_are_refused():
    with pytest.raises(un.SettingsError):
        un.agreement(table(), level=1.5)
    alone = pl.DataFrame({"item": ["a", "b"], "annotator": ["x", "y"], "v": [1.0, 2.0]})
    with pytest.raises(un.DataError, match="two annotators"):
        un.agreement(alone)


def test_a_dimension_nobody_answered_is_told_apart_from_one_that_was():
    ratings = table()
    value = ratings.value.copy()
    value[:, 1] = np.nan
    found = un.agreement(ratings.with_value(value), draws=50)
    assert np.isfinite(found.dimensions[0].figures["ICC(A,1)"].low)
    assert all(np.isnan(figure.value) for figure in found.dimensions[1].figures.values())
    assert np.isnan(found.multivariate["all dimensions"].value)
    assert "d1" in found.apa()
