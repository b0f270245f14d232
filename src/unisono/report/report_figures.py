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


def element(name: str, kind: str, /, *inside: object, **attributes: object) -> Markup:
    """An element of SVG of that class, if any, with what is inside; everything is escaped that is not markup."""
    about = ({"class": kind} if kind else {}) | {key.replace("_", "-"): value for key, value in attributes.items()}
    said = "".join(f' {escape(key)}="{escape(value)}"' for key, value in about.items())
    return Markup(f"<{name}{said}>{''.join(map(escape, inside))}</{name}>" if inside else f"<{name}{said}/>")


def lettering(kind: str, x: object, y: object, words: object, **attributes: object) -> Markup:
    """Words at a place."""
    return element("text", kind, words, x=x, y=y, **attributes)


def dot(kind: str, x: object, y: object, radius: float) -> Markup:
    """A circle at a place."""
    return element("circle", kind, cx=x, cy=y, r=radius)


def stroke(kind: str, x: tuple[object, object], y: tuple[object, object]) -> Markup:
    """A line from one place to another."""
    return element("line", kind, x1=x[0], x2=x[1], y1=y[0], y2=y[1])


def bar(kind: str, x: object, y: object, width: object, height: object) -> Markup:
    """A rectangle."""
    return element("rect", kind, x=x, y=y, width=width, height=height)


def titled(about: str, *marks: Markup) -> Markup:
    """Marks that say what they are when they are pointed at."""
    return Markup("<g><title>{}</title>{}</g>").format(about, Markup("").join(marks))


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
        marks.append(lettering("name", LABELS - 8, y + 4, short_name(row["item"])))
        about = f"{row['item']}: {as_number(estimate)} [{as_number(low)}, {as_number(high)}], mean {as_number(mean)}"
        ring = [] if mean is None else [dot("mean", scale(mean), y, 3.2)]
        reach = stroke("reach", (scale(low), scale(high)), (y, y))
        marks.append(titled(about, reach, *ring, dot("dot", scale(estimate), y, 3.2)))
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
    marks = [stroke("grid", (3, 297), (8, 8))]
    if len(points) > MOST_STROKES:
        marks.append(_density([float(scale(point)) for point in points], 3, 297))
    else:
        # Strokes on the same spot are one.
        marks += [stroke("stroke", (at, at), (2, 14)) for at in sorted({scale(point) for point in points})]
    for x, end, side in ((3, low, "start"), (297, high, "end")):
        marks.append(lettering("edge", x, 26, as_edge(end), text_anchor=side))
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
    return element("polygon", "density", points=f"{left},14 {' '.join(top)} {right},14")


def course_figure(values: Sequence[float | None], ends: Ends, label: str) -> Markup:
    """The course of a fused trace as one line, on the scale of the answers."""
    known = [(i, value) for i, value in enumerate(values) if value is not None]
    if not known:
        return Markup("")
    low, high = _whole([value for _, value in known], ends)
    span = high - low or 1.0
    step = (298 - COURSE) / max(len(values) - 1, 1)
    points = " ".join(f"{COURSE + step * i:.1f},{44 - 40 * (value - low) / span:.1f}" for i, value in known)
    marks = [stroke("grid", (COURSE, 298), (y, y)) for y in (4, 44)]
    marks.append(element("polyline", "path", points=points))
    marks += [lettering("edge", COURSE - 4, y, as_edge(end), text_anchor="end") for y, end in ((8, high), (48, low))]
    return svg(300, 50, label, marks)


def _whole(values: Sequence[float], ends: Ends) -> tuple[float, float]:
    """The scale of the answers, wide enough for the values; where it is not known, that of the values."""
    low, high = ends
    return min([*values, *([] if low is None else [low])]), max([*values, *([] if high is None else [high])])


def share_figure(value: float | None, label: str, best: bool = True) -> Markup:
    """A share between 0 and 1 as a bar in its frame."""
    if value is None:
        return Markup("")
    widths = {"frame": "300", "bar" if best else "bar low": f"{300 * min(max(value, 0.0), 1.0):.1f}"}
    marks = [element("rect", kind, x=0, y=0, width=width, height=6, rx=3) for kind, width in widths.items()]
    return svg(300, 6, f"{label}: {as_number(value, 2)}", marks)


