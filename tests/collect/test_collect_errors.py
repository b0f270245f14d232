"""What a researcher does wrong is said with file, row or key, value and the way out, before anything is served."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest

from collect_support import COMMAND, ENTRY, RATE_STUDY, Postgres, Rater, Server, collect, free_port, rate_study
from unisono.collect.store.agree import prepare
from unisono.collect.store.database import Database, NotSavedError
from unisono.collect.studies import load_study, open_folder
from unisono.errors import DataError

pytestmark = pytest.mark.slow

RATE = RATE_STUDY.format(per_regime=3)
TABLE = RATE.replace('source = "colours"', 'source = "table"\ntruth = "{truth}"').replace("per_regime = 3\n", "")
FILES = RATE.replace('source = "colours"', 'source = "files"\nmedia = "{media}"').replace("per_regime = 3\n", "")

# what is in the file -> what is put there instead -> what the message must say
BROKEN = [
    ('["saturation", "brightness"]', "[]", ["items.regimes is []", "each once"]),
    ('["saturation", "brightness"]', '["saturation", "saturation"]', ["items.regimes is", "each once"]),
    ('source = "colours"', 'source = "walks"', ["mode is 'rate'", "traced"]),
    ("per_regime = 3", "[practice]\ncount = -1", ["practice.count is -1"]),
    ("per_regime = 3", "[limits]\njoins_per_minute = nan", ["limits.joins_per_minute is nan"]),
    ("per_regime = 3", "[limits]\nrequests_per_second = inf", ["limits.requests_per_second is inf"]),
    ("per_regime = 3", "[limits]\nraters = -5", ["limits.raters is -5"]),
    ("per_regime = 3", "[limits]\nevents_per_rater = 0", ["limits.events_per_rater is 0"]),
    ("per_regime = 3", "[design]\nfree_after_minutes = inf", ["design.free_after_minutes is inf"]),
]


@pytest.mark.parametrize(("found", "instead", "said"), BROKEN, ids=[b[1][-30:] for b in BROKEN])
def test_a_bad_key_is_said(found: str, instead: str, said: list[str], tmp_path: Path) -> None:
    assert found in RATE
    (tmp_path / "study.toml").write_text(RATE.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(tmp_path / "study.toml")
    for part in [str(tmp_path / "study.toml"), *said]:
        assert part in str(caught.value)


def texts_study(folder: Path, texts: bytes, truth: str = "") -> None:
    (folder / "study.toml").write_text(TABLE.format(truth="truth.csv" if truth else ""))
    (folder / "texts.csv").write_bytes(texts)
    (folder / "truth.csv").write_text(truth)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (b"item,text\na,Hello, you\n", ["texts.csv row 2", "too many cells", "Quote"]),
        (b'item,text\na,"never closed\n', ["texts.csv row 2", "never closed"]),
        (b"item,words\na,b\n", ["texts.csv row 1", "no column"]),
    ],
)
def test_a_table_that_cannot_be_read_is_said(texts: bytes, said: list[str], tmp_path: Path) -> None:
    texts_study(tmp_path, texts)
    run = collect("check", tmp_path)
    assert run.returncode == 3
    for part in said:
        assert part in run.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_texts_in_other_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    texts_study(tmp_path, "item;text\na;Grüße\n".encode(encoding))
    (item,) = open_folder(tmp_path).catalogue.items
    assert item.text == "Grüße"


def test_semicolons_are_read(tmp_path: Path) -> None:
    texts_study(tmp_path, "item;text\na;Hello, you\nb;Grüße\n".encode(), "item;saturation\na;5,5\n")
    items = open_folder(tmp_path).catalogue.items
    assert [(item.name, item.text, item.truth) for item in items] == [
        ("a", "Hello, you", {"saturation": 5.5}),
        ("b", "Grüße", {}),
    ]


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("item,saturation\na,101\n", ["truth.csv row 2", "saturation is 101", "0 to 100"]),
        ("item,saturation\na,inf\n", ["truth.csv row 2", "saturation is inf"]),
        ("item,saturation\na,nan\n", ["truth.csv row 2", "saturation is 'nan'", "Leave the cell empty"]),
        ("item,saturaton\na,5\n", ["truth.csv row 1", "'saturaton'", "Did you mean 'saturation'?"]),
    ],
)
def test_a_truth_that_cannot_be_true_is_said(truth: str, said: list[str], tmp_path: Path) -> None:
    texts_study(tmp_path, b"item,text\na,A\nb,B\n", truth)
    with pytest.raises(DataError) as caught:
        open_folder(tmp_path)
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("media", "name", "said"),
    [
        ("image", "IMG_1.HEIC", "Save it as JPEG"),
        ("image", "._a.jpg", "leftover of macOS"),
        ("video", "clip.mov", "Save it as MP4"),
        ("text", "letter.txt", "not UTF-8"),
    ],
)
def test_files_that_browsers_cannot_show_are_named(media: str, name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(FILES.format(media=media))
    (tmp_path / "media").mkdir()
    for one in ("a.jpg", "a.mp4", "a.txt"):
        (tmp_path / "media" / one).write_bytes(b"x")
    assert len(open_folder(tmp_path).catalogue.items) == 1
    (tmp_path / "media" / name).write_bytes("Grüße".encode("latin-1"))
    with pytest.raises(DataError) as caught:
        open_folder(tmp_path)
    assert name in str(caught.value)
    assert said in str(caught.value)


def test_a_port_in_use_is_said_before_anything_is_written(tmp_path: Path) -> None:
    rate_study(tmp_path / "s")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        run = collect("serve", tmp_path / "s", "--port", other.getsockname()[1])
    assert (run.returncode, "is in use" in run.stderr, "--port" in run.stderr) == (3, True, True)
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["study.toml"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_says_what_it_did(how: signal.Signals, tmp_path: Path) -> None:
    rate_study(tmp_path / "s")
    with Server(tmp_path / "s", code=ENTRY) as server, httpx.Client(base_url=server.url) as client:
        rater = Rater.join(client)
        rater.rate(rater.slots[0])
        server.process.send_signal(how)
        code = server.process.wait(20)
    said = server.log.read_text()
    assert "Stopped. All that came in is saved: 1 answers by 1 raters" in said
    assert "nothing was written" not in said
    assert how == signal.SIGTERM or code == 0


def test_two_servers_start_on_an_empty_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    folder = rate_study(tmp_path / "s", per_regime=40)
    for _ in range(3):
        url = postgres.fresh()
        trouble: list[Exception] = []
        together = threading.Barrier(4)

        def start(url: str = url, trouble: list[Exception] = trouble, together: threading.Barrier = together) -> None:
            database = Database(url)
            together.wait(20)
            try:
                prepare(database, folder)
            except Exception as error:
                trouble.append(error)
            database.close()

        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert trouble == []


def test_a_postgresql_that_still_starts_is_waited_for(tmp_path: Path) -> None:
    """Refused, then starting up, then there; another trouble is not waited for."""
    database = Database("postgresql://nobody@127.0.0.1:1/none")
    answers = [NotSavedError("Connection refused"), NotSavedError("FATAL: the database system is starting up"), None]
    told: list[int] = []

    def read(query: object) -> None:
        if error := answers.pop(0):
            raise error

    database.read = read  # type: ignore[method-assign, assignment]
    database.wait_until_up(20, lambda: told.append(1))
    assert (answers, told) == ([], [1])
    answers = [NotSavedError("password authentication failed"), None]
    database.wait_until_up(20, lambda: told.append(1))
    assert (len(answers), told) == (1, [1])


def test_serve_waits_for_its_database(tmp_path: Path) -> None:
    rate_study(tmp_path / "s")
    words = [*COMMAND, "collect", "serve", str(tmp_path / "s"), "--port", str(free_port())]
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    with subprocess.Popen([*words, "--database", url], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert "waiting for it" in process.stderr.readline()
        time.sleep(0.7)
        assert process.poll() is None
        process.kill()
