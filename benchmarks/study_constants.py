"""What the default for items owes to the choice of its constants: `make bench-study-constants STUDIES=DIR`.

Every constant that a fit takes as a setting (src/unisono/maths/items/item_priors.py) is made smaller and larger, one
at a time, and every study is fused again. Writes two tables of docs/accuracy.md between their markers: what each
setting changes, and what every study has under the setting that is best on the *other* studies. Fits are kept beside
those of `make bench-studies`; what this code has measured already is not measured again. Options: --seeds N, --jobs
N, --only STUDY,STUDY, --render (only the tables again).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_page import PAGE, fill_page, markdown
from benchmarks.studies import OUT, all_fits, asked_for, kept, measure
from benchmarks.studies_page import BASE, DEFAULT, gains, share, signed_four
from benchmarks.study_cases import load_study
from benchmarks.study_models import CONSTANTS
from unisono.scale.executors import open_engine

MEASURES = ("pearson", "ccc", "error")
MOST_DIMENSIONS = 12  # of a study: those with more take nine tenths of the time, and are left out

Rows = list[dict[str, Any]]
Gains = dict[str, dict[str, dict[str, float]]]  # setting, measure, study


class Choice(NamedTuple):
    """The setting that is best on the other studies, and what a study has under it."""

    setting: str
    gains: dict[str, float]  # by measure, over the plain mean; measures that a study has


def main(arguments: list[str]) -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--seeds", type=int, default=2)
    ask.add_argument("--jobs", type=int, default=-1)
    ask.add_argument("--only", default="")
    ask.add_argument("--render", action="store_true")
    given = ask.parse_args(arguments)
    OUT.parent.mkdir(exist_ok=True)
    fits = [
        fit
        for fit in all_fits(given.folder, [BASE, DEFAULT, *CONSTANTS], given.seeds)
        if load_study(given.folder, fit[0].study)[0].D <= MOST_DIMENSIONS
    ]
    if not given.render:
        only = set(filter(None, given.only.split(",")))
        with open_engine("processes", given.jobs if given.jobs > 0 else None) as executor:
            measure(given.folder, [fit for fit in fits if not only or fit[0].study in only], executor)
    for line in fill_page(tables(asked_for(kept(), fits)), PAGE, "benchmarks.study_constants"):
        print(line)


def tables(rows: Rows) -> dict[str, str]:
    """Name and markdown of both tables."""
    found = gains_by_setting(rows)
    return {"constants": constants_table(found), "without": without_table(found)}


def gains_by_setting(rows: Rows) -> Gains:
    """What every setting has over the plain mean; settings that were measured on part of the studies are left out."""
    usual = {measure: gains(rows, DEFAULT, measure) for measure in MEASURES}
    found: Gains = {DEFAULT: usual}
    for setting in CONSTANTS:
        own = {measure: gains(rows, setting, measure) for measure in MEASURES}
        if own["pearson"] and set(own["pearson"]) == set(usual["pearson"]):
            found[setting] = own
    return found


def constants_table(found: Gains) -> str:
    """Averages of every setting over the plain mean, and the studies that it changes most."""
    lines = []
    for setting, own in found.items():
        change = {study: value - found[DEFAULT]["pearson"][study] for study, value in own["pearson"].items()}
        ends = (min, max) if setting != DEFAULT else ()
        most = [end(change, key=lambda study: change[study]) for end in ends]
        lines.append([setting, *_averages(own), ", ".join(f"{study} {signed_four(change[study])}" for study in most)])
    return markdown(["setting", "Pearson", "CCC", "error gone, median (mean)", "Pearson, least and most"], lines)


def without_table(found: Gains) -> str:
    """Every study under the setting that is best on the other studies, beside the default."""
    chosen, usual = choices(found), found[DEFAULT]
    lines = [
        [study, *_figures({m: usual[m].get(study) for m in MEASURES}), one.setting, *_figures(one.gains)]
        for study, one in chosen.items()
    ]
    under = {m: {study: one.gains[m] for study, one in chosen.items() if m in one.gains} for m in MEASURES}
    lines.append(["average", *_averages(usual), "", *_averages(under)])
    head = ["study", "Pearson", "CCC", "error gone", "best on the others", "Pearson under it", "CCC", "error gone"]
    return markdown(head, lines)


def choices(found: Gains) -> dict[str, Choice]:
    """For every study, the setting with the greatest sum of average Pearson and CCC over all other studies."""
    out = {}
    for study in found[DEFAULT]["pearson"]:
        total = {
            setting: sum(average(own, measure, without=study) for measure in ("pearson", "ccc"))
            for setting, own in found.items()
        }
        best = max(total, key=lambda setting: total[setting])
        out[study] = Choice(best, {m: of[study] for m, of in found[best].items() if study in of})
    return out


def average(own: dict[str, dict[str, float]], measure: str, without: str | None = None) -> float:
    """Mean over studies of one measure, all but one of them if that is said."""
    return float(np.mean([value for study, value in own[measure].items() if study != without]))


def _averages(own: dict[str, dict[str, float]]) -> list[str]:
    """Cells: Pearson, CCC, median and mean of the error gone, over studies."""
    gone = list(own["error"].values())
    shown = [signed_four(average(own, measure)) for measure in ("pearson", "ccc")]
    return [*shown, f"{share(np.median(gone))} ({share(np.mean(gone))})"]


def _figures(gains: Mapping[str, float | None]) -> list[str]:
    """The same cells of one study."""
    return [*(signed_four(gains.get(measure)) for measure in ("pearson", "ccc")), share(gains.get("error"))]


if __name__ == "__main__":
    # Workers look for their task in the module by its name, and __main__ is another module to them.
    from benchmarks.study_constants import main as by_name

    by_name(sys.argv[1:])
