"""One running study: everything a request needs, put together once.

The researcher's plain text becomes paragraphs and lists: only structure is found, every character stays a character.
Scripts and style sheets lie in a folder named after their content: browsers keep them, and never a stale one.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from unisono.collect.app import guard, messages, quality
from unisono.collect.store import agree, assign, log, raters
from unisono.collect.store.database import Database, NotSavedError, Writer
from unisono.collect.studies import Keys, StudyFolder

T = TypeVar("T")


class Site:
    """A study that is being served."""

    def __init__(
        self,
        folder: StudyFolder,
        database: Database,
        public_url: str = "",
        preview_keys: Keys | None = None,
        turn: asyncio.Lock | None = None,
    ) -> None:
        # A preview has keys of its own, so that not even those of the folder are made.
        self.is_preview = preview_keys is not None
        self.folder = folder
        self.study = folder.study
        self.catalogue = folder.catalogue
        self.sentences = folder.sentences
        self.public_url = public_url.rstrip("/")
        # Where the study lives below its host, for links on its pages.
        self.root = urlsplit(self.public_url).path
        self.keys = preview_keys or Keys.of(folder.path)
        self.database = database
        self.plan = agree.plan_of(folder)
        self.patience = folder.patience_ms
        self.judge = messages.Judge(self.study, self.catalogue)
        self.book = log.Book(
            self.plan,
            self.study.limits.events_per_rater,
            SystemRandom(),
            self.shows,
            self.study.design.final,
            frozenset(question.name for question in self.study.questions if question.required),
            self.study.limits.raters,
        )
        self.limiter = guard.Limiter(self.study.limits)
        # `turn` is shared by the studies of a server: one of them has its figures computed at a time.
        of_study = partial(quality.LiveQuality.of_study, str(folder.path.resolve()), database.address, turn)
        self.quality = of_study()
        self.next = of_study() if self.plan.ranked and not self.is_preview else None
        self.answered = 0  # since the server began
        self.pages = _environment()
        self._ids: dict[str, int] = {}
        self._asked: set[int] = set()
        agree.prepare(database, folder)
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

    def is_over(self, connection: Connection) -> bool:
        """Whether nobody more is needed."""
        return assign.is_over(connection, self.plan, self.study.limits.raters)

    async def keep_asked(self, rater_id: int, slot_id: int) -> None:
        """Notes that a file was asked for, once. What cannot be noted now does not hold the file up."""
        if slot_id not in self._asked:
            with contextlib.suppress(NotSavedError):
                await self.write(lambda connection: log.keep_asked(connection, rater_id, slot_id, now_ms()))
                self._asked.add(slot_id)

    def shows(self, role: str, name: str) -> bool:
        """Whether a page can still be shown: the study may have been edited since it was handed out."""
        if role == "check":
            return self.study.find_check(name) is not None
        item = self.catalogue.find(name)
        return item is not None and item.is_there

    def render(self, template: str, **values: object) -> str:
        """A page; everything put into it is escaped."""
        given = {
            "study": self.study,
            "say": self.sentences,
            "is_preview": self.is_preview,
            "root": self.root,
            "static": f"{self.root}/static/{static_version()}",
        }
        return self.pages.get_template(template).render(**given, **values)

    def message(self, key: str) -> str:
        """A page with one sentence below its heading, both in the raters' language."""
        return self.render("message.html", heading=self.sentences[f"{key}_heading"], line=self.sentences[key])

    def close(self) -> None:
        """Commits what is waiting and lets go of the database."""
        self.writer.close()
        self.database.close()


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


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


class Block(NamedTuple):
    """A paragraph (one line) or a list (a line per point)."""

    kind: str  # "paragraph" or "list"
    lines: list[str]


def prose(text: str) -> list[Block]:
    """Paragraphs are set apart by empty lines; lines that start with `- ` make a list."""
    blocks: list[Block] = []
    for chunk in text.strip().split("\n\n"):
        new = True
        for line in filter(None, map(str.strip, chunk.splitlines())):
            if line.startswith("- "):
                if new or blocks[-1].kind != "list":
                    blocks.append(Block("list", []))
                blocks[-1].lines.append(line[2:])
            elif new:
                blocks.append(Block("paragraph", [line]))
            else:  # a wrapped line goes on where the one before stopped
                blocks[-1].lines[-1] += f" {line}"
            new = False
    return blocks


_FOLDER = Path(__file__).parent.parent / "static"
_VERSION = re.compile(r"[0-9a-f]{12}")


@cache
def static_version() -> str:
    """A digest of all files together: scripts import each other, so they change together."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(_FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


class HashedFiles(StaticFiles):
    """The files, found under any version; under that of now, they may be kept for a year."""

    def __init__(self) -> None:
        super().__init__(directory=_FOLDER)

    def get_path(self, scope: Scope) -> str:
        path = super().get_path(scope)
        first, _, rest = path.partition(os.sep)
        return rest if _VERSION.fullmatch(first) else path

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if f"/{static_version()}/" in scope["path"] and response.status_code < 400:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response
