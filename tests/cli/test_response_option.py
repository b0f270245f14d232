"""`--response` on the command line: ordered answers, sliders, and what is refused."""

from __future__ import annotations

import csv
import io

import numpy as np

from command_line import unisono_here

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=40)
STARS = "item,annotator,stars\n" + "".join(
    f"i{m},{who},{int(np.clip(np.round(3 + TRUTH[m] + 0.6 * RNG.normal()), 1, 5))}\n"
    for m in range(40)
    for who in "abcd"
)
SLIDERS = "item,annotator,joy\n" + "".join(
    f"i{m},{who},{50 + 15 * TRUTH[m] + 5 * RNG.normal():.1f}\n" for m in range(40) for who in "abcd"
)


def fused(*arguments, table=STARS):
    done = unisono_here("fuse", "-", *arguments, stdin=table.encode())
    assert done.returncode == 0, done.stderr
    return [{k: float(v) for k, v in row.items() if k != "item"} for row in csv.DictReader(io.StringIO(done.stdout))]


def test_ordered_answers_give_estimates_on_the_scale_that_differ_from_those_of_numbers():
    ordinal, linear = fused("--response", "ordinal"), fused("--response", "linear")
    assert all(1 <= row["stars_low"] <= row["stars"] <= row["stars_high"] <= 5 for row in ordinal)
    assert linear == fused()
    assert ordinal != linear
    a, b = ([row["stars"] for row in rows] for rows in (ordinal, linear))
    assert np.corrcoef(a, b)[0, 1] > 0.97


def test_sliders_without_a_hundred_ratings_of_anybody_are_numbers():
    assert fused("--response", "warp", table=SLIDERS) == fused(table=SLIDERS)


def test_what_cannot_be_is_refused():
    done = unisono_here("fuse", "-", "--response", "ordinal", stdin=SLIDERS.encode())
    assert done.returncode == 3
    assert "more than 12 different answers" in done.stderr
    assert "Use response 'warp' or 'linear'" in done.stderr
    done = unisono_here("fuse", "-", "--response", "ordinal", "--inference", "ml", stdin=STARS.encode())
    assert done.returncode == 2
    done = unisono_here("fuse", "-", "--response", "curved", stdin=STARS.encode())
    assert done.returncode == 2
