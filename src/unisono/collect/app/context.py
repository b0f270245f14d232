"""One running study: everything a request needs, put together once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from random import SystemRandom
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from unisono.collect.app.limits import Limiter
from unisono.collect.app.prose import prose
from unisono.collect.app.validate import Judge
from unisono.collect.store import assign, raters, reading
from unisono.collect.store.database import Database
from unisono.collect.store.log import Book
from unisono.collect.store.writer import Writer
from unisono.collect.studies import Keys, StudyFolder
from unisono.errors import DataError

T = TypeVar("T")


class Site:
    """A study that is being served."""

    def __init__(self, folder: StudyFolder, database: Database, public_url: str = "") -> None:
        self.folder = folder
        self.study = folder.study
        self.catalogue = folder.catalogue
        self.public_url = public_url.rstrip("/")
        # Where the study lives below its host, for links on its pages.
        self.root = urlsplit(self.public_url).path
        self.keys = Keys.of(folder.path)
        self.database = database
        self.plan = plan_of(folder)
        self.judge = Judge(self.study)
        self.book = Book(self.plan, self.study.limits.events_per_rater, SystemRandom())
        self.limiter = Limiter(self.study.limits)
        self.pages = _environment()
        self._ids: dict[str, int] = {}
        prepare(database, folder)
        self.writer = Writer(database)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in the writer's next transaction; returns when it is on disk."""
        future: Future[T] = self.writer.submit(work)
        return await asyncio.wrap_future(future)

    async def read(self, query: Callable[[Connection], T]) -> T:
        """The answer of `query`, off the event loop."""
        return await run_in_threadpool(self.database.read, query)

    async def rater_id(self, token: str) -> int | None:
        """The rater whose link has this token. A rater's number never changes, so it is looked up once."""
        name = self.keys.rater_name(token)
        if name is None:
            return None
        if name not in self._ids:
            row = await self.read(lambda connection: raters.find(connection, name))
            if row is None:
                return None
            self._ids[name] = row.id
        return self._ids[name]

    def render(self, template: str, **values: object) -> str:
        """A page; everything put into it is escaped."""
        return self.pages.get_template(template).render(study=self.study, root=self.root, **values)

    def close(self) -> None:
        """Commits what is waiting and lets go of the database."""
        self.writer.close()
        self.database.close()


def plan_of(folder: StudyFolder) -> assign.Plan:
    """What assignment has to know of the study."""
    study, catalogue = folder.study, folder.catalogue
    return assign.Plan(
        items=tuple(item.name for item in catalogue.items),
        references=tuple(item.name for item in catalogue.references),
        reference_every=study.reference.every if study.reference else 10,
        checks=tuple(check.after for check in study.checks),
        parts=len(study.passes),
        ratings_per_item=study.design.ratings_per_item,
        items_per_rater=study.design.items_per_rater,
        shuffled=study.design.order == "random",
    )


def prepare(database: Database, folder: StudyFolder) -> None:
    """Makes database and study file agree, or says why they cannot."""
    database.create()
    told = _meaning(folder)
    with database.write() as connection:
        before = raters.get_setting(connection, "scales")
        if before not in (None, told) and reading.has_ratings(connection):
            raise DataError(
                f"{folder.path / 'study.toml'}: what ratings mean changed after ratings had come in. It was {before}, "
                f"and is {told} now. Put it back, or start a new folder for the new study."
            )
        raters.put_setting(connection, "scales", told)
        assign.sync_items(connection, plan_of(folder))


def _meaning(folder: StudyFolder) -> str:
    """All that gives a rating its meaning: scales, passes and, for stimuli made here, what they are made from."""
    study = folder.study
    parts: dict[str, object] = {"mode": study.mode, "passes": study.passes}
    parts["scales"] = [(scale.name, scale.min, scale.max) for scale in study.dimensions]
    if study.items.source in ("colours", "walks"):
        parts |= {"seed": study.seed, "items": study.items, "rate": study.trace.rate}
        parts["reference"] = study.reference and study.reference.values
    return msgspec.json.encode(parts).decode()


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def static_folder() -> Path:
    """Scripts and style sheets."""
    return Path(__file__).parent.parent / "static"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unisono.collect", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    return environment
