"""The researcher's page: behind the admin token, which goes into a form once and opens a session of a day.

The printed link carries the token after `#`, a part of the address that browsers keep to themselves: it is in no log
and in no history of a proxy.
"""

from __future__ import annotations

import hmac
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from sqlalchemy import Connection
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unisono.collect.app import api, signup
from unisono.collect.app.context import Site, now_ms
from unisono.collect.export.raters import summary
from unisono.collect.export.write import export_zip
from unisono.collect.store import arrivals, assign, raters, reading
from unisono.collect.store.raters import PHASES, excluded_ids, set_excluded, set_phase

_DAY = 24 * 3600
Handler = Callable[[Request, Site], Awaitable[Response]]


def for_admin(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Lets a handler see requests with the admin's cookie only."""

    async def guarded(request: Request) -> Response:
        site: Site = request.app.state.site
        if not await _is_signed_in(request, site):
            if request.method == "GET" and request.url.path.endswith("/admin"):
                return RedirectResponse(f"{site.root}/admin/login", 303)
            return api.answer({"error": "sign in first"}, 401)
        return await handler(request, site)

    return guarded


async def _is_signed_in(request: Request, site: Site) -> bool:
    word = request.cookies.get(site.keys.admin_cookie_name, "")
    return bool(word) and await site.read(lambda connection: raters.is_open(connection, word, now_ms()))


async def login_page(request: Request) -> Response:
    """The form for the token."""
    site: Site = request.app.state.site
    return HTMLResponse(site.render("login.html", wrong=False))


async def login(request: Request) -> Response:
    """Takes the token once and opens a session for it. Who was wrong too often is not even compared for a while."""
    site: Site = request.app.state.site
    sender = request.client.host if request.client else ""
    token = (await signup.read_form(request)).get("token", "").strip()
    if site.limiter.is_spent("wrong", sender):
        return HTMLResponse(site.render("login.html", wrong=True), 429, {"retry-after": "10"})
    if not hmac.compare_digest(token.encode("utf-8", "replace"), site.keys.admin_token.encode()):
        site.limiter.allows("wrong", sender)
        return HTMLResponse(site.render("login.html", wrong=True), 403)
    word, now = secrets.token_hex(20), now_ms()
    await site.write(lambda connection: raters.open_session(connection, word, now + 1000 * _DAY, now))
    response = RedirectResponse(f"{site.root}/admin", 303)
    secure = request.url.scheme == "https" or site.public_url.startswith("https:")
    # Browsers send cookies to every port of a host: the name keeps studies on one machine apart, the path those below
    # one address.
    name, path = site.keys.admin_cookie_name, f"{site.root}/admin"
    response.set_cookie(name, word, _DAY, path=path, secure=secure, httponly=True, samesite="strict")
    return response


async def logout(request: Request, site: Site) -> Response:
    """Ends the session, and forgets the cookie."""
    name = site.keys.admin_cookie_name
    word = request.cookies.get(name, "")
    await site.write(lambda connection: raters.close_session(connection, word))
    response = RedirectResponse(f"{site.root}/admin/login", 303)
    response.delete_cookie(name, path=f"{site.root}/admin")
    return response


async def page(request: Request, site: Site) -> Response:
    """The page itself; its figures come from `data` and keep coming."""
    return HTMLResponse(site.render("admin.html"))


async def data(request: Request, site: Site) -> Response:
    """How the study is doing."""
    return api.answer(await site.read(lambda connection: summary(connection, site.folder)))


async def quality(request: Request, site: Site) -> Response:
    """What the ratings are worth so far; asking brings new figures on their way when they are due, POST at once."""
    version = await site.read(lambda c: (reading.last_answer(c), sorted(excluded_ids(c))))
    found = site.quality.look(version, now=request.method == "POST")
    # Figures that the page has already are not sent again.
    if str(found["made_at"]) == request.query_params.get("have"):
        del found["figures"]
    return api.answer(found)


async def change_phase(request: Request, site: Site) -> Response:
    """Opens, pauses or closes the study."""
    wanted = (await signup.read_form(request)).get("phase", "")
    chosen = next((phase for phase in PHASES if phase == wanted), None)
    if chosen is None:
        return api.answer({"error": f"phase must be one of {', '.join(PHASES)}"}, 422)
    await site.write(lambda connection: set_phase(connection, chosen))
    return api.answer({"phase": chosen})


async def exclude(request: Request, site: Site) -> Response:
    """Excludes a rater from the export, or takes that back."""
    form = await signup.read_form(request)
    wanted = api.number(form.get("rater", "").removeprefix("r")) or 0
    excluded = form.get("excluded") == "yes"

    def change(connection: Connection) -> bool:
        known = wanted in {row.id for row in reading.rater_rows(connection)}
        if known:
            assign.lock_items(connection)
            set_excluded(connection, wanted, excluded, now_ms())
        return known

    if not await site.write(change):
        return api.answer({"error": "there is no such rater"}, 422)
    return api.answer({"rater": f"r{wanted:04d}", "excluded": excluded})


async def second_session(request: Request, site: Site) -> Response:
    """Says whose a second session is: it goes on at the place that was begun, begins anew, or neither."""
    form = await signup.read_form(request)
    chosen = next((word for word in arrivals.ANSWERS if word == form.get("answer")), None)
    if chosen is None:
        return api.answer({"error": f"answer must be one of {', '.join(arrivals.ANSWERS)}"}, 422)
    if not await site.write(lambda connection: arrivals.settle(connection, form.get("ask", ""), chosen)):
        return api.answer({"error": "no such session is waiting"}, 422)
    return api.answer({"answer": chosen})


async def download(request: Request, site: Site) -> Response:
    """The export as one archive."""
    place = tempfile.TemporaryDirectory(prefix="unisono-export-")
    path = Path(place.name) / "export.zip"
    try:
        await run_in_threadpool(export_zip, site.folder, site.database, path)
    except BaseException:
        place.cleanup()
        raise
    return FileResponse(path, filename="export.zip", background=BackgroundTask(place.cleanup))


routes = [
    Route("/admin", for_admin(page)),
    Route("/admin/login", login_page),
    Route("/admin/login", login, methods=["POST"]),
    Route("/admin/logout", for_admin(logout), methods=["POST"]),
    Route("/admin/data", for_admin(data)),
    Route("/admin/quality", for_admin(quality), methods=["GET", "POST"]),
    Route("/admin/phase", for_admin(change_phase), methods=["POST"]),
    Route("/admin/exclude", for_admin(exclude), methods=["POST"]),
    Route("/admin/session", for_admin(second_session), methods=["POST"]),
    Route("/admin/export.zip", for_admin(download)),
]
