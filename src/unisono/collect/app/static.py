"""Scripts and style sheets, in a folder named after their content: browsers keep them, and never a stale one."""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

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
