"""Functions that workers of the engines' tests run: importable, so that other processes find them."""

import os
import resource
import signal
from pathlib import Path

import numpy as np


def numbers(seed: int, size: int, log: str | None = None) -> np.ndarray:
    """A shard of numbers; `log` gets a line for every time that it is made."""
    if log is not None:
        with Path(log).open("a") as file:
            file.write(f"{seed} {os.getpid()}\n")
    return np.random.default_rng(seed).normal(size=size)


def moved_sum(shard: np.ndarray, by: float) -> float:
    return float((shard + by).sum())


def process_of(shard: np.ndarray) -> int:
    return os.getpid()


def sum_once_the_worker_died(shard: np.ndarray, marker: str) -> float:
    """Kills its own process, the first time that anybody runs it."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return float(shard.sum())
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def weighted(factor: float, name: str, values: np.ndarray) -> tuple[str, float]:
    return name, float(factor * values.sum())


def always_dies(shard: np.ndarray) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def complains(shard: np.ndarray) -> None:
    raise ValueError("part of the ratings is wrong")


def memory_limit(shard: np.ndarray) -> float:
    """From where on joblib takes a process for a leaking one."""
    from joblib.externals.loky import process_executor

    return float(process_executor._MAX_MEMORY_LEAK_SIZE)


def new_pages(shard: float) -> int:
    """Pages that the system had to give while a process filled the same eight arrays over and over."""
    _fill(2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    _fill(5)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def _fill(times: int) -> None:
    for _ in range(times):
        held = [np.ones(1 << 20) for _ in range(8)]
        del held
