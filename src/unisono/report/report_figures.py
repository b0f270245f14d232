"""Figures and number formats of report.html.

Figures are SVG text: no script, colours from the page's style, so that they follow light, dark and paper. Numbers have
three significant digits, a true minus, and a dash where nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

UNKNOWN = "–"


def as_number(value: float | None, digits: int = 3) -> str:
    """'0.123', '12.3', '−4.56', '12,300'."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value))) + 1
    if size > 7 or size < -4:
        text = f"{value:.{digits - 1}e}"
    else:
        text = f"{value:,.{max(digits - max(size, 0), 0)}f}"
        if float(text.replace(",", "")) == 0:
            text = "0"
    return text.replace("-", "−")


def as_tick(value: float, places: int) -> str:
    """A number on an axis: '0.4', '−20', '1e−09'."""
    text = f"{value:.{places}f}" if places <= 6 else f"{value:.0e}"
    return ("0" if float(text) == 0 else text).replace("-", "−")


def as_edge(value: float) -> str:
    """An end of a scale: '7', '0.5'."""
    return as_tick(value, 0) if value == round(value) else as_number(value, 2)


def as_share(value: float | None) -> str:
    """A share between 0 and 1 in percent: '12.5 %'."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    percent = 100 * value
    return f"{percent:.0f} %" if percent == round(percent) or percent >= 10 else f"{percent:.1f} %"


def as_interval(figure: dict[str, float | None]) -> str:
    """'.52 [.44, .60]' of a figure of agreement; no line ends inside the brackets."""
    if figure["value"] is None:
        return UNKNOWN
    ends = (
        f" [{as_coefficient(figure['low'])},\N{NO-BREAK SPACE}{as_coefficient(figure['high'])}]"
        if figure["low"] is not None
        else ""
    )
    return as_coefficient(figure["value"]) + ends


def as_coefficient(value: float | None) -> str:
    """'.52', '−.10', '1.00'."""
    if value is None:
        return UNKNOWN
    text = f"{value:.2f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def as_probability(value: float | None) -> str:
    """'.23', and never certain: '<.001', '>.999'."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value < 0.001:
        return "<.001"
    return ">.999" if value > 0.999 else f"{value:.3f}".lstrip("0")


ROW = 15  # height of a line of a caterpillar
FAINTEST = 0.02  # of a transform, below which a square would look empty
COURSE = 38  # where a course begins, beside the ends of its scale
LABELS = 150  # width for names beside it


def caterpillar(rows: Sequence[dict[str, Any]], d: int, dimension: str, most: int) -> Markup:
    """Estimates of items with their intervals, ordered, and the plain mean as a ring."""
    known = [row for row in rows if row["values"][d][0] is not None]
    ordered = sorted(known, key=lambda row: -row["values"][d][0])
    if len(ordered) > most:
        ordered = [ordered[round(i * (len(ordered) - 1) / (most - 1))] for i in range(most)]
    if not ordered:
        return Markup("")
    scale = Axis([v for row in ordered for v in row["values"][d][2:5] if v is not None], LABELS, 640)
    marks = []
    for i, row in enumerate(ordered):
        estimate, _, low, high, mean = row["values"][d]
        y = 22 + ROW * i
        marks.append(
            Markup('<text class="name" x="{}" y="{}">{}</text>').format(LABELS - 8, y + 4, short_name(row["item"]))
        )
        about = f"{row['item']}: {as_number(estimate)} [{as_number(low)}, {as_number(high)}], mean {as_number(mean)}"
        marks.append(
            Markup('<g><title>{}</title><line class="reach" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                about, scale(low), scale(high), y, y
            )
        )
        if mean is not None:
            marks.append(Markup('<circle class="mean" cx="{}" cy="{}" r="3.2"/>').format(scale(mean), y))
        marks.append(Markup('<circle class="dot" cx="{}" cy="{}" r="3.2"/></g>').format(scale(estimate), y))
    height = 22 + ROW * len(ordered) + 22
    label = f"{dimension}: estimates of {len(ordered)} items with 90 % intervals, beside the plain mean"
    return broad(height, label, [*scale.axis(14, height - 20), *marks])


MOST_STROKES = 300  # convention: items beyond which strokes would run into a bar
BINS = 75  # of a density, four units wide
Ends = tuple[float | None, float | None]  # of the scale of the answers, where they are known


