"""Stimuli: the truth that is exported is the truth of what was shown."""

from __future__ import annotations

import colorsys
import itertools
from collections import Counter

import pytest

from unisono.collect.stimuli.colours import HIGH, HUES, LOW, Pace, Walk, make_walk, reference_colours, regime_colours

PACE = Pace((2.0, 4.0), (1.0, 2.0))


@pytest.mark.parametrize(("regime", "held"), [("saturation", "brightness"), ("brightness", "saturation")])
def test_in_a_regime_one_dimension_covers_its_range_and_the_other_is_held(regime: str, held: str) -> None:
    colours = regime_colours(regime, 50, 60.0, seed=3)
    varied = sorted(getattr(colour, regime) for colour in colours)
    assert {getattr(colour, held) for colour in colours} == {60.0}
    assert varied[0] < 10
    assert varied[-1] > 95
    assert max(b - a for a, b in itertools.pairwise(varied)) < 2 * 95 / 50


def test_the_hue_is_green_or_blue_and_independent_of_the_values() -> None:
    colours = [colour for seed in range(40) for colour in regime_colours("saturation", 50, 60.0, seed)]
    counts = Counter(colour.hue for colour in colours)
    assert set(counts) == set(HUES)
    assert abs(counts["green"] - counts["blue"]) < 5 * (2000**0.5)
    means = [[c.saturation for c in colours if c.hue == hue] for hue in HUES]
    assert abs(sum(means[0]) / len(means[0]) - sum(means[1]) / len(means[1])) < 4


def test_rgb_is_the_hsv_colour_that_truth_says() -> None:
    for colour in [
        *regime_colours("brightness", 20, 70.0, 1),
        *reference_colours({"saturation": 50, "brightness": 70}),
    ]:
        hue, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in colour.rgb))
        assert value * 100 == pytest.approx(colour.brightness, abs=0.3)
        # Dark colours have few levels left for saturation.
        assert saturation * 100 == pytest.approx(colour.saturation, abs=30 / colour.brightness * 3)
        assert hue == pytest.approx(HUES[colour.hue], abs=0.02)


def test_the_seed_decides_everything() -> None:
    assert regime_colours("saturation", 9, 60.0, 1) == regime_colours("saturation", 9, 60.0, 1)
    assert regime_colours("saturation", 9, 60.0, 1) != regime_colours("saturation", 9, 60.0, 2)
    assert make_walk("a", 20, 25, PACE, 1) == make_walk("a", 20, 25, PACE, 1)
    assert make_walk("a", 20, 25, PACE, 1) != make_walk("b", 20, 25, PACE, 1)


def holds(values: list[float]) -> list[int]:
    """Lengths of the runs of equal values, in frames."""
    runs, length = [], 1
    for before, after in itertools.pairwise(values):
        if before == after:
            length += 1
        else:
            runs += [length] if length > 2 else []
            length = 1
    return runs


def test_a_walk_holds_then_moves_linearly_within_its_range() -> None:
    walk = make_walk("a", 120, 25, PACE, 5)
    assert len(walk.frames) == 120 * 25
    assert walk.seconds == 120
    for values in (walk.saturation, walk.brightness):
        assert min(values) >= LOW
        assert max(values) <= HIGH
        inner = holds(values)
        assert min(inner) >= 2 * 25 - 1
        assert max(inner) <= 4 * 25 + 2
        steepest = max(abs(b - a) for a, b in itertools.pairwise(values))
        assert 0 < steepest <= 50 / 25 + 0.02


def correlation(a: list[float], b: list[float]) -> float:
    n = len(a)
    ma, mb = sum(a) / n, sum(b) / n
    cov = sum((x - ma) * (y - mb) for x, y in zip(a, b, strict=True))
    return cov / (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** 0.5


def test_the_two_walks_are_independent_and_without_drift() -> None:
    walks: list[Walk] = [make_walk(f"w{n}", 600, 5, PACE, n) for n in range(30)]
    found = [correlation(walk.saturation, walk.brightness) for walk in walks]
    assert abs(sum(found) / len(found)) < 0.1
    ends = [sum(w.saturation[-500:]) / 500 - sum(w.saturation[:500]) / 500 for w in walks]
    assert abs(sum(ends) / len(ends)) < 12
