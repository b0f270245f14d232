"""Files that are written whole or not at all, and JSON that every reader takes.

An interrupted run leaves no half-written file or folder. JSON has no word for a number that is not defined, so NaN and
infinity become null. Imports the standard library and errors alone.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unisono.errors import DataError


def require_place(path: Path) -> None:
    """Raises a DataError where neither a file nor a folder of this name can be made."""
    above = next(folder for folder in (*path.absolute().parents,) if folder.exists())
    if not above.is_dir():
        raise DataError(f"{path} cannot be written: {above} is a file.")
    if not os.access(path if path.is_dir() else above, os.W_OK | os.X_OK):
        raise DataError(f"{path} cannot be written: nothing may be written in {path if path.is_dir() else above}.")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the name `path` only when the block ends well."""
    require_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`; its files move into `path` only when the block ends well.

    Files of an earlier run that the new run writes too are replaced one by one; others stay.
    """
    require_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield temporary
        path.mkdir(exist_ok=True)
        for source in sorted(temporary.rglob("*")):
            target = path / source.relative_to(temporary)
            if source.is_dir():
                target.mkdir(exist_ok=True)
            else:
                source.chmod(0o666 & ~_umask())
                source.replace(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def json_text(value: Any, indent: int = 2) -> str:
    """Plain data as text; NaN and infinity become null."""
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
