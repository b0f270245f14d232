"""What can go wrong, by name, and who hears of it. Imports nothing of unisono.

Warnings go through `warn`, and whoever calls for the user asks for them with `heard`: filters of the module `warnings`
hold for the whole process, and a call in one thread would silence those in all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class DataError(ValueError):
    """The data contradicts itself or cannot be used; the message says where, what, and the way out."""


class NoNumbersError(DataError):
    """A table has no column of numbers that could be ratings; it may hold categories."""


class SettingsError(ValueError):
    """A model, or a setting of a model, that there is not, or that makes no sense; known before anything is read."""


class EngineError(RuntimeError):
    """Those who do the work (processes, a Dask or Ray cluster) were lost, or cannot be reached."""


class NotFittedError(RuntimeError):
    """A fuser was asked for results before `fit`."""


class ConvergenceWarning(UserWarning):
    """EM stopped at its iteration limit before its stopping rule held."""


class DataWarning(UserWarning):
    """Something in the data looks suspicious but can be used as it is."""


class LeftOutWarning(DataWarning):
    """Columns of a table were not taken for ratings; the message says which, why, and how to take them in."""


class InterpretedWarning(DataWarning):
    """A table was read otherwise than as plain numbers in plain columns; the message says how."""


Told = tuple[str, type[Warning]]  # what is said, and what kind of warning it is
Hear = Callable[[Told], object]
_hearers: ContextVar[tuple[tuple[tuple[type[Warning], ...], Hear], ...]] = ContextVar("hearers", default=())


def warn(message: str, category: type[Warning], stacklevel: int = 1) -> None:
    """Tells the user, or whoever has asked to hear of this kind; `stacklevel` 1 is who calls this."""
    for kinds, hear in reversed(_hearers.get()):
        if issubclass(category, kinds):
            hear((message, category))
            return
    warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def heard(hear: Hear, *kinds: type[Warning]) -> Iterator[None]:
    """Inside, and in this thread alone, `hear` is told of warnings of these kinds instead of the user."""
    before = _hearers.set((*_hearers.get(), (kinds, hear)))
    try:
        yield
    finally:
        _hearers.reset(before)


@contextmanager
def taken(*kinds: type[Warning]) -> Iterator[list[Told]]:
    """The same, onto a list."""
    told: list[Told] = []
    with heard(told.append, *kinds):
        yield told
