"""A truth against a reference: numbers, classes of categories, or both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unisono.api.categories import CategoryFusion
from unisono.api.fusion import Fusion
from unisono.data import ItemTable
from unisono.errors import DataError, NoNumbersError
from unisono.evaluate.compare.leaderboard import truth_table
from unisono.fusers import Fused
from unisono.fusers.categories.results import FusedCategories
from unisono.io.align import align_to
from unisono.io.item_classes import read_item_classes, read_item_numbers, read_probabilities

if TYPE_CHECKING:
    from unisono.evaluate.scoring import Scores

Classes = dict[str, dict[str, str]]  # dimension -> item -> class
Probabilities = dict[str, dict[str, dict[str, float]]]  # dimension -> item -> class -> probability


class _Told(NamedTuple):
    """The classes that a truth or a reference has."""

    of: Classes
    probability: Probabilities


def score(truth: Any, reference: Any, *, categories: Any = None, **reading: Any) -> Scores:
    """How close a truth comes to a reference, dimension by dimension, on the items that both have.

    `truth` is what `fuse` gave, a `Fused`, the folder of a saved one, or like `reference` an `ItemTable`, a path or a
    data frame; `reading` are keyword arguments of `read_item_table` for tables. Series are compared on the truth's
    clock. Columns of words are classes; `categories` names columns that are, whatever they hold, or is 'none'. Classes
    are compared by accuracy and macro F1, and by log loss and calibration where their probabilities are known: of what
    `fuse` gave, and of a truth.csv with its categories.csv beside it.
    """
    from unisono.evaluate.category_scoring import score_categories
    from unisono.evaluate.scoring import Scores

    if truth is None or reference is None:
        what = "a truth: a result, or a table of estimates" if truth is None else "a reference: a table of items whose"
        raise DataError(f"A score needs {what}{'' if truth is None else ' truth is known'}.")
    ours, theirs = _file_of(truth), reference
    names = [categories] if isinstance(categories, str) else None if categories is None else list(categories)
    read_once = any(isinstance(one, str) and one == "-" for one in (ours, theirs))  # standard input, by the numbers
    wanted = not read_once and names != ["none"]
    told = [_classes_of(one, names, reading) if wanted else _Told({}, {}) for one in (ours, theirs)]
    classes = score_categories(told[0].of, told[1].of, told[0].probability)
    try:
        numbers = _number_scores(ours, theirs, [one.name for one in classes], reading)
    except NoNumbersError:
        if not classes:
            raise
        return Scores((), max(one.n for one in classes), (), (), (), categories=classes)
    return numbers.with_categories(classes)


def _number_scores(ours: Any, theirs: Any, words: list[str], reading: dict[str, Any]) -> Scores:
    from unisono.evaluate.scoring import score_tables

    if isinstance(ours, CategoryFusion | FusedCategories):
        raise NoNumbersError("The truth holds categories alone, and the reference has no column of their names.")
    return score_tables(*(_numbers_of(one, words, reading) for one in (ours, theirs)), align=align_to)


def _file_of(truth: Any) -> Any:
    """The truth.csv of a folder; anything else as it is."""
    return Path(truth) / "truth.csv" if isinstance(truth, str | Path) and Path(truth).is_dir() else truth


def _classes_of(source: Any, names: list[str] | None, reading: dict[str, Any]) -> _Told:
    if isinstance(source, Fusion | CategoryFusion):
        return _Told({}, {}) if source.chosen is None else _classes_of(source.chosen.fused, names, reading)
    if isinstance(source, FusedCategories):
        return _fused_classes(source)
    if isinstance(source, Fused | ItemTable):
        return _Told({}, {})
    found = read_item_classes(source, item=reading.get("item"), names=names, sheet=reading.get("sheet"))
    return _Told(found.of, read_probabilities(source) if isinstance(source, str | Path) else {})


def _fused_classes(fused: FusedCategories) -> _Told:
    of: Classes = {}
    probability: Probabilities = {}
    for one in fused:
        rows = [(m, item) for m, item in enumerate(fused.items) if one.answered[m]]
        of[one.name] = {item: one.classes[one.best[m]] for m, item in rows}
        probability[one.name] = {
            item: dict(zip(one.classes, one.probability[m].tolist(), strict=True)) for m, item in rows
        }
    return _Told(of, probability)


def _numbers_of(source: Any, words: list[str], reading: dict[str, Any]) -> ItemTable:
    """A truth or a reference, from a result or from a table, without columns of words."""
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, Fusion | Fused):
        return truth_table(source.fused if isinstance(source, Fusion) else source)
    return read_item_numbers(source, words, **reading)
