"""What a study asks of its raters before anybody has come: pages, minutes, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unisono.collect.studies.catalogue import Item
from unisono.collect.studies.folder import StudyFolder

# Seconds for reading consent and instructions, and for the last page.
_AROUND = 90.0
# Of a recording that does not say how long it is.
_UNKNOWN_SECONDS = 60.0


def estimate(folder: StudyFolder, seconds_per_answer: float, pay_per_hour: float) -> dict[str, Any]:
    """Figures of `unisono collect check`; raters and cost are None where the study sets no number of ratings.

    compared: the items that pairs are made of; 0 where items are judged one by one. untranslated: keys of sentences
    that raters will read in English though the study is in another language. unreached: attention checks that nobody
    will meet, by the number of items that they come after.
    """
    study, catalogue = folder.study, folder.catalogue
    items = min(study.design.items_per_rater or len(catalogue.items), len(catalogue.items))
    hidden = items // study.reference.every if study.reference and catalogue.references else 0
    checks = sum(check.after <= items for check in study.checks)
    shown = (items + hidden) * _seconds(folder, catalogue.items, seconds_per_answer)
    tried = len(catalogue.practice) * _seconds(folder, catalogue.practice, seconds_per_answer)
    asked = checks * len(study.answered) + len(study.questions)
    seconds = _AROUND + shown + tried + asked * seconds_per_answer
    wanted = study.design.ratings_per_item
    raters = math.ceil(wanted * len(catalogue.items) / items) if wanted and items else None
    return {
        "items": len(catalogue.items),
        "compared": len(catalogue.members),
        "references": len(catalogue.references),
        "practice": len(catalogue.practice),
        "skipped": _skipped(folder),
        "untranslated": list(folder.sentences.missing),
        "unreached": [check.after for check in study.checks if check.after > items],
        "items_per_rater": items,
        "pages_per_rater": (items + hidden) * len(study.passes) + checks,
        "minutes_per_rater": round(seconds / 60, 1),
        "raters": raters,
        "cost": None if raters is None or not pay_per_hour else round(raters * seconds / 3600 * pay_per_hour, 2),
    }


def _seconds(folder: StudyFolder, items: Sequence[Item], seconds_per_answer: float) -> float:
    """Mean seconds for one item: traces take as long as they play, once for every pass."""
    study = folder.study
    if study.mode != "trace" or not items:
        return seconds_per_answer * len(study.answered)
    played = sum(item.seconds or _UNKNOWN_SECONDS for item in items) / len(items)
    return (played + study.trace.countdown + seconds_per_answer) * len(study.passes)


def _skipped(folder: StudyFolder) -> list[str]:
    """Files in the folder of media that are no items: a wrong ending is easily missed."""
    if folder.study.items.source != "files":
        return []
    catalogue, place = folder.catalogue, folder.path / folder.study.items.folder
    known = {item.name for item in (*catalogue.items, *catalogue.references, *catalogue.practice, *catalogue.members)}
    names = (path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
    return sorted(name for name in names if name not in known and Path(name).name != "README")
