"""Serving a study: which names it answers to, where it listens, what it prints and what it keeps to itself."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import socket
import sys
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import uvicorn

from unisono.collect.app.build import build
from unisono.collect.app.connections import ImpatientProtocol
from unisono.collect.app.context import Site
from unisono.collect.store import reading
from unisono.collect.store.database import Database, NotSavedError
from unisono.collect.studies import Keys, StudyFolder
from unisono.errors import DataError
from unisono.io.atomic import atomic_path

# Seconds that a database may take to start.
_PATIENCE = 60.0
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

    @property
    def hosts(self) -> frozenset[str]:
        """Names that requests may use. On loopback no others: a page elsewhere could point its own name here."""
        outside = {urlsplit(self.public_url).hostname or ""} if self.public_url else set()
        if is_loopback(self.host):
            return _LOOPBACK | outside
        return frozenset(_LOOPBACK | outside | {self.host}) if outside else frozenset()


def serve(folder: StudyFolder, database_url: str, address: Address) -> None:
    """Serves the study until it is told to stop."""
    if address.public_url and urlsplit(address.public_url).scheme not in ("http", "https"):
        raise DataError(f"--public-url is '{address.public_url}'. Write it with https:// in front.")
    # Taken before anything is written: a port in use must not leave links behind that lead elsewhere.
    line = listen(address)
    database = Database(database_url)
    database.wait_until_up(_PATIENCE, lambda: _say("The database is still starting; waiting for it."))
    site = Site(folder, database, address.public_url)
    app = build(site, address.hosts, lambda: announce(folder, address), lambda: farewell(database_url))
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
        http=ImpatientProtocol,
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
        line = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
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
    link = admin_link(folder, address)
    path = folder.path / "admin-link.txt"
    with atomic_path(path) as temporary:
        temporary.write_text(link + "\n", encoding="utf-8")
        temporary.chmod(0o600)
    path.chmod(0o600)
    shown = link if sys.stderr.isatty() else f"the link is in {path}"
    lines = [f"Study:   {folder.study.title}", f"Raters:  {_door(folder, address)}", f"Admin:   {shown}"]
    _say("\n".join([*lines, "Stop with Ctrl-C; nothing is lost."]))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def admin_link(folder: StudyFolder, address: Address) -> str:
    """The researcher's link; the token stays behind the `#`, where no server sees it."""
    return f"{address.url}/admin/login#{Keys.of(folder.path).admin_token}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _door(folder: StudyFolder, address: Address) -> str:
    source = folder.study.raters.source
    if source == "invited":
        return f"personal links: unisono collect invite {folder.path} --count 10"
    if source == "prolific":
        # Prolific fills in what stands between {{% and %}}.
        asked = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        return f"{address.url}/?{asked}"
    return f"{address.url}/"
