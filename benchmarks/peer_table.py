"""What the measurements of `peers` say, in Markdown: tables, growth exponents, and who is faster at what accuracy."""

from __future__ import annotations

import numpy as np

from benchmarks.peer_rows import LOADS, OURS, Row

FROM = {"items": 10_000, "traces": 1_000}  # growth is fitted from here on: below, fixed costs count
P910, P910_SIZE = "sureal P.910", 50_000


def page(rows: list[Row]) -> str:
    """All of it."""
    parts = []
    for name in LOADS:
        own = [row for row in rows if row.load == name]
        if own:
            parts += [f"## {name.capitalize()}", "", *table(own), "", *faster_peers(own), ""]
    return "\n".join([*parts, *against_p910(rows)])


def table(rows: list[Row]) -> list[str]:
    """A line per method, a column per size: processor seconds, megabytes, Pearson; the last column is growth."""
    sizes = sorted({row.size for row in rows})
    cells = {(row.method, row.size): row for row in rows}
    exponents = growth(rows)
    load = rows[0].load
    lines = [
        "Processor seconds, peak memory in MB, Pearson correlation with the truth; growth is the exponent of processor "
        f"seconds, fitted from {FROM[load]:,} {LOADS[load].unit} on.",
        "",
        f"| method | {' | '.join(f'{size:,}' for size in sizes)} | growth |",
        "|---" * (len(sizes) + 2) + "|",
    ]
    for method in sorted(dict.fromkeys(row.method for row in rows), key=lambda method: method != OURS):
        exponent = exponents.get((load, method))
        ends = [_cell(cells.get((method, size))) for size in sizes] + ["" if exponent is None else f"{exponent:.2f}"]
        lines.append(f"| {method} | {' | '.join(ends)} |")
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if not row.measured:
        return row.note
    return f"{seconds(row.cpu)}, {row.megabytes:.0f} MB, {row.pearson:.3f}".replace(", 0.", ", .")


def seconds(value: float) -> str:
    """Two figures that tell."""
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s" if value >= 0.01 else f"{value * 1000:.2g} ms"


def growth(rows: list[Row]) -> dict[tuple[str, str], float]:
    """Slope of log processor seconds on log size, of methods with two sizes or more."""
    found = {}
    for load, method in dict.fromkeys((row.load, row.method) for row in rows):
        own = [row for row in rows if (row.load, row.method) == (load, method) and row.measured and row.cpu > 0]
        own = [row for row in own if row.size >= FROM[load]]
        if len(own) > 1:
            x, y = (np.log([value(row) for row in own]) for value in (lambda row: row.size, lambda row: row.cpu))
            found[load, method] = float(np.polyfit(x, y, 1)[0])
    return found


def faster_peers(rows: list[Row]) -> list[str]:
    """Per size, methods that are as accurate as ours or faster: how much, and how much more of the truth they miss."""
    lines = [
        "Who is at least as accurate as ours; who is faster, how many times, and what they leave unexplained of the "
        "truth's variance in units of what ours leaves; who is slower, how many times.",
        "",
        f"| {LOADS[rows[0].load].unit} | as accurate | faster, and misses | slower |",
        "|---|---|---|---|",
    ]
    for size in sorted({row.size for row in rows}):
        here = [row for row in rows if row.size == size and row.measured]
        ours = next((row for row in here if row.method == OURS), None)
        if ours is None:
            continue
        others = sorted((row for row in here if row.method != OURS), key=lambda row: -row.pearson)
        accurate = [row.method for row in others if row.pearson >= ours.pearson]
        faster = [
            f"{row.method} {ratio(ours.cpu / row.cpu)} x, {missed(row, ours):.2f}"
            for row in others
            if row.cpu < ours.cpu
        ]
        slower = [f"{row.method} {ratio(row.cpu / ours.cpu)}" for row in others if row.cpu >= ours.cpu]
        cells = ("; ".join(names) or "nobody" for names in (accurate, faster, slower))
        lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return lines


def missed(row: Row, ours: Row) -> float:
    """Variance of the truth that an estimate leaves unexplained, beside ours."""
    return (1 - row.pearson**2) / (1 - ours.pearson**2)


def ratio(value: float) -> str:
    """Two figures that tell."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.2g}"


def against_p910(rows: list[Row]) -> list[str]:
    """Ours against sureal at the size where it still ends."""
    at = {row.method: row for row in rows if row.load == "items" and row.size == P910_SIZE and row.measured}
    if not {OURS, P910} <= set(at):
        return []
    times = at[P910].cpu / at[OURS].cpu
    return [
        f"sureal's P.910 takes {ratio(times)} times the processor time of ours at {P910_SIZE:,} ratings x 2 dimensions."
    ]
