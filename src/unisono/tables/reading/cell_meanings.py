"""What a cell that is no plain number means: `85%`, `4 - agree`, `strongly agree`, a word with a number in `--labels`.

Decided on the distinct cells of whole columns, so that a cell means the same in every row. A verbal rating scale is a
list of levels, the lowest first; a level may have several spellings. Words are coded by the smallest scale that has all
of them, from 1 up (yes and no: 1 and 0); where two such scales differ nothing is guessed. The scales, in five
languages, are in `rating_scales.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import SettingsError
from unisono.tables.labels import as_number, listed
from unisono.tables.reading.label_and_number_columns import NumberColumn, as_label

_PER_CENT = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*%")
_NUMBER, _WORD = r"(?P<number>[+-]?\d+(?:[.,]\d+)?)", r"(?P<word>.*[^\W\d_]{2}.*)"
_NAMED_NUMBERS = (
    re.compile(_NUMBER + r"\s*[-–—:=.)]+\s*\(?" + _WORD),  # 4 - agree, 4: agree, 4) agree
    re.compile(rf"{_NUMBER}\s*\({_WORD}\)"),  # 4 (agree)
    re.compile(rf"\({_NUMBER}\)\s*{_WORD}"),  # (4) agree
    re.compile(rf"(?P<word>.*[^\W\d_]{{2}}.*?)\s*\({_NUMBER}\)"),  # agree (4)
)
_PAIR = re.compile(r"\s*(.+?)\s*=\s*([+-]?\d+(?:\.\d+)?|)\s*(?:[,;]\s*|$)")


class Meaning(NamedTuple):
    """Numbers for the cells of a column, and the sentence that says so."""

    numbers: dict[str, float]  # cell -> number, NaN if missing is meant
    note: str


Labels = Mapping[str, float | None]  # what cells mean, in words or in numbers; None: missing
Missing = Collection[object] | str | float | None


class Words(NamedTuple):
    """What the user says about words."""

    labels: Labels | None = None  # word -> number, None where missing is meant
    asked: Collection[str] = ()  # columns that have to be numbers


@dataclass(frozen=True)
class Cells:
    """A column; or one dimension in a table with one row per number, where each may have words of its own."""

    name: str
    column: NumberColumn
    rows: np.ndarray | None = None  # mask of those of the dimension

    @property
    def words(self) -> list[str]:
        return self.column.words(self.rows)

    @property
    def has_numbers(self) -> bool:
        return self.column.has_numbers if self.rows is None else not np.isnan(self.column.look()[self.rows]).all()

    def settle(self, numbers: Mapping[str, float]) -> None:
        self.column.settle(numbers, self.rows)


def parse_labels(text: str) -> dict[str, float | None]:
    """`strongly disagree=1, disagree=2, don't know=`: words and their numbers, nothing where missing is meant."""
    found: dict[str, float | None] = {}
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise SettingsError(f"labels: '{text[at:].strip()}' is not of the form WORD=NUMBER, WORD=NUMBER, ...")
        found[pair[1]] = float(pair[2]) if pair[2] else None
        at = pair.end()
    return found


def with_missing(labels: Mapping[Any, float | None] | str | None, missing: Missing) -> Labels | None:
    """The meanings of cells by their text, with the codes that stand for missing among them."""
    known = parse_labels(labels) if isinstance(labels, str) else dict(labels or {})
    found = {as_label(word): number for word, number in known.items()}
    return found | dict.fromkeys(missing_codes(missing)) or None


def missing_codes(missing: Missing) -> tuple[str, ...]:
    """The codes as text: `-99,999`, -99, or a list of them."""
    if missing is None:
        return ()
    if isinstance(missing, str):
        codes = [code.strip() for code in missing.split(",")]
    else:
        codes = [as_label(code) for code in ([missing] if isinstance(missing, int | float) else missing)]
    if not all(codes):
        raise SettingsError(f"missing: '{missing}' has an empty code. Empty cells are missing anyway.")
    return tuple(codes)


def missing_numbers(missing: Missing) -> tuple[float, ...]:
    """The same where all answers are numbers already."""
    found = {code: as_number(code) for code in missing_codes(missing)}
    if words := [code for code, number in found.items() if number is None]:
        raise SettingsError(f"missing: '{words[0]}' is no number, and all answers are numbers here.")
    return tuple(number for number in found.values() if number is not None)


def recode(columns: Sequence[NumberColumn], labels: Labels) -> list[str]:
    """Gives numbers that `labels` names their meaning; a sentence about those that no column has."""
    meant = {number: label for label in labels if (number := as_number(label)) is not None}
    numbers = {old: float("nan") if (new := labels[label]) is None else new for old, label in meant.items()}
    there = {old for column in columns for old in column.recode(numbers)}
    lost = [label for old, label in meant.items() if old not in there]
    return [f"No answer is {listed(lost, len(lost))}, which would have had a meaning."] if lost else []


def explain(column: NumberColumn, labels: Labels) -> None:
    """Gives the cells of one column, or of a part of it, that `labels` names their numbers, and nothing else."""
    meaning = _explained(column.words(), labels)
    if meaning is not None:
        column.settle(meaning.numbers)
    recode([column], labels)


def interpret(columns: Sequence[Cells], words: Words) -> dict[str, list[str]]:
    """Gives the cells of the columns their numbers; the sentences to be told, with the columns each is about."""
    said: dict[str, list[str]] = {}
    worded: list[Cells] = []
    for column in columns:
        cells = column.words
        if column.rows is None and column.column.commas:  # told once, for the column
            said.setdefault("Commas were read as decimal points in {}.", []).append(column.name)
        if not cells:
            continue
        meaning = _explained(cells, words.labels) if words.labels else None
        meaning = meaning or _per_cent(cells, column.has_numbers) or _named_numbers(cells)
        if meaning is not None:
            _give(column, meaning, said)
        elif not column.has_numbers and (len(cells) > 1 or column.rows is not None or column.name in words.asked):
            worded.append(column)
    for column, meaning in _known_words(worded):
        _give(column, meaning, said)
    return said


def told(said: Mapping[str, Sequence[str]], left_out: Collection[str]) -> tuple[str, ...]:
    """The sentences about columns that were not left out."""
    kept = {note: [name for name in names if name not in left_out] for note, names in said.items()}
    return tuple(note.format(listed(names, len(names))) for note, names in kept.items() if names)


def _give(column: Cells, meaning: Meaning, said: dict[str, list[str]]) -> None:
    column.settle(meaning.numbers)
    if meaning.note:
        said.setdefault(meaning.note, []).append(column.name)


def _explained(cells: Sequence[str], labels: Labels) -> Meaning | None:
    """By the user's word; cells that he has no word for stay text, and he hears of them."""
    known = {plain_word(word) or word.strip(): number for word, number in labels.items()}
    numbers = {}
    for cell in cells:
        key = plain_word(cell) or cell.strip()
        if key in known:
            number = known[key]
            numbers[cell] = float("nan") if number is None else float(number)
    return Meaning(numbers, "") if numbers else None


