"""Sounds as numbers on a clock: openSMILE's emotion set (low-level descriptors) under eight functionals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unisono.errors import DataError
from unisono.media.tables import Measured, missing_library
from unisono.media.windows import FUNCTIONALS, windowed_functionals

STEP = 0.010  # seconds between two measurements of openSMILE


def sound_features(path: Path, rate: float, window: float) -> Measured:
    """The functionals over the last `window` seconds at `rate` frames per second."""
    try:
        import audiofile
        import opensmile
    except ImportError:
        raise missing_library("opensmile", "audio") from None
    try:
        signal, sampling = audiofile.read(str(path), always_2d=True)
    except Exception as error:  # every codec fails in its own way
        raise DataError(
            f"{path} is no sound that can be read ({str(error).splitlines()[0]}). WAV, FLAC and OGG can; for films and "
            "other formats ffmpeg has to be installed."
        ) from None
    if signal.shape[1] < sampling * STEP * 3:
        raise DataError(f"{path} is too short to be measured: {signal.shape[1] / sampling:.3f} s.")
    smile = opensmile.Smile(
        feature_set=opensmile.FeatureSet.emobase, feature_level=opensmile.FeatureLevel.LowLevelDescriptors
    )
    table = smile.process_signal(np.mean(signal, axis=0), sampling)
    value = table.to_numpy(dtype=float)
    names = tuple(f"{name}_{functional}" for functional in FUNCTIONALS for name in table.columns)
    return Measured(names, windowed_functionals(value, 1 / STEP, rate, window), rate)
