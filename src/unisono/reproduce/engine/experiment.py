"""What an experiment is: units of work with their seeds, and a chapter that reports what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unisono.reproduce.engine.claims import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = dict[str, Any]  # plain values for JSON


class Settings(NamedTuple):
    """What the reader asked for."""

    quick: bool = False
    data: Mapping[str, Path] = {}  # experiment -> folder with tables of the reader's own
    seed: int = 0


class Unit(NamedTuple):
    """A piece of work that is done once and kept: `work(**settings)`, a pure function of its settings."""

    key: str  # unique within its experiment, fit for a file name
    work: Callable[..., Numbers]
    settings: Numbers  # plain values, the seed among them: they decide the result


class Picture(NamedTuple):
    """A figure: where it goes, what it shows, and how to draw it."""

    name: str
    caption: str
    draw: Callable[[], Figure]


class Table(NamedTuple):
    """Numbers for people; the first column names the rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Chapter(NamedTuple):
    """The report of an experiment: what was done, tables, pictures, and the paper's claims judged."""

    lead: tuple[str, ...]  # paragraphs
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    claims: tuple[Claim, ...]
    summary: Numbers  # the numbers that tables, pictures and claims rest on


class Experiment(NamedTuple):
    """One experiment of the paper."""

    name: str
    title: str
    section: str  # of the paper
    units: Callable[[Settings], list[Unit]]
    report: Callable[[Settings, Mapping[str, Numbers]], Chapter]  # from the results by key
