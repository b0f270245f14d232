"""Answers that repeat in blocks, and answers that came faster than anybody can answer."""

import numpy as np
import pytest

import unisono as un
from command_line import unisono_here
from unisono.tables.reading.column_roles import unit_of_duration


def table(column="rt_ms", times=lambda rng, k: rng.integers(900, 4000)):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    rows = [f"item,annotator,v,{column}"]
    for m in range(40):
        for k in range(4):
            answer = int(np.clip(round(3 + truth[m] + 0.5 * rng.normal()), 1, 5)) if k != 2 else [1, 4, 2, 5][m % 4]
            rows.append(f"i{(7 * m) % 40},w{k},{answer},{times(rng, k)}")
    return ("\n".join(rows) + "\n").encode()


def test_a_block_in_the_order_of_the_rows_is_named():
    done = unisono_here("check", "-", stdin=table())
    assert "warning: Annotator 'w2' repeats a block of 4 answers over 40 rows (probability 0.999)" in done.stdout
    assert done.stdout.count("repeats a block") == 1
    assert "faster than anybody can" not in done.stdout


def test_conduct_is_told_where_repetitions_are_settled():
    data = table() + table().splitlines()[1] + b"\n"
    assert "'w2' repeats a block of 4 answers" in unisono_here("check", "-", stdin=data).stdout


@pytest.mark.parametrize(
    ("column", "fast", "usual"),
    [("rt_ms", 120, 1500), ("response_time", 0.12, 3.5), ("duration", 120, 1500), ("WorkTimeInSeconds", 0, 40)],
)
def test_impossible_times_are_named_whatever_the_unit(column, fast, usual):
    data = table(column, lambda rng, k: fast if k == 1 and rng.random() < 0.5 else usual * (1 + rng.random()))
    done = unisono_here("check", "-", stdin=data)
    (line,) = [line for line in done.stdout.splitlines() if "faster than anybody can" in line]
    assert "warning: Annotator 'w1' answered" in line
    assert f"by the column '{column}'" in line
    assert any(alert.kind == "impossible-times" for alert in un.fuse(un.read_ratings(as_frame(data))).alerts)


def test_moments_and_ratings_are_no_durations():
    assert unit_of_duration("start_time") is None
    assert unit_of_duration("valence") is None
    assert unit_of_duration("response_time_ms") == 0.001
    assert unit_of_duration("rt") == 0
    assert unit_of_duration("duration_minutes") == 60


def as_frame(data):
    import io

    import polars as pl

    return pl.read_csv(io.BytesIO(data))
