"""What an experiment consists of (units, chapter, figures, tables), and its claims with verdicts computed from numbers.

A claim falls into parts (dimensions, metrics). It holds if every part does, it does not hold if one part fails, and it
cannot be tested where there is nothing to measure. Two tests are used: over simulated data sets a paired t-test of the
difference between two models (each data set is one observation), on one real data set the paper's bootstrap. A run
that is smaller than the paper's has neither: its claims are too small to judge, and say which way they point.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from unisono.maths.metrics import SIGNIFICANT, paired_t

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Verdict = Literal["holds", "does not hold", "cannot be tested", "too small to judge"]
Direction = Literal["higher", "lower", "similar"]
ALPHA = 1 - SIGNIFICANT
SIMILAR = 0.1  # a difference up to which two scores are called similar, if it is not significant either
OVER_SETS = "paired t-test over simulated data sets, p < .05 in every part"
OVER_ITEMS = "1000 bootstrap resamples of the items, better in at least 95 % of them, in most of the splits into folds"
OVER_FOLDS = "paired t-test over test folds, p < .05 in every part"


BOTH = ("joint", "independent")  # the two models that most claims compare
LEVEL = 0.0005  # a difference that three digits do not show


class Lead(NamedTuple):
    """By how much the first of two models is ahead; below zero it is behind."""

    first: str
    second: str
    by: float


class ClaimPart(NamedTuple):
    """One thing that a claim says, and whether it was found."""

    what: str  # "CCC of dim1"
    found: str  # the figures
    holds: bool
    lead: Lead | None = None  # where two models are compared


class Claim(NamedTuple):
    """What the paper says, what was measured, how it was judged, and the verdict."""

    text: str
    where: str  # in the paper
    measured: str
    test: str
    verdict: Verdict
    reason: str  # why it cannot be tested, or which parts failed
    direction: str = ""  # which way the numbers point, sure or not

    @property
    def judgement(self) -> str:
        """The verdict in one line, with the direction seen where that is all there is."""
        return f"{self.verdict}; {self.direction}" if self.verdict == "too small to judge" else self.verdict

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def judge(text: str, where: str, test: str, parts: Sequence[ClaimPart], aside: str = "") -> Claim:
    """The verdict that follows from the parts; `aside` is said behind the figures."""
    if not parts:
        return untestable(text, where, "Nothing was measured.")
    failed = [part for part in parts if not part.holds]
    measured = "; ".join(f"{part.what}: {part.found}" for part in parts) + (f". {aside}" if aside else "")
    reason = f"Not so for {', '.join(part.what for part in failed)}." if failed else ""
    verdict: Verdict = "does not hold" if failed else "holds"
    return Claim(text, where, measured, test, verdict, reason, _direction(parts))


def untestable(text: str, where: str, reason: str, measured: str = "–") -> Claim:
    """A claim for which there is no data, or which the data were made to satisfy."""
    return Claim(text, where, measured, "–", "cannot be tested", reason)


WORDS = tomllib.loads(Path(__file__).with_name("experiment_words.toml").read_text(encoding="utf-8"))


class Words:
    """What the chapter of an experiment says, in experiment_words.toml; `slots` fill in what stands in braces."""

    def __init__(self, experiment: str, **slots: object) -> None:
        self._said = WORDS[experiment]
        self._slots = {"over_sets": OVER_SETS, "over_items": OVER_ITEMS, "over_folds": OVER_FOLDS} | slots

    def __call__(self, name: str, **slots: object) -> str:
        return str(self._said[name].format(**self._slots | slots))

    def judge(self, claim: str, parts: Sequence[ClaimPart], aside: str = "", **slots: object) -> Claim:
        """The claim of that name, judged by its parts."""
        text, where, test = (self._said["claims"][claim][key].format(**self._slots | slots) for key in _JUDGED)
        return judge(text, where, test, parts, aside)

    def untestable(self, claim: str, reason: str = "", measured: str = "–") -> Claim:
        """The claim of that name where there is no data, or which the data were made to satisfy."""
        found = self._said["claims"][claim]
        return untestable(found["text"], found["where"], reason or found["untested"], measured)


_JUDGED = ("text", "where", "test")


def too_small(claim: Claim) -> Claim:
    """The claim of a run that is smaller than it should be: neither verdict is earned, the direction is left."""
    if claim.verdict == "cannot be tested":
        return claim
    return claim._replace(verdict="too small to judge", reason="")


def over_sets(
    what: str,
    first: Sequence[float],
    second: Sequence[float],
    direction: Direction = "higher",
    names: tuple[str, str] = BOTH,
) -> ClaimPart:
    """Two models on the same simulated data sets: is the first significantly higher (lower), or can nobody say?"""
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    tested = paired_t(a - b)
    lead = Lead(*names, tested.mean)
    found = f"{np.nanmean(a):.3f} against {np.nanmean(b):.3f}"
    if tested.folds < 2:
        return ClaimPart(what, f"{found} (one data set, no test)", _points(tested.mean, direction), lead)
    significant = tested.p < ALPHA
    found += f" (p = {tested.p:.2g}, first ahead in {tested.wins} of {tested.folds})"
    if direction == "similar":
        return ClaimPart(what, found, not significant and abs(tested.mean) < SIMILAR, lead)
    return ClaimPart(what, found, significant and _points(tested.mean, direction), lead)


def over_splits(
    what: str, difference: Sequence[float], share: Sequence[float], direction: Direction = "higher"
) -> ClaimPart:
    """Two models on one real data set, split into folds in several ways; `share` is the first's in the bootstrap."""
    shares = np.array(share, dtype=np.float64)
    # Ties count for neither, so a low share speaks for the second.
    sure_higher, sure_lower = int((shares >= SIGNIFICANT).sum()), int((shares <= ALPHA).sum())
    mean, most = float(np.mean(difference)), len(shares) / 2
    near = max(sure_higher, sure_lower) <= most and abs(mean) < SIMILAR
    sure = {"higher": sure_higher > most, "lower": sure_lower > most, "similar": near}
    found = f"{mean:+.3f}, significantly higher in {sure_higher}, lower in {sure_lower} of {len(shares)} splits"
    return ClaimPart(what, found, sure[direction] and _points(mean, direction), Lead(*BOTH, mean))


