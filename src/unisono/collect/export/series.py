"""Samples at uneven moments -> one value per frame on the clock of the media."""

from __future__ import annotations

# media ms, page ms, code, then a value per dimension of the pass
Sample = list[float | None]


def held(samples: list[Sample], column: int, rate: float, frames: int) -> list[float | None]:
    """The value in force at each t / rate: the last one sampled by then, None before the first touch.

    A handle stays where it was left, so values are held, not interpolated. A tick that is meant for a frame comes a
    few milliseconds after it; half a frame of grace keeps it from counting one frame late.
    """
    values: list[float | None] = []
    current: float | None = None
    at = 0
    for frame in range(frames):
        limit = 1000 * (frame + 0.5) / rate
        while at < len(samples) and (samples[at][0] or 0.0) <= limit:
            current = samples[at][column]
            at += 1
        values.append(current)
    return values


def seconds(frame: int, rate: float) -> str:
    """The time of a frame, for a table."""
    return f"{frame / rate:.10g}"
