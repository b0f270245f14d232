"""Images as numbers: mean red, green and blue, luminance, and histograms of hue, saturation and value."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np

from unisono.errors import DataError
from unisono.media.tables import Measured, missing_library

BINS = 8  # of each histogram
LUMA = np.array([0.2126, 0.7152, 0.0722])  # of red, green, blue (BT.709)
RANGES = {"hue": 180, "saturation": 256, "value": 256}  # as OpenCV has them for 8 bits
IMAGE_FEATURES = (
    *("red", "green", "blue", "luminance", "intensity"),
    *(f"{channel}_{i + 1}" for channel in RANGES for i in range(BINS)),
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
    shares = [np.histogram(hsv[:, i], bins=BINS, range=(0, top))[0] / len(hsv) for i, top in enumerate(RANGES.values())]
    return np.concatenate([[red, green, blue, luminance, (red + green + blue) / 3], *shares])


def opencv() -> ModuleType:
    """The library, or an error that names the extra."""
    try:
        import cv2
    except ImportError:
        raise missing_library("opencv-python-headless", "video") from None
    return cv2