def _per_cent(cells: Sequence[str], among_numbers: bool) -> Meaning | None:
    found = {cell: match for cell in cells if (match := _PER_CENT.fullmatch(cell))}
    if among_numbers or len(found) < len(cells):
        return None
    return Meaning({cell: _number(match[1]) for cell, match in found.items()}, "Per cent signs were taken off in {}.")


def _named_numbers(cells: Sequence[str]) -> Meaning | None:
    """`4 - agree`, if every number has one name and every name one number."""
    for pattern in _NAMED_NUMBERS:
        matches = [pattern.fullmatch(cell) for cell in cells]
        pairs = [(_number(match["number"]), plain_word(match["word"])) for match in matches if match]
        if len(pairs) == len(cells) and len({n for n, _ in pairs}) == len({word for _, word in pairs}) == len(
            set(pairs)
        ):
            numbers = {cell: number for cell, (number, _) in zip(cells, pairs, strict=True)}
            shown = cells[0].replace("{", "{{").replace("}", "}}")
            return Meaning(numbers, f"Cells such as '{shown}' count as their number in {{}}.")
    return None


def _known_words(columns: Sequence[Cells]) -> list[tuple[Cells, Meaning]]:
    """Columns of one family share a scale, so that a word means one number in the whole table, if there is one."""
    each = [(column.name, families_of({plain_word(cell) for cell in column.words})) for column in columns]
    family = {name: families[0] for name, families in each if families}
    together: dict[str, set[str]] = {}
    for column in columns:
        if column.name in family:
            together.setdefault(family[column.name], set()).update(map(plain_word, column.words))
    found = []
    for column in columns:
        if column.name not in family:
            continue
        own = {plain_word(cell) for cell in column.words}
        scale = scale_of(family[column.name], together[family[column.name]]) or scale_of(family[column.name], own)
        if scale is not None:
            coded = ", ".join(f"{name}={number}" for number, name in enumerate(scale.names, scale.first))
            note = f"Words of {scale.family} were coded in {{}}: {coded}; --labels codes them otherwise."
            found.append((column, Meaning({cell: scale.number[plain_word(cell)] for cell in column.words}, note)))
    return found


