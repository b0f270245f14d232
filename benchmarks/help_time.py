"""How long `unisono --help` takes from a cold start, against an empty Python process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import best_time


def run() -> dict[str, float]:
    unisono = Path(sys.executable).with_name("unisono")
    ours = best_time(lambda: subprocess.run([unisono, "--help"], capture_output=True, check=True), repeats=5)
    bare = best_time(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), repeats=5)
    return {"help_s": ours, "help_over_bare_python_ratio": ours / bare}
