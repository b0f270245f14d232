"""Load on the collection tool: 200 raters who trace and 500 who rate items, at once, on one machine with SQLite.

Two servers (a study is traced or rated, not both) and this process share the machine. Every rater keeps one connection,
sends in order, and waits for the acknowledgement before the next; latencies are those of acknowledgements alone. After
the run the logs are read back: every acknowledged event has to be there exactly once, and items have to be balanced.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from unisono.collect.store import reading
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

TRACERS, ITEM_RATERS, SECONDS = 200, 500, 20.0
ITEMS, PER_RATER = 90, 7
RATE, BATCH_SECONDS = 25, 2.0
GOAL_MS = 250.0

_COMMON = """
title = "Load"
mode = "{mode}"
[texts]
instructions = "Load."
[[dimensions]]
name = "saturation"
question = "?"
anchors = ["low", "high"]
[limits]
joins_per_minute = 600000
[design]
items_per_rater = {per_rater}
[items]
"""
STUDIES = {
    "trace": _COMMON.format(mode="trace", per_rater=1) + 'source = "walks"\ncount = 4\nseconds = 60\n',
    "rate": _COMMON.format(mode="rate", per_rater=PER_RATER)
    + f'source = "colours"\nregimes = ["saturation"]\nper_regime = {ITEMS}\n',
}


@dataclass
class Tally:
    """What the raters of one study saw."""

    latency: list[float] = field(default_factory=list)  # seconds, per acknowledgement
    arrival: list[float] = field(default_factory=list)  # seconds, from the door to the first page
    acked: set[tuple[str, int]] = field(default_factory=set)  # (tab, seq)
    refused: int = 0


class Wire:
    """One connection that speaks just enough HTTP; a full client would cost more than the server."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> None:
        """Connects."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """Sends one request and reads the answer."""
        head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
        self.writer.write("\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:]) if name
        }
        content = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split()[1]), headers, content


class LoadRater:
    """One rater on one connection."""

    def __init__(self, port: int, number: int, tally: Tally) -> None:
        self.wire = Wire(port)
        self.tab = f"tab{number:05d}"
        self.rng = Random(number)
        self.tally = tally
        self.seq = 0

    async def arrive(self) -> list[dict[str, Any]]:
        """Through the door; the rater's slots."""
        started = time.perf_counter()
        await self.wire.open()
        _, headers, _ = await self.wire.ask("POST", "/")
        self.link = headers["location"]
        await self.send({"kind": "consent"}, timed=False)
        _, _, content = await self.wire.ask("GET", f"{self.link}/state")
        self.tally.arrival.append(time.perf_counter() - started)
        slots: list[dict[str, Any]] = json.loads(content)["slots"]
        return slots

    async def send(self, event: dict[str, Any], timed: bool = True) -> None:
        """One event, until it is acknowledged."""
        body = json.dumps({"tab": self.tab, "events": [{"seq": self.seq, "at": 1, **event}]}).encode()
        started = time.perf_counter()
        status, _, content = await self.wire.ask("POST", f"{self.link}/events", body)
        if timed:
            self.tally.latency.append(time.perf_counter() - started)
        if status == 200 and json.loads(content)["acked"] == [self.seq]:
            self.tally.acked.add((self.tab, self.seq))
        else:
            self.tally.refused += 1
        self.seq += 1

    async def trace(self, until: float) -> None:
        """Sends two seconds of samples every two seconds."""
        slot = (await self.arrive())[0]
        await asyncio.sleep(self.rng.random() * BATCH_SECONDS)
        first = 0
        while time.perf_counter() < until:
            started = time.perf_counter()
            count = int(RATE * BATCH_SECONDS)
            rows = [[40.0 * (first + n), 40.0 * (first + n), 0, float((first + n) % 100)] for n in range(count)]
            await self.send({"kind": "samples", "slot": slot["id"], "attempt": "a", "first": first, "rows": rows})
            first += count
            await asyncio.sleep(max(0.0, BATCH_SECONDS - (time.perf_counter() - started)))

    async def rate(self, until: float) -> None:
        """Rates the items, spread over the run."""
        slots = await self.arrive()
        pause = max(0.0, until - time.perf_counter()) / len(slots)
        for slot in slots:
            await asyncio.sleep(pause * 2 * self.rng.random())
            value = {"saturation": float(self.rng.randrange(101))}
            await self.send({"kind": "rating", "slot": slot["id"], "values": value, "start": value, "shown_ms": 900})


