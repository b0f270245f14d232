"""How many raters a second the collection tool holds: on SQLite, on PostgreSQL, and behind nginx as Debian ships it.

Raters come at a steady pace, whether or not those before them were served. Each comes through the door, agrees, answers
seven pages, about a second each, finishes and goes; pages and answers are timed, scripts and media are not fetched. The
pace rises until one answer in a hundred takes longer than 100 ms. After each pace the log is read back: everything that
was acknowledged has to be there exactly once. This process and the databases share the cores with the server.

    python -m benchmarks.collect_capacity [sqlite|postgresql|nginx ...]
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))

from benchmarks.collect_load import STUDIES, LoadRater, Tally, Wire, percentiles, start
from collect_support import Postgres
from nginx import Nginx
from unisono.collect.store import reading
from unisono.collect.store.database import Database

PACES = (10, 20, 30, 40, 50, 60, 80, 100)
SECONDS, GOAL_MS = 15.0, 100.0


class TimedWire(Wire):
    """Remembers how long every answer took."""

    def __init__(self, port: int, latency: list[float]) -> None:
        super().__init__(port)
        self.latency = latency

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """As it does, with a look at the clock."""
        started = time.perf_counter()
        answer = await super().ask(method, path, body)
        self.latency.append(time.perf_counter() - started)
        return answer


class Visitor(LoadRater):
    """One rater from the door to the code."""

    async def visit(self) -> None:
        """The whole way."""
        self.wire = TimedWire(self.wire.port, self.tally.latency)
        slots = await self.arrive()
        for slot in slots:
            await asyncio.sleep(0.5 + self.rng.random())
            value = {"saturation": float(self.rng.randrange(101))}
            rating = {"kind": "rating", "slot": slot["id"], "values": value, "start": value, "shown_ms": 900}
            await self.send(rating, timed=False)
        await self.send({"kind": "finish"}, timed=False)
        self.wire.writer.close()


async def _come(port: int, pace: float, tally: Tally) -> None:
    async def one(number: int) -> None:
        await asyncio.sleep(number / pace)
        await Visitor(port, number, tally).visit()

    await asyncio.gather(*(one(number) for number in range(int(pace * SECONDS))))


def measure(place: Path, pace: float, url: str, with_nginx: bool) -> dict[str, Any]:
    """One pace on one database."""
    folder = place / "study"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDIES["rate"])
    options = ("--database", url, "--proxies", "127.0.0.1") if with_nginx else ("--database", url)
    process, port = start(folder, *options)
    tally = Tally()
    began = time.perf_counter()
    try:
        with Nginx(place / "nginx", port) if with_nginx else contextlib.nullcontext() as front:
            asyncio.run(_come(front.port if front else port, pace, tally))
    finally:
        took = time.perf_counter() - began
        process.terminate()
        process.wait(20)
    database = Database(url)
    stored = [(row.tab, row.seq) for row in database.read(lambda c: list(reading.all_events(c)))]
    database.close()
    return {
        "pace": pace,
        "requests_per_second": round(len(tally.latency) / took, 1),
        **percentiles(tally.latency),
        "acknowledged": len(tally.acked),
        "lost": len(tally.acked - set(stored)),
        "doubled": len(stored) - len(set(stored)),
        "refused": tally.refused,
        "load": round(os.getloadavg()[0], 1),
    }


@contextlib.contextmanager
def _databases(kind: str, place: Path) -> Iterator[Any]:
    """Addresses of new databases, one per call."""
    if kind != "postgresql":
        numbers = iter(range(10**6))
        yield lambda: f"sqlite:///{place / f'{next(numbers)}.db'}"
        return
    server = Postgres(place / "pg", fsync=True)
    try:
        yield server.fresh
    finally:
        server.stop()


def main() -> None:
    """Prints a line per pace, and the highest that was held."""
    for kind in sys.argv[1:] or ["sqlite", "postgresql", "nginx"]:
        with tempfile.TemporaryDirectory(prefix="collect-capacity-") as name:
            place = Path(name)
            place.chmod(0o755)
            held = 0.0
            with _databases(kind, place) as fresh:
                for pace in PACES:
                    found = measure(place / str(pace), pace, fresh(), kind == "nginx")
                    print(kind, found, flush=True)
                    if found["p99"] >= GOAL_MS or found["lost"] or found["doubled"]:
                        break
                    held = pace
            print(f"{kind}: {held:g} raters per second, {held * 60:g} per minute, p99 below {GOAL_MS:g} ms", flush=True)


if __name__ == "__main__":
    main()
