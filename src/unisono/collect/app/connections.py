"""Connections that nobody speaks on: the server hangs up, so that holding many open costs an attacker work.

uvicorn closes connections that rest between two requests; one that never finishes its first request would stay.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
