"""Images and videos of one colour: the paper's artificial tasks for ratings and for traces.

Saturation and brightness are those of HSV, from 0 to 100; the hue is green or blue, at random and independent of both.
In a regime one of them varies and the other is held, so that the effect of one on the judgement of the other shows.
Everything follows from the study's seed: a restart, an export next year and the browser agree on every colour.

In videos, saturation and brightness follow independent random walks with lag: a value is held for a while (`hold`
seconds), then moves linearly to the next (`move` seconds); steps have no drift and are reflected at the ends of the
range. The hue is fixed. A video is a list of frames at the study's sampling rate; the browser shows exactly these 8-bit
colours, so the exported RGB features are what raters saw.
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
    varied = ((value, fixed) if regime == "saturation" else (fixed, value) for value in values)
    colours = [Colour(_hue(rng), *both) for both in varied]
    rng.shuffle(colours)
    return colours


def practice_colours(count: int, seed: int) -> list[Colour]:
    """Colours to practise on: both dimensions vary."""
    rng = Random(f"{seed}/practice")
    return [Colour(_hue(rng), round(10 + 85 * rng.random(), 1), round(20 + 75 * rng.random(), 1)) for _ in range(count)]


def reference_colours(values: dict[str, float]) -> list[Colour]:
    """The reference in both hues, since a hue of its own would give it away."""
    return [Colour(hue, values["saturation"], values["brightness"]) for hue in HUES]


def _hue(rng: Random) -> str:
    return "green" if rng.random() < 0.5 else "blue"


LOW, HIGH = 5.0, 100.0
# The widest step of a walk: half the range, so that a change is seen and none leaps from end to end.
STEP = 50.0


class Walk(NamedTuple):
    """One video: truth and colour of every frame; frame t is shown from t / rate to (t + 1) / rate seconds."""

    rate: float
    hue: str
    saturation: list[float]  # T values, 0 to 100
    brightness: list[float]  # T values, 0 to 100

    @property
    def seconds(self) -> float:
        """How long the video lasts."""
        return len(self.saturation) / self.rate

    @property
    def frames(self) -> list[tuple[int, int, int]]:
        """8-bit RGB of each frame."""
        return [rgb_of(self.hue, s, b) for s, b in zip(self.saturation, self.brightness, strict=True)]


class Pace(NamedTuple):
    """How a walk moves: ranges of seconds."""

    hold: tuple[float, float]
    move: tuple[float, float]


def make_walk(name: str, seconds: float, rate: float, pace: Pace, seed: int) -> Walk:
    """The video of this name; name and seed decide it entirely."""
    rng = Random(f"{seed}/walk/{name}")
    hue = sorted(HUES)[int(rng.random() * 2)]
    frames = round(seconds * rate)
    saturation, brightness = (_sampled(_path(seconds, pace, rng), frames, rate) for _ in range(2))
    return Walk(rate, hue, saturation, brightness)


def _path(seconds: float, pace: Pace, rng: Random) -> list[tuple[float, float]]:
    """Corners (second, value) of one walk, up to the end of the video."""
    value = LOW + (HIGH - LOW) * rng.random()
    now = 0.0
    corners = [(now, value)]
    while now < seconds:
        now += _between(pace.hold, rng)
        corners.append((now, value))
        now += _between(pace.move, rng)
        value = _reflect(value + STEP * (2 * rng.random() - 1))
        corners.append((now, value))
    return corners


def _sampled(corners: list[tuple[float, float]], frames: int, rate: float) -> list[float]:
    """Values of a piecewise linear path at t / rate."""
    values, corner = [], 0
    for frame in range(frames):
        now = frame / rate
        while corners[corner + 1][0] <= now:
            corner += 1
        (t0, v0), (t1, v1) = corners[corner], corners[corner + 1]
        values.append(round(v0 + (v1 - v0) * (now - t0) / (t1 - t0), 2))
    return values


def _between(bounds: tuple[float, float], rng: Random) -> float:
    low, high = bounds
    return low + (high - low) * rng.random()


def _reflect(value: float) -> float:
    if value < LOW:
        return 2 * LOW - value
    return 2 * HIGH - value if value > HIGH else value
