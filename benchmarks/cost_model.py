"""What a fit costs, as a model fitted to measurements, and what it says of loads that no machine here has seen.

    python -m benchmarks.peers && python -m benchmarks.large && python -m benchmarks.cost_model

Costs of an iteration and of a round of the diagnosis are measured on a grid of judgements, dimensions and annotators
and fitted by what the algorithms do: operations, bytes and work per annotator (non-negative least squares, relative
errors). The whole default is fitted to bench-out/peers.csv and, on shards, to bench-out/large.json where it is there.
docs/scale.md has what came of it; prices are list prices of memory and to be checked before relying on them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from benchmarks.measure import best_cpu
from benchmarks.peer_rows import OURS, Row, read

PER_ITEM = 5
GRID = [(J, D, K) for D in (1, 2, 3, 5) for J, K in ((50_000, 500), (200_000, 500), (200_000, 4_000))]
ITERATIONS, ROUNDS = 10, 6  # of a fit and of its diagnosis, as seen on the loads of docs/scale.md
PARALLEL = 0.8  # share of the cores that is busy while shards are worked on
NETWORK = 1.25e9  # bytes a second into the driver: 10 Gbit/s
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
    """Bytes of sums that a shard returns in an iteration."""
    return 8.0 * K * ((D + 1) ** 2 + D * (D + 1))


def sent_up_by_round(K: int, D: int) -> float:
    """The same of a round of the diagnosis."""
    return 8.0 * K * (D**3 + 2 * D**2 + 3 * D)


def steps() -> list[dict[str, float]]:
    """Processor seconds of an iteration's E-step and of a round on the grid."""
    from unisono.maths.items.item_data import no_features, prepare
    from unisono.maths.items.item_estep import expectation, left_out_means
    from unisono.maths.items.item_params import ItemParams
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


def extrapolated(each: float, adding: float, J: float = 1e9, K: int = 20_000, D: int = 3) -> dict[str, Any]:
    """The whole default on shards of a million judgements: processor hours, what travels, hours and dollars."""
    shards = J / 1e6
    up = shards * (ITERATIONS * sent_up(K, D) + ROUNDS * sent_up_by_round(K, D))
    driver = up / adding + up / NETWORK
    out: dict[str, Any] = {"core_hours": each * J / 3600, "sums_gigabytes": up / 1e9, "driver_hours": driver / 3600}
    for machine in MACHINES:
        hours = each * J / 3600 / (machine.cores * PARALLEL) + up / adding / 3600
        out[machine.name] = {"hours": hours, "dollars": hours * machine.dollars}
    return out


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
    found["10^9 ratings"] = extrapolated(each, found["adding_bytes_per_second"])
    found["10,000 hours of traces"] = extrapolated_traces(found["traces in memory"]["each"])
    Path("bench-out/cost_model.json").write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
