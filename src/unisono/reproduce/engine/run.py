"""Runs experiments: units in processes, each kept as soon as it is done; then results.json, figures and the page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unisono.io.atomic import atomic_path
from unisono.io.json_text import json_text
from unisono.reproduce.engine.claims import too_small
from unisono.reproduce.engine.experiment import Chapter, Experiment, Numbers, Settings, Unit
from unisono.reproduce.engine.store import read_result, unit_path, write_result
from unisono.tasks import OnTask, run_tasks
from unisono.version import __version__


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
    from unisono.reproduce.engine.charts import save_picture
    from unisono.reproduce.engine.page import page_text

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
    _write(out / "results.json", json_text(results_data(reports, asked), indent=1) + "\n")
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
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
