"""Traces of different rates, starts and lengths, brought to one clock; and what cannot be."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from unisono.errors import DataError, DataWarning
from unisono.tables.rating_checks import check_ratings
from unisono.tables.reading.clock_alignment import align_to
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings


def read(source, **words):
    """Ratings of v and a: people who trace exactly alike would otherwise be taken for one curve of the recording."""
    return read_ratings(source, dims=("v", "a"), **words)


def frame(traces, unit=1.0):
    """A table from {(recording, annotator): (times, one column per dimension)}."""
    parts = [
        pl.DataFrame(
            {"recording": r, "time": np.asarray(t, dtype=float) * unit, "annotator": a}
            | {name: np.asarray(column, dtype=float) for name, column in columns.items()}
        )
        for (r, a), (t, columns) in traces.items()
    ]
    return pl.concat([part.fill_nan(None) for part in parts])


def ramp(t, slope=1.0):
    return {"v": slope * np.asarray(t), "a": 5 - np.asarray(t)}


@pytest.fixture
def plain():
    t, u = np.arange(50) / 10, np.arange(30) / 10
    return frame({("film", "x"): (t, ramp(t)), ("film", "y"): (t, ramp(t, 2)), ("clip", "x"): (u, ramp(u))})


def test_the_columns_make_it_a_series(plain):
    ratings = read(plain)
    assert ratings.is_series
    assert (ratings.items, ratings.annotators, ratings.dimensions) == (("clip", "film"), ("x", "y"), ("v", "a"))
    assert ratings.clock.rate == 10
    np.testing.assert_array_equal(ratings.clock.start, [0, 0])
    np.testing.assert_array_equal(ratings.length, [30, 50])
    np.testing.assert_array_equal(ratings.judgement(2)[:, 0], 2 * np.arange(50) / 10)


def test_rows_in_any_order_give_the_same_series_and_a_word_about_it(plain):
    expected = read(plain).data_hash
    with pytest.warns(DataWarning, match="time goes back within a trace"):
        assert read(plain.sample(fraction=1.0, shuffle=True, seed=1)).data_hash == expected


@pytest.mark.parametrize(("unit", "per_second"), [("ms", 1e3), ("us", 1e6), ("min", 1 / 60)])
def test_units(plain, unit, per_second):
    other = plain.with_columns(pl.col("time") * per_second)
    ratings = read(other, time_unit=unit)
    assert ratings.clock.rate == 10
    np.testing.assert_allclose(ratings.value, read(plain).value, atol=1e-9)


def test_the_name_of_the_column_may_give_the_unit_away(plain):
    renamed = plain.with_columns(pl.col("time") * 1000).rename({"time": "time_ms"})
    assert read(renamed).clock.rate == 10
    frames = plain.with_columns((pl.col("time") * 10).round()).rename({"time": "frame"})
    assert read(frames, rate=10).data_hash == read(plain).data_hash
    with pytest.raises(DataError, match=r"counted in frames\. Say how many make a second with rate=HZ"):
        read(frames)
    with pytest.raises(ValueError, match="time_unit must be one of"):
        read(plain, time_unit="weeks")


def test_one_row_per_number(plain):
    long = plain.unpivot(["v", "a"], index=["recording", "time", "annotator"], variable_name="dimension")
    ratings = read_ratings(long, dims=["a", "v"])  # all agree on a, which would describe the recording
    assert ratings.dimensions == ("a", "v")
    np.testing.assert_array_equal(ratings.value[:, ::-1], read(plain).value)


def test_rates_starts_jitter_and_ends_may_differ():
    rng = np.random.default_rng(0)
    t1, t2 = np.arange(0, 20, 0.1), np.sort(1.234 + np.arange(0, 15, 0.04) + rng.uniform(-0.015, 0.015, 375))
    t3 = np.arange(0, 12, 0.5)
    ratings = read(frame({("f", n): (t, ramp(t)) for n, t in (("x", t1), ("y", t2), ("z", t3))}), rate=10)
    seconds = ratings.clock.seconds(ratings.length)
    assert len(seconds) == 200
    for j, t in enumerate((t1, t2, t3)):
        trace = ratings.judgement(j)
        inside = (seconds >= t[0] + 0.006) & (seconds <= t[-1] - 0.006)
        assert not np.isnan(trace[inside]).any()
        assert np.isnan(trace[(seconds < t[0] - 0.006) | (seconds > t[-1] + 0.006)]).all()
        np.testing.assert_allclose(trace[inside, 0], seconds[inside], atol=0.006)


def test_the_default_rate_is_the_median_one():
    t = {"x": np.arange(0, 9, 0.1), "y": np.arange(0, 9, 0.04), "z": np.arange(0, 9, 1.0)}
    table = frame({("f", name): (times, ramp(times)) for name, times in t.items()})
    assert read(table).clock.rate == 10
    assert read(table, rate=5).clock.rate == 5


def test_gaps_stay_missing_unless_they_are_short(plain):
    gone = pl.col("time").is_between(1.0, 1.95) | (pl.col("time").is_between(3.15, 3.25))
    holes = plain.filter(~((pl.col("annotator") == "y") & gone))
    y = read(holes).judgement(2)[:, 0]
    assert np.flatnonzero(np.isnan(y)).tolist() == [*range(10, 20), 32]
    bridged = read(holes, max_gap=0.25).judgement(2)[:, 0]
    assert np.flatnonzero(np.isnan(bridged)).tolist() == [*range(10, 20)]
    assert bridged[32] == pytest.approx(6.4)


def test_an_empty_cell_is_a_missing_sample(plain):
    hole = plain.with_columns(
        pl.when((pl.col("annotator") == "y") & (pl.col("time") > 4.0)).then(None).otherwise(pl.col("a")).alias("a")
    )
    ratings = read(hole)
    assert np.isnan(ratings.judgement(2)[:, 1]).sum() == 9
    assert not np.isnan(ratings.judgement(2)[:, 0]).any()


def test_a_time_column_that_says_when_somebody_answered_is_left_out():
    table = pl.DataFrame({"item": ["1", "1"], "annotator": ["x", "y"], "timestamp": [17.0, 99.0], "v": [1.0, 2.0]})
    with pytest.warns(DataWarning, match="'timestamp' left out, since nothing is rated at two times"):
        assert not read_ratings(table).is_series
    assert read_ratings(table, time="timestamp").is_series
    dated = table.with_columns(pl.lit("2024-05-01 10:00").alias("timestamp"))
    with pytest.warns(DataWarning, match="left out 'timestamp' .times that are text"):
        assert not read_ratings(dated).is_series


def test_two_rows_at_one_time_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("recording,time,annotator,v\nf,0,x,1\nf,1,x,1\nf,1.0,x,2\n")
    with pytest.raises(
        DataError, match=r"t\.csv row 3 and row 4: annotator 'x' on recording 'f' has two rows at time 1"
    ):
        read_ratings(path)
    path.write_text("recording,time,annotator,v\nf,0,x,1\nf,,x,1\n")
    with pytest.raises(DataError, match=r"t\.csv row 3: time is empty"):
        read_ratings(path)
    path.write_text("recording,time,annotator,v\nf,0,x,1\nf,0:01:02:03,x,1\n")
    with pytest.raises(DataError, match=r"t\.csv row 3: time is '0:01:02:03', which is no time"):
        read_ratings(path)


def test_mixed_units_are_refused(plain):
    wrong = plain.with_columns(
        pl.when(pl.col("annotator") == "y").then(pl.col("time") * 1000).otherwise(pl.col("time")).alias("time")
    )
    with pytest.raises(DataError, match=r"annotator 'y' on recording 'film' has steps of 100 s where 0\.1 s are usual"):
        read(wrong)
    t = np.append(np.arange(50) / 10, 5000.0)
    leaping = frame({("film", "x"): (np.arange(50) / 10, ramp(np.arange(50))), ("film", "y"): (t, ramp(t))})
    with pytest.raises(DataError, match=r"in the trace of annotator 'y' on recording 'film' time leaps by 4995.1 s"):
        read(leaping)


def test_a_long_pause_is_not_taken_for_another_unit():
    t = np.arange(0, 400, 0.1)
    paused = np.concatenate([t[:100], t[-100:]])
    ratings = read(frame({("film", "x"): (t, ramp(t)), ("film", "y"): (paused, ramp(paused))}))
    assert np.isnan(ratings.judgement(1)[:, 0]).sum() == len(t) - 200


def test_milliseconds_read_as_seconds_are_noticed(plain):
    with pytest.warns(DataWarning, match="100 seconds lie between frames. If time is in milliseconds"):
        read(plain.with_columns(pl.col("time") * 1000))


def test_empty_traces_and_traces_that_meet_nobody_are_alerts():
    t = np.arange(20) / 10
    nothing = {"v": np.full(20, np.nan), "a": np.full(20, np.nan)}
    traces = {
        ("f", "x"): (t, ramp(t)),
        ("f", "y"): (t, ramp(t)),
        ("f", "z"): (t + 9, ramp(t)),
        ("f", "w"): (t, nothing),
    }
    kinds = {alert.kind: alert.labels for alert in check_ratings(read(frame(traces)))}
    assert kinds["alone-in-time"] == ("z on f",)
    assert kinds["empty-traces"] == ("w on f",)


def test_features_come_onto_the_clock_of_the_ratings(plain):
    ratings = read(plain)
    t = np.arange(0, 6, 0.04)
    rows = [pl.DataFrame({"recording": r, "time": t, "f": k * t}) for k, r in enumerate(("extra", "film", "clip"))]
    features = align_to(read_item_table(pl.concat(rows)), ratings, complete=True)
    assert features.items == ratings.items == ("clip", "film")
    np.testing.assert_array_equal(features.length, ratings.length)
    slope = np.repeat([2, 1], ratings.length)
    np.testing.assert_allclose(features.value[:, 0], slope * ratings.clock.seconds(ratings.length), atol=0.005)


def test_features_that_end_early_hold_for_a_while(plain):
    ratings = read(plain)
    t = np.arange(0.3, 4.45, 0.1)
    table = read_item_table(pl.concat([pl.DataFrame({"recording": r, "time": t, "f": t}) for r in ("film", "clip")]))
    held = align_to(table, ratings, hold=0.5, complete=True).value[:, 0]
    assert held[0] == t[0]
    assert held[-1] == t[-1]
    loose = align_to(table, ratings).value[30:, 0]
    assert np.flatnonzero(np.isnan(loose)).tolist() == [0, 1, 2, *range(45, 50)]
    with pytest.raises(
        DataError, match=r"recording 'clip' has no f at 0 s. It covers 0\.3 to 4\.4 s, while data frame"
    ):
        align_to(table, ratings, complete=True)


def test_features_on_another_clock_are_refused(plain):
    ratings = read(plain)
    t = np.arange(0, 6, 0.1)
    table = pl.concat([pl.DataFrame({"recording": r, "time": t, "f": t}) for r in ("film", "clip")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        slow = read_item_table(table.with_columns(pl.col("time") * 1000))
        with pytest.raises(DataError, match=r"0\.01 frames per second, data frame 10: they are on different clocks"):
            align_to(slow, ratings)
    with pytest.raises(DataError, match="has no row for item 'film'"):
        align_to(read_item_table(table.filter(pl.col("recording") == "clip")), ratings, complete=True)
    with pytest.raises(DataError, match="has a time column but"):
        align_to(read_item_table(pl.DataFrame({"recording": ["film", "clip"], "f": [1, 2]})), ratings)


def test_tables_of_items_align_by_item():
    ratings = read_ratings(pl.DataFrame({"item": ["2", "1"], "annotator": ["x", "x"], "v": [1.0, 2.0]}))
    table = read_item_table(pl.DataFrame({"item": ["3", "2"], "f": [3.0, 2.0]}))
    np.testing.assert_array_equal(align_to(table, ratings).value, [[np.nan], [2.0]])
    gap = read_item_table(pl.DataFrame({"item": ["1", "2"], "f": [None, 2.0]}))
    with pytest.raises(DataError, match="item '1' has no f"):
        align_to(gap, ratings, complete=True)


def test_gold_for_a_few_stretches_is_no_mixture_of_units():
    t = np.concatenate([np.arange(0, 5, 0.1), np.arange(500, 505, 0.1)])
    gold = read_item_table(pl.DataFrame({"recording": "f", "time": t, "v": t}))
    assert np.isfinite(gold.value).sum() == 100
