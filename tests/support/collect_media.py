"""Pictures, films and sounds for the tests, made here: any shape, a second long, a few kilobytes."""

from __future__ import annotations

import base64
import functools
import struct
import wave
import zlib
from pathlib import Path

from playwright.sync_api import Browser

SHAPES = {"16x9": (320, 180), "4x3": (320, 240), "1x1": (240, 240), "9x16": (180, 320)}

# All at once, since recording takes as long as what is recorded. Such films do not say how long they are.
RECORD = """async ([sizes, ms]) => Promise.all(sizes.map(async ([width, height]) => {
  const canvas = Object.assign(document.createElement("canvas"), {width, height});
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(25), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.start();
  for (let at = 0; at < ms; at += 40) {
    context.fillStyle = `hsl(${at / 5} 60% 50%)`;
    context.fillRect(0, 0, width, height);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  await new Promise((resolve) => { recorder.onstop = resolve; recorder.stop(); });
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}))"""


def write_films(folder: Path, browser: Browser, ms: int = 600) -> None:
    """One film of every shape, recorded by the browser itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, film in zip(SHAPES, _films(browser, ms), strict=True):
        (folder / f"{name}.webm").write_bytes(base64.b64decode(film))


@functools.cache
def _films(browser: Browser, ms: int) -> list[str]:
    page = browser.new_page()
    page.goto("about:blank")
    films: list[str] = page.evaluate(RECORD, [[list(size) for size in SHAPES.values()], ms])
    page.close()
    return films


def write_wav(path: Path, seconds: float, rate: int = 8000) -> None:
    """Silence."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(bytes(2 * int(rate * seconds)))


def png(width: int, height: int, shade: int = 128) -> bytes:
    """A grey picture."""
    rows = (b"\0" + bytes([shade]) * width) * height

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