def agreement_figure(dimensions: Sequence[dict[str, Any]], names: Sequence[str]) -> Markup:
    """Figures of agreement with their intervals, a line each, dimension by dimension."""
    scale = Axis([0.0, 1.0, *(_low(one["figures"][name]) for one in dimensions for name in names)], 240, 640)
    marks, y = [], 14
    for one in dimensions:
        for i, name in enumerate(names):
            figure = one["figures"][name]
            y += 18
            told = f"{one['name']}, {name}" if i == 0 else name
            marks.append(lettering("name", 232, y + 4, short_name(told, 34)))
            if figure["value"] is None:
                continue
            if figure["low"] is not None:
                marks.append(stroke("reach", (scale(figure["low"]), scale(figure["high"])), (y, y)))
            marks.append(dot("dot", scale(figure["value"]), y, 4))
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
        place = (f"{value:.1f}" for value in (x + wide * 0.1, 114 - height, wide * 0.8, height))
        marks.append(titled(f"{label} {unit}: {times:,} {of}", bar("bar", *place)))
        marks.append(lettering("tick", f"{x + wide / 2:.1f}", f"{108 - height:.1f}", f"{times:,}"))
        marks.append(lettering("tick", f"{x + wide / 2:.1f}", 128, label))
    marks.append(lettering("tick", f"{40 + wide * len(bars) / 2:.1f}", 146, unit))
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
        marks.append(lettering("name", left - 8, top + middle + 4, short_name(name, 16)))
        if upright:
            turned = f"translate({left + middle + 4} {top - 6}) rotate(-90)"
            marks.append(element("text", "upright", short_name(name, 16), transform=turned))
        else:
            marks.append(lettering("name", left + middle, 16, name, text_anchor="middle"))
        for e, value in enumerate(matrix[d]):
            marks.append(_cell(left + size * e, top + size * d, size, value, about.format(name, names[e])))
    whole = size * len(names)
    return svg(left + whole + 4, top + whole + 6, title, marks, wide=False)


def transform_figure(transform: Sequence[Sequence[float | None]], names: Sequence[str]) -> Markup:
    """What an annotator does to the truth: answers in rows, truths in columns; a perfect annotator is the identity."""
    cell = max(min(64 // max(len(names), 1), 20), 4)
    size = cell * len(names) + 2
    # One frame, and squares where there is something to see: a table may have hundreds of these.
    marks = [bar("cell", 1, 1, size - 2, size - 2)]
    marks += [
        _shade(1 + cell * e, 1 + cell * d, cell, value)
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
    ticks = {40: "1", 640: str(len(objective)), 340: "iteration"}
    marks = [
        element("polyline", "path", points=points),
        *(lettering("tick", x, 128, words) for x, words in ticks.items()),
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
        ticks = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        places = max(-math.floor(math.log10(step) + 1e-9), 0)  # as many as tell one tick from the next
        return [
            stroke("grid", (self(i * step),) * 2, (top, bottom))
            + lettering("tick", self(i * step), bottom + 14, as_tick(i * step, places))
            for i in ticks
        ]


def _shade(x: float, y: float, size: float, value: float | None) -> Markup:
    """A square: blue for positive, orange for negative, the stronger the further from zero."""
    kind = "none" if value is None else "plus" if value >= 0 else "minus"
    strength = f"{min(abs(value or 0.0), 1.0):.2f}"
    return element("rect", kind, fill_opacity=strength, x=x, y=y, width=size, height=size)


def _cell(x: float, y: float, size: float, value: float | None, about: str) -> Markup:
    """A framed square with the number on it."""
    lit = "tick on" if abs(value or 0.0) > 0.55 else "tick"
    number = lettering(lit, x + size / 2, y + size / 2 + 4, as_coefficient(value))
    return titled(f"{about}: {as_number(value, 2)}", bar("cell", x, y, size, size), _shade(x, y, size, value), number)


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
