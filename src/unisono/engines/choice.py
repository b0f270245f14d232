"""An executor by its name."""

from __future__ import annotations

import os

from unisono.engines.protocol import Executor
from unisono.errors import SettingsError
from unisono.words import ENGINE_WORDS, require_word


def open_engine(name: str = "serial", workers: int | None = None, scheduler: str | None = None) -> Executor:
    """An executor, to be closed when done.

    workers: processes at work; by default one per core, on an existing cluster all there are. scheduler: the address of
    an existing cluster, of Dask or Ray; without it they run on this machine.
    """
    require_word("engine", name, ENGINE_WORDS)
    if scheduler is not None and name not in ("dask", "ray"):
        raise SettingsError(
            f"The engine '{name}' runs on this machine and has no scheduler; 'dask' and 'ray' have one."
        )
    if workers is not None and workers < 1:
        raise SettingsError(f"workers={workers}: give the number of processes, at least 1.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if name == "serial":
        if workers not in (None, 1):
            raise SettingsError(f"The engine 'serial' has one worker, not {workers}; 'processes' has several.")
        from unisono.engines.serial import SerialExecutor

        return SerialExecutor()
    if name == "processes":
        from unisono.engines.processes import ProcessExecutor

        return ProcessExecutor(workers or cores)
    if name == "dask":
        from unisono.engines.dask import DaskExecutor

        return DaskExecutor(workers if workers or scheduler else cores, scheduler)
    from unisono.engines.ray import RayExecutor

    return RayExecutor(workers if workers or scheduler else cores, scheduler)
