"""Numbers as a report shows them: three significant digits, a true minus, a dash where nothing is known."""

from __future__ import annotations

import math

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
