"""The whole default on ratings larger than is comfortable, from Parquet to files, on every engine; truths compared.

    python -m benchmarks.large [--judgements 10_000_000] [--engines processes,dask,ray] [--folder bench-out/large]

Items have five judgements each, annotators 500, on three dimensions with whole numbers from 1 to 7; 10^7 judgements are
2 x 10^6 items by 20,000 annotators. `unisono shard` once, then `unisono fuse` on each engine with two workers. The
processes of a command are found by a mark in their environment, daemons of a cluster too, and looked at every fifth of
a second: processor seconds, and the most memory of the driver and of any one of the others. What is found goes into
bench-out/large.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import ONE_THREAD

PER_ITEM, PER_ANNOTATOR = 5, 500
DIMENSIONS = ("calm", "warm", "clear")
MARK = "UNISONO_BENCHMARK"
PAUSE = 0.2  # seconds between two looks
CLOSE = 1e-8  # how far truths of two engines may differ


def make_ratings(path: Path, judgements: int, seed: int = 0) -> None:
    """One row per judgement, in the order of items; written stretch by stretch."""
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    M, K, D = judgements // PER_ITEM, judgements // PER_ANNOTATOR, len(DIMENSIONS)
    gain, bias = 1 + 0.2 * rng.normal(size=(K, D)), 0.4 * rng.normal(size=(K, D))
    noise = 0.7 * np.exp(0.3 * rng.normal(size=K))
    gain[rng.random(K) < 0.05] = 0.0
    out = None
    for start in range(0, M, 200_000):
        m = min(200_000, M - start)
        truth = rng.normal(size=(m, D))
        who = (np.sort(rng.integers(0, K - PER_ITEM + 1, size=(m, PER_ITEM)), axis=1) + np.arange(PER_ITEM)).ravel()
        item = np.repeat(np.arange(m), PER_ITEM)
        y = truth[item] * gain[who] + bias[who] + noise[who, None] * rng.normal(size=(len(who), D))
        y = np.clip(np.round(1.2 * y + 4), 1, 7).astype(np.int8)
        named = [
            pl.format("item{}", pl.Series(item + start)).alias("item"),
            pl.format("a{}", pl.Series(who)).alias("annotator"),
            *(pl.Series(name, y[:, d]) for d, name in enumerate(DIMENSIONS)),
        ]
        table = pl.select(*named).to_arrow()
        out = out or pq.ParquetWriter(path, table.schema)
        out.write_table(table)
    assert out is not None
    out.close()


def watched(said: Path, *words: object) -> dict[str, Any]:
    """Runs `unisono words`, with what it says in a file, and watches its processes."""
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", "unisono", *map(str, words)]
    peak: dict[int, float] = {}
    cpu: dict[int, float] = {}
    start = time.perf_counter()
    with said.open("w") as log:
        process = subprocess.Popen(command, env=os.environ | ONE_THREAD | {MARK: mark}, stdout=log, stderr=log)
        while process.poll() is None:
            for pid in marked(mark):
                memory, used = looked(pid)
                peak[pid], cpu[pid] = max(peak.get(pid, 0.0), memory), max(cpu.get(pid, 0.0), used)
            time.sleep(PAUSE)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said.read_text()}")
    others = [memory for pid, memory in peak.items() if pid != process.pid]
    return {
        "seconds": seconds,
        "cpu": sum(cpu.values()),
        "driver_megabytes": peak[process.pid],
        "largest_worker_megabytes": max(others, default=0.0),
        "processes": len(peak),
    }


def marked(mark: str) -> list[int]:
    """Processes that carry the mark in their environment."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


def looked(pid: int) -> tuple[float, float]:
    """Peak megabytes and processor seconds of a process so far; zero when it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        peak = float(next((line.split()[1] for line in lines if line.startswith("VmHWM")), 0)) / 1024
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0, 0.0
    return peak, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def difference(one: Path, other: Path) -> float:
    """Largest difference between two truths, part by part and item by item."""
    parts = sorted((one / "truth").glob("part-*.parquet"))
    if not parts:
        raise RuntimeError(f"There are no truths in {one}.")
    return max(_difference(part, other / "truth" / part.name) for part in parts)


def _difference(one: Path, other: Path) -> float:
    a, b = pl.read_parquet(one), pl.read_parquet(other)
    if a.shape != b.shape or not a["item"].equals(b["item"]):
        raise RuntimeError(f"{one} and {other} have not the same items.")
    numbers = [name for name, kind in a.schema.items() if kind.is_float()]
    return float(a.select((pl.col(name) - b[name]).abs().max() for name in numbers).max_horizontal().item())


def run(judgements: int, engines: str, folder: str, workers: int) -> dict[str, Any]:
    """Shards once, then every engine on them; differences are from the truths of the first one."""
    room = Path(folder)
    room.mkdir(parents=True, exist_ok=True)
    ratings, shards = room / f"ratings-{judgements}.parquet", room / f"shards-{judgements}"
    if not ratings.exists():
        make_ratings(ratings, judgements)
    shutil.rmtree(shards, ignore_errors=True)
    found: dict[str, Any] = {
        "judgements": judgements,
        "shard": watched(room / "shard.log", "shard", ratings, "-o", shards),
    }
    print(f"{'shard':<10} {json.dumps(found['shard'])}", flush=True)
    names = engines.split(",")
    for engine in names:
        out = room / engine
        shutil.rmtree(out, ignore_errors=True)
        on = ["--engine", engine] + (["--workers", workers] if engine != "serial" else [])
        found[engine] = watched(room / f"{engine}.log", "fuse", shards, *on, "--out", out)
        if engine != names[0]:
            found[engine]["difference"] = difference(room / names[0], out)
            found[engine]["same"] = found[engine]["difference"] <= CLOSE
        print(f"{engine:<10} {json.dumps(found[engine])}", flush=True)
        Path("bench-out/large.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="The whole default on every engine, from Parquet to files.")
    options.add_argument("--judgements", type=int, default=10_000_000)
    options.add_argument("--engines", default="processes,dask,ray")
    options.add_argument("--folder", default="bench-out/large")
    options.add_argument("--workers", type=int, default=2)
    run(**vars(options.parse_args()))
