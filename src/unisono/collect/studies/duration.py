"""How long a recording is, as its file says: what a browser claims to have played is measured against it.

Only headers are read. A file that does not say (streams, MP3) has no length here, and a generous limit holds for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

# Nobody traces for longer in one go.
_LONGEST = 4 * 3600.0
_HEAD = 1 << 20


def longest(seconds: float | None) -> float:
    """The most seconds that can have been played: players and headers differ by a frame or two."""
    return _LONGEST if seconds is None else 1.02 * seconds + 2


def shortest(seconds: float | None) -> float:
    """The fewest seconds of a whole pass."""
    return 0.0 if seconds is None else 0.98 * seconds - 2


def clip_seconds(path: Path) -> float | None:
    """The length of a recording, None where the file does not say."""
    try:
        state = path.stat()
    except OSError:
        return None
    return _seconds(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=10_000)
def _seconds(path: Path, _changed: int, size: int) -> float | None:
    try:
        with path.open("rb") as stream:
            found = _read(stream, size)
    except (OSError, struct.error, ValueError, IndexError, ZeroDivisionError):
        return None
    return found if found and found > 0 else None


def _read(stream: BinaryIO, size: int) -> float | None:
    head = stream.read(64)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide"):
        return _mp4(stream, size)
    if head[:4] == b"\x1aE\xdf\xa3":
        stream.seek(0)
        return _webm(stream.read(_HEAD))
    if head[:4] == b"RIFF":
        stream.seek(0)
        return _wav(stream.read(_HEAD), size)
    if head[:4] == b"fLaC":
        rate = int.from_bytes(head[18:21], "big") >> 4
        return (int.from_bytes(head[21:26], "big") & (1 << 36) - 1) / rate
    if head[:4] == b"OggS":
        return _ogg(stream, size)
    return None


def _mp4(stream: BinaryIO, size: int) -> float | None:
    for kind, start, stop in _boxes(stream, 0, size):
        if kind == b"moov":
            for inner, at, _ in _boxes(stream, start, stop):
                if inner == b"mvhd":
                    stream.seek(at)
                    body = stream.read(32)
                    scale, duration = (
                        struct.unpack(">IQ", body[20:32]) if body[0] else struct.unpack(">II", body[12:20])
                    )
                    return float(duration / scale)
    return None


def _boxes(stream: BinaryIO, at: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
    """(kind, start of the content, end) of the boxes in a stretch of an MP4 file."""
    while at + 8 <= stop:
        stream.seek(at)
        head = stream.read(16)
        length, begin = int.from_bytes(head[:4], "big"), at + 8
        if length == 1:
            length, begin = int.from_bytes(head[8:16], "big"), at + 16
        end = at + length if length else stop
        if end <= at:
            return
        yield head[4:8], begin, end
        at = end


# Matroska: the segment, its information, and in it the unit of time and the duration.
_SEGMENT, _INFO, _SCALE, _DURATION = 0x18538067, 0x1549A966, 0x2AD7B1, 0x4489


def _webm(data: bytes) -> float | None:
    found = {_SCALE: 1_000_000.0}
    at = 0
    while at < len(data) - 2:
        kind, at = _number(data, at, keep_mark=True)
        size, at = _number(data, at)
        if kind in (_SEGMENT, _INFO):
            continue  # what is inside comes next
        content = data[at : at + size]
        if kind == _SCALE:
            found[kind] = float(int.from_bytes(content, "big"))
        elif kind == _DURATION:
            found[kind] = float(struct.unpack(">d" if size == 8 else ">f", content)[0])
        at += size
    return found[_DURATION] * found[_SCALE] / 1e9 if _DURATION in found else None


def _number(data: bytes, at: int, keep_mark: bool = False) -> tuple[int, int]:
    """A number whose first byte says how many bytes it has."""
    width = 9 - data[at].bit_length()
    value = int.from_bytes(data[at : at + width], "big")
    return (value if keep_mark else value & ((1 << 7 * width) - 1)), at + width


def _wav(data: bytes, size: int) -> float | None:
    at, rate = 12, 0
    while at + 8 <= len(data):
        kind, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if kind == b"fmt ":
            rate = int.from_bytes(data[at + 16 : at + 20], "little")
        if kind == b"data":
            return min(length, size - at - 8) / rate
        at += 8 + length + length % 2
    return None


def _ogg(stream: BinaryIO, size: int) -> float | None:
    """The last page says how many samples there were; the first one how many make a second."""
    stream.seek(0)
    head = stream.read(128)
    rate = 48_000 if b"OpusHead" in head else 0
    if (mark := head.find(b"\x01vorbis")) >= 0:
        rate = int.from_bytes(head[mark + 12 : mark + 16], "little")
    stream.seek(max(0, size - 65_536))
    tail = stream.read()
    last = tail.rfind(b"OggS")
    return int.from_bytes(tail[last + 6 : last + 14], "little") / rate if rate and last >= 0 else None
