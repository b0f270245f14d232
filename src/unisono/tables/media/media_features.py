"""Texts, images, sounds and films as features, and measured features as the columns of a table.

    texts    sentence embeddings where the extra `text` is installed, else TF-IDF reduced by an SVD
    images   mean red, green and blue, luminance, and histograms of hue, saturation and value
    sounds   openSMILE's emotion set (low-level descriptors) under eight functionals, on a clock
    films    colours and histograms of the frames, and optical flow between them, on a clock

A window over measured frames looks back, because a rater has not seen what comes; at the beginning it holds what there
is. OpenCV and openSMILE are loaded when they are needed.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.maths.rating_values import significant

FUNCTIONALS = ("mean", "max", "min", "std", "range", "kurtosis", "skewness", "iqr")


def window_ends(frames: int, measured_rate: float, rate: float) -> np.ndarray:
    """(T,) for every frame of the clock how many measured frames lie at or before it; at least one."""
    T = max(int(np.floor((frames - 1) / measured_rate * rate + 1e-9)) + 1, 1)
    seen = np.floor(np.arange(T) / rate * measured_rate + 1e-9).astype(int) + 1
    return np.asarray(np.clip(seen, 1, frames))


def windowed_mean(value: np.ndarray, measured_rate: float, rate: float, window: float) -> np.ndarray:
    """(T, P) mean of the measured frames (S, P) of the last `window` seconds, at every frame of the clock."""
    end = window_ends(len(value), measured_rate, rate)
    start = np.maximum(end - max(round(window * measured_rate), 1), 0)
    total = np.concatenate([np.zeros((1, value.shape[1])), np.cumsum(value, axis=0)])
    return np.asarray((total[end] - total[start]) / (end - start)[:, None])


def windowed_functionals(value: np.ndarray, measured_rate: float, rate: float, window: float) -> np.ndarray:
    """(T, 8 P) the eight functionals of every column over the last `window` seconds, functional by functional."""
    end = window_ends(len(value), measured_rate, rate)
    start = np.maximum(end - max(round(window * measured_rate), 1), 0)
    return np.stack([_functionals(value[a:b]).ravel() for a, b in zip(start.tolist(), end.tolist(), strict=True)])


def _functionals(x: np.ndarray) -> np.ndarray:
    """(8, P) in the order of FUNCTIONALS; moments are those of the frames at hand, kurtosis of a normal is 0."""
    mean, low, high = x.mean(axis=0), x.min(axis=0), x.max(axis=0)
    away = x - mean
    std = np.sqrt((away**2).mean(axis=0))
    flat = std <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    unit = np.where(flat, 1.0, std)
    upper, lower = np.percentile(x, (75, 25), axis=0)
    kurtosis = np.where(flat, 0.0, ((away / unit) ** 4).mean(axis=0) - 3.0)
    skewness = np.where(flat, 0.0, ((away / unit) ** 3).mean(axis=0))
    return np.stack([mean, high, low, std, high - low, kurtosis, skewness, upper - lower])


class Measured(NamedTuple):
    """Features of one thing."""

    names: tuple[str, ...]
    value: np.ndarray  # (P,) of an item, (T, P) of a recording
    rate: float | None = None  # frames per second of a recording


def item_name(path: Path, all_paths: list[Path]) -> str:
    """What ratings call a file: its name without the ending, unless two files would share it."""
    if sum(other.stem == path.stem for other in all_paths) > 1:
        raise DataError(
            f"Two files are called '{path.stem}': {', '.join(str(p) for p in all_paths if p.stem == path.stem)}. "
            "Items are named after files, so rename one of them."
        )
    return path.stem


def feature_columns(things: dict[str, Measured]) -> dict[str, Any]:
    """The columns of features.csv: item and features, or recording, time and features."""
    names = next(iter(things.values())).names
    if next(iter(things.values())).rate is None:
        value = np.stack([one.value for one in things.values()])
        return {"item": list(things)} | _feature_columns(names, value)
    seconds = [np.arange(len(one.value)) / float(one.rate or 1.0) for one in things.values()]
    labels = [name for name, one in things.items() for _ in range(len(one.value))]
    value = np.concatenate([one.value for one in things.values()])
    return {"recording": labels, "time": np.concatenate(seconds).round(6)} | _feature_columns(names, value)


def _feature_columns(names: tuple[str, ...], value: np.ndarray) -> dict[str, Any]:
    return {name: significant(value[:, p]) for p, name in enumerate(names)}


def missing_library(package: str, extra: str) -> DataError:
    """What to say if an optional library is not there."""
    return DataError(f"This needs one more package, {package}: pip install 'unisono[{extra}]'.")


BINS = 8  # of each histogram
LUMA = np.array([0.2126, 0.7152, 0.0722])  # of red, green, blue (BT.709)
CHANNEL_RANGES = {"hue": 180, "saturation": 256, "value": 256}  # as OpenCV has them for 8 bits
IMAGE_FEATURES = (
    *("red", "green", "blue", "luminance", "intensity"),
    *(f"{channel}_{i + 1}" for channel in CHANNEL_RANGES for i in range(BINS)),
)


def image_features(path: Path) -> Measured:
    """Colours of a picture, between 0 and 1; histograms are shares of its pixels."""
    cv2 = opencv()
    # Read by Python, since OpenCV does not open every path with letters beyond ASCII.
    pixels = cv2.imdecode(np.frombuffer(path.read_bytes(), dtype=np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise DataError(f"{path} is no image that can be read (PNG, JPEG, WebP, TIFF, BMP can).")
    return Measured(IMAGE_FEATURES, colours(pixels))


def colours(pixels: np.ndarray) -> np.ndarray:
    """(29,) features of an image (H, W, 3) in OpenCV's order blue, green, red, 8 bits each."""
    cv2 = opencv()
    red, green, blue = (pixels.reshape(-1, 3).mean(axis=0) / 255.0)[::-1]
    luminance = float(LUMA @ (red, green, blue))
    hsv = cv2.cvtColor(pixels, cv2.COLOR_BGR2HSV).reshape(-1, 3)
    shares = [
        np.histogram(hsv[:, i], bins=BINS, range=(0, top))[0] / len(hsv)
        for i, top in enumerate(CHANNEL_RANGES.values())
    ]
    return np.concatenate([[red, green, blue, luminance, (red + green + blue) / 3], *shares])


