"""Runs experiments by name: units in processes, each kept once it is done; then results.json, figures, the page.

    DIR/.tasks/<experiment>/<key>-<fingerprint>.json

A unit is found again only if nothing that decides its result has changed. The fingerprint covers the unit's settings,
the source of its function, the versions of unisono, NumPy and SciPy, and the whole package, bundled data included, but
for what only talks to people (APART). A run with other settings, or with other code, therefore starts afresh, unit by
unit. That is strict on purpose: an edited figure costs a run, a stale number costs a finding.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from unisono.paper.experiment_claims import Chapter, Experiment, Numbers, Settings, Unit, too_small
from unisono.scale.executors import OnTask, run_tasks
from unisono.tables import atomic_files, labels
from unisono.version import __version__

EXPERIMENTS = (
    "correlations",
    "items-synthetic",
    "items-artificial",
    "items-real",
    "series-synthetic",
    "series-artificial",
    "series-real",
    "dependency",
)
ALL = "all"


def find_experiments(name: str) -> list[Experiment]:
    """One experiment, or all of them."""
    known = known_name(name)
    return [_load(each) for each in (EXPERIMENTS if known == ALL else (known,))]


def known_name(name: str) -> str:
    """The name itself; ValueError with the nearest name if there is no such experiment."""
    if name not in (*EXPERIMENTS, ALL):
        hint = labels.did_you_mean(name, [*EXPERIMENTS, ALL])
        raise ValueError(f"There is no experiment '{name}'.{hint} Experiments: {', '.join(EXPERIMENTS)}; or all.")
    return name


def _load(name: str) -> Experiment:
    module = importlib.import_module(f"unisono.paper.experiment_{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found


FOLDER = ".tasks"
PACKAGE = Path(__file__).parents[1]
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
    with atomic_files.atomic_path(path) as temporary:
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


class Report(NamedTuple):
    """An experiment with its chapter and the results behind it."""

    experiment: Experiment
    chapter: Chapter
    units: tuple[Unit, ...]
    results: Mapping[str, Numbers]


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    settings: Settings | None = None,
    *,
    jobs: int = 1,
    on_task: OnTask | None = None,
    others: Sequence[Experiment] = (),
) -> list[Report]:
    """Runs what is not yet done, and writes results.json, figures/ and index.html into `out`.

    Of the `others`, those that an earlier run into `out` has finished with the same settings are reported too, in their
    order, so that running one experiment after the other ends with one page of all.
    """
    # Loaded before hours of work, so that a missing extra is named at once.
    from unisono.paper.experiment_page import page_text, save_picture

    asked = settings or Settings()
    planned = [(experiment, tuple(experiment.units(asked))) for experiment in experiments]
    _do_units(planned, out, jobs, on_task)
    reports = [_report(experiment, units, out, asked) for experiment, units in planned]
    reports += [_report(other, units, out, asked) for other, units in _finished_before(others, experiments, out, asked)]
    place = {other.name: i for i, other in enumerate(others)}
    reports.sort(key=lambda one: place.get(one.experiment.name, -1))
    for one in reports:
        for picture in one.chapter.pictures:
            save_picture(picture, out / "figures")
    _write(out / "results.json", atomic_files.json_text(results_data(reports, asked), indent=1) + "\n")
    _write(out / "index.html", page_text(reports, asked))
    return reports


def results_data(reports: Iterable[Report], settings: Settings) -> Numbers:
    """Every number and its seed."""
    return {
        "unisono": __version__,
        "quick": settings.quick,
        "seed": settings.seed,
        "experiments": {
            one.experiment.name: {
                "title": one.experiment.title,
                "section": one.experiment.section,
                "claims": [claim.to_dict() for claim in one.chapter.claims],
                "summary": one.chapter.summary,
                "units": [
                    {"key": unit.key, "settings": unit.settings, "result": one.results[unit.key]} for unit in one.units
                ],
            }
            for one in reports
        },
    }


def do_unit(path: Path, unit: Unit) -> None:
    """Computes one unit and keeps it; a worker does both, so that a result cannot get lost on the way home."""
    start = time.process_time()
    result = unit.work(**unit.settings)
    write_result(path, unit, result, time.process_time() - start)


def _finished_before(
    others: Iterable[Experiment], asked: Sequence[Experiment], out: Path, settings: Settings
) -> Iterator[tuple[Experiment, tuple[Unit, ...]]]:
    for other in others:
        units = tuple(other.units(settings)) if other not in asked else ()
        if units and all(read_result(unit_path(out, other.name, unit)) is not None for unit in units):
            yield other, units


def _do_units(
    planned: Sequence[tuple[Experiment, tuple[Unit, ...]]], out: Path, jobs: int, on_task: OnTask | None
) -> None:
    places = [(unit_path(out, experiment.name, unit), unit) for experiment, units in planned for unit in units]
    open_units = [(path, unit) for path, unit in places if read_result(path) is None]
    done, total = len(places) - len(open_units), len(places)

    def told(more: int, _: int) -> None:
        if on_task is not None:
            on_task(done + more, total)

    told(0, total)
    run_tasks(do_unit, open_units, jobs, told)


def _report(experiment: Experiment, units: tuple[Unit, ...], out: Path, settings: Settings) -> Report:
    results: dict[str, Numbers] = {}
    for unit in units:
        found = read_result(unit_path(out, experiment.name, unit))
        assert found is not None
        results[unit.key] = found
    chapter = experiment.report(settings, results)
    if settings.quick and units != tuple(experiment.units(settings._replace(quick=False))):
        # Some experiments are the same quick or not; they keep the verdicts they earned.
        chapter = chapter._replace(claims=tuple(too_small(claim) for claim in chapter.claims))
    return Report(experiment, chapter, units, results)


def _write(path: Path, text: str) -> None:
    with atomic_files.atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
