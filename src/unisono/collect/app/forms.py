"""The two small forms of this tool, read with care: who joins, and what the researcher presses."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

_MOST_FIELDS = 20


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; of those that come twice, the first. Too many are refused."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        pairs = parse_qsl(body, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, f"a form has at most {_MOST_FIELDS} fields") from None
    return dict(reversed(pairs))
