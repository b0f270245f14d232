"""Fits on disk: one JSON file for words, one npz file for numbers. Never pickle; equal fits are equal bytes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unisono.errors import DataError
from unisono.fusers.fusion_results import Fit
from unisono.maths.em_loop import EmTrace

FORMAT = 2  # layout: of saved fits
WORDS, NUMBERS = "fit.json", "arrays.npz"


def write_fit(fit: Fit, folder: Path) -> None:
    """Writes the two files of a fit into a folder that exists or can be made."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {
        "format": FORMAT,
        "model": fit.model,
        "kind": fit.kind,
        "settings": fit.settings,
        "dimensions": fit.dimensions,
        "features": fit.features,
        "annotators": fit.annotators,
        "items": fit.items,
        "stop": fit.trace.stop,
        "objective": fit.trace.path(),
        "provenance": fit.provenance,
    }
    (folder / WORDS).write_text(json.dumps(words, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    np.savez(folder / NUMBERS, allow_pickle=False, trace=fit.trace.objective, **fit.arrays)


def in_folder(fit: Fit) -> Callable[[Path], None]:
    """Writes a fit into the folder fit/ of the results that it is given, for `write_results`."""
    return lambda folder: write_fit(fit, folder / "fit")


def load_fit(directory: Path) -> Fit:
    """Reads a fit back, bit for bit. `directory` is the folder of the fit, or the output folder that holds it."""
    folder = directory / "fit" if (directory / "fit" / WORDS).is_file() else directory
    words, arrays = _read(folder)
    trace = EmTrace(arrays.pop("trace"), words["stop"])
    labels = {name: tuple(words[name]) for name in ("items", "annotators", "dimensions", "features")}
    return Fit(
        model=words["model"],
        kind=words["kind"],
        settings=words["settings"],
        arrays=arrays,
        trace=trace,
        provenance=words["provenance"],
        **labels,
    )


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        words = json.loads((folder / WORDS).read_text(encoding="utf-8"))
        with np.load(folder / NUMBERS, allow_pickle=False) as numbers:
            arrays = {name: numbers[name] for name in numbers.files}
    except FileNotFoundError as error:
        raise DataError(f"{folder} is not a saved fit: it has no {Path(str(error.filename)).name}.") from None
    except (ValueError, OSError, zipfile.BadZipFile, KeyError) as error:
        raise DataError(f"{folder} is a damaged fit ({error}). Fit again.") from None
    if not isinstance(words, dict) or words.get("format") != FORMAT:
        raise DataError(f"{folder} was written by another version of unisono. Fit again.")
    return words, arrays
