"""What a fit costs, as a model fitted to measurements, and what it says of loads that no machine here has seen.

    python -m benchmarks.peers && python -m benchmarks.large && python -m benchmarks.cost_model

Costs of an iteration and of a round of the diagnosis are measured on a grid of judgements, dimensions and annotators
and fitted by what the algorithms do: operations, bytes and work per annotator (non-negative least squares, relative
errors). The whole default is fitted to bench-out/peers.csv and, on shards, to bench-out/large.json where it is there.
What travels is counted by a model of the tree of sums, and held to the bytes that a simulated cluster sends, with as
many shards as a run of 10^9 or 10^11 judgements has. docs/scale.md has what came of it; prices are list prices of
memory and to be checked before relying on them.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from benchmarks.measure import best_cpu
from benchmarks.peer_rows import OURS, Row, read
from unisono.fusers.standardisation import identity_scaling, learn_space
from unisono.maths.items.item_params import ItemParams
from unisono.scale.executors import FAN, SerialExecutor, Task, added, leaf_size, packed, visit_neighbours
from unisono.scale.shard_em import e_step
from unisono.scale.shard_parts import ItemShard, Part, Units, in_units
from unisono.scale.shard_sums import joined_stats

PER_ITEM = 5
GRID = [(J, D, K) for D in (1, 2, 3, 5) for J, K in ((50_000, 500), (200_000, 500), (200_000, 4_000))]
ITERATIONS, ROUNDS = 10, 6  # of a fit and of its diagnosis, as seen on the loads of docs/scale.md
PARALLEL = 0.8  # share of the cores that is busy while shards are worked on
NETWORK = 1.25e9  # bytes a second into the driver: 10 Gbit/s
OF_LARGE, OF_ANNOTATOR = 20_000, (9e-9, 3e-9)  # annotators of `large`; seconds per (D + 1)^3, as `steps` finds them
RESIDENT = {3: 120.0}  # bytes per judgement that workers hold: answers, codes, truths of two steps, precisions
CLUSTERS = (("10^9", 1e9, 20_000, 1), ("10^9", 1e9, 20_000, 8), ("10^11", 1e11, 200_000, 128))
RATE, ANNOTATORS, DIMENSIONS = 25.0, 6, 2  # of the traces that are extrapolated


class Machine(NamedTuple):
    name: str
    cores: int  # physical; half of what is sold as virtual processors
    gigabytes: int
    dollars: float  # list price of an hour


MACHINES = (Machine("AWS m7i.4xlarge", 8, 64, 0.81), Machine("AWS c7i.16xlarge", 32, 128, 2.86))


def operations(D: int) -> float:
    """Multiplications and additions per judgement in an iteration; its share of the item's inverse included."""
    information = D**2 + 2 * D**2 + D
    statistics = (D + 1) ** 2 + 2 * D * (D + 1)
    return information + statistics + (2 * D**3 + 4 * D**2) / PER_ITEM


def bytes_touched(D: int) -> float:
    """Per judgement in an iteration: its answers and codes, what its profile says, what it adds to the sums."""
    return 12 * (D + 1) + 8 * (2 * D**2 + D) + 16 * ((D + 1) ** 2 + D * (D + 1))


def round_operations(D: int) -> float:
    """Per judgement in a round of the diagnosis: a system of its own, and sums of products with the others' truth."""
    return D**2 + 2 * D**2 + D + (D**3 / 3 + 3 * D**2) + 2 * D * (D + 2)


def sent_down(K: int, D: int) -> float:
    """Bytes of parameters that a worker gets in an iteration."""
    return 8.0 * K * (D * (D + 1) + D**2 + D * (D + 1) ** 2)


def sent_up(K: int, D: int) -> float:
    """Bytes of sums that go up one edge of the tree in an iteration, whatever the number of judgements below it."""
    return K * (8.0 * ((D + 1) ** 2 + D * (D + 1) + D**2) + 5)


def sent_up_by_round(K: int, D: int) -> float:
    """The same of a round of the diagnosis."""
    return 8.0 * K * (D**3 + 2 * D**2 + 3 * D)


