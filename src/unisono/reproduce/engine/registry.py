"""Experiments by name, in the order of the paper."""

from __future__ import annotations

import importlib

from unisono.data.labels import nearest
from unisono.reproduce.engine.experiment import Experiment

EXPERIMENTS = (
    "correlations",
    "items-synthetic",
    "items-artificial",
    "items-real",
    "series-synthetic",
    "series-artificial",
    "series-real",
    "dependency",
)
ALL = "all"
EARLIER = {f"global-{data}": f"items-{data}" for data in ("synthetic", "artificial", "real")}  # names once in use


def find_experiments(name: str) -> list[Experiment]:
    """One experiment, or all of them."""
    known = known_name(name)
    return [_load(each) for each in (EXPERIMENTS if known == ALL else (known,))]


def known_name(name: str) -> str:
    """The name as it is today; ValueError with the nearest name if there is no such experiment."""
    today = EARLIER.get(name, name)
    if today not in (*EXPERIMENTS, ALL):
        close = nearest(name, [*EXPERIMENTS, ALL])
        hint = f" Did you mean '{close}'?" if close else ""
        raise ValueError(f"There is no experiment '{name}'.{hint} Experiments: {', '.join(EXPERIMENTS)}; or all.")
    return today


def _load(name: str) -> Experiment:
    module = importlib.import_module(f"unisono.reproduce.experiments.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found
