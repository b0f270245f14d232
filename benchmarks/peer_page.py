"""What docs/benchmarks.md says of peers, all of it computed from one table, so that the page cannot disagree with it.

python -m benchmarks.peers --page docs/benchmarks.md                              # measures, then writes
python -m benchmarks.peers --page docs/benchmarks.md --from docs/images/peers.csv # writes alone
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.accuracy_page import fill_page
from benchmarks.peer_rows import LOADS, OURS, Row, write
from benchmarks.peer_table import against_p910, faster_peers, missed, ratio, table

BUSY = 1.2  # wall over processor time from which other work must have been going on
TELLING_SECONDS = 0.1  # of processor time, below which the clock says nothing about that


def write_page(rows: list[Row], page: Path) -> None:
    """Puts tables and sentences between the page's markers, and the table itself beside its pictures."""
    fill_page(blocks(rows), page, "benchmarks.peers")
    write(page.parent / "images" / "peers.csv", rows)


def blocks(rows: list[Row]) -> dict[str, str]:
    """Name and Markdown of every place in the page."""
    found = {"peer circumstances": circumstances(rows)}
    for name in LOADS:
        own = [row for row in rows if row.load == name]
        found[f"peer {name}"] = "\n".join([*table(own), "", *faster_peers(own)])
        found[f"peer {name} in words"] = in_words(own)
    found["peer P.910"] = "\n".join(against_p910(rows))
    return found


def circumstances(rows: list[Row]) -> str:
    """How long it took, whether the machine was busy, and how often every load was drawn."""
    known = [row for row in rows if row.measured]
    drawn = {(row.load, row.size): LOADS[row.load].draws.get(row.size, 1) for row in known}
    minutes = sum(row.cpu * drawn[row.load, row.size] for row in known) / 60
    waiting = float(np.median([row.seconds / row.cpu for row in known if row.cpu > TELLING_SECONDS] or [1.0]))
    busy = "other work kept the cores busy" if waiting > BUSY else "the cores had little else to do"
    several = [f"{n} of {size:,} {LOADS[load].unit}" for (load, size), n in drawn.items() if n > 1]
    return (
        f"{len(known)} measurements, {minutes:.0f} minutes of processor time; by the clock, a measurement took "
        f"{waiting:.1f} times its processor time in the median, so {busy}. "
        f"Time and accuracy are those of several draws ({', '.join(several)}) or of one."
    )


def in_words(rows: list[Row]) -> str:
    """Who comes as close to the truth as ours, and who is faster, in sentences."""
    sizes = sorted({row.size for row in rows if row.method == OURS and row.measured})
    ours = {row.size: row for row in rows if row.method == OURS}
    others = dict.fromkeys(row.method for row in rows if row.method != OURS)
    accurate, faster = [], []
    for method in others:
        own = [row for row in rows if row.method == method and row.measured and row.size in ours]
        if near := [row for row in own if row.pearson >= ours[row.size].pearson]:
            times = span([row.cpu / ours[row.size].cpu for row in near])
            accurate.append(f"{method} at {_where(near, sizes)}, in {times} times the time of ours")
        if quick := [row for row in own if row.cpu < ours[row.size].cpu]:
            times = span([ours[row.size].cpu / row.cpu for row in quick])
            misses = _figures([missed(row, ours[row.size]) for row in quick])
            faster.append(f"{method} at {_where(quick, sizes)}, {times} times, and misses {misses} times as much")
    return (
        f"As close to the truth as ours, or closer: {'; '.join(accurate) or 'nobody, at any size'}.\n\n"
        f"Faster: {'; '.join(faster) or 'nobody, at any size'}."
    )


def _where(rows: list[Row], sizes: list[int]) -> str:
    """The sizes of these rows in words."""
    if [row.size for row in sorted(rows, key=lambda row: row.size)] == sizes:
        return "every size"
    return f"{_listed([f'{row.size:,}' for row in rows])} {LOADS[rows[0].load].unit}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def span(values: list[float]) -> str:
    """The least and the largest, to two figures."""
    low, high = ratio(min(values)), ratio(max(values))
    return low if low == high else f"{low} to {high}"


def _figures(values: list[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