def _number(text: str) -> float:
    return float(text.replace(",", "."))


Spellings = tuple[str, ...]


def _read_scales(text: str) -> dict[str, tuple[tuple[Spellings, ...], ...]]:
    """Scales by family, from the lines of `rating_scales.txt`, which says how they are written."""
    found: dict[str, list[tuple[Spellings, ...]]] = {}
    named: dict[str, Spellings] = {}
    for line in (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")):
        name, _, spellings = line.partition(" = ")
        if spellings:
            named[name] = _spellings(spellings)
        elif not line.startswith(" "):
            found[line] = []
        else:
            levels = (level.strip() for level in line.split("|"))
            found[list(found)[-1]].append(tuple(named.get(level) or _spellings(level) for level in levels))
    return {family: tuple(scales) for family, scales in found.items()}


def _spellings(text: str) -> Spellings:
    return tuple(word.strip() for word in text.split(";"))


SCALES = _read_scales(Path(__file__).with_name("rating_scales.txt").read_text(encoding="utf-8"))
_FROM_ZERO = ("yes and no", "true and false")  # families that begin so, in any language


class Scale(NamedTuple):
    """Known words and the number of each."""

    family: str
    number: dict[str, float]  # plain word -> number
    names: tuple[str, ...]  # of the levels, the lowest first
    first: int  # number of the lowest level


def plain_word(word: str) -> str:
    """A word as it counts: `Strongly_Agree` is `strongly agree`."""
    return " ".join(re.sub(r"[_\-–—/.,!?()\"]+", " ", word.lower().replace("’", "'")).split())


def families_of(words: Collection[str]) -> list[str]:
    """Families that have all of these plain words, on whatever scales."""
    return [family for family, known in _VOCABULARY.items() if known.issuperset(words)]


def scale_of(family: str, words: Collection[str]) -> Scale | None:
    """The smallest scale of a family for all of these plain words; None if there is none, or two that differ."""
    first = 0 if family.startswith(_FROM_ZERO) else 1
    found: list[Scale] = []
    for levels in sorted(SCALES[family], key=len):
        if found and len(levels) > len(found[0].names):
            break
        number = {word: float(at) for at, level in enumerate(levels, first) for word in level if word in words}
        # Two spellings of one level in one table mean two levels to whoever wrote it.
        if len(number) == len(words) == len(set(number.values())):
            # Each level in the spelling that occurs, else in the first one.
            names = tuple(next((word for word in level if word in words), level[0]) for level in levels)
            found.append(Scale(family, number, names, first))
    same = all(one.number == found[0].number for one in found)
    return found[0] if found and same else None


_VOCABULARY = {
    family: frozenset(word for levels in scales for level in levels for word in level)
    for family, scales in SCALES.items()
}
