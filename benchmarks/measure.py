"""How benchmarks measure: best of several runs, peak memory in a process of its own, ratios rather than seconds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def best_time(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of several runs; the others were disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def in_own_process(module: str, *arguments: object) -> dict[str, Any]:
    """Runs `python -m module arguments` and reads the JSON object it prints; for peak memory that is its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak_megabytes() -> float:
    """Most memory this process has held so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
