"""Images of one colour: the paper's artificial task for ratings.

Saturation and brightness are those of HSV, from 0 to 100; the hue is green or blue, at random and independent of both.
In a regime one of them varies and the other is held, so that the effect of one on the judgement of the other shows.
Everything follows from the study's seed: a restart, an export next year and the browser agree on every colour.
"""

from __future__ import annotations

import colorsys
from random import Random
from typing import NamedTuple

HUES = {"green": 120 / 360, "blue": 240 / 360}


class Colour(NamedTuple):
    """One colour: what is true of it and what the screen shows."""

    hue: str
    saturation: float  # 0 to 100
    brightness: float  # 0 to 100

    @property
    def rgb(self) -> tuple[int, int, int]:
        """What the screen shows, 0 to 255."""
        return rgb_of(self.hue, self.saturation, self.brightness)

    @property
    def truth(self) -> dict[str, float]:
        """The known values by dimension."""
        return {"saturation": self.saturation, "brightness": self.brightness}


def rgb_of(hue: str, saturation: float, brightness: float) -> tuple[int, int, int]:
    """8-bit RGB of an HSV colour."""
    red, green, blue = colorsys.hsv_to_rgb(HUES[hue], saturation / 100, brightness / 100)
    return round(255 * red), round(255 * green), round(255 * blue)


def regime_colours(regime: str, count: int, fixed: float, seed: int) -> list[Colour]:
    """The images of a regime: one dimension spread evenly over its range with jitter, the other held.

    An even spread with jitter leaves no part of the range to chance, which plain random draws would with 50 images.
    """
    rng = Random(f"{seed}/colours/{regime}")
    values = [round(5 + 95 * (index + rng.random()) / count, 1) for index in range(count)]
    colours = [_vary(regime, value, fixed, rng) for value in values]
    rng.shuffle(colours)
    return colours


def practice_colours(count: int, seed: int) -> list[Colour]:
    """Colours to practise on: both dimensions vary."""
    rng = Random(f"{seed}/practice")
    return [Colour(_hue(rng), round(10 + 85 * rng.random(), 1), round(20 + 75 * rng.random(), 1)) for _ in range(count)]


def reference_colours(values: dict[str, float]) -> list[Colour]:
    """The reference in both hues, since a hue of its own would give it away."""
    return [Colour(hue, values["saturation"], values["brightness"]) for hue in HUES]


def _vary(regime: str, value: float, fixed: float, rng: Random) -> Colour:
    hue = _hue(rng)
    return Colour(hue, value, fixed) if regime == "saturation" else Colour(hue, fixed, value)


def _hue(rng: Random) -> str:
    return "green" if rng.random() < 0.5 else "blue"
