"""Text in any of the encodings that spreadsheets write, as UTF-8; what it was is told.

UTF-16 and UTF-32 are known by their byte order mark or by their zero bytes. What is no UTF-8 is taken for Windows-1252
(of which Latin-1 is a part), unless most of it is UTF-8: then a byte is broken, and guessing would garble the rest.
Imports NumPy alone.
"""

from __future__ import annotations

import codecs

import numpy as np

from unisono.io.reading import problems
from unisono.io.reading.records import BLOCK, line_of

_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_HEAD = 1 << 16
_MOSTLY = 0.4  # share of zero bytes on one side of the pairs that gives UTF-16 away; there are none in other text
# Bytes below 32 that do not occur in text, beside tab, line ends and form feed.
_CONTROL = np.array([byte < 32 and byte not in (9, 10, 12, 13) for byte in range(256)])


def as_utf8(name: str, data: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same text as UTF-8 bytes, and a sentence if it was anything else."""
    wide = _wide_encoding(data[:_HEAD])
    if wide is not None:
        try:
            text = data.tobytes().decode(wide)
        except UnicodeDecodeError:
            what = wide.upper().removesuffix("-LE").removesuffix("-BE")
            raise problems.not_a_table(name, f"its {what} text is damaged or cut short") from None
        return _bytes(text), (f"It is {wide[:6].upper()} text.",)
    refuse_binary(name, data[:BLOCK])
    if not _beyond_ascii(data):
        return data, ()
    raw = data.tobytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _bytes(_windows_text(name, data, raw, error)), (
            "It is no UTF-8 text and was read as Windows-1252 (Latin-1). If letters look wrong, save it as UTF-8.",
        )
    return data, ()


def refuse_binary(name: str, part: np.ndarray) -> None:
    """Zero bytes never occur in text, and soon occur in everything else."""
    if not np.all(part):
        raise problems.not_a_table(name, "it holds binary data")


def _wide_encoding(head: np.ndarray) -> str | None:
    start = head[:4].tobytes()
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    if len(head) < 4 or np.all(head):
        return None
    even, odd = (float(np.mean(head[side : len(head) // 2 * 2 : 2] == 0)) for side in (0, 1))
    if even == 0 and odd > _MOSTLY:
        return "utf-16-le"
    return "utf-16-be" if odd == 0 and even > _MOSTLY else None


def _beyond_ascii(data: np.ndarray) -> bool:
    return any(int(data[low : low + BLOCK].max()) > 127 for low in range(0, len(data), BLOCK))


def _windows_text(name: str, data: np.ndarray, raw: bytes, error: UnicodeDecodeError) -> str:
    broken = raw.decode("utf-8", errors="replace")
    whole = sum(ord(letter) > 127 for letter in broken if letter != "\ufffd")
    if whole > broken.count("\ufffd"):
        raise problems.not_utf8(name, line_of(data, error.start), raw[error.start]) from None
    if _CONTROL[data[:BLOCK]].any():
        raise problems.not_a_table(name, "it holds binary data")
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError as other:
        raise problems.not_utf8(name, line_of(data, other.start), raw[other.start]) from None


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.removeprefix("\ufeff").encode(), dtype=np.uint8)
