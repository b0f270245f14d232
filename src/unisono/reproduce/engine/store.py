"""Finished units on disk. A unit is found again only if nothing that decides its result has changed.

    DIR/.tasks/<experiment>/<key>-<fingerprint>.json

The fingerprint covers the unit's settings, the source of its function, the version of unisono and the source of the
packages that compute. A run with other settings, or with other code, therefore starts afresh, unit by unit.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from functools import cache
from pathlib import Path

from unisono.io.atomic import atomic_path
from unisono.reproduce.engine.experiment import Numbers, Unit
from unisono.version import __version__

FOLDER = ".tasks"
COMPUTING = ("data", "maths", "fusers", "evaluate", "simulate")  # packages whose source decides results


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
        "unisono": __version__,
        "source": _source_hash(),
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
def _source_hash() -> str:
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for name in COMPUTING:
        place = root / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.read_bytes())
    return digest.hexdigest()
