"""Ours beside other packages and published methods on the same data, in one run: time, memory, accuracy, growth.

    python -m benchmarks.peers [--quick] [--resume] [--page docs/benchmarks.md]        # or as part of `make bench`

Ratings of items from 10^3 to 10^7 (`peer_items`), traces from 350 to 45,000 frames (`peer_traces`). Every measurement
has a process of its own and one thread for linear algebra. Small loads are drawn several times, the same draws for
everybody. A method other than ours is skipped where its own growth says that it would take over 90 seconds of processor
time, or more than 6 GB. What is measured goes into bench-out/peers.csv at once, so that `--resume` continues an
interrupted run; the table and what follows from it into bench-out/peers.md and, with `--page`, into the documentation.
All of it takes about 20 minutes on cores that have nothing else to do.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import cost_of, in_own_process
from benchmarks.peer_page import write_page
from benchmarks.peer_rows import LOADS, OURS, Load, Row, read, write
from benchmarks.peer_table import growth, page

OUT = Path("bench-out")
LONGEST, GIGABYTES = 90.0, 6.0  # seconds and memory beyond which a method is skipped
PATIENCE = 600.0  # seconds for ours, and by the clock for whoever takes longer than expected
TELLING = 20.0  # megabytes below which memory says nothing about its growth


def run(quick: bool = False, resume: bool = False, into: Path | None = None) -> dict[str, Any]:
    """Measures, prints and writes the table, also `into` a page of the documentation; returns it flat, with growth
    exponents, for bench-out/results.json."""
    rows = read(OUT / "peers.csv") if resume else []
    done = {(row.load, row.method, row.size) for row in rows}
    OUT.mkdir(exist_ok=True)
    write(OUT / "peers.csv", rows)
    for name, load in LOADS.items():
        for size in load.quick if quick else load.sizes:
            for method in installed(load):
                if (name, method, size) in done:
                    continue
                before = [row for row in rows if (row.load, row.method) == (name, method)]
                rows.append(measured_or_skipped(name, method, size, before))
                write(OUT / "peers.csv", rows)
                print(f"  {name} {size:>10,} {method:<34} {shown(rows[-1])}", file=sys.stderr, flush=True)
    rows.sort(key=lambda row: (list(LOADS).index(row.load), row.size))
    write(OUT / "peers.csv", rows)
    text = page(rows)
    (OUT / "peers.md").write_text(text)
    print(text)
    if into is not None:
        write_page(rows, into)
    flat: dict[str, Any] = {
        f"{row.method}, {row.size:,} {LOADS[row.load].unit}": list(row[3:7]) if row.measured else row.note
        for row in rows
    }
    return flat | {f"{method}, {load}, growth exponent": value for (load, method), value in growth(rows).items()}


def installed(load: Load) -> list[str]:
    """Methods whose packages are there."""
    module = importlib.import_module(load.module)
    missing = tuple(name for name, package in module.NEEDS.items() if importlib.util.find_spec(package) is None)
    return [method for method in module.METHODS if not method.startswith(missing or ("\0",))]


def measured_or_skipped(load: str, method: str, size: int, before: list[Row]) -> Row:
    """The measurement, unless the ones before say that it would take too long or too much."""
    if before and not before[-1].measured:
        return Row(load, method, size, note=before[-1].note if "~" not in before[-1].note else _why(before, size))
    if before and (why := _why(before, size)):
        return Row(load, method, size, note=why)
    try:
        found = in_own_process("benchmarks.peers", "one", load, method, size, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return Row(load, method, size, note=f"stopped after {PATIENCE:.0f} s")
    except subprocess.CalledProcessError as error:
        return Row(load, method, size, note=f"failed: {(error.stderr or 'killed').strip().splitlines()[-1][:80]}")
    return Row(load, method, size, **found)


def _why(before: list[Row], size: int) -> str:
    """Why this size is skipped, or nothing; from the two largest sizes measured, never less than linear growth."""
    known = [row for row in before if row.measured]
    if not known:
        return before[-1].note
    cpu, memory = _expected(known, size, "cpu", 0.0), _expected(known, size, "megabytes", TELLING)
    if cpu > (PATIENCE if before[-1].method == OURS else LONGEST):
        return f"skipped: would take ~{lasting(cpu)}"
    return f"skipped: would need ~{memory / 1024:,.0f} GB" if memory > 1024 * GIGABYTES else ""


def lasting(seconds: float) -> str:
    """Seconds in the unit that people would use."""
    for unit, size in (("years", 365.25 * 86_400), ("days", 86_400), ("hours", 3_600)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"


def _expected(known: list[Row], size: int, what: str, telling: float) -> float:
    """By growth from the last two sizes; figures below `telling` say nothing about growth."""
    last = known[-1]
    exponent = 1.0
    if len(known) > 1 and getattr(known[-2], what) > telling:
        grown = getattr(last, what) / getattr(known[-2], what)
        exponent = max(float(np.log(grown) / np.log(last.size / known[-2].size)), 1.0)
    return float(getattr(last, what) * (size / last.size) ** exponent)


def measure(load: str, method: str, size: int) -> dict[str, float]:
    """What the process of one measurement finds; memory counts from before the method begins."""
    warnings.simplefilter("ignore")
    case = LOADS[load]
    module = importlib.import_module(case.module)
    work, found = module.METHODS[method], {}
    draws = [module.load(size, seed) for seed in range(case.draws.get(size, 1))]
    work(module.load(case.sizes[0])[1])  # imports and first calls are not what is compared

    def call(seed: int) -> None:
        found[seed] = work(draws[seed][1])

    cost = cost_of([lambda seed=seed: call(seed) for seed in range(len(draws))])  # type: ignore[misc]
    fits = [
        np.corrcoef(found[seed][:, d], truth[:, d])[0, 1]
        for seed, (truth, _) in enumerate(draws)
        for d in range(truth.shape[1])
    ]
    return {**cost._asdict(), "pearson": float(np.mean(fits))}


def shown(row: Row) -> str:
    return f"{row.cpu:.3g} s, {row.megabytes:.0f} MB, r {row.pearson:.4f}" if row.measured else row.note


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        options = argparse.ArgumentParser(description="Ours beside its peers: time, memory, accuracy.")
        options.add_argument("--quick", action="store_true", help="small sizes alone, about three minutes")
        options.add_argument("--resume", action="store_true", help="keep what bench-out/peers.csv has already")
        options.add_argument("--page", type=Path, help="write tables and sentences into this page, docs/benchmarks.md")
        options.add_argument("--from", dest="table", type=Path, help="measure nothing: write the page from this table")
        given = options.parse_args()
        if given.table is not None and given.page is not None:
            write_page(read(given.table), given.page)
        else:
            run(given.quick, given.resume, given.page)
