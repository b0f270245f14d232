"""Names for the table: items from several parts, files that say by their names what they hold, safe dimensions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.io.reading.columns import SYNONYMS, plain_name, takes_no_dimension
from unisono.io.reading.descriptors import described_by_name

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


class FileNames:
    """What the names of files say, by a template as in `{dimension}/{item}_{annotator}.csv`."""

    def __init__(self, template: str):
        self.template = template
        self.fields = re.findall(r"\{(\w+)\}", template)
        wrong = [field for field in self.fields if field not in FIELDS]
        if wrong or not self.fields or len(set(self.fields)) < len(self.fields):
            raise ValueError(
                f"--names takes {listed([f'{{{field}}}' for field in FIELDS])}, each once, in a file's name"
            )
        pattern = re.escape(template)
        for place, field in enumerate(self.fields):
            # The last name in a part of the path takes what is left; those before it stop at the next mark.
            greedy = "+" if place == len(self.fields) - 1 else "+?"
            pattern = pattern.replace(re.escape(f"{{{field}}}"), f"(?P<{field}>[^/]{greedy})", 1)
        self._pattern = re.compile(rf"(?:^|/){pattern}$")

    def read(self, path: str) -> dict[str, str]:
        """The fields of one path."""
        found = self._pattern.search(str(PurePath(path)).replace("\\", "/"))
        if found is None:
            raise DataError(f"{PurePath(path).name}: the path does not look like --names '{self.template}'.")
        return found.groupdict()


def file_facts(path: str, template: str | None, default: str) -> dict[str, str]:
    """What a path says by the user's template, which has to fit, or by the usual one, which may not."""
    if template is not None:
        return FileNames(template).read(path)
    try:
        return FileNames(default).read(path)
    except DataError:
        return {}


def required(facts: dict[str, str], field: str, path: str) -> str:
    """A fact that the file itself does not hold."""
    if not facts.get(field):
        raise DataError(
            f"{PurePath(path).name} line 1: nothing says which {field} this is. Say it with the file's path, as in "
            "--names '{item}/{annotator}.csv'."
        )
    return facts[field]
