"""Serving studies: which names they answer to, where they listen, what is printed and what is kept secret."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import re
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import uvicorn
from starlette.applications import Starlette

from unisono.collect.app import guard, signup
from unisono.collect.app.build import build, together
from unisono.collect.app.context import Site
from unisono.collect.store import reading
from unisono.collect.store.database import Database, NotSavedError
from unisono.collect.studies import Keys, StudyFolder
from unisono.errors import DataError
from unisono.tables.atomic_files import atomic_path

# Seconds that a database may take to start.
_PATIENCE = 60.0
# Addresses of the server itself, where several studies share it.
_TAKEN = ("health",)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Address:
    """Where to listen, and how the outside world calls it."""

    host: str = "127.0.0.1"
    port: int = 8400
    public_url: str = ""
    # Addresses of reverse proxies whose word on the sender's address is taken. Empty: nobody's.
    proxies: str = ""

    @property
    def url(self) -> str:
        """The start of every link."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url.rstrip("/") or f"http://{host}:{self.port}"

    def below(self, name: str) -> Address:
        """The address of one study of several."""
        return replace(self, public_url=f"{self.url}/{name}")

    @property
    def hosts(self) -> frozenset[str]:
        """Names that requests may use. On loopback no others: a page elsewhere could point its own name here."""
        outside = {urlsplit(self.public_url).hostname or ""} if self.public_url else set()
        if is_loopback(self.host):
            return _LOOPBACK | outside
        return frozenset(_LOOPBACK | outside | {self.host}) if outside else frozenset()


def serve(studies: Sequence[tuple[StudyFolder, str]], address: Address) -> None:
    """Serves studies, each with its database, until told to stop: one at the address itself, several below it."""
    if address.public_url and urlsplit(address.public_url).scheme not in ("http", "https"):
        raise DataError(f"--public-url is '{address.public_url}'. Write it with https:// in front.")
    places = [address] if len(studies) == 1 else [address.below(name) for name in names_of(studies)]
    # Taken before anything is written: a port in use must not leave links behind that lead elsewhere.
    line = listen(address)
    turn = asyncio.Lock()
    sites = [_site(folder, url, place, turn) for (folder, url), place in zip(studies, places, strict=True)]

    def on_start() -> None:
        for site, place in zip(sites, places, strict=True):
            announce(site.folder, place)
        _say("Stop with Ctrl-C; nothing is lost.")

    def on_stop() -> None:
        for _, url in studies:
            farewell(url)

    run(together(sites, address.hosts, on_start, on_stop), address, line)


def preview(folder: StudyFolder, address: Address) -> None:
    """Shows the study as raters will see it. What is answered goes into a database that is thrown away at the end."""
    line = listen(address)
    with tempfile.TemporaryDirectory(prefix="unisono-preview-") as place:
        # Whoever looks comes by this address, whatever way raters will come.
        raters = msgspec.structs.replace(folder.study.raters, source="open")
        shown = replace(folder, study=msgspec.structs.replace(folder.study, raters=raters))
        site = Site(shown, Database(f"sqlite:///{place}/preview.db"), preview_keys=Keys(secrets.token_bytes(32)))
        told = f"Preview: {address.url}/\nNothing is stored. Stop with Ctrl-C."
        run(build(site, address.hosts, lambda: _say(told)), address, line)


def names_of(studies: Sequence[tuple[StudyFolder, str]]) -> list[str]:
    """What each study is called in addresses: the name of its folder."""
    found: dict[str, Path] = {}
    for folder, _ in studies:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.path.resolve().name).strip("-")
        if not name or name in _TAKEN:
            raise DataError(f"{folder.path}: several studies go by the names of their folders. Rename this one.")
        if name in found:
            raise DataError(f"{found[name]} and {folder.path} would both be at /{name}/. Rename one of the folders.")
        found[name] = folder.path
    return list(found)


def _site(folder: StudyFolder, database_url: str, address: Address, turn: asyncio.Lock) -> Site:
    database = Database(database_url)
    database.wait_until_up(_PATIENCE, lambda: _say("The database is still starting; waiting for it."))
    return Site(folder, database, address.public_url, turn=turn)


def run(app: Starlette, address: Address, line: socket.socket) -> None:
    """Answers on this line until told to stop."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    config = uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        root_path=urlsplit(address.public_url).path.rstrip("/"),
        # Ours has no tokens in it.
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=bool(address.proxies),
        forwarded_allow_ips=address.proxies or None,
        http=guard.ImpatientProtocol,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    # Ctrl-C is how a server is told to stop, and it has said what it did.
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[line])


def listen(address: Address, patience: float = 2.0) -> socket.socket:
    """The address, taken. A server that was just killed may hold it for another moment."""
    end = time.monotonic() + patience
    while True:
        # Named as TCP, so that what is accepted has TCP_NODELAY: asyncio sets it for no other, and every answer on a
        # connection that stays open would wait 40 ms for a packet to join it.
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        line = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((address.host, address.port))
            # Two servers that start together could both bind; only one of them can listen.
            line.listen(2048)
            return line
        except OSError as error:
            line.close()
            if error.errno != errno.EADDRINUSE:
                raise DataError(f"--host {address.host} --port {address.port}: {error.strerror or error}.") from None
        if time.monotonic() > end:
            where = f"port {address.port} of {address.host}"
            raise DataError(f"{where} is in use. Stop what listens there, or choose another: --port.")
        time.sleep(0.05)


def farewell(database_url: str) -> None:
    """Says what was done when the server stops."""
    try:
        database = Database.to_read(database_url)
        answers, people = database.read(reading.totals)
    except (DataError, NotSavedError):
        _say("Stopped.")
        return
    database.close()
    _say(f"Stopped. All that came in is saved: {answers} answers by {people} raters, in {database.shown}.")


def announce(folder: StudyFolder, address: Address) -> None:
    """Says where everything is. The admin link is a secret: shown on a terminal, kept out of logs."""
    # The token stays behind the `#`, where no server sees it.
    link = f"{address.url}/admin/login#{Keys.of(folder.path).admin_token}"
    path = folder.path / "admin-link.txt"
    with atomic_path(path) as temporary:
        temporary.write_text(link + "\n", encoding="utf-8")
        temporary.chmod(0o600)
    path.chmod(0o600)
    shown = link if sys.stderr.isatty() else f"the link is in {path}"
    lines = [f"Study:   {folder.study.title}", f"Raters:  {_door(folder, address)}", f"Admin:   {shown}"]
    _say("\n".join(lines))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _door(folder: StudyFolder, address: Address) -> str:
    if folder.study.raters.source == "invited":
        return f"personal links: unisono collect invite {folder.path} --count 10"
    return signup.address_of(folder, address.url)
