"""The application of one study: routes together, errors as answers, the clock that frees what raters left behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route

from unisono.collect.app import admin, api, signup
from unisono.collect.app.context import HashedFiles, Site, now_ms
from unisono.collect.app.guard import Guard, TooLargeError, log, policy
from unisono.collect.store import assign, database

_SWEEP_SECONDS = 30.0
NOT_SAVED = {"error": "not saved yet", "retry": True}


def build(
    site: Site,
    hosts: frozenset[str] = frozenset(),
    on_start: Callable[[], None] | None = None,
    on_stop: Callable[[], None] | None = None,
) -> Starlette:
    """The study as an ASGI application; `hosts` are the names it answers to, none for any."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(_sweep(site))
        if on_start is not None:
            on_start()
        yield
        sweeper.cancel()
        await site.quality.close()
        if site.next is not None:
            await site.next.close()
        site.close()
        if on_stop is not None:
            on_stop()

    app = Starlette(
        routes=[*signup.routes, *api.routes, *admin.routes, Route("/health", health), Mount("/static", HashedFiles())],
        middleware=[
            Middleware(Guard, policy=policy(site.study.raters.source), hosts=hosts, public_url=site.public_url)
        ],
        exception_handlers={
            database.NotSavedError: not_saved,
            TooLargeError: too_large,
            HTTPException: refused,
            Exception: failed,
        },
        lifespan=lifespan,
    )
    app.state.site = site
    return app


def together(
    sites: Sequence[Site], hosts: frozenset[str], on_start: Callable[[], None], on_stop: Callable[[], None]
) -> Starlette:
    """One study as it is, or several on one server, each below its root, with its own pages, guard and database."""
    if len(sites) == 1:
        return build(sites[0], hosts, on_start, on_stop)
    apps = {site.root.rpartition("/")[2]: build(site, hosts) for site in sites}

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for one in apps.values():
                await stack.enter_async_context(one.router.lifespan_context(one))
            on_start()
            yield
        on_stop()

    async def all_healthy(request: Request) -> Response:
        for site in sites:
            await site.read(lambda connection: None)
        return api.answer({"status": "ok"})

    mounts = [Mount(f"/{name}", one) for name, one in apps.items()]
    return Starlette(routes=[Route("/health", all_healthy), *mounts], lifespan=lifespan)


async def health(request: Request) -> Response:
    """Whether the database answers; for load balancers and containers."""
    site: Site = request.app.state.site
    await site.read(lambda connection: None)
    return api.answer({"status": "ok"})


async def not_saved(request: Request, error: Exception) -> Response:
    """Disk full, database locked or away: the browser keeps what it has and sends it again."""
    log.warning("not saved: %s", error)
    return api.trouble(request, request.app.state.site, NOT_SAVED, 503)


async def too_large(request: Request, error: Exception) -> Response:
    """The body was larger than anything this tool sends."""
    return api.answer({"error": "too large"}, 413)


async def refused(request: Request, error: Exception) -> Response:
    """No such page, no such method."""
    assert isinstance(error, HTTPException)
    site: Site = request.app.state.site
    if error.status_code == 404 and api.wants_page(request):
        return HTMLResponse(site.message("nothing"), 404)
    return api.answer({"error": error.detail}, error.status_code, dict(error.headers or {}))


async def failed(request: Request, error: Exception) -> Response:
    """A mistake of ours: told to the log, not to the rater."""
    return api.trouble(request, request.app.state.site, {"error": "internal error"}, 500)


async def _sweep(site: Site) -> None:
    """Takes items back from raters who have gone."""
    patience = site.patience
    while True:
        try:
            await site.write(lambda connection: assign.free_idle(connection, now_ms() - patience))
        except database.NotSavedError as error:
            log.log(logging.WARNING, "not freed: %s", error)
        await asyncio.sleep(min(_SWEEP_SECONDS, patience / 1000))
