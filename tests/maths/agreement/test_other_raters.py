"""Intervals for other raters: beside psych::ICC, in simulation, and their opposite where raters do not matter."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import unisono as un
from rated_tables import crossed
from unisono.maths.agreement.agreement_bootstrap import Coded, coded
from unisono.maths.agreement.intraclass_reliability import (
    chance_of_raters,
    design_of,
    icc_draws,
    other_raters,
    variance_components,
)
from unisono.tables.ratings import Ratings

IN_R = json.loads((Path(__file__).parents[2] / "support" / "agreement_in_r.json").read_text(encoding="utf-8"))["tables"]
COMPLETE = [name for name, one in IN_R.items() if one["psych"]]
NAMES_IN_R = {"ICC(1)": "ICC1", "ICC(A,1)": "ICC2", "ICC(C,1)": "ICC3"}
NAMES_IN_R |= {"ICC(k)": "ICC1k", "ICC(A,k)": "ICC2k", "ICC(C,k)": "ICC3k"}


def as_coded(table: np.ndarray) -> Coded:
    return coded(table.ravel(), *(code.ravel() for code in np.indices(table.shape)))


def ratings_of(table: np.ndarray) -> Ratings:
    import pandas as pd

    wide = pd.DataFrame(table, columns=[f"r{r}" for r in range(table.shape[1])])
    long = wide.rename_axis("item").reset_index().melt("item", var_name="annotator", value_name="score").dropna()
    return un.read_ratings(long)


def table_in_r(name: str) -> np.ndarray:
    rows = IN_R[name]["ratings"]
    return np.array([[np.nan if cell in (None, "NA") else cell for cell in row] for row in rows], dtype=float)


@pytest.mark.parametrize("name", COMPLETE)
def test_icc_of_complete_ratings_are_those_of_psych(name):
    data = as_coded(table_in_r(name))
    found = icc_draws(data, design_of(data)).icc
    for ours, theirs in NAMES_IN_R.items():
        assert found[ours][0] == pytest.approx(IN_R[name]["psych"][theirs][0], rel=1e-8), ours


@pytest.mark.parametrize("name", IN_R)
def test_components_are_those_of_lme4(name):
    """REML equals the analysis of variance where nothing is missing, and comes close to it where some are."""
    data = as_coded(table_in_r(name))
    found = [float(part[0]) for part in variance_components(data)]
    theirs = [IN_R[name]["lme4"][part] for part in ("item", "rater", "Residual")]
    np.testing.assert_allclose(found, theirs, rtol=1e-4 if name in COMPLETE else 0.1)


@pytest.mark.parametrize("name", COMPLETE)
def test_intervals_reach_about_as_far_as_those_of_psych(name):
    """Satterthwaite's F in psych, bootstrap and pivot here: ends a quarter of the width apart; of three raters, half.

    The pivot is exact where truths and errors are normal; with two degrees of freedom it knows less than the F claims.
    """
    figures = un.agreement(ratings_of(table_in_r(name)), draws=2000).dimensions[0].figures
    share = 0.5 if name == "few_raters" else 0.25
    for ours in ("ICC(A,1)", "ICC(C,1)"):
        _, low, high = IN_R[name]["psych"][NAMES_IN_R[ours]]
        np.testing.assert_allclose([figures[ours].low, figures[ours].high], [low, high], atol=share * (high - low))


@pytest.mark.slow
@pytest.mark.parametrize(("items", "raters", "each"), [(40, 3, 3), (200, 6, 6), (60, 12, 4)])
def test_intervals_hold_for_other_raters_about_as_often_as_they_say(items, raters, each):
    """Variances 1, .36 and .64 in 150 tables; for these raters alone, those of ICC(A,1) hold far less."""
    rng = np.random.default_rng(3)
    truth, hits, of_these = {"ICC(A,1)": 0.5, "SEM": 1.0}, [], 0
    for seed in range(150):
        table = rng.normal(size=(items, 1)) + 0.6 * rng.normal(size=raters) + 0.8 * rng.normal(size=(items, raters))
        for row in table if each < raters else ():
            row[rng.permutation(raters)[each:]] = np.nan
        ratings = ratings_of(table)
        figures = un.agreement(ratings, draws=300, seed=seed).dimensions[0].figures
        hits.append([figures[name].low <= value <= figures[name].high for name, value in truth.items()])
        same = un.agreement(ratings, draws=300, seed=seed, these_annotators=True).dimensions[0].figures["ICC(A,1)"]
        of_these += same.low <= 0.5 <= same.high
    held = np.mean(hits, axis=0)
    assert (held >= 0.89).all(), held
    assert (held <= 0.995).all(), held
    assert of_these / 150 < held[0] - 0.05


def test_raters_who_do_not_differ_leave_the_interval_as_it_is():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 1)) + 0.5 * rng.normal(size=(100, 5))
    table -= table.mean(axis=0)
    ends = [un.agreement(ratings_of(table), draws=500, these_annotators=same).dimensions[0] for same in (False, True)]
    for name in ("ICC(A,1)", "ICC(A,k)", "SEM", "alpha (interval)", "alpha (ordinal)"):
        other, same = (one.figures[name] for one in ends)
        assert (other.low, other.high) == pytest.approx((same.low, same.high), abs=0.01), name


def test_consistency_and_ac2_have_no_variance_of_raters():
    y, unit, _ = crossed(3, 60, 4, bias=1.0)
    ratings = ratings_of(np.clip(np.round(2 * y), -2, 2).reshape(60, 4)[unit[::4]])
    other, same = (un.agreement(ratings, draws=200, these_annotators=same).dimensions[0] for same in (False, True))
    for name in ("ICC(C,1)", "ICC(C,k)", "AC2"):
        assert other.figures[name] == same.figures[name], name
    assert other.figures["ICC(A,1)"].low < same.figures["ICC(A,1)"].low - 0.02


def test_the_value_is_the_same_whoever_it_is_for():
    ratings = ratings_of(table_in_r("gaps"))
    other, same = (un.agreement(ratings, draws=50, these_annotators=same).dimensions[0] for same in (False, True))
    for name, one in other.figures.items():
        assert one.value == same.figures[name].value or np.isnan(one.value), name


def test_variance_of_other_raters_is_drawn_around_what_their_means_show():
    """1 / chi2 has the mean 1 / (nu - 2): the noise of their means comes off after the draw."""
    data = as_coded(table_in_r("many_raters"))
    rows = slice(1, 200_001)
    chance = chance_of_raters(data, 200_001, rows, np.random.default_rng(0))
    drawn = other_raters(data, np.full(200_001, 0.16), np.full(200_001, 0.58), chance)
    assert drawn[0] == pytest.approx(0.16)
    assert drawn[rows].mean() == pytest.approx((0.16 + 0.58 / 25) * 7 / 5 - 0.58 / 25, rel=0.02)


def test_of_one_rater_or_of_strangers_nothing_is_known_about_others():
    one = as_coded(np.random.default_rng(0).normal(size=(20, 1)))
    strangers = coded(np.arange(9.0), np.repeat(np.arange(3), 3), np.arange(9))
    for data in (one, strangers):
        kept = other_raters(data, np.array([0.2, 0.3]), np.ones(2), np.array([1.0, 5.0]))
        assert kept.tolist() == [0.2, 0.3]


def test_the_paragraph_says_whom_the_intervals_are_for():
    ratings = ratings_of(table_in_r("gaps"))
    assert "treat items and annotators as samples" in un.agreement(ratings, draws=20).apa()
    assert "hold for these annotators" in un.agreement(ratings, draws=20, these_annotators=True).apa()