def _points(mean: float, direction: Direction) -> bool:
    return mean > 0 if direction == "higher" else mean < 0 if direction == "lower" else True


def _direction(parts: Sequence[ClaimPart]) -> str:
    """Who is ahead, and by how much, over all parts that compare; else how many parts are as the paper says."""
    leads = [part.lead for part in parts if part.lead is not None and np.isfinite(part.lead.by)]
    if len(leads) < len(parts):
        return _agreement(parts)
    first, second, _ = leads[0]
    low, high = min(lead.by for lead in leads), max(lead.by for lead in leads)
    if max(-low, high) < LEVEL:
        return f"{first} and {second} level"
    if low >= 0 or high <= 0:
        near, far = sorted((abs(low), abs(high)))
        return f"{first if high > 0 else second} ahead by {_range(near, far)}"
    wins = sum(lead.by > 0 for lead in leads)
    return f"{first} ahead in {wins} of {len(leads)} parts ({low:+.3f} to {high:+.3f})"


def _agreement(parts: Sequence[ClaimPart]) -> str:
    agreeing = sum(part.holds for part in parts)
    if agreeing in (0, len(parts)):
        return "as the paper says" if agreeing else "not as the paper says"
    return f"as the paper says in {agreeing} of {len(parts)} parts"


def _range(near: float, far: float) -> str:
    shown = [f"{value:.3f}".removeprefix("0") for value in (near, far)]
    return shown[0] if shown[0] == shown[1] else " to ".join(shown)


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
