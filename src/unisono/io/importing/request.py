"""What the user asked of an importer, beside the files. Imports nothing of the rest."""

from __future__ import annotations

from dataclasses import dataclass, fields


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
