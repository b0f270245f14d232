"""What was learned as arrays by name, for saved fits and checkpoints, and back.

    arrays = packed(params, "params")                      # {"params.B": ..., "params.N": ...}
    params = unpacked(ItemParams, arrays, "params")

A value is an array, a number, a word, several of these, a scale, or a named tuple (or several) of such values. A part
is called by its way from the outside in, with dots; what is None is left out, and comes back as what the named tuple
has for it by default. The types that a named tuple says its fields have decide what they come back as.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from unisono.tables.answer_scale import Ends, Scale

Arrays = Mapping[str, np.ndarray]


def packed(value: Any, name: str) -> dict[str, np.ndarray]:
    """The value as arrays whose names begin with `name`."""
    if value is None:
        return {}
    parts = _parts(value)
    if parts is None:
        return {name: np.asarray(value)}
    return {key: array for field, part in parts.items() for key, array in packed(part, f"{name}.{field}").items()}


def _parts(value: Any) -> dict[Any, Any] | None:
    """What a value consists of; None: it is one array."""
    if isinstance(value, Scale):
        return {"low": value.low, "high": value.high, "given": value.given}
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, list | tuple) and any(hasattr(one, "_asdict") for one in value):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else None


def inside(arrays: Arrays, name: str) -> dict[str, np.ndarray]:
    """The parts of what has that name, by their names within it."""
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


def unpacked(kind: Any, arrays: Arrays, name: str) -> Any:
    """A value of that type from the arrays that `packed` made of it; None where there is none."""
    if get_origin(kind) is UnionType:
        kind = get_args(kind)[0]  # the others are None, and numbers, which arrays can be
    container, own = get_origin(kind), inside(arrays, name)
    if container in (list, tuple) and hasattr(get_args(kind)[0], "_fields"):
        count = len({key.split(".")[0] for key in own})
        return container(unpacked(get_args(kind)[0], own, str(n)) for n in range(count))
    if container is dict:
        return own
    if name in arrays:
        return _plain(kind, container, arrays[name])
    if not own:
        return None
    return _scale(own) if kind is Scale else _named_tuple(kind, own)


def _plain(kind: Any, container: Any, array: np.ndarray) -> Any:
    if container in (list, tuple):
        return container(array.tolist())
    return array if kind is np.ndarray else array.item()


def _scale(own: Arrays) -> Scale:
    pairs = zip(own["low"].tolist(), own["high"].tolist(), strict=True)
    ends: list[Ends | None] = [None if np.isinf(pair).all() else pair for pair in pairs]
    return Scale(tuple(ends), tuple(own["given"].tolist()))


def _named_tuple(kind: Any, own: Arrays) -> Any:
    parts = {field: unpacked(hint, own, field) for field, hint in _types(kind).items()}
    return kind(**kind._field_defaults | {field: part for field, part in parts.items() if part is not None})


@cache
def _types(kind: Any) -> dict[str, Any]:
    """Of the fields of a named tuple."""
    return get_type_hints(kind)
