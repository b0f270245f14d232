"""All kinds of files that truth can be exported to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from unisono.io.atomic import atomic_directory, atomic_path
from unisono.io.exporting.records import write_crowd_kit, write_inspect, write_label_studio
from unisono.io.exporting.timelines import write_elan, write_nova
from unisono.io.exporting.truth import Truth


class Target(NamedTuple):
    """A kind of file: who writes it, what it is, whether it is a folder, and which options mean something for it."""

    write: Callable[[Truth, Path, dict[str, Any]], None]
    about: str
    folder: bool = False
    takes: frozenset[str] = frozenset()


TARGETS: dict[str, Target] = {
    "label-studio": Target(
        write_label_studio,
        "tasks with predictions for Label Studio (JSON)",
        takes=frozenset({"to_name", "form"}),
    ),
    "inspect": Target(write_inspect, "scores for Inspect AI's precomputed_scores (JSON lines)"),
    "crowd-kit": Target(write_crowd_kit, "task, label of one dimension (CSV)"),
    "nova": Target(write_nova, "annotations with confidence for NOVA/SSI (a folder)", folder=True),
    "elan": Target(write_elan, "tiers for ELAN (a folder)", folder=True, takes=frozenset({"rate"})),
}


def export_truth(kind: str, truth: Truth, out: Path, options: dict[str, Any]) -> None:
    """Writes all of it or nothing; raises ValueError for options that mean nothing there."""
    target = TARGETS[kind]
    given = {name: value for name, value in options.items() if value is not None}
    foreign = sorted(set(given) - target.takes)
    if foreign:
        raise ValueError(f"--{foreign[0].replace('_', '-').replace('form', 'as')} means nothing for {kind}.")
    with atomic_directory(out) if target.folder else atomic_path(out) as temporary:
        target.write(truth, temporary, given)
