"""Sliders that annotators bend, on the command line."""

from __future__ import annotations

import numpy as np

from command_line import unisono_here

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=120)
SLIDERS = "item,annotator,joy\n" + "".join(
    f"i{m},{who},{100 / (1 + np.exp(-power * TRUTH[m] + 0.3 * RNG.normal())):.1f}\n"
    for m in range(120)
    for power, who in enumerate("abcd", 1)
)


def fused(*arguments, table=SLIDERS):
    done = unisono_here("fuse", "-", *arguments, stdin=table.encode())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_sliders_of_annotators_with_a_hundred_ratings_are_read_as_bent():
    assert fused("--response", "linear") == fused()
    assert fused("--response", "warp") != fused()


def test_sliders_without_a_hundred_ratings_of_anybody_are_numbers():
    few = "".join(SLIDERS.splitlines(keepends=True)[: 1 + 4 * 40])
    assert fused("--response", "warp", table=few) == fused(table=few)


def test_what_cannot_be_is_refused():
    for refused in (("warp", "--inference", "ml"), ("curved",)):
        assert unisono_here("fuse", "-", "--response", *refused, stdin=SLIDERS.encode()).returncode == 2
