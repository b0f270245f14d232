"""What the user asks of an importer beside the files, and what importers need to answer it.

The options of `unisono import`; names of items made of several parts; facts that the paths of files state
(`--names '{item}/{annotator}.csv'`); names of dimensions that no
reader takes for labels; cells that have to be numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath

from unisono.errors import DataError
from unisono.tables.labels import listed
from unisono.tables.reading.column_roles import SYNONYMS, described_by_name, plain_name, takes_no_dimension


@dataclass(frozen=True)
class Request:
    """Words of `unisono import`; None where the kind decides, and what each means depends on the kind."""

    item: str | None = None  # path or column of the item
    annotator: str | None = None  # path or column of the annotator
    kind: str | None = None  # path of what an annotator is, or =human, =judge
    dims: tuple[tuple[str, str], ...] = ()  # name here, name (or path, or column) there
    records: str | None = None
    dimension: str | None = None  # path of the dimension's name
    value: str | None = None  # path of the value that belongs to `dimension`
    time: str | None = None
    time_unit: str | None = None
    names: str | None = None  # what the path of a file says
    shift: float | None = None  # seconds added to every time
    rate: float | None = None  # samples per second taken of what holds for a while

    def given(self) -> list[str]:
        """The words that were used, as options are written."""
        used = [entry.name for entry in fields(self) if getattr(self, entry.name) not in (None, ())]
        return ["--" + ("dim" if name == "dims" else name.replace("_", "-")) for name in used]


FIELDS = ("item", "annotator", "dimension")


def item_names(parts: Sequence[tuple[str, ...]], always: int = -1) -> list[str]:
    """Names of items known by several parts: those parts that vary, and always one of them, joined by `/`."""
    columns = list(zip(*parts, strict=True))
    proper = always % len(columns)
    kept = [index for index, column in enumerate(columns) if len(set(column)) > 1 or index == proper]
    return ["/".join(entry[index] for index in kept if entry[index]) for entry in parts]


def detect(columns: Sequence[str], role: str) -> str | None:
    """The column whose name fits a role best."""
    plain = {plain_name(column): column for column in reversed(columns)}
    return next((plain[name] for name in SYNONYMS[role] if name in plain), None)


def safe_names(dimensions: Sequence[str]) -> dict[str, str]:
    """A name for every dimension that no reader takes for a label."""
    found: dict[str, str] = {}
    for name in dimensions:
        safe = " ".join(name.split()) or "rating"
        if takes_no_dimension(re.split(r"[.:]", safe)[-1]):
            safe = re.sub(r"[.:]", "_", safe)
        if takes_no_dimension(safe) or described_by_name(safe):
            safe += "_rating"
        while safe in found.values():
            safe += "_"
        found[name] = safe
    return found


def stem(path: str) -> str:
    """The name of a file or address without its folders and without what stands behind the last dot."""
    return PurePath(path.replace("\\", "/").split("?")[0]).stem or path


@functools.cache
def name_pattern(template: str) -> re.Pattern[str]:
    """What names of files say, by a template as in `{dimension}/{item}_{annotator}.csv`; ValueError if it is none."""
    names = re.findall(r"\{(\w+)\}", template)
    if not names or not set(names) <= set(FIELDS) or len(set(names)) < len(names):
        raise ValueError(f"--names takes {listed([f'{{{field}}}' for field in FIELDS])}, each once, in a file's name")
    pattern = re.escape(template)
    for name in names:
        # The last name in a part of the path takes what is left; those before it stop at the next mark.
        greedy = "+" if name == names[-1] else "+?"
        pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?P<{name}>[^/]{greedy})", 1)
    return re.compile(rf"(?:^|/){pattern}$")


def file_facts(path: str, template: str | None, default: str) -> dict[str, str]:
    """What a path says by the user's template, which has to fit, or by the usual one, which may not."""
    pattern = name_pattern(default if template is None else template)
    found = pattern.search(str(PurePath(path)).replace("\\", "/"))
    if found is None and template is not None:
        raise DataError(f"{PurePath(path).name}: the path does not look like --names '{template}'.")
    return {} if found is None else found.groupdict()


def required(facts: dict[str, str], field: str, path: str) -> str:
    """A fact that the file itself does not hold."""
    if not facts.get(field):
        raise DataError(
            f"{PurePath(path).name} line 1: nothing says which {field} this is. Say it with the file's path, as in "
            "--names '{item}/{annotator}.csv'."
        )
    return facts[field]


def number_in(cell: str, what: str, place: object) -> float:
    """A finite number; raises a DataError with the place otherwise."""
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise DataError(f"{place}: {what} is '{cell.strip()[:40]}', not a number. Is the file whole?")
    return found


def step_of(times: list[float]) -> float | None:
    """The usual step between samples; None of fewer than two."""
    steps = sorted(later - earlier for earlier, later in itertools.pairwise(times))
    return steps[len(steps) // 2] if steps else None
