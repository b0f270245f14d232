"""Finished units on disk. A unit is found again only if nothing that decides its result has changed.

    DIR/.tasks/<experiment>/<key>-<fingerprint>.json

The fingerprint covers the unit's settings, the source of its function, the versions of unisono, NumPy and SciPy, and
the whole package, bundled data included, but for what only talks to people (APART). A run with other settings, or with
other code, therefore starts afresh, unit by unit. That is strict on purpose: an edited figure costs a run, a stale
number costs a finding.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from unisono.io.atomic import atomic_path
from unisono.reproduce.engine.experiment import Numbers, Unit
from unisono.version import __version__

FOLDER = ".tasks"
PACKAGE = Path(__file__).parents[2]
APART = ("cli", "collect", "report")  # folders that no result depends on,
NEEDED = ("collect", "stimuli")  # but for this part of one of them: the colours that experiments show


def unit_path(out: Path, experiment: str, unit: Unit) -> Path:
    """Where the result of a unit lies, or would lie."""
    return out / FOLDER / experiment / f"{unit.key}-{fingerprint(experiment, unit)}.json"


def fingerprint(experiment: str, unit: Unit) -> str:
    """Twelve digits that change with whatever decides the result."""
    decides = {
        "experiment": experiment,
        "key": unit.key,
        "settings": unit.settings,
        "work": inspect.getsource(unit.work),
        "versions": [__version__, version("numpy"), version("scipy")],
        "source": source_hash(PACKAGE),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]


def read_result(path: Path) -> Numbers | None:
    """The result of a finished unit; None if it is not there, or is not whole."""
    try:
        found: Numbers = json.loads(path.read_text(encoding="utf-8"))["result"]
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return None
    return found


def write_result(path: Path, unit: Unit, result: Numbers, seconds: float) -> None:
    """Whole or not at all. NaN is kept as such, so that a number read back is the number that was found.

    `seconds` of processor time are for whoever wonders where the time goes; they stay out of results.json.
    """
    kept = {"key": unit.key, "settings": unit.settings, "seconds": round(seconds, 2), "result": result}
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@cache
def source_hash(package: Path) -> str:
    """One number for names and contents of all files that decide results."""
    digest = hashlib.sha256()
    for path in deciding_files(package):
        digest.update(f"{path.relative_to(package).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def deciding_files(package: Path) -> Iterator[Path]:
    """Source and data of the package, in a fixed order, without the parts that are APART."""
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package).parts
        decides = place[0] not in APART or place[: len(NEEDED)] == NEEDED
        if decides and "__pycache__" not in place and path.is_file():
            yield path
