"""What stands before every route: host, origin, body size, headers, limits, and a log without secrets.

Written against ASGI itself: these run on every request and must not buffer bodies or break streaming. A sender has a
bucket of requests that refills, one per rater and one per address. Connections that nobody speaks on are hung up, so
that holding many open costs an attacker work: uvicorn closes those that rest between two requests; one that never
finishes its first request would stay.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import OrderedDict
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from unisono.collect.studies.schema import Limits

log = logging.getLogger("unisono.collect")

MTURK_HOSTS = ("www.mturk.com", "workersandbox.mturk.com")
_TOKEN = re.compile(r"[0-9a-f]{12}\.[0-9a-f]{40}|[0-9a-f]{40}")
MOST_BODY = 512 * 1024
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def policy(source: str) -> str:
    """The content security policy: everything from here, nothing inline, framed by nobody but MTurk if at all."""
    mturk = " ".join(f"https://{host}" for host in MTURK_HOSTS)
    ancestors = mturk if source == "mturk" else "'none'"
    forms = f"'self' {mturk}" if source == "mturk" else "'self'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        f"connect-src 'self'; form-action {forms}; frame-ancestors {ancestors}; base-uri 'none'"
    )


class Guard:
    """Refuses what must not come in and puts headers on what goes out."""

    def __init__(
        self, app: ASGIApp, policy: str, hosts: frozenset[str], public_url: str = "", most_body: int = MOST_BODY
    ) -> None:
        self._app = app
        self._most = most_body
        self._hosts = hosts
        # Proxies may pass the host on without its port.
        self._origin = urlsplit(public_url).netloc
        self._headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            # Links hold tokens, so no other site learns them. (`no-referrer` would blank the origin of our own forms.)
            "referrer-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._admit(scope, receive, send_guarded)
        finally:
            _log(scope, status, started)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self._hosts and _host(headers.get("host", "")) not in self._hosts:
            await JSONResponse({"error": "unknown host"}, 421)(scope, receive, send)
        elif scope["method"] in _UNSAFE and is_cross_site(headers, self._origin):
            await JSONResponse({"error": "cross-site request"}, 403)(scope, receive, send)
        elif _length(headers) > self._most:
            await JSONResponse({"error": "too large"}, 413)(scope, receive, send)
        else:
            await self._app(scope, _measured(receive, self._most), send)


class TooLargeError(Exception):
    """The body grew beyond the limit while it came in."""


def is_cross_site(headers: Headers, public: str = "") -> bool:
    """Whether a browser sends this on behalf of a site that is neither the one that is asked nor our public one.

    Programs that are no browsers send neither header.
    """
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] not in (headers.get("host"), public or None)


def masked(path: str) -> str:
    """The path without the token in it."""
    return _TOKEN.sub("...", path)


def _measured(receive: Receive, most: int) -> Receive:
    """Counts the body as it comes: a length header can be missing or wrong."""
    seen = 0

    async def measured() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLargeError
        return message

    return measured


def _host(text: str) -> str:
    try:
        return urlsplit(f"//{text}").hostname or ""
    except ValueError:
        return ""


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _log(scope: Scope, status: int, started: float) -> None:
    took = 1000 * (time.perf_counter() - started)
    level = logging.WARNING if status >= 500 else logging.INFO
    # repr keeps a path from starting a line of its own in the log.
    log.log(level, "%s %r %s %.0f ms", scope["method"], masked(scope["path"]), status, took)


# A browser that comes back after an outage has a queue to deliver.
_BURST_SECONDS = 10
_MOST_SENDERS = 50_000


class Limiter:
    """Buckets by sender; those not used for longest are forgotten first, which only ever favours the sender."""

    def __init__(self, limits: Limits) -> None:
        self._rates = {
            "rater": limits.requests_per_second,
            "join": limits.joins_per_minute / 60,
            "admin": 5.0,
            # Wrong admin tokens, not compared any more once this is spent; and unknown links, by themselves, so that
            # nobody locks the researcher out with those.
            "wrong": 1.0,
            "link": 1.0,
        }
        # (kind, sender) -> how many are left, and since when.
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def is_spent(self, kind: str, sender: str) -> bool:
        """Whether this sender has nothing left of this kind; asking costs nothing."""
        return self._left(kind, sender, time.monotonic()) < 1

    def allows(self, kind: str, sender: str) -> bool:
        """Whether this sender may do one more thing of this kind."""
        now = time.monotonic()
        left = self._left(kind, sender, now)
        self._buckets[kind, sender] = (left - 1 if left >= 1 else left), now
        self._buckets.move_to_end((kind, sender))
        if len(self._buckets) > _MOST_SENDERS:
            self._buckets.popitem(last=False)
        return left >= 1

    def _left(self, kind: str, sender: str, now: float) -> float:
        """What is left of a bucket, which refills."""
        rate = self._rates[kind]
        size = max(rate * (60 if kind == "join" else _BURST_SECONDS), 10.0)
        left, since = self._buckets.get((kind, sender), (size, now))
        return min(size, left + (now - since) * rate)


_LOOK_EVERY = 5.0


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 that waits `patience` seconds for the next byte of a request, and `longest` for all of its head."""

    patience = 30.0
    longest = 60.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._heard = self._began = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        super().data_received(data)

    def _look(self) -> None:
        now = self.loop.time()
        if self.conn.their_state is not h11.IDLE:
            self._began = now
        waiting = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if waiting and (now - self._heard > self.patience or now - self._began > self.longest):
            self.transport.abort()
            return
        self._timer = self.loop.call_later(min(_LOOK_EVERY, self.patience / 2), self._look)