async def _load(ports: dict[str, int]) -> dict[str, Tally]:
    tallies = {"trace": Tally(), "rate": Tally()}
    until = time.perf_counter() + SECONDS

    async def begin(raters: list[LoadRater], job: str, over: float) -> None:
        async def one(rater: LoadRater, wait: float) -> None:
            await asyncio.sleep(wait)
            await getattr(rater, job)(until)

        await asyncio.gather(*(one(rater, over * n / len(raters)) for n, rater in enumerate(raters)))

    tracers = [LoadRater(ports["trace"], n, tallies["trace"]) for n in range(TRACERS)]
    raters = [LoadRater(ports["rate"], n, tallies["rate"]) for n in range(ITEM_RATERS)]
    await asyncio.gather(begin(tracers, "trace", 4.0), begin(raters, "rate", 4.0))
    return tallies


def run() -> dict[str, Any]:
    """Latencies, losses and balance under the load."""
    with tempfile.TemporaryDirectory(prefix="collect-load-") as place:
        folders = {mode: Path(place) / mode for mode in STUDIES}
        for mode, text in STUDIES.items():
            folders[mode].mkdir()
            (folders[mode] / "study.toml").write_text(text)
        servers = {mode: start(folder) for mode, folder in folders.items()}
        try:
            tallies = asyncio.run(_load({mode: port for mode, (_, port) in servers.items()}))
            cpu = {mode: _cpu_seconds(process.pid) for mode, (process, _) in servers.items()}
        finally:
            for process, _ in servers.values():
                process.terminate()
                process.wait(20)
        return {
            mode: _report(folders[mode], tallies[mode]) | {"server_cpu_share": round(cpu[mode] / SECONDS, 3)}
            for mode in STUDIES
        }


def _report(folder: Path, tally: Tally) -> dict[str, Any]:
    study = open_folder(folder)
    database = Database(study.database_url)
    stored = database.read(lambda c: [(row.tab, row.seq) for row in reading.all_events(c)])
    loads = database.read(lambda c: [row.load for row in reading.item_rows(c)])
    database.close()
    return {
        "raters": len({tab for tab, _ in tally.acked}),
        "acknowledged": len(tally.acked),
        "lost": len(tally.acked - set(stored)),
        "doubled": len(stored) - len(set(stored)),
        "refused": tally.refused,
        "ack_ms": percentiles(tally.latency),
        "arrival_ms": percentiles(tally.arrival),
        "p95_of_goal": round(percentile(tally.latency, 0.95) * 1000 / GOAL_MS, 3),
        "items_within": max(loads) - min(loads),
    }


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Milliseconds that some shares stay below."""
    return {f"p{share}": round(1000 * percentile(seconds, share / 100), 1) for share in (50, 95, 99, 100)}


def percentile(values: list[float], share: float) -> float:
    """What this share of the values stays below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def start(folder: Path, *options: str) -> tuple[subprocess.Popen[bytes], int]:
    """A server of this study, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-c", "from unisono.cli.main import run; run()", "collect", "serve", str(folder)]
    process = subprocess.Popen([*words, "--port", str(port), *options], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, port
        time.sleep(0.05)
    raise TimeoutError("the server did not start")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the figures."""
    print(json.dumps(run(), indent=2))


if __name__ == "__main__":
    main()