def strip_figure(points: Sequence[float], ends: Ends, label: str) -> Markup:
    """Where estimates lie on the scale of the answers: a stroke each, of many items their density."""
    if not points:
        return Markup("")
    low, high = _whole(points, ends)
    scale = Axis([low, high], 3, 297)
    marks = [Markup('<line class="grid" x1="3" x2="297" y1="8" y2="8"/>')]
    if len(points) > MOST_STROKES:
        marks.append(_density([float(scale(point)) for point in points], 3, 297))
    else:
        for place in sorted({scale(point) for point in points}):  # strokes on the same spot are one
            marks.append(Markup('<line class="stroke" x1="{0}" x2="{0}" y1="2" y2="14"/>').format(place))
    for x, end, side in ((3, low, "start"), (297, high, "end")):
        number = Markup('<text class="edge" x="{}" y="26" text-anchor="{}">{}</text>')
        marks.append(number.format(x, side, as_edge(end)))
    return svg(300, 29, label, marks)


def _density(places: Sequence[float], left: float, right: float) -> Markup:
    """A hill as high as there are many places (n,) within a bin and beside it."""
    step = (right - left) / BINS
    counts = [0] * BINS
    for place in places:
        counts[min(int((place - left) / step), BINS - 1)] += 1
    around = [0, *counts, 0]
    smooth = [around[i] + 2 * around[i + 1] + around[i + 2] for i in range(BINS)]
    top = [f"{left + step * (i + 0.5):.1f},{14 - 12 * height / max(smooth):.1f}" for i, height in enumerate(smooth)]
    return Markup('<polygon class="density" points="{},14 {} {},14"/>').format(left, " ".join(top), right)


def course_figure(values: Sequence[float | None], ends: Ends, label: str) -> Markup:
    """The course of a fused trace as one line, on the scale of the answers."""
    known = [(i, value) for i, value in enumerate(values) if value is not None]
    if not known:
        return Markup("")
    low, high = _whole([value for _, value in known], ends)
    span = high - low or 1.0
    step = (298 - COURSE) / max(len(values) - 1, 1)
    points = " ".join(f"{COURSE + step * i:.1f},{44 - 40 * (value - low) / span:.1f}" for i, value in known)
    marks = [Markup('<line class="grid" x1="{0}" x2="298" y1="{1}" y2="{1}"/>').format(COURSE, y) for y in (4, 44)]
    marks.append(Markup('<polyline class="path" points="{}"/>').format(points))
    for y, end in ((8, high), (48, low)):
        number = Markup('<text class="edge" x="{}" y="{}" text-anchor="end">{}</text>')
        marks.append(number.format(COURSE - 4, y, as_edge(end)))
    return svg(300, 50, label, marks)


def _whole(values: Sequence[float], ends: Ends) -> tuple[float, float]:
    """The scale of the answers, wide enough for the values; where it is not known, that of the values."""
    low, high = ends
    return min([*values, *([] if low is None else [low])]), max([*values, *([] if high is None else [high])])


def share_figure(value: float | None, label: str, best: bool = True) -> Markup:
    """A share between 0 and 1 as a bar in its frame."""
    if value is None:
        return Markup("")
    full = '<rect class="frame" x="0" y="0" width="300" height="6" rx="3"/>'
    part = '<rect class="{}" x="0" y="0" width="{:.1f}" height="6" rx="3"/>'
    filled = Markup(part).format("bar" if best else "bar low", 300 * min(max(value, 0.0), 1.0))
    return svg(300, 6, f"{label}: {as_number(value, 2)}", [Markup(full), filled])


