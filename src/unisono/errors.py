"""What can go wrong, by name, and who hears of it. Imports nothing of unisono.

Warnings go through `warn`, and whoever calls for the user asks for them with `heard`: filters of the module `warnings`
hold for the whole process, and a call in one thread would silence those in all others.

Messages are written for the shell (`--item COLUMN`), which shows them as they are (`in_shell`); in Python they name the
keyword arguments (`item=COLUMN`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z-]*)"
    r"(?: ((?:(?:\w+=)?'[^']*'|\"[^\"]*\"|(?:[^\s'\",;()]|,(?=\S))+(?<![.:])))(?![\w']))?"
    r"( \((\w+=[^()]*?)(?: in Python)?\))?"
)
_SIDE_BY_SIDE = re.compile(r"(\w=(?:\"[^\"]*\"|[A-Z\d.]+)) (?=[a-z_]+=[\"A-Z\d\[{])")
_VERBS = frozenset(
    ["codes", "for", "in", "or", "and", "says", "takes", "calls", "leaves", "at", "moves", "does", "wrote", "without"]
)
_NAMES = {"dim": "dims", "kind": "kinds"}  # options that are called otherwise in Python, and are mappings there
_FLAGS = {"gold-anyway": "gold_anyway=True", "overwrite": "overwrite=True", "uncensored": "censored=False"}


def in_shell(error: BaseException | Warning | str) -> str:
    """The message as it is written, with the options of commands."""
    return error if isinstance(error, str) else str(error.args[0]) if error.args else ""


def in_python(message: str) -> str:
    """The message with keyword arguments in place of options."""
    return _SIDE_BY_SIDE.sub(r"\1, ", _OPTION.sub(_keyword, message))


_shell: ContextVar[bool] = ContextVar("shell", default=False)


@contextmanager
def in_a_shell() -> Iterator[None]:
    """Inside, what is spoken names the options of commands."""
    before = _shell.set(True)
    try:
        yield
    finally:
        _shell.reset(before)


def spoken(message: str) -> str:
    """The message for whoever asked: a command, or Python."""
    return message if _shell.get() else in_python(message)


def _keyword(found: re.Match[str]) -> str:
    name, value, also = found[1], found[2], found[4]
    if also and "=..." not in also:
        return str(also)
    rest = ""
    if value is None or value in _VERBS or name in _FLAGS:
        rest = "" if value is None else f" {value}"
        return _FLAGS.get(name, _NAMES.get(name, name.replace("-", "_"))) + rest
    bare = value.replace("'", "").replace('"', "")
    return f"{_NAMES.get(name, name.replace('-', '_'))}={_literal(name, bare)}"


def _literal(name: str, value: str) -> str:
    """A value of the shell as it is written in Python; what is in capitals is to be replaced first."""
    if re.fullmatch(r"[A-Z]{2,}(,\.*)*|-?\d+(\.\d+)?", value):
        return f"[{value}]" if name in _NAMES else value
    if name in _NAMES:
        left, mark, right = value.partition("=")
        return f'{{"{left}": "{right}"}}' if mark else f'["{value}"]'
    return f'"{value}"'


class _Advice:
    """A message that names the way out."""

    args: tuple[object, ...]

    def __str__(self) -> str:
        return in_python(str(self.args[0])) if self.args else ""


class DataError(_Advice, ValueError):
    """The data contradicts itself or cannot be used; the message says where, what, and the way out."""


class NoNumbersError(DataError):
    """A table has no column of numbers that could be ratings; it may hold categories."""


class SettingsError(_Advice, ValueError):
    """A model, or a setting of a model, that there is not, or that makes no sense; known before anything is read."""


class EngineError(RuntimeError):
    """Those who do the work (processes, a Dask or Ray cluster) were lost, or cannot be reached."""


class NotFittedError(RuntimeError):
    """A fuser was asked for results before `fit`."""


class ConvergenceWarning(UserWarning):
    """EM stopped at its iteration limit before its stopping rule held."""


class DataWarning(_Advice, UserWarning):
    """Something in the data looks suspicious but can be used as it is."""


class LeftOutWarning(DataWarning):
    """Columns of a table were not taken for ratings; the message says which, why, and how to take them in."""


class AlertWarning(DataWarning):
    """One of a result's alerts, which its summary lists as well."""


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
