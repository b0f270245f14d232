"""How benchmarks measure: best of several runs, processor time, peak memory in a process of its own, ratios."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def best_time(work: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of several runs; the others were disturbed."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def best_cpu(work: Callable[[], object], repeats: int = 3) -> float:
    """Processor seconds of the run that took least of them."""
    return best_time(work, repeats, time.process_time)


class Cost(NamedTuple):
    """What one call costs; medians where it was made several times."""

    seconds: float
    cpu: float  # processor seconds of all threads
    megabytes: float  # most memory held beyond what was held before


def cost_of(calls: Sequence[Callable[[], object]], patience: float = 1.0, rounds: int = 5) -> Cost:
    """Cost of calls of one kind, made again for `patience` seconds at most; memory is that of the first one."""
    wall, cpu, before = [], [], reset_peak()
    memory = None
    begin = time.perf_counter()
    for _ in range(rounds):
        for call in calls:
            start, used = time.perf_counter(), time.process_time()
            call()
            wall.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
            memory = peak_megabytes() - before if memory is None else memory
        if time.perf_counter() - begin > patience:
            break
    return Cost(statistics.median(wall), statistics.median(cpu), max(memory or 0.0, 0.0))


def in_own_process(module: str, *arguments: object, timeout: float | None = None) -> dict[str, Any]:
    """Runs `python -m module arguments` and reads the JSON object it prints; for peak memory that is its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=timeout, env=os.environ | ONE_THREAD
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak_megabytes() -> float:
    """Most memory this process has held so far; where /proc is there, since it was reset."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def reset_peak() -> float:
    """Forgets the peak where the system can, and says what is held now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_megabytes()
