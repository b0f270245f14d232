"""Changes of traces that leave their truth as it is, on films and simulated wheels: they leave the estimate as well."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import unisono as un
from trace_crowds import crowd, lasting
from unisono.fusers.trace_data import in_own_units

pytestmark = pytest.mark.slow

FILMS = ("green_intensity", "forrest_gump")
STUDIES = (*FILMS, "wheels")


@cache
def study(name):
    """Traces as a table with recording, time, annotator and dimensions, which are named beside it."""
    if name == "wheels":
        return wheels(0)
    ratings = un.load_dataset(name)
    table = as_table(in_own_units(ratings), ratings.dimensions, ratings.clock.rate)
    seconds = 2.0 if name == "green_intensity" else 4.0
    return table[(table.recording == "r0") & (table.time % seconds == 0)].dropna(), list(ratings.dimensions)


def as_table(data, dimensions, rate):
    length = data.length[data.item_of]
    rows = {
        "recording": np.repeat([f"r{m}" for m in data.item_of], length),
        "time": np.concatenate([np.arange(n) / rate for n in length]),
        "annotator": np.repeat([f"a{k:02d}" for k in data.annotator_of], length),
    }
    return pd.DataFrame(rows | dict(zip(dimensions, data.y.T, strict=True)))


def wheels(seed):
    """Two dimensions, private units, a hand that is reversed on one of them."""
    one, _, _ = crowd(seed, K=6, lengths=(150,) * 4, turned=(1,), gaps=False)
    other, _, _ = crowd(seed + 50, K=6, lengths=(150,) * 4, gaps=False)
    return as_table(one._replace(y=np.concatenate([one.y, other.y], axis=1)), ("x", "y"), 2.0), ["x", "y"]


def fused(table):
    return un.fuse(table)


@cache
def before(name):
    return fused(study(name)[0])


def alike(one, other, dims):
    """The least correlation over dimensions, inside recordings."""
    both = one.truth.merge(other.truth, on=["recording", "time"], suffixes=("", "_after"))
    assert len(both) == len(one.truth)
    return min(
        np.mean([np.corrcoef(part[d], part[f"{d}_after"])[0, 1] for _, part in both.groupby("recording")]) for d in dims
    )


def moved(name, constant):
    """constant: by annotator and dimension, in standard deviations."""
    table, dims = study(name)
    out, sd = table.copy(), table[dims].std().to_numpy()
    for annotator, own in constant.items():
        out.loc[out.annotator == annotator, dims] += sd * own
    return out


@pytest.mark.parametrize("name", STUDIES)
def test_the_origin_of_one_annotator(name):
    table, dims = study(name)
    for annotator, constant in zip(sorted(table.annotator.unique())[:3], (-20.0, 1e4, 300.0), strict=True):
        found = fused(moved(name, {annotator: constant}))
        assert alike(before(name), found, dims) > 0.999
        now, then = found.annotators.flipped, before(name).annotators.flipped
        assert (now < np.maximum(then + 0.05, 0.5)).all()


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("sd", [3.0, 1000.0])
def test_the_origins_of_all_annotators(name, sd):
    table, dims = study(name)
    rng = np.random.default_rng(1)
    found = fused(moved(name, {a: sd * rng.standard_normal(len(dims)) for a in sorted(table.annotator.unique())}))
    assert alike(before(name), found, dims) > 0.998
    assert (found.annotators.flipped < np.maximum(before(name).annotators.flipped + 0.05, 0.5)).all()


@pytest.mark.parametrize("name", STUDIES)
def test_the_unit_of_one_annotator(name):
    table, dims = study(name)
    for annotator, factor in zip(sorted(table.annotator.unique())[:2], (10.0, 1000.0), strict=True):
        out = table.copy()
        out.loc[out.annotator == annotator, dims] *= factor
        assert alike(before(name), fused(out), dims) > 0.98


@pytest.mark.parametrize("name", STUDIES)
def test_a_frame_far_outside_everything(name):
    table, dims = study(name)
    out = table.reset_index(drop=True).astype(dict.fromkeys(dims, float))
    out.loc[len(out) // 3, dims[0]] = out[dims[0]].max() + 20 * np.ptp(out[dims[0]])
    assert alike(before(name), fused(out), dims) > 0.9999


@pytest.mark.parametrize("name", FILMS)
def test_somebody_whose_traces_wander(name):
    table, dims = study(name)
    some = table[table.annotator == table.annotator.iloc[0]].assign(annotator="somebody")
    for seed in range(2):
        rng = np.random.default_rng(seed)
        for d in dims:
            some[d] = table[d].mean() + table[d].std() * lasting(rng, len(some), 15.0)
        found = fused(pd.concat([table, some], ignore_index=True))
        assert alike(before(name), found, dims) > 0.97


def test_somebody_who_never_moves_says_nothing_of_the_level():
    for seed in range(3):
        table, dims = wheels(seed)
        table = table[table.annotator != "a01"]
        still = table[table.annotator == "a00"].assign(annotator="still", **dict.fromkeys(dims, 12.0))
        one, other = fused(table), fused(pd.concat([table, still], ignore_index=True))
        sd, away = one.truth[dims].std(), (other.truth[dims] - one.truth[dims]).mean()
        assert (away.abs() / sd).max() < 0.02
        told = other.annotators.set_index("annotator").loc["still"]
        assert (told["flat"] > 0.8).all()


def test_one_value_per_recording_says_something_of_levels():
    data, truth, _ = crowd(4, K=4, lengths=(150,) * 6, gaps=False, gain_sd=0.1)
    table = as_table(data, ("x",), 2.0)
    level = pd.Series(truth).groupby(np.repeat(np.arange(6), 150)).mean().to_numpy()
    errors = []
    for said in (level, level[::-1]):
        still = table[table.annotator == "a00"].assign(annotator="still")
        still["x"] = said[still.recording.str[1:].astype(int)]
        found = fused(pd.concat([table, still], ignore_index=True)).truth
        errors.append(np.std(found.groupby("recording").x.mean().to_numpy() - level))
    assert errors[0] < 0.8 * errors[1]


def test_a_recording_in_which_nothing_happens_has_the_level_that_its_raters_say():
    """Who rated it and nothing else never moves, and of one recording nobody can tell that this is a habit."""
    data, *_ = crowd(4, K=4, lengths=(150,) * 6, gaps=False, gain_sd=0.1)
    table = as_table(data, ("x",), 2.0)
    quiet = table.x.mean() - 2.0 * table.x.std()
    frames = table[(table.annotator == "a00") & (table.recording == "r0")].assign(recording="quiet", x=quiet)
    raters = [frames.assign(annotator=f"still {i}") for i in range(3)]
    found = fused(pd.concat([table, *raters], ignore_index=True)).truth.groupby("recording").x.mean()
    assert found["quiet"] < table.x.mean() - 1.0 * table.x.std()


def test_a_dimension_that_is_there_twice():
    """Private units and errors that last, so that what leaks could be anything."""
    for seed in (3, 5):
        data, _, gain = crowd(seed, K=5, lengths=(150,) * 3, gaps=False, gain_sd=1.2)
        rng, unit = np.random.default_rng(seed), np.repeat(np.abs(gain)[data.annotator_of], 150)
        error = np.concatenate([lasting(rng, 150, 8.0) for _ in data.item_of])
        table = as_table(data._replace(y=data.y + (1.5 * unit * error)[:, None]), ("x",), 2.0)
        assert alike(fused(table), fused(table.assign(twin=table.x)), ["x"]) > 0.985


@pytest.mark.parametrize("name", STUDIES)
def test_order_and_names(name):
    """Of rows, annotators, recordings and dimensions: nine digits of truth, band and objective."""
    table, dims = study(name)
    people, recordings = sorted(table.annotator.unique()), sorted(table.recording.unique())
    other = dict(zip(recordings, recordings[::-1], strict=True))
    called = dict(zip(people, np.random.default_rng(2).permutation(people), strict=True))
    numbers = [c for c in before(name).truth.columns if c not in ("recording", "time")]
    for changed in (
        table.assign(annotator=table.annotator.map(called)),
        table.assign(recording=table.recording.map(other)),
        table[["recording", "time", "annotator", *dims[::-1]]].sample(frac=1.0, random_state=0),
    ):
        found = fused(changed)
        truth = found.truth.copy()
        if not changed.sort_index().recording.equals(table.recording):
            truth["recording"] = truth.recording.map(other)
        both = before(name).truth.merge(truth, on=["recording", "time"], suffixes=("", "_after"))
        for c in numbers:
            away = np.abs(both[c] - both[f"{c}_after"]).max()
            assert away < 1e-9 * max(both[c].std(), 1e-3 * both[c].abs().max())
        assert found.fit.trace.objective[-1] == pytest.approx(before(name).fit.trace.objective[-1], abs=1e-8)
