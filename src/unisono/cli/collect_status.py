"""How a study is doing, for a terminal."""

from __future__ import annotations

from typing import Any

from unisono.cli.talk import print_table, tell
from unisono.data.introduction import counted


def show(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.export.summary`."""
    tell(f"{found['title']} ({found['phase']})")
    wanted = f" of {found['wanted']}" if found["wanted"] else ""
    ratings = "rating" if (found["wanted"] or found["ratings"]) == 1 else "ratings"
    each = f"{found['fewest']}" if found["fewest"] == found["most"] else f"{found['fewest']} to {found['most']}"
    tell(f"{found['ratings']}{wanted} {ratings}; {each} per item")
    tell(", ".join(f"{count} {state}" for state, count in found["raters"].items() if count) or "no raters yet")
    if found["people"]:
        names = ["rater", "state", "pages", "s per item", "reference error %", "checks failed", "to look at"]
        print_table(names, map(_person, found["people"]))


def show_estimate(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.studies.estimate`."""
    others = [f"{found[name]} {name}" for name in ("references", "practice") if found[name]]
    pairs = f"{counted(found['items'], 'pair')} of {counted(found['compared'], 'item')}"
    tell(", ".join([pairs if found["compared"] else counted(found["items"], "item"), *others]))
    if found["skipped"]:
        tell(f"no items: {', '.join(found['skipped'])}")
    if found["untranslated"]:
        tell(f"in English, unless lang.toml says them: {', '.join(found['untranslated'])}")
    for after in found["unreached"]:
        tell(f"warning: an attention check comes after {after} items, and a rater gets {found['items_per_rater']}")
    minutes = f"about {found['minutes_per_rater']:g} minute{'s' * (found['minutes_per_rater'] != 1)}"
    tell(f"{counted(found['pages_per_rater'], 'page')} and {minutes} per rater")
    if found["raters"] is not None:
        cost = "" if found["cost"] is None else f", {found['cost']:.2f} in all before fees"
        tell(f"{counted(found['raters'], 'rater')} for the ratings that the study wants{cost}")


def _person(person: dict[str, Any]) -> list[str]:
    return [
        person["annotator"],
        person["state"],
        f"{person['done']}/{person['pages']}" + (f" ({person['broken']} broken)" if person["broken"] else ""),
        _cell(person["evidence"]["time"]["median"]),
        _cell(person["reference_error"]),
        str(person["checks_failed"] + person["evidence"]["checks_skipped"]),
        "; ".join(person["doubts"]),
    ]


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
