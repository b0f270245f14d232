"""Data that experiments use: folders of the user's own, long recordings cut into pieces, simulated colour perception.

Simulated annotators judge saturation and brightness with the Helmholtz-Kohlrausch effect: saturated colours look
brighter than their luminance says. By how much is Nayatani's estimate for object colours (Y. Nayatani, Simple
estimation methods for the Helmholtz-Kohlrausch effect, Color Research & Application 22, 1997, by the method of variable
chromatic colours): the factor

    Gamma = 1 + (-.8660 q(theta) + .0872 K_Br) s_uv,   s_uv = 13 |(u', v') - (u'_c, v'_c)|

of the lightness of a grey that looks as bright, with q(theta) for the hue, and K_Br near 1 at ordinary luminance.
A simulated annotator knows brightness as the practice page teaches it, as that of HSV, and sees it times Gamma, each
to a degree of their own; saturation is judged as it is. On top come a bias, a gain and noise of their own, and for
moving colours a delay.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.tables import Clock, ItemTable, Ratings, listed
from unisono.tables.datasets.fetched import cached

ADAPTING = 63.66  # cd/m2 at which K_Br is 1: an office, a screen
SRGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
COS = (-0.03017, -0.04556, -0.02667, -0.00295)  # of theta, 2 theta, 3 theta, 4 theta
SIN = (0.14592, 0.05084, -0.01900, -0.00764)
DIMENSIONS = ("saturation", "brightness")


class People(NamedTuple):
    """How K simulated annotators differ; saturation and brightness are on 0 to 100."""

    bias: np.ndarray  # (K, 2)
    gain: np.ndarray  # (K, 2)
    noise: np.ndarray  # (K,) sd
    effect: np.ndarray  # (K,) strength of the Helmholtz-Kohlrausch effect; 1 is Nayatani's
    delay: np.ndarray  # (K,) seconds, for moving colours


def draw_people(K: int, rng: np.random.Generator) -> People:
    """Annotators as they come: offsets of about 8 points, gains within 15 %, noise of 8 to 16 points, 1 to 3 s."""
    return People(
        bias=8.0 * rng.standard_normal((K, 2)),
        gain=np.exp(0.15 * rng.standard_normal((K, 2))),
        noise=rng.uniform(8.0, 16.0, K),
        effect=np.exp(0.3 * rng.standard_normal(K)),
        delay=rng.uniform(1.0, 3.0, K),
    )


def perceived(rgb: np.ndarray, truth: np.ndarray, effect: float) -> np.ndarray:
    """(N, 2) saturation and brightness as one person sees them; `rgb` (N, 3) is 0 to 1, `truth` (N, 2) 0 to 100."""
    gamma = 1 + effect * (brightness_factor(rgb) - 1)
    return np.stack([truth[:, 0], truth[:, 1] * gamma], axis=1)


def judged(seen: np.ndarray, people: People, k: int, noise: np.ndarray) -> np.ndarray:
    """(N, 2) what annotator k answers to what they see, on a slider of whole numbers from 0 to 100.

    `noise` (N, 2) has sd 1; it is their own sd that counts.
    """
    answer = 50 + people.bias[k] + people.gain[k] * (seen - 50) + people.noise[k] * noise
    return np.asarray(np.clip(np.round(answer), 0.0, 100.0))


def brightness_factor(rgb: np.ndarray) -> np.ndarray:
    """(N,) Nayatani's Gamma of sRGB colours (N, 3)."""
    at = chromaticity(rgb) - chromaticity(np.ones((1, 3)))
    theta = np.arctan2(at[:, 1], at[:, 0])
    q = -0.01585 + sum(
        (c * np.cos(n * theta) + s * np.sin(n * theta) for n, (c, s) in enumerate(zip(COS, SIN, strict=True), start=1)),
        start=np.zeros(len(at)),
    )
    luminance = ADAPTING**0.4495
    k_br = 0.2717 * (6.469 + 6.362 * luminance) / (6.469 + luminance)
    return np.asarray(1 + (-0.8660 * q + 0.0872 * k_br) * 13 * np.hypot(at[:, 0], at[:, 1]))


def chromaticity(rgb: np.ndarray) -> np.ndarray:
    """(N, 2) CIE 1976 u', v' of sRGB colours (N, 3); black is as white as white."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.where(linear.sum(axis=1, keepdims=True) > 0, linear, 1.0)
    X, Y, Z = (linear @ SRGB_TO_XYZ.T).T
    total = X + 15 * Y + 3 * Z
    return np.stack([4 * X / total, 9 * Y / total], axis=1)


class Traced(NamedTuple):
    """Traces, the reference at the same frames, and features."""

    ratings: Ratings
    reference: ItemTable
    features: ItemTable | None


def cut(traced: Traced, pieces: int) -> Traced:
    """Every recording as `pieces` recordings of nearly equal length, called NAME/1, NAME/2, ..."""
    ratings, features = traced.ratings, traced.features
    ends = [np.linspace(0, T, pieces + 1).astype(np.int64) for T in ratings.length]
    names = [f"{item}/{piece + 1}" for item in ratings.items for piece in range(pieces)]
    length = np.concatenate([np.diff(end) for end in ends])
    assert ratings.clock is not None
    start = np.concatenate(
        [s + end[:-1] / ratings.clock.rate for s, end in zip(ratings.clock.start, ends, strict=True)]
    )
    clock = Clock(ratings.clock.rate, start)
    # Frames of a judgement stay where they are; only the borders between judgements are new.
    item_of = np.concatenate([np.arange(pieces) + pieces * m for m in ratings.item_of])
    return Traced(
        Ratings.from_judgements(
            ratings.value,
            item_of,
            np.repeat(ratings.annotator_of, pieces),
            items=names,
            annotators=ratings.annotators,
            dimensions=ratings.dimensions,
            length=length,
            clock=clock,
            source=ratings.source,
        ),
        _pieces(traced.reference, names, length, clock),
        None if features is None else _pieces(features, names, length, clock),
    )


def _pieces(table: ItemTable, names: list[str], length: np.ndarray, clock: Clock) -> ItemTable:
    return ItemTable.from_rows(
        table.value, items=names, columns=table.columns, length=length, clock=clock, source=table.source
    )


ENVIRONMENT = "UNISONO_DATA"  # a folder of data sets, each in a folder of its name


def affective_text(given: Path | None) -> Path | None:
    """The folder of the headlines: as given, below UNISONO_DATA, or as fetched; None where there is none."""
    if given is not None:
        return given
    root = os.environ.get(ENVIRONMENT)
    if root:
        for name in ("affective-text", "snow2008"):
            if (Path(root) / name / "ratings.csv").is_file():
                return Path(root) / name
    return cached("affective-text")


def require_tables(folder: Path, tables: Sequence[str]) -> None:
    """DataError with the names of tables that are not there."""
    missing = [table for table in tables if not (folder / table).is_file()]
    if missing:
        raise DataError(f"{folder} has no {listed(missing, 9)}. Needed are {listed(tables, 9)}.")


def file_sums(folder: Path, tables: Sequence[str]) -> dict[str, str]:
    """SHA-256 of every table, for the settings of a unit: other data are another unit."""
    return {table: hashlib.sha256((folder / table).read_bytes()).hexdigest() for table in tables}