def opencv() -> ModuleType:
    """The library, or an error that names the extra."""
    try:
        import cv2
    except ImportError:
        raise missing_library("opencv-python-headless", "video") from None
    return cv2


SOUND_STEP = 0.010  # seconds between two measurements of openSMILE


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
    if signal.shape[1] < sampling * SOUND_STEP * 3:
        raise DataError(f"{path} is too short to be measured: {signal.shape[1] / sampling:.3f} s.")
    smile = opensmile.Smile(
        feature_set=opensmile.FeatureSet.emobase, feature_level=opensmile.FeatureLevel.LowLevelDescriptors
    )
    table = smile.process_signal(np.mean(signal, axis=0), sampling)
    value = table.to_numpy(dtype=float)
    names = tuple(f"{name}_{functional}" for functional in FUNCTIONALS for name in table.columns)
    return Measured(names, windowed_functionals(value, 1 / SOUND_STEP, rate, window), rate)


FRAME_WIDTH = 160  # pixels to which frames are reduced: motion and colours of the whole picture need no more
MOTION = ("flow", "flow_spread")  # mean and standard deviation of the speed, in widths of the picture per second
FILM_FEATURES = (*IMAGE_FEATURES, *MOTION)


def film_features(path: Path, rate: float, window: float) -> Measured:
    """Averages over the last `window` seconds at `rate` frames per second, from every frame of the film."""
    cv2 = opencv()
    film = cv2.VideoCapture(str(path))
    own_rate = float(film.get(cv2.CAP_PROP_FPS)) if film.isOpened() else 0.0
    if not film.isOpened() or not 0 < own_rate < 1000:
        raise DataError(f"{path} is no film that can be read (MP4, WebM, AVI, MOV, MKV can).")
    rows: list[np.ndarray] = []
    before = None
    while True:
        there, frame = film.read()
        if not there:
            break
        height = max(round(frame.shape[0] * FRAME_WIDTH / frame.shape[1]), 1)
        small = cv2.resize(frame, (FRAME_WIDTH, height), interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
        rows.append(np.concatenate([colours(small), _motion(before, grey, own_rate)]))
        before = grey
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
    speed = np.hypot(flow[..., 0], flow[..., 1]) * rate / FRAME_WIDTH
    return np.array([speed.mean(), speed.std()])


PACKAGE = "wordllama"
EMBEDDINGS = "WordLlama, 256 dimensions"
COMPONENTS = 50  # of the fallback; half of the hundred headlines
WORDS = re.compile(r"[^\W_]+")


def best_method() -> str:
    """What `text_features` will use, in words; part of a unit's settings, because it decides the result."""
    return EMBEDDINGS if find_spec(PACKAGE) else f"TF-IDF, {COMPONENTS} components"


def text_features(texts: Sequence[str], method: str) -> np.ndarray:
    """(N, P) features by the method that `best_method` named."""
    return sentence_embeddings(texts) if method == EMBEDDINGS else tfidf_components(texts, COMPONENTS)


def tfidf_components(texts: Sequence[str], components: int) -> np.ndarray:
    """(N, P) left singular vectors, times singular values, of the TF-IDF matrix with rows of length one.

    Term frequency is 1 + log(count), the inverse document frequency log((1 + N) / (1 + n)) + 1.
    """
    counts = [Counter(word.lower() for word in WORDS.findall(text)) for text in texts]
    vocabulary = {word: i for i, word in enumerate(sorted(set().union(*counts)))}
    matrix = np.zeros((len(texts), len(vocabulary)))
    for row, words in enumerate(counts):
        for word, count in words.items():
            matrix[row, vocabulary[word]] = 1 + np.log(count)
    seen = (matrix > 0).sum(axis=0)
    matrix *= np.log((1 + len(texts)) / (1 + seen)) + 1
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(float).tiny)
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    kept = min(components, int((s > 1e-10 * s[0]).sum()))
    # The sign of a singular vector is arbitrary; the largest entry is made positive, so that it is the same everywhere.
    sign = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    return np.asarray((u * sign * s)[:, :kept])


def sentence_embeddings(texts: Sequence[str]) -> np.ndarray:
    """(N, 256) average of the vectors of a text's tokens, of length one; needs the extra `text`."""
    with _root_logger_kept():
        import wordllama

    # Weights and tokenizer lie in the package, but only the weights are looked for there: hence the cache folder.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    # Six digits: the rest depends on the order in which a processor adds.
    return np.asarray(model.embed(list(texts), norm=True), dtype=np.float64).round(6)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """The package sets the root logger to tell everything, of every package, when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def embedding_names(size: int) -> tuple[str, ...]:
    """What the numbers of an embedding are called."""
    return tuple(f"embedding_{i + 1}" for i in range(size))


def require_embeddings() -> None:
    """An error that names the extra, unless it is there."""
    if not find_spec(PACKAGE):
        raise missing_library(PACKAGE, "text")
