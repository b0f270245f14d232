"""What the tests of the collection tool share: small studies, raters who speak the protocol, servers, databases."""

from __future__ import annotations

import functools
import io
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from unisono.cli.main import run as run_command
from unisono.collect.app.build import build
from unisono.collect.app.context import Site
from unisono.collect.store.database import Database
from unisono.collect.studies import StudyFolder, open_folder

RATE_STUDY = """
title = "Colours"
mode = "rate"
[texts]
instructions = "Judge each colour."
consent = "Do you agree?"
[[dimensions]]
name = "saturation"
question = "How saturated?"
anchors = ["grey", "medium", "pure"]
[[dimensions]]
name = "brightness"
question = "How bright?"
anchors = ["black", "medium", "bright"]
[items]
source = "colours"
regimes = ["saturation", "brightness"]
per_regime = {per_regime}
"""

TRACE_STUDY = """
title = "Moving colours"
mode = "trace"
[texts]
instructions = "Follow the colour."
[[dimensions]]
name = "saturation"
question = "How saturated now?"
anchors = ["grey", "medium", "pure"]
start = "middle"
[[dimensions]]
name = "brightness"
question = "How bright now?"
anchors = ["black", "medium", "bright"]
start = "middle"
[items]
source = "walks"
count = {count}
seconds = {seconds}
hold = [0.5, 1.0]
move = [0.3, 0.6]
[trace]
rate = 25
countdown = {countdown}
"""


def rate_study(folder: Path, per_regime: int = 3, extra: str = "") -> StudyFolder:
    """A study of a few colours."""
    return _study(folder, RATE_STUDY.format(per_regime=per_regime) + extra)


def trace_study(folder: Path, count: int = 1, seconds: float = 3, countdown: int = 0, extra: str = "") -> StudyFolder:
    """A study of short moving colours."""
    return _study(folder, TRACE_STUDY.format(count=count, seconds=seconds, countdown=countdown) + extra)


def _study(folder: Path, text: str) -> StudyFolder:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return open_folder(folder)


def make_site(folder: StudyFolder, url: str = "") -> Site:
    """The study ready to be served inside this process."""
    return Site(folder, Database(url or folder.database_url))


def make_app(folder: StudyFolder, **options: Any) -> Any:
    """The application of a study."""
    return build(make_site(folder), **options)


