"""How a study is doing, for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table


def show(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.export.summary`."""
    console = Console(highlight=False)
    console.print(f"{found['title']} ({found['phase']})", markup=False, style="bold")
    wanted = f" of {found['wanted']}" if found["wanted"] else ""
    console.print(f"{found['ratings']}{wanted} ratings; {found['fewest']} to {found['most']} per item")
    console.print(", ".join(f"{count} {state}" for state, count in found["raters"].items() if count) or "no raters yet")
    if found["people"]:
        console.print(_people(found["people"]))


def show_estimate(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.studies.estimate`."""
    console = Console(highlight=False, soft_wrap=True)
    others = [f"{found[name]} {name}" for name in ("references", "practice") if found[name]]
    console.print(", ".join([f"{found['items']} items", *others]))
    if found["skipped"]:
        console.print(f"no items: {', '.join(found['skipped'])}", markup=False)
    if found["untranslated"]:
        console.print(f"in English, unless lang.toml says them: {', '.join(found['untranslated'])}", markup=False)
    console.print(f"{found['pages_per_rater']} pages and about {found['minutes_per_rater']:g} minutes per rater")
    if found["raters"] is not None:
        cost = "" if found["cost"] is None else f", {found['cost']:.2f} in all before fees"
        console.print(f"{found['raters']} raters for the ratings that the study wants{cost}")


def _people(people: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("rater")
    table.add_column("state")
    for name in ("pages", "s per item", "reference error %", "checks failed"):
        table.add_column(name, justify="right")
    for person in people:
        table.add_row(
            person["annotator"],
            person["state"],
            f"{person['done']}/{person['pages']}",
            _cell(person["median_seconds"]),
            _cell(person["reference_error"]),
            str(person["checks_failed"]),
        )
    return table


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
