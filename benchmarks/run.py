"""Runs the benchmarks and prints what they found: `make bench`, or `python -m benchmarks.run NAME ...`.

Figures are ratios within one run wherever possible, because machines differ and are noisy. All of them go into
bench-out/results.json as well, and those of `PAGED` into docs/benchmarks.md: ours beside a group-by mean and beside
other packages (sureal, crowd-kit, statsmodels and more) with peak memory, and growth.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

BENCHMARKS = {
    "help": "benchmarks.help_time",
    "million": "benchmarks.million",
    "growth": "benchmarks.growth",
    "items": "benchmarks.items_model",
    "peers": "benchmarks.peers",
    "series": "benchmarks.series",
    "traces": "benchmarks.traces",
    "comparisons": "benchmarks.comparisons",
    "agreement": "benchmarks.agreement",
    "report": "benchmarks.report",
    "collect": "benchmarks.collect_load",
}
PAGED = ("million", "growth", "peers")  # their tables are written into the page
PAGE = Path("docs/benchmarks.md")


def main(names: list[str]) -> None:
    found = {}
    for name in names or list(BENCHMARKS):
        print(f"{name} ({BENCHMARKS[name]})", flush=True)
        benchmark = importlib.import_module(BENCHMARKS[name])
        found[name] = benchmark.run(into=PAGE) if name in PAGED else benchmark.run()
        for key, value in found[name].items():
            print(f"  {key:<48} {_shown(value)}", flush=True)
    out = Path("bench-out")
    out.mkdir(exist_ok=True)
    (out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"written to {out / 'results.json'}")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_shown(entry) for entry in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
