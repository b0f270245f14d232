"""The whole default for traces at the length of films: time, memory, growth, and what a second worker brings.

Processor seconds, because machines are shared. With workers, what counts is the longest path: the seconds of this
process and those of the busiest worker, which is what the clock shows where every process has a core to itself.
`python -m benchmarks.traces RECORDINGS FRAMES WORKERS` measures one load, in a process of its own; WORKERS 0: none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.measure import in_own_process, peak_megabytes
from unisono.api import Fusion, fuse
from unisono.paper.simulation import simulate_series
from unisono.scale.executors import Executor, open_engine
from unisono.tables.ratings import Ratings

RECORDINGS, FRAMES = 12, 45_000
LESS = 4  # times fewer recordings, or frames, for the exponents


def run() -> dict[str, Any]:
    """12 films of 45,000 frames by 6 annotators on 2 dimensions."""
    whole, fewer, shorter, two = (
        in_own_process("benchmarks.traces", *load)
        for load in (
            (RECORDINGS, FRAMES, 0),
            (RECORDINGS // LESS, FRAMES, 0),
            (RECORDINGS, FRAMES // LESS, 0),
            (RECORDINGS, FRAMES, 2),
        )
    )
    return {
        "films_cpu_s": whole["cpu"],
        "films_mb": whole["mb"],
        # If seconds are a constant and a share of the load, what two loads say of the constant.
        "whatever_the_recordings_cpu_s": (LESS * fewer["cpu"] - whole["cpu"]) / (LESS - 1),
        "whatever_the_frames_cpu_s": (LESS * shorter["cpu"] - whole["cpu"]) / (LESS - 1),
        "exponent_of_recordings": float(np.log(whole["cpu"] / fewer["cpu"]) / np.log(LESS)),
        "exponent_of_frames": float(np.log(whole["cpu"] / shorter["cpu"]) / np.log(LESS)),
        "two_workers_driver_cpu_s": two["cpu"],
        "two_workers_busiest_cpu_s": two["busiest"],
        "two_workers_speedup_ratio": whole["cpu"] / (two["cpu"] + two["busiest"]),
        "two_workers_wall_over_one_ratio": whole["wall"] / two["wall"],
        "two_workers_driver_mb": two["mb"],
        "same_bits": float(whole["digest"] == two["digest"]),
    }


def one(recordings: int, frames: int, workers: int) -> dict[str, Any]:
    """Fuses and describes one load."""
    ratings = films(recordings, frames)
    first = films(2, 9_000)  # what is loaded on the way does not count
    if not workers:
        fuse(first)
        cpu, wall = time.process_time(), time.perf_counter()
        found = fuse(ratings)
        assert isinstance(found, Fusion)
        digest = digest_of(found)
        return measured(cpu, wall, 0.0, digest)
    with open_engine("processes", workers) as executor:
        fuse(first, executor=executor)
        before = seconds_of_workers(executor, workers)
        cpu, wall = time.process_time(), time.perf_counter()
        found = fuse(ratings, executor=executor)
        assert isinstance(found, Fusion)
        digest = digest_of(found)
        out = measured(cpu, wall, 0.0, digest)
        after = seconds_of_workers(executor, workers)
    return out | {"busiest": max(after[pid] - before[pid] for pid in after)}


def films(recordings: int, frames: int) -> Ratings:
    """Traces of films at 25 frames per second: the first of them, and their first frames, by the same annotators."""
    whole = simulate_series(
        recordings=RECORDINGS, frames=FRAMES, features=0, realistic=True, rate=25.0, window=50, autocorrelation=0.95
    ).ratings
    some = whole.select_items(whole.items[:recordings])
    value = some.value.reshape(some.J, FRAMES, some.D)[:, :frames].reshape(-1, some.D)
    return replace(some, value=value, length=np.full(some.M, frames))


def measured(cpu: float, wall: float, busiest: float, digest: str) -> dict[str, Any]:
    """What it took since then."""
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return {**seconds, "busiest": busiest, "mb": peak_megabytes(), "digest": digest}


def digest_of(found: Fusion) -> str:
    """Of everything that came out, to the last bit."""
    digest = hashlib.sha256()
    for values in (found.fused.mean, found.fused.cov, found.described.gain, found.described.agreement):
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:16]


def seconds_of_workers(executor: Executor, workers: int) -> dict[int, float]:
    """Processor seconds of every worker so far."""
    return dict(executor.map(spent, executor.keep(list(range(workers)), float)))


def spent(piece: float) -> tuple[int, float]:
    return os.getpid(), time.process_time()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Workers find functions under the module's own name, not under __main__.
        from benchmarks.traces import one as measure_one

        print(json.dumps(measure_one(*map(int, sys.argv[1:]))))
