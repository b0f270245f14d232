"""Traces are taken at their samples, not at their word: what a pass claims is measured against what came in."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_media import write_wav
from collect_support import TRACE_STUDY, Rater, make_app, trace_study
from unisono.collect.export.write import export_study
from unisono.collect.studies import open_folder
from unisono.collect.studies.duration import clip_seconds

FILES = TRACE_STUDY.replace('source = "walks"', 'source = "files"\nmedia = "audio"')


def rows(seconds: float, step: float = 40.0) -> list[list[float]]:
    return [[step * n, step * n, 0, 50.0] for n in range(int(1000 * seconds / step))]


def send(rater: Rater, sent: list[list[float]], **claim: Any) -> str:
    """Samples and the end of the pass; why it was refused, or nothing."""
    slot = rater.slots[0]
    attempt = str(next(rater.numbers))
    answers = []
    for first in range(0, len(sent), 1000):
        part = sent[first : first + 1000]
        answers.append(rater.do("samples", slot=slot["id"], attempt=attempt, first=first, rows=part))
    fields = {"samples": len(sent), "seconds": 3.0, "start": slot["start"]} | claim
    answers.append(rater.do("pass", slot=slot["id"], attempt=attempt, **fields))
    return "; ".join(one["why"] for answer in answers for one in answer["rejected"])


@pytest.fixture
def rater(tmp_path: Path) -> Iterator[Rater]:
    with TestClient(make_app(trace_study(tmp_path / "s")), base_url="http://127.0.0.1") as client:
        yield Rater.join(client)


def test_a_pass_needs_its_samples(rater: Rater) -> None:
    assert "missing" in send(rater, [], samples=75)
    assert "missing" in send(rater, rows(3), samples=76)
    assert "missing" in send(rater, rows(3)[1:], samples=75)
    assert not rater.look()["slots"][0]["done"]
    assert send(rater, rows(3)) == ""
    assert rater.look()["slots"][0]["done"]


def test_a_pass_is_as_long_as_the_recording(rater: Rater) -> None:
    assert "not that long" in send(rater, rows(3), seconds=100_000)
    assert "not that long" in send(rater, rows(0.5), seconds=0.5)
    assert "no valid time" in send(rater, [*rows(3), [1e8, 1e8, 0, 50.0]])
    assert not rater.look()["slots"][0]["done"]


def test_samples_of_a_whole_pass_have_no_holes(tmp_path: Path) -> None:
    with TestClient(make_app(trace_study(tmp_path / "s", seconds=60)), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        ends = [rows(60)[0], rows(60)[-1]]
        assert "do not cover" in send(rater, ends, seconds=60)
        # A slow machine samples a few times a second, which is enough.
        assert send(rater, rows(60, step=400), seconds=60) == ""


def study_of_sounds(folder: Path, name: str, content: bytes | float) -> Path:
    (folder / "media").mkdir(parents=True)
    if isinstance(content, float):
        write_wav(folder / "media" / name, content)
    else:
        (folder / "media" / name).write_bytes(content)
    (folder / "study.toml").write_text(FILES.format(count=1, seconds=9, countdown=0))
    return folder


def test_a_long_claim_fills_no_disk(tmp_path: Path) -> None:
    """Of a file that does not say how long it is, too; and claims that an earlier log holds are bounded as well."""
    folder = open_folder(study_of_sounds(tmp_path / "s", "a.mp3", b"no header at all"))
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert "not that long" in send(rater, rows(3), seconds=100_000)
        assert send(rater, rows(3)) == ""
    known = open_folder(study_of_sounds(tmp_path / "t", "a.wav", 2.0))
    with TestClient(make_app(known), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert "not that long" in send(rater, rows(9), seconds=9)
        assert send(rater, rows(2), seconds=2) == ""
        site = client.app.state.site  # type: ignore[attr-defined]
        with site.database.write() as connection:
            statement = "UPDATE event SET payload = replace(payload, '\"seconds\":2.0', '\"seconds\":100000.0')"
            assert connection.exec_driver_sql(statement).rowcount
        export_study(known, site.database, tmp_path / "out")
    assert len((tmp_path / "out" / "ratings.csv").read_text().splitlines()) < 25 * 5


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def mp4(version: int) -> bytes:
    times = bytes(16) + struct.pack(">IQ", 600, 7500) if version else bytes(8) + struct.pack(">II", 600, 7500)
    mvhd = box(b"mvhd", bytes([version, 0, 0, 0]) + times + bytes(80))
    return box(b"ftyp", b"isom" + bytes(4)) + box(b"mdat", bytes(1000)) + box(b"moov", mvhd)


def webm(duration: bytes) -> bytes:
    info = b"\x2a\xd7\xb1\x83\x0f\x42\x40" + duration
    return b"\x1a\x45\xdf\xa3\x80" + b"\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" + b"\x15\x49\xa9\x66" + bytes(
        [0x80 | len(info)]
    ) + info + b"\x1f\x43\xb6\x75\x01\xff\xff\xff\xff\xff\xff\xff" + bytes(50)  # fmt: skip


FLAC = (
    b"fLaC\x00\x00\x00\x22"
    + bytes(10)
    + ((44_100 << 44) | (1 << 41) | (15 << 36) | 551_250).to_bytes(8, "big")
    + bytes(40)
)
VORBIS = b"OggS" + bytes(24) + b"\x01vorbis" + bytes(4) + b"\x02" + struct.pack("<I", 44_100) + bytes(40)
OGG = VORBIS + b"OggS\x00\x04" + struct.pack("<Q", 551_250) + bytes(30)


@pytest.mark.parametrize(
    ("name", "content", "seconds"),
    [
        ("a.mp4", mp4(0), 12.5),
        ("a.m4a", mp4(1), 12.5),
        ("a.webm", webm(b"\x44\x89\x88" + struct.pack(">d", 12_500.0)), 12.5),
        ("b.webm", webm(b"\x44\x89\x84" + struct.pack(">f", 12_500.0)), 12.5),
        ("recorded.webm", webm(b""), None),
        ("a.flac", FLAC, 12.5),
        ("a.ogg", OGG, 12.5),
        ("cut.mp4", mp4(0)[:1040], None),
        ("empty.mp4", b"", None),
        ("a.mp3", b"ID3" + bytes(300), None),
    ],
)
def test_a_file_says_how_long_it_is(name: str, content: bytes, seconds: float | None, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert clip_seconds(tmp_path / name) == pytest.approx(seconds)


def test_a_sound_file_says_how_long_it_is(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", 2.5)
    assert clip_seconds(tmp_path / "a.wav") == pytest.approx(2.5)
