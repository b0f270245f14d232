"""What stands before every route: host, origin, body size, headers, and a log without secrets.

Written against ASGI itself: these run on every request and must not buffer bodies or break streaming.
"""

from __future__ import annotations

import logging
import re
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unisono.collect.app.limits import MOST_BODY

log = logging.getLogger("unisono.collect")

MTURK_HOSTS = ("www.mturk.com", "workersandbox.mturk.com")
_TOKEN = re.compile(r"[0-9a-f]{12}\.[0-9a-f]{40}|[0-9a-f]{40}")
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

    def __init__(self, app: ASGIApp, source: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._headers = {
            "content-security-policy": policy(source),
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
                    headers[name] = value
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
        elif scope["method"] in _UNSAFE and is_cross_site(headers):
            await JSONResponse({"error": "cross-site request"}, 403)(scope, receive, send)
        elif _length(headers) > MOST_BODY:
            await JSONResponse({"error": "too large"}, 413)(scope, receive, send)
        else:
            await self._app(scope, _measured(receive), send)


class TooLargeError(Exception):
    """The body grew beyond the limit while it came in."""


def is_cross_site(headers: Headers) -> bool:
    """Whether a browser sends this on behalf of another site. Programs that are no browsers send neither header."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def masked(path: str) -> str:
    """The path without the token in it."""
    return _TOKEN.sub("...", path)


def _measured(receive: Receive) -> Receive:
    """Counts the body as it comes: a length header can be missing or wrong."""
    seen = 0

    async def measured() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BODY:
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
