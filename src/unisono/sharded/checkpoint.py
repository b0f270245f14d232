"""A fit that is interrupted and continued: its state in one file, replaced as a whole every few iterations.

What is written is numbers alone (npz), bit for bit, so that a fit that is continued ends at the same bytes as one that
was never interrupted. A checkpoint says which ratings and settings it belongs to, and fits no others.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.io.atomic import atomic_path
from unisono.maths.items.params import ItemParams
from unisono.maths.items.state import BayesState, Hyper

FILE = "checkpoint.npz"
EVERY = 3  # iterations between two writings


class Progress(NamedTuple):
    """How far a fit has come."""

    state: BayesState  # where the last step led to; `mean` says how it moved the coordinates
    before: ItemParams | None  # parameters of the last E-step
    objective: list[float]


class Checkpoint:
    """Where a fit is kept; without a folder nowhere."""

    def __init__(self, folder: Path | None = None, *, resume: bool = False, belongs_to: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self.resume = resume
        self.belongs_to = belongs_to
        self._latest: Progress | None = None

    def progress(self, R: int) -> Progress | None:
        """What an interrupted fit of the same ratings left, if it is to be continued."""
        if not self.resume or self.path is None:
            return None
        if not self.path.is_file():
            raise DataError(
                f"{self.path.parent} holds no checkpoint to resume from. Leave --resume away to begin anew."
            )
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = dict(file.items())
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DataError(f"{self.path} is damaged ({error}). Leave --resume away to begin anew.") from None
        if str(arrays["belongs_to"]) != self.belongs_to:
            raise DataError(
                f"{self.path} belongs to a fit of other ratings or with other settings. Give those, or leave --resume "
                "away to begin anew."
            )
        return _progress(arrays)

    def note(self, progress: Progress) -> None:
        """Takes note after an iteration, and writes now and then."""
        self._latest = progress
        if len(progress.objective) % EVERY == 0:
            self._write()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever ends the fit inside, its last state is written; after one that ended well none is kept."""
        try:
            yield
        except BaseException:
            self._write()
            raise
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        if self.path is None or self._latest is None:
            return
        with atomic_path(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, belongs_to=np.array(self.belongs_to), **_arrays(self._latest))


def _arrays(progress: Progress) -> dict[str, np.ndarray]:
    state, before, objective = progress
    assert before is not None
    return {
        "objective": np.array(objective),
        "probe": state.mean,
        **{f"params_{name}": np.asarray(value) for name, value in state.params._asdict().items()},
        **{f"before_{name}": np.asarray(value) for name, value in before._asdict().items()},
        **{f"hyper_{name}": np.asarray(value) for name, value in state.hyper._asdict().items()},
    }


def _progress(arrays: dict[str, np.ndarray]) -> Progress:
    params, before = (
        ItemParams(**{name: arrays[f"{which}_{name}"] for name in ItemParams._fields}) for which in ("params", "before")
    )
    numbers = {name: arrays[f"hyper_{name}"] for name in Hyper._fields}
    hyper = Hyper(**{name: float(value) if value.ndim == 0 else value for name, value in numbers.items()})  # type: ignore[arg-type]
    return Progress(BayesState(params, hyper, arrays["probe"]), before, arrays["objective"].tolist())
