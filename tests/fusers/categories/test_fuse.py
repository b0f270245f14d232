"""Fused categories: probabilities that hold what they promise, and annotators described."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unisono as un
from category_cases import WORDS, crowd
from unisono.fusers import category_models as fuse_module
from unisono.fusers.category_models import fuse_categories
from unisono.maths.category_votes import temper


def fused(found, **settings):
    return fuse_categories(un.read_categories(found.frame(), "feeling"), **settings)["feeling"]


def place(found, one):
    """True classes in the order of the result's items and classes."""
    names = un.read_categories(found.frame(), "feeling").items
    return np.array([one.classes.index(WORDS[found.truth[int(name.removeprefix("clip"))]]) for name in names])


def test_what_held_out_answers_say_of_the_temperature_is_done(monkeypatch):
    found = crowd(0, M=30)
    plain = fused(found, model="dawid-skene")
    monkeypatch.setattr(fuse_module, "best_temperature", lambda p, seen, unseen: 4.0)
    milder = fused(found, model="dawid-skene")
    assert milder.temperature == 4.0
    raw = temper(plain.probability, 1 / plain.temperature)
    np.testing.assert_allclose(milder.probability, temper(raw, 4.0), atol=1e-4)
    assert fused(found, model="majority").temperature == 1.0


def test_more_answers_find_more_classes():
    def accuracy(per_item):
        found = [crowd(seed, M=60, K=10, per_item=per_item) for seed in range(2)]
        results = [fused(one, model="dawid-skene") for one in found]
        return np.mean([np.mean(one.best == place(world, one)) for world, one in zip(found, results, strict=True)])

    assert accuracy(2) < accuracy(8)
    assert accuracy(8) > 0.95


def test_spammers_are_the_least_accurate():
    found = crowd(1, M=60, K=8, spammers=2)
    answers = un.read_categories(found.frame(), "feeling")
    one = fuse_categories(answers, model="dawid-skene")["feeling"]
    worst = [answers.annotators[k] for k in np.argsort(one.accuracy)[:2]]
    assert sorted(worst) == ["w0", "w1"]
    assert one.agreement[answers.annotators.index("w0")] < np.median(one.agreement)
    diagonal = np.einsum("kcc->k", one.confusion) / len(one.classes)
    assert diagonal[answers.annotators.index("w0")] < 0.6 < np.median(diagonal)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["glad", "mace", "dawid-skene", "majority"])
def test_row_order_does_not_matter(model):
    frame = crowd(2, M=10, K=6).frame()
    again = frame.sample(fraction=1.0, shuffle=True, seed=5)
    found = [fuse_categories(un.read_categories(one, "feeling"), model=model, seed=1) for one in (frame, again)]
    np.testing.assert_array_equal(found[0]["feeling"].probability, found[1]["feeling"].probability)
    assert found[0]["feeling"].temperature == found[1]["feeling"].temperature


def test_tables_add_up():
    answers = un.read_categories(crowd(3, M=20).frame(), "feeling")
    found = fuse_categories(answers, model="dawid-skene")
    classes = pl.DataFrame(found.class_columns())
    assert classes.columns == ["item", "dimension", "class", "probability", "votes"]
    total = classes.group_by("item").agg(pl.col("probability").sum(), pl.col("votes").sum())
    np.testing.assert_allclose(total["probability"], 1.0, atol=1e-5)
    assert (total["votes"] == 5).all()
    best = classes.sort("probability", descending=True).group_by("item", maintain_order=True).first()
    truth = pl.DataFrame({"item": list(found.items)} | found.truth_columns())
    assert best.join(truth, on="item").select((pl.col("class") == pl.col("feeling")).all()).item()
    confusion = pl.DataFrame(found.confusion_columns())
    rows = confusion.group_by("annotator", "truth").agg(pl.col("probability").sum())
    np.testing.assert_allclose(rows["probability"], 1.0, atol=1e-5)
    assert confusion["answers"].sum() == pytest.approx(100, abs=0.1)
