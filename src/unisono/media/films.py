"""Films as numbers on a clock: colours and histograms of the frames, and how much moves between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unisono.errors import DataError
from unisono.media.images import IMAGE_FEATURES, colours, opencv
from unisono.media.tables import Measured
from unisono.media.windows import OnFrame, windowed_mean

WIDTH = 160  # pixels to which frames are reduced: motion and colours of the whole picture need no more
MOTION = ("flow", "flow_spread")  # mean and standard deviation of the speed, in widths of the picture per second
FILM_FEATURES = (*IMAGE_FEATURES, *MOTION)


def film_features(path: Path, rate: float, window: float, on_frame: OnFrame | None = None) -> Measured:
    """Averages over the last `window` seconds at `rate` frames per second, from every frame of the film."""
    cv2 = opencv()
    film = cv2.VideoCapture(str(path))
    own_rate = float(film.get(cv2.CAP_PROP_FPS)) if film.isOpened() else 0.0
    if not film.isOpened() or not 0 < own_rate < 1000:
        raise DataError(f"{path} is no film that can be read (MP4, WebM, AVI, MOV, MKV can).")
    expected = int(film.get(cv2.CAP_PROP_FRAME_COUNT))
    rows: list[np.ndarray] = []
    before = None
    while True:
        there, frame = film.read()
        if not there:
            break
        height = max(round(frame.shape[0] * WIDTH / frame.shape[1]), 1)
        small = cv2.resize(frame, (WIDTH, height), interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
        rows.append(np.concatenate([colours(small), _motion(before, grey, own_rate)]))
        before = grey
        if on_frame is not None:
            on_frame(len(rows), max(expected, len(rows)))
    film.release()
    if not rows:
        raise DataError(f"{path} holds no frame that can be decoded.")
    return Measured(FILM_FEATURES, windowed_mean(np.stack(rows), own_rate, rate, window), rate)


def _motion(before: np.ndarray | None, grey: np.ndarray, rate: float) -> np.ndarray:
    """(2,) speed of what moves, by dense optical flow (Farneback); 0 in the first frame."""
    if before is None:
        return np.zeros(2)
    settings = {"pyr_scale": 0.5, "levels": 3, "winsize": 15, "iterations": 3, "poly_n": 5, "poly_sigma": 1.2}
    flow = opencv().calcOpticalFlowFarneback(before, grey, None, flags=0, **settings)
    speed = np.hypot(flow[..., 0], flow[..., 1]) * rate / WIDTH
    return np.array([speed.mean(), speed.std()])