def steps() -> list[dict[str, float]]:
    """Processor seconds of an iteration's E-step and of a round on the grid."""
    from unisono.maths.items.item_data import no_features, prepare
    from unisono.maths.items.item_estep import expectation, left_out_means
    from unisono.maths.raters.rater_signal import centred_sums

    found = []
    for J, D, K in GRID:
        rng = np.random.default_rng(0)
        y, k = rng.normal(size=(J, D)), rng.integers(0, K, J)
        data = prepare(y, np.repeat(np.arange(J // PER_ITEM), PER_ITEM), k, no_features(J // PER_ITEM), K)
        B = 0.2 * rng.normal(size=(K, D, D + 1)) + np.eye(D, D + 1)
        cov = np.tile(0.01 * np.eye(D + 1), (K, D, 1, 1))
        params = ItemParams(B, np.tile(0.5 * np.eye(D), (K, 1, 1)), np.zeros((0, D)), np.zeros(D), np.eye(D), cov)
        found.append(
            {
                "J": J,
                "D": D,
                "K": K,
                "iteration": best_cpu(lambda d=data, p=params: expectation(d, p)),  # type: ignore[misc]
                "round": best_cpu(
                    lambda d=data, p=params, a=k, n=K: centred_sums(d.y, left_out_means(d, p), a, n)  # type: ignore[misc]
                ),
            }
        )
    return found


def fitted(columns: np.ndarray, seconds: np.ndarray) -> tuple[np.ndarray, float]:
    """Non-negative coefficients of the columns (n, c) by relative errors, and the typical relative error."""
    found, _ = nnls(columns / seconds[:, None], np.ones(len(seconds)))
    return found, float(np.sqrt(np.mean((columns @ found / seconds - 1) ** 2)))


def step_model(measured: list[dict[str, float]]) -> dict[str, Any]:
    """Nanoseconds per operation, byte and annotator's number."""
    J, D, K = (np.array([row[name] for row in measured]) for name in ("J", "D", "K"))
    iteration = np.stack([J * operations(D), J * bytes_touched(D), K * (D + 1.0) ** 3, np.ones(len(J))], axis=1)  # type: ignore[arg-type]
    rounds = np.stack([J * round_operations(D), J, K * (D + 1.0) ** 3, np.ones(len(J))], axis=1)  # type: ignore[arg-type]
    out = {}
    for name, columns in (("iteration", iteration), ("round", rounds)):
        found, error = fitted(columns, np.array([row[name] for row in measured]))
        names = ("operation", "byte" if name == "iteration" else "judgement", "annotator's number", "step")
        out[name] = {f"ns per {what}": 1e9 * value for what, value in zip(names, found, strict=True)} | {"error": error}
    return out


def whole_model(rows: list[Row], load: str) -> dict[str, float]:
    """Fixed seconds and seconds per rating or frame of the whole default in memory, from the table of peers."""
    own = [row for row in rows if (row.load, row.method) == (load, OURS) and row.measured]
    size, cpu, memory = (np.array([getattr(row, name) for row in own]) for name in ("size", "cpu", "megabytes"))
    (fixed, each), error = fitted(np.stack([np.ones(len(size)), size], axis=1), cpu)
    return {"fixed": fixed, "each": each, "error": error, "bytes_each": 2**20 * float(memory[-1] / size[-1])}


def adding_rate() -> float:
    """Bytes of sums that one core adds up in a second."""
    total, part = np.zeros(2_000_000), np.ones(2_000_000)
    return part.nbytes / best_cpu(lambda: np.add(total, part, out=total), 5)


def edges(shards: int, workers: int) -> list[int]:
    """Sums that are sent at each level of the tree, the leaves first; the last one goes to the driver."""
    found = [-(-shards // leaf_size(shards, workers))]
    while found[-1] > 1:
        found.append(-(-found[-1] // FAN))
    return found


def travel_seconds(shards: int, machines: int, cores: int, sent: float, told: float) -> float:
    """What the network takes in an iteration: parameters to every machine, sums up the tree.

    Parameters are passed on from machine to machine, so that twice as many take one step more. Sums of one level are
    sent by all machines at once, and no machine receives less than the parts of one sum.
    """
    levels = edges(shards, machines * cores)
    up = sum(max(count / machines, min(count, FAN)) for count in levels) * sent
    return (up + math.ceil(math.log2(machines + 1)) * told) / NETWORK


def extrapolated(
    each: float, adding: float, J: float = 1e9, K: int = 20_000, D: int = 3, machines: int = 1
) -> dict[str, Any]:
    """The whole default on shards of a million judgements: processor hours, what travels, hours and dollars."""
    shards = round(J / 1e6)
    more = shards * (K - OF_LARGE) * (D + 1) ** 3 * (ITERATIONS * OF_ANNOTATOR[0] + ROUNDS * OF_ANNOTATOR[1])
    work = each * J + max(more, 0.0)  # every shard makes everybody's matrices
    out: dict[str, Any] = {"core_hours": work / 3600, "machines": machines}
    for machine in MACHINES:
        cores, levels = machine.cores * machines, edges(shards, machine.cores * machines)
        added = sum(levels[:-1]) / cores + FAN * len(levels)  # sums that the busiest worker adds
        seconds = 0.0
        for times, sent in ((ITERATIONS, sent_up(K, D)), (ROUNDS, sent_up_by_round(K, D))):
            network = travel_seconds(shards, machines, machine.cores, sent, sent_down(K, D)) if machines > 1 else 0.0
            seconds += times * (network + added * sent / adding)
        hours = (work / (cores * PARALLEL) + seconds) / 3600
        out[machine.name] = {
            "hours": hours,
            "dollars": machines * hours * machine.dollars,
            "travelling_share": seconds / 3600 / hours,
            "gigabytes_each": 1e-9 * J * RESIDENT[D] / machines,
            "driver_megabytes": ITERATIONS * 1e-6 * sent_up(K, D),
        }
    return out


class SimulatedCluster(SerialExecutor):
    """So many workers, all of them this process, which notes the bytes that would travel at each level of the tree."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.sent: list[list[int]] = []

    def total(self, function: Any, shards: Any, *parameters: Any, add: Any) -> Any:
        """The sum as a cluster finds it."""
        size = leaf_size(len(shards), self.workers)
        groups = (shards[start : start + size] for start in range(0, len(shards), size))
        parts = [visit_neighbours(group, function, parameters, add) for group in groups]
        self.sent = []
        while True:
            self.sent.append([len(packed(part)) for part in parts])
            if len(parts) == 1:
                return parts[0]
            parts = [added(add, *parts[start : start + FAN]) for start in range(0, len(parts), FAN)]


def simulated(shards: int, workers: int, K: int = 100, D: int = 3, judgements: int = 400) -> dict[str, Any]:
    """One iteration with that many small shards: bytes that travelled, by level, beside those of the model."""
    units = Units(identity_scaling(D), None, learn_space(None, (), intercept=True, standardise=True)[0], 0.0)
    cluster = SimulatedCluster(workers)
    held = cluster.load([Task(_small_shard, (seed, K, D, judgements, units)) for seed in range(shards)])
    B, cov = np.tile(np.eye(D, D + 1), (K, 1, 1)), np.tile(0.01 * np.eye(D + 1), (K, D, 1, 1))
    params = ItemParams(B, np.tile(0.5 * np.eye(D), (K, 1, 1)), np.zeros((0, D)), np.zeros(D), np.eye(D), cov)
    start = time.process_time()
    found = cluster.total(e_step, held, "simulated", 0, params, None, False, add=joined_stats)
    seconds = time.process_time() - start
    cluster.forget(held)
    bytes_, counts = [sum(level) for level in cluster.sent], [len(level) for level in cluster.sent]
    model = [count * sent_up(K, D) for count in edges(shards, workers)]
    return {
        "shards": shards,
        "sums": counts,
        "bytes": bytes_,
        "of the model": [round(real / own, 3) for real, own in zip(bytes_, model, strict=True)],
        "to the driver": bytes_[-1],
        "without the tree": shards * bytes_[-1],
        "judgements": float(found.stats.Saa[:, -1, -1].sum()),
        "cpu": seconds,
    }


def _small_shard(seed: int, K: int, D: int, judgements: int, units: Units) -> ItemShard:
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(judgements // PER_ITEM), PER_ITEM).astype(np.int32)
    who = rng.integers(0, K, len(item)).astype(np.int32)
    who[:K] = np.arange(K)  # everybody, as in a shard of a million
    return in_units(Part(rng.normal(size=(len(item), D)), item, who, int(item[-1]) + 1, K, seed), units)


def extrapolated_traces(each: float, hours_of_film: float = 10_000) -> dict[str, Any]:
    frames = hours_of_film * 3600 * RATE
    out: dict[str, Any] = {"frames": frames, "core_hours": each * frames / 3600}
    for machine in MACHINES:
        hours = each * frames / 3600 / (machine.cores * PARALLEL)
        out[machine.name] = {"hours": hours, "dollars": hours * machine.dollars}
    return out


def run() -> dict[str, Any]:
    """Everything, also in bench-out/cost_model.json."""
    rows = read(Path("bench-out/peers.csv"))
    found: dict[str, Any] = {"steps": step_model(steps()), "adding_bytes_per_second": adding_rate()}
    found["items in memory"] = whole_model(rows, "items")
    found["traces in memory"] = whole_model(rows, "traces")
    each = found["items in memory"]["each"] * 3 / 2  # measured on two dimensions, asked for three
    large = Path("bench-out/large.json")
    if large.exists():
        seen = json.loads(large.read_text())
        each = (seen["shard"]["cpu"] + seen["processes"]["cpu"]) / seen["judgements"]
        found["items on shards"] = {"each": each}
    for name, J, K, machines in CLUSTERS:
        how: dict[str, Any] = {"J": J, "K": K, "machines": machines}
        found[f"{name} ratings, {machines} machines"] = extrapolated(each, found["adding_bytes_per_second"], **how)
    found["simulated"] = [simulated(1_000, 256), simulated(100_000, 4096, K=50, judgements=100)]
    found["10,000 hours of traces"] = extrapolated_traces(found["traces in memory"]["each"])
    Path("bench-out/cost_model.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