class Rater:
    """Someone who rates, without a browser: the protocol and nothing else."""

    def __init__(self, client: httpx.Client, link: str, tab: str = "tab00000") -> None:
        self.client = client
        self.link = link
        self.tab = tab
        self.numbers = itertools.count()
        self.state: dict[str, Any] = {}

    @classmethod
    def join(cls, client: httpx.Client, tab: str = "tab00000", **given: str) -> Rater:
        """Comes through the door and agrees."""
        answer = client.post("/", data=given, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        rater = cls(client, answer.headers["location"], tab)
        rater.do("consent")
        rater.look()
        return rater

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        """An event with the next number."""
        return {"kind": kind, "seq": next(self.numbers), "at": 1_700_000_000_000, **fields}

    def send(self, *events: dict[str, Any]) -> httpx.Response:
        """Sends events as one batch."""
        return self.client.post(f"{self.link}/events", json={"tab": self.tab, "events": list(events)})

    def do(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Sends one event; the receipt."""
        answer = self.send(self.event(kind, **fields))
        assert answer.status_code == 200, answer.text
        receipt: dict[str, Any] = answer.json()
        return receipt

    def look(self) -> dict[str, Any]:
        """Where the rater stands."""
        answer = self.client.get(f"{self.link}/state")
        assert answer.status_code == 200, answer.text
        self.state = answer.json()
        return self.state

    @property
    def slots(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.state["slots"]
        return found

    def rating(self, slot: dict[str, Any], *values: float) -> dict[str, Any]:
        """A rating of a slot, dimension by dimension."""
        named = dict(zip(slot["dimensions"], values or (50,) * len(slot["dimensions"]), strict=True))
        return self.event("rating", slot=slot["id"], values=named, start=slot["start"], shown_ms=1234)

    def rate(self, slot: dict[str, Any], *values: float) -> dict[str, Any]:
        """Rates a slot; the receipt."""
        answer = self.send(self.rating(slot, *values))
        assert answer.status_code == 200, answer.text
        receipt: dict[str, Any] = answer.json()
        return receipt

    def rate_all(self) -> None:
        """Rates everything and finishes."""
        for slot in self.slots:
            assert self.rate(slot)["rejected"] == []
        assert self.do("finish")["rejected"] == []


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


ENTRY = "from unisono.cli.main import run; run()"
COMMAND = [sys.executable, "-c", ENTRY]


def collect(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, inside this process: the same entry point and exit code, without the time to start Python."""
    argv = ["unisono", "collect", *map(str, words)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", argv):
        try:
            run_command()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())


@functools.cache
def _launcher() -> subprocess.Popen[str]:
    """One for all servers of a test run; it ends with the run, when nobody writes to it any more."""
    script = Path(__file__).with_name("collect_launcher.py")
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, str(script)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    )


def start_server(*words: object, log: str | Path = os.devnull) -> int:
    """The number of a new process that runs this command."""
    launcher = _launcher()
    assert launcher.stdin
    assert launcher.stdout
    launcher.stdin.write("\t".join(map(str, (log, *words))) + "\n")
    launcher.stdin.flush()
    return int(launcher.stdout.readline())


class Forked:
    """A process that the launcher started, with the words of one of our own; how it ended is not known."""

    def __init__(self, number: int) -> None:
        self.pid = number

    def poll(self) -> int | None:
        """None while it runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self, patience: float = 20.0) -> int:
        """Until it has ended."""
        end = time.monotonic() + patience
        while self.poll() is None:
            assert time.monotonic() < end, "a server goes on"
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        """To this process."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """At once."""
        self.send_signal(signal.SIGKILL)


class Server:
    """`unisono collect serve` as a process of its own: quickly, or with code or a prefix of its own from the start."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        port: int | None = None,
        prefix: tuple[str, ...] = (),
        code: str = "",
        verb: str = "serve",
    ) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder.parent / f"server-{self.port}.log"
        self.log.touch()
        words = ("collect", verb, str(folder), "--port", str(self.port), *options)
        self.process: subprocess.Popen[bytes] | Forked
        if code or prefix:
            with self.log.open("ab") as log:
                own = [*prefix, sys.executable, "-c", code or ENTRY, *words]
                self.process = subprocess.Popen(own, stdout=log, stderr=log)
        else:
            self.process = Forked(start_server(*words, log=self.log.resolve()))
        self.wait()

    def wait(self) -> None:
        """Until it answers."""
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text())
            try:
                if httpx.get(f"{self.url}/health").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def admin_token(self) -> str:
        """The token in the link that the server wrote."""
        return (self.folder / "admin-link.txt").read_text().strip().partition("#")[2]

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def find_program(name: str) -> str | None:
    """A program of PostgreSQL, which Debian keeps off the path."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(places[0]) if places else shutil.which(name)


class Postgres:
    """A PostgreSQL server of our own in a temporary folder, reached by a socket file."""

    def __init__(self, folder: Path, fsync: bool = False) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        # PostgreSQL refuses to run as root.
        self.prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.prefix:
            shutil.chown(folder, "postgres", "postgres")
        data = str(folder / "data")
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "tester", "-D", data)
        safe = f"-c fsync={'on' if fsync else 'off'}"
        options = f"-c listen_addresses= -c unix_socket_directories={folder} {safe} -c max_connections=60"
        self.run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        self.numbers = itertools.count()

    def run(self, name: str, *words: str) -> None:
        """Runs one of PostgreSQL's programs."""
        program = find_program(name)
        assert program, f"{name} is missing; tools/install-system-packages installs it"
        subprocess.run([*self.prefix, program, *words], check=True, capture_output=True, cwd="/")

    def fresh(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"study{next(self.numbers)}"
        with psycopg.connect(f"host={self.folder} user=tester dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://tester@/{name}?host={self.folder}"

    def stop(self) -> None:
        """Ends the server."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")


def token_of(link: str) -> str:
    """The token in a rater's link."""
    found = re.search(r"/r/([^/]+)", link)
    assert found
    return found[1]
