"""A storm: raters at work while the server is killed again and again, the study is edited, and others look and export.

Afterwards everything that was acknowledged has to be there exactly once and unchanged, in the end and in every export
that began after the acknowledgement.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx

from collect_media import png
from collect_support import free_port, start_server
from unisono.collect.export.raters import summary
from unisono.collect.export.write import export_study
from unisono.collect.store.agree import check_meaning
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

FILES = 12
STUDY = """
title = "Storm {number}"
mode = "rate"
[texts]
instructions = "Judge each picture. Edited {number} times."
[[dimensions]]
name = "valence"
question = "How pleasant?"
anchors = ["bad", "good"]
[[dimensions]]
name = "arousal"
question = "How exciting?"
anchors = ["calm", "exciting"]
[items]
source = "files"
folder = "media"
[design]
break_every = {number}
[limits]
requests_per_second = 1000
joins_per_minute = 60000
"""
CHECK = '\n[[checks]]\nafter = {after}\ntext = "Far left, {after}."\nexpected = {{ valence = 0 }}\n'


class Insistent:
    """A rater that sends every rating until it is acknowledged, as the page does, and remembers what was."""

    def __init__(self, client: httpx.AsyncClient, number: int) -> None:
        self.client = client
        self.number = number
        self.tab = f"tab{number:05d}"
        self.acked: list[tuple[int, int, float]] = []  # seq, slot, value
        self.link = ""

    async def insist(self, method: str, path: str, **more: Any) -> httpx.Response:
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await self.client.request(method, path, **more)
                if answer.status_code < 500:
                    return answer
            await asyncio.sleep(0.02)

    async def send(self, event: dict[str, Any]) -> None:
        body = {"tab": self.tab, "events": [{"at": 1_700_000_000_000, **event}]}
        receipt = (await self.insist("POST", f"{self.link}/events", json=body)).json()
        assert receipt["acked"] == [event["seq"]], receipt

    async def work(self, stop: asyncio.Event) -> None:
        answer = await self.insist("POST", "/")
        self.link = answer.headers["location"]
        await self.send({"kind": "consent", "seq": 0})
        slots = (await self.insist("GET", f"{self.link}/state")).json()["slots"]
        rng, seq = Random(self.number), 0
        while not stop.is_set():
            seq += 1
            slot = slots[seq % len(slots)]
            value = seq % 101
            both = {"valence": value, "arousal": 100 - value}
            await self.send(
                {"kind": "rating", "seq": seq, "slot": slot["id"], "values": both, "start": both, "shown_ms": 1}
            )
            self.acked.append((seq, slot["id"], value))
            await asyncio.sleep(rng.random() * 0.05)


class Bystander(threading.Thread):
    """Does something again and again beside the storm, and remembers what went wrong."""

    def __init__(self, work: Callable[[int], None]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.rounds = 0
        self.error: BaseException | None = None
        self.over = threading.Event()

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self.work(self.rounds)
                self.rounds += 1
                time.sleep(0.05)
        except BaseException as error:
            self.error = error

    def end(self) -> int:
        """Stops; how many rounds there were."""
        self.over.set()
        self.join(60)
        if self.error is not None:
            raise self.error
        return self.rounds


class Look(NamedTuple):
    """One export: what had been acknowledged when it began, and the ratings in its log."""

    acked: dict[str, int]  # by tab
    lines: list[dict[str, Any]]


class Outcome(NamedTuple):
    """Figures of a storm that did no harm."""

    kills: int
    busy: int  # lives that saw work
    ratings: int
    edits: int
    looks: int
    exports: int


class Storm:
    """One study, its raters, and all that happens to it."""

    def __init__(self, folder: Path, database_url: str, kills: int, raters: int) -> None:
        self.folder = folder
        self.database_url = database_url
        self.kills = kills
        self.raters = raters
        self.people: list[Insistent] = []
        self.looks: list[Look] = []
        self.busy = 0
        (folder / "media").mkdir(parents=True)
        for number in range(FILES):
            self._picture(f"p{number:02d}.png")
        self.edit(0)

    def blow(self) -> Outcome:
        """Everything at once, then the reckoning."""
        beside = [Bystander(work) for work in (self.edit, self.look, self.export)]
        try:
            # In a thread of its own: the browser of other tests has an event loop in this one.
            with ThreadPoolExecutor() as pool:
                storm = pool.submit(lambda: asyncio.run(self._kill(beside)))
                storm.result()
            edits, looks, exports = (one.end() for one in beside)
        finally:
            for one in beside:
                one.over.set()
        self.export(0)
        self.reckon()
        return Outcome(self.kills, self.busy, self.work_done(), edits, looks, exports)

    def work_done(self) -> int:
        """Ratings that were acknowledged."""
        return sum(len(person.acked) for person in self.people)

    async def _kill(self, beside: list[Bystander]) -> None:
        rng, stop = Random(7), asyncio.Event()
        limits = httpx.Limits(max_connections=self.raters * 2)
        port = free_port()
        serve = ("collect", "serve", self.folder, "--port", port, "--database", self.database_url)
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, timeout=20, limits=limits) as client:
            self.people = [Insistent(client, number) for number in range(self.raters)]
            tasks = [asyncio.create_task(person.work(stop)) for person in self.people]
            child = start_server(*serve)
            for one in beside:
                one.start()
            for life in range(self.kills):
                before = self.work_done()
                # A third are killed at any moment, also while they start; the others when they are at work.
                deadline = time.monotonic() + (0.3 * rng.random() if life % 3 == 0 else 20)
                while time.monotonic() < deadline and self.work_done() == before:
                    await asyncio.sleep(0.005)
                await asyncio.sleep(0.2 * rng.random())
                os.kill(child, signal.SIGKILL)
                self.busy += self.work_done() > before
                child = start_server(*serve)
            await asyncio.sleep(0.5)
            stop.set()
            await asyncio.wait_for(asyncio.gather(*tasks), 60)
            os.kill(child, signal.SIGKILL)

    def edit(self, number: int) -> None:
        """Other texts, design and checks; a picture comes, one that may have been judged goes, or is back."""
        checks = "".join(CHECK.format(after=after) for after in range(1, 4) if (number + after) % 3)
        whole = self.folder / ".study.toml.new"
        whole.write_text(STUDY.format(number=number % 50) + checks, encoding="utf-8")
        whole.replace(self.folder / "study.toml")
        gone = self.folder / "media" / f"p{number % FILES:02d}.png"
        if number % 4 == 1:
            self._picture(f"extra{number % 6}.png")
        elif number % 4 == 2:
            gone.unlink(missing_ok=True)
        elif number % 4 == 3:
            for index in range(FILES):
                self._picture(f"p{index:02d}.png")
        time.sleep(0.1)

    def _picture(self, name: str) -> None:
        place = self.folder / "media" / name
        if not place.exists():
            # Whole or not at all, as a copied file should be.
            temporary = self.folder / f".{name}.new"
            temporary.write_bytes(png(8, 8))
            temporary.replace(place)

    def look(self, number: int) -> None:
        """What `status` does: the counts fit together whatever happens meanwhile."""
        study, store = self._open()
        found = store.read(lambda connection: summary(connection, study))
        store.close()
        assert found["ratings"] == sum(item["done"] for item in found["items"])

    def export(self, number: int) -> None:
        """What `export` does; its log is kept for the reckoning."""
        acked = {person.tab: len(person.acked) for person in self.people}
        study, store = self._open()
        out = self.folder.parent / "out"
        shutil.rmtree(out, ignore_errors=True)
        export_study(study, store, out)
        store.close()
        lines = [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        self.looks.append(Look(acked, [line for line in lines if line["kind"] == "rating"]))

    def _open(self) -> tuple[Any, Database]:
        study = open_folder(self.folder, all_there=False)
        store = Database.to_read(self.database_url)
        check_meaning(store, study)
        return study, store

    def reckon(self) -> None:
        """Nothing lost, nothing doubled, nothing changed: in the end, and in every export on the way."""
        last = self.looks[-1].lines
        final = {(line["tab"], line["seq"]): line for line in last}
        assert len(final) == len(last)
        for person in self.people:
            mine = [line for line in last if line["tab"] == person.tab]
            stored = [(line["seq"], line["slot_id"], line["data"]["values"]["valence"]) for line in mine]
            # Every acknowledged rating exactly once, and in the order it was given.
            assert stored == person.acked
        for look in self.looks:
            assert len({(line["tab"], line["seq"]) for line in look.lines}) == len(look.lines)
            for line in look.lines:
                known = {name: line[name] for name in line if name != "item"}
                assert known.items() <= final[line["tab"], line["seq"]].items()
            for tab, count in look.acked.items():
                assert sum(line["tab"] == tab for line in look.lines) >= count
        self._reckon_table(last)

    def _reckon_table(self, lines: list[dict[str, Any]]) -> None:
        """ratings.csv has the last answer of everybody to every item, also to those whose picture is gone."""
        wanted = {
            (line["annotator"], line["item"]): float(line["data"]["values"]["valence"])
            for line in lines
            if line["role"] == "item"
        }
        with (self.folder.parent / "out" / "ratings.csv").open(newline="", encoding="utf-8") as stream:
            found = {(row["annotator"], row["item"]): float(row["valence"]) for row in csv.DictReader(stream)}
        assert found == wanted