def agreement_figure(dimensions: Sequence[dict[str, Any]], names: Sequence[str]) -> Markup:
    """Figures of agreement with their intervals, a line each, dimension by dimension."""
    scale = Axis([0.0, 1.0, *(_low(one["figures"][name]) for one in dimensions for name in names)], 240, 640)
    marks, y = [], 14
    for one in dimensions:
        for i, name in enumerate(names):
            figure = one["figures"][name]
            y += 18
            told = f"{one['name']}, {name}" if i == 0 else name
            marks.append(Markup('<text class="name" x="232" y="{}">{}</text>').format(y + 4, short_name(told, 34)))
            if figure["value"] is None:
                continue
            if figure["low"] is not None:
                ends = scale(figure["low"]), scale(figure["high"])
                marks.append(Markup('<line class="reach" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(*ends, y, y))
            marks.append(Markup('<circle class="dot" cx="{}" cy="{}" r="4"/>').format(scale(figure["value"]), y))
        y += 8
    return broad(y + 32, "Agreement by dimension with 95 % intervals", [*scale.axis(16, y + 10), *marks])


def coverage_figure(counts: Sequence[Sequence[int]], unit: str, of: str) -> Markup:
    """How many things have how many: bars, in classes where there are many different numbers."""
    bars = [(str(value), times) for value, times in counts]
    if len(bars) > 24:
        lowest, highest = counts[0][0], counts[-1][0]
        width = max((highest - lowest + 12) // 12, 1)
        edges = range(lowest, highest + 1, width)
        bars = [
            (f"{low}–{low + width - 1}", sum(n for value, n in counts if low <= value < low + width)) for low in edges
        ]
    top = max(times for _, times in bars)
    wide = min(600 / len(bars), 90)
    marks = []
    for i, (label, times) in enumerate(bars):
        height = 86 * times / top
        x = 40 + wide * i
        marks.append(
            Markup(
                '<g><title>{}</title><rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/></g>'
            ).format(f"{label} {unit}: {times:,} {of}", x + wide * 0.1, 114 - height, wide * 0.8, height)
        )
        number = Markup('<text class="tick" x="{:.1f}" y="{:.1f}">{:,}</text>')
        marks.append(number.format(x + wide / 2, 108 - height, times))
        marks.append(Markup('<text class="tick" x="{:.1f}" y="128">{}</text>').format(x + wide / 2, label))
    marks.append(Markup('<text class="tick" x="{:.1f}" y="146">{}</text>').format(40 + wide * len(bars) / 2, unit))
    return broad(152, f"How many {of} have how many {unit}", marks)


def matrix_figure(
    matrix: Sequence[Sequence[float | None]], names: Sequence[str], title: str, about: str = "{} and {}"
) -> Markup:
    """Numbers between pairs of names as coloured cells: correlations, or answers by true class."""
    size = 54 if len(names) <= 6 else 40 if len(names) <= 12 else 34
    left = 110
    # Names too long for their column stand upright above it: side by side they would run into one another.
    upright = any(len(name) > size // 7 for name in names)
    top = 110 if upright else 22
    marks = []
    for d, name in enumerate(names):
        middle = size * d + size / 2
        beside = Markup('<text class="name" x="{}" y="{}">{}</text>')
        marks.append(beside.format(left - 8, top + middle + 4, short_name(name, 16)))
        if upright:
            above = Markup('<text class="upright" transform="translate({} {}) rotate(-90)">{}</text>')
            marks.append(above.format(left + middle + 4, top - 6, short_name(name, 16)))
        else:
            above = Markup('<text class="name" x="{}" y="16" text-anchor="middle">{}</text>')
            marks.append(above.format(left + middle, name))
        for e, value in enumerate(matrix[d]):
            marks.append(_cell(left + size * e, top + size * d, size, value, about.format(name, names[e])))
    whole = size * len(names)
    return svg(left + whole + 4, top + whole + 6, title, marks, wide=False)


def transform_figure(transform: Sequence[Sequence[float | None]], names: Sequence[str]) -> Markup:
    """What an annotator does to the truth: answers in rows, truths in columns; a perfect annotator is the identity."""
    cell = max(min(64 // max(len(names), 1), 20), 4)
    size = cell * len(names) + 2
    # One frame, and squares where there is something to see: a table may have hundreds of these.
    marks = [Markup('<rect class="cell" x="1" y="1" width="{0}" height="{0}"/>').format(size - 2)]
    marks += [
        _plain_cell(1 + cell * e, 1 + cell * d, cell, value)
        for d, row in enumerate(transform)
        for e, value in enumerate(row)
        if value is not None and abs(value) >= FAINTEST
    ]
    said = "; ".join(
        f"{names[d]} from {names[e]} {as_number(value, 2)}"
        for d, row in enumerate(transform)
        for e, value in enumerate(row)
        if value is not None and (d == e or abs(value) > 0.1)
    )
    return svg(size, size, f"Transform: {said}" if len(names) <= 6 else "Transform", marks, wide=False)


def objective_figure(objective: Sequence[float]) -> Markup:
    """The objective from iteration to iteration."""
    if len(objective) < 2:
        return Markup("")
    low, high = min(objective), max(objective)
    span = high - low or 1.0
    points = " ".join(
        f"{40 + 600 * i / (len(objective) - 1):.1f},{110 - 95 * (value - low) / span:.1f}"
        for i, value in enumerate(objective)
    )
    marks = [
        Markup('<polyline class="path" points="{}"/>').format(points),
        Markup('<text class="tick" x="40" y="128">1</text><text class="tick" x="640" y="128">{}</text>').format(
            len(objective)
        ),
        Markup('<text class="tick" x="340" y="128">iteration</text>'),
    ]
    return broad(134, f"Objective from {as_number(objective[0], 6)} to {as_number(objective[-1], 6)}", marks)


class Axis:
    """From values to places, with round numbers on the axis."""

    def __init__(self, values: Sequence[float], left: float, right: float) -> None:
        self.low, self.high = min(values), max(values)
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.left, self.right = left, right

    def __call__(self, value: float) -> str:
        return f"{self.left + (self.right - self.left) * (value - self.low) / (self.high - self.low):.1f}"

    def axis(self, top: float, bottom: float) -> list[Markup]:
        """Lines at four to ten round numbers, with the numbers under them."""
        rough = (self.high - self.low) / 5
        size = 10.0 ** math.floor(math.log10(rough))
        step = size * next(nice for nice in (1, 2, 5, 10) if nice * size >= 0.999 * rough)
        line = '<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/><text class="tick" x="{0}" y="{3}">{4}</text>'
        ticks = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        places = max(-math.floor(math.log10(step) + 1e-9), 0)  # as many as tell one tick from the next
        return [Markup(line).format(self(i * step), top, bottom, bottom + 14, as_tick(i * step, places)) for i in ticks]


def _plain_cell(x: float, y: float, size: float, value: float) -> Markup:
    """A square of the colour alone."""
    square = '<rect class="{}" fill-opacity="{:.2f}" x="{}" y="{}" width="{}" height="{}"/>'
    return Markup(square).format("plus" if value >= 0 else "minus", min(abs(value), 1.0), x, y, size, size)


def _cell(x: float, y: float, size: float, value: float | None, about: str) -> Markup:
    """A square: blue for positive, orange for negative, the stronger the further from zero; the number on it."""
    strength = 0.0 if value is None else min(abs(value), 1.0)
    kind = "none" if value is None else ("plus" if value >= 0 else "minus")
    square = Markup(
        '<g><title>{}</title><rect class="cell" x="{}" y="{}" width="{}" height="{}"/>'
        '<rect class="{}" fill-opacity="{:.2f}" x="{}" y="{}" width="{}" height="{}"/>'
    ).format(f"{about}: {as_number(value, 2)}", x, y, size, size, kind, strength, x, y, size, size)
    lit = " on" if strength > 0.55 else ""
    number = Markup('<text class="tick{}" x="{}" y="{}">{}</text></g>')
    return square + number.format(lit, x + size / 2, y + size / 2 + 4, as_coefficient(value))


def broad(height: float, label: str, marks: Sequence[Markup]) -> Markup:
    """A figure as wide as the page, which scrolls where the window is too narrow for its letters."""
    box = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>')
    return box.format(f"Picture: {label}", svg(660, height, label, marks))


def svg(width: float, height: float, label: str, marks: Sequence[Markup], wide: bool = True) -> Markup:
    shape = f'viewBox="0 0 {width:g} {height:g}"'
    size = 'class="wide"' if wide else f'width="{width:g}" height="{height:g}"'
    return Markup('<svg {} {} role="img" aria-label="{}">{}</svg>').format(
        Markup(shape), Markup(size), label, Markup("").join(marks)
    )


def short_name(text: str, most: int = 22) -> Markup:
    """A name that fits, its end kept because names tend to differ there."""
    return escape(text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}")


def _low(figure: dict[str, float | None]) -> float:
    found = figure["low"] if figure["low"] is not None else figure["value"]
    return 0.0 if found is None else max(found, -1.0)
