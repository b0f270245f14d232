"""Answers as an importer finds them, and everything it leaves out with the reason.

A preset adds one answer at a time (item, annotator, dimension, value, where it stood); `finish` makes the table.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.importing import import_request, imported_comparisons, located_json
from unisono.tables.labels import listed
from unisono.tables.reading import category_columns, cell_meanings, column_roles, label_and_number_columns

MISSING = {"", "na", "nan", "null", "none"}
LARGEST_INTEGER = 2.0**53  # up to here whole numbers are exact
SHOWN = 4  # places named for one reason; the file of --dropped has all of them


Label = tuple[str, str | None, str | None, float | None]  # item, annotator, kind, time
Entry = tuple[
    tuple[str, ...], str | None, str, located_json.Node, str | None
]  # parts of the item, annotator, dimension, value, kind


class Dropped(NamedTuple):
    """Something that is not in the table, and why."""

    place: object  # its text says where
    reason: str


class Imported(NamedTuple):
    """The table, what is to be said about it, and what it does not hold."""

    frame: pl.DataFrame
    facts: list[str]
    dropped: list[Dropped]


ABOUT = ("system", "prompt", "sample")  # columns about items, for leaderboards


class Answers:
    """Collects answers. `words` give text a number; `repeats` says what two answers in one place mean."""

    def __init__(self, words: Mapping[str, float | None] | None = None, repeats: str | None = None):
        self.words = {word.casefold(): number for word, number in (words or {}).items()}
        self.repeats = repeats or "error"
        self._settled = repeats is not None
        self.facts: list[str] = []
        self.dropped: list[Dropped] = []
        self.rename: dict[str, str] = {}  # dimension in the source -> its name here; empty: all, under their own names
        self.shift = 0.0  # seconds added to every time
        self._about: dict[str, dict[str, str]] = {}  # item -> system, prompt and sample, where the tool knows them
        self._columns: dict[str, list[Any]] = {name: [] for name in ("item", "annotator", "kind", "time", "dimension")}
        self._value: list[float] = []
        self._place: list[object] = []
        self._text: dict[str, list[tuple[object, str, Label]]] = {}
        self._classes: dict[str, list[str]] = {}  # dimension of words -> what its numbers stand for
        self._compared: list[imported_comparisons.Compared] = []
        self._unread: defaultdict[str, Counter[str]] = defaultdict(Counter)  # why -> column -> cells

    def say(self, fact: str) -> None:
        """Something the user should know about what was read."""
        if fact not in self.facts:
            self.facts.append(fact)

    def pass_over(self, column: str, why: str = "Inputs, which are no scores") -> None:
        """A cell of a column that is not read: the column is named when the table is made, with how many it had."""
        self._unread[why][column] += 1

    def usually(self, *, repeats: str | None = None, words: Mapping[str, float] | None = None) -> None:
        """What holds for a kind of file unless the user says otherwise."""
        if repeats is not None and not self._settled:
            self.repeats = repeats
        for word, number in (words or {}).items():
            self.words.setdefault(word.casefold(), number)

    def describe(self, item: str, **words: str) -> None:
        """Which system made an item, what it was asked, and which of several samples it is, as far as is known."""
        self._about[item] = {name: word for name, word in words.items() if word}

    def drop(self, place: object, reason: str) -> None:
        """Leaves something out."""
        self.dropped.append(Dropped(_pinned(place), reason))

    def add(
        self,
        item: str,
        annotator: str | None,
        dimension: str,
        value: Any,
        place: object,
        *,
        kind: str | None = None,
        time: float | None = None,
    ) -> None:
        """Takes an answer, unless it is empty or about a dimension that was not asked for."""
        if self.rename and dimension not in self.rename:
            self.drop(place, f"{dimension} was not asked for")
            return
        time = None if time is None else time + self.shift
        # A name is kept once, however often it comes.
        label = (sys.intern(item), None if annotator is None else sys.intern(annotator), kind, time)
        number = self._number(value, dimension, place, label)
        if number is not None:
            self._take(label, dimension, number, _pinned(place))

    def add_all(
        self, entries: Sequence[Entry], about: Callable[[tuple[str, ...]], dict[str, str]] = lambda parts: {}
    ) -> None:
        """Takes answers about items that are known by several parts; `about` says what `describe` is told of these."""
        names = import_request.item_names([entry[0] for entry in entries]) if entries else []
        for item, (parts, annotator, dimension, node, kind) in zip(names, entries, strict=True):
            self.describe(item, **about(parts))
            self.add(item, annotator, dimension, node.value, node, kind=kind)

    def compare(
        self,
        items: tuple[str, ...],
        who: tuple[str, str | None, str | None],
        dimension: str,
        answer: str | int,
        place: object,
        ranking: str | None = None,
    ) -> None:
        """Takes a comparison of two items (left, tie or right), or the rank of an item; `who`: also kind and prompt."""
        if self.rename and dimension not in self.rename:
            self.drop(place, f"{dimension} was not asked for")
        else:
            named = self.rename.get(dimension, dimension)
            self._compared.append(imported_comparisons.Compared(_pinned(place), named, who, items, answer, ranking))

    def _take(self, label: Label, dimension: str, number: float, place: object) -> None:
        row = (*label, sys.intern(self.rename.get(dimension, dimension)))
        for column, cell in zip(self._columns.values(), row, strict=True):
            column.append(cell)
        self._value.append(number)
        self._place.append(place)

    def finish(self) -> Imported:
        """The table: one row per item and annotator (and time), one column per dimension."""
        self._settle_text()
        for why, cells in self._unread.items():
            self.say(f"{why}: {', '.join(f'{name} ({count})' for name, count in cells.items())}.")
        if self._compared and not self._value:
            table, said = imported_comparisons.comparison_table(self._compared)
            return Imported(table, [*self.facts, *said], self.dropped)
        for one in self._compared:
            self.drop(one.place, f"a comparison, no rating (--dim {one.dimension} takes comparisons alone)")
        if not self._value:
            raise DataError(self._nothing())
        names = dict.fromkeys(self._columns, pl.String) | {"time": pl.Float64}
        frame = pl.DataFrame(self._columns, schema=names).with_columns(
            pl.Series("value", self._value, dtype=pl.Float64), pl.int_range(len(self._value)).alias("row")
        )
        frame = self._renamed(self._by_kind(frame))
        keys = [
            name for name in ("item", "annotator", "kind", "time") if frame.get_column(name).null_count() < len(frame)
        ]
        if frame.get_column("annotator").null_count() and "annotator" in keys:
            raise DataError("Some files hold ratings and others a reference without annotator. Import them one by one.")
        frame = self._once(frame, [key for key in keys if key != "kind"])
        return Imported(
            self._described(self._in_words(_wide(frame, keys))), [*self.facts, *self._ranges(frame)], self.dropped
        )

    def _described(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with columns about its items, behind their names."""
        told = [self._about.get(item, {}) for item in table.get_column("item").to_list()] if self._about else []
        more = {name: [one.get(name) for one in told] for name in ABOUT if any(name in one for one in told)}
        at = table.columns.index("item") + 1
        for shift, (name, words) in enumerate(more.items()):
            table.insert_column(at + shift, pl.Series(name, words, dtype=pl.String))
        return table

    def _in_words(self, wide: pl.DataFrame) -> pl.DataFrame:
        """The table with the words of dimensions that hold some."""
        words = {name: dict(enumerate(classes)) for name, classes in self._classes.items()}
        return wide.with_columns(
            pl.col(name).cast(pl.Int64).replace_strict(words[name], return_dtype=pl.String) for name in words
        )

    def _ranges(self, frame: pl.DataFrame) -> list[str]:
        found = frame.group_by("dimension", maintain_order=True).agg(
            pl.col("value").min().alias("low"), pl.col("value").max().alias("high"), pl.len().alias("n")
        )
        return [
            f"Words: {row['dimension']} {listed(self._classes[row['dimension']], 8)} ({row['n']} answers)"
            if row["dimension"] in self._classes
            else f"Range: {row['dimension']} {row['low']:g} to {row['high']:g} ({row['n']} answers)"
            for row in found.to_dicts()
        ]

    def _number(self, value: Any, dimension: str, place: object, label: Label) -> float | None:
        """A value as a number; None, with the reason kept, where it is none."""
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, str):
            return self._number_of_text(value.strip(), dimension, place, label)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            self.drop(place, f"{dimension} is empty")
        elif isinstance(value, bool | int | float):
            return _finite(float(value), dimension, place)
        elif isinstance(value, list):
            self.drop(place, f"{dimension} has {'several answers' if value else 'no answer'}")
        else:
            raise DataError(f"{place}: {dimension} is an object, not a number. Is this the right kind of file?")
        return None

    def _number_of_text(self, text: str, dimension: str, place: object, label: Label) -> float | None:
        if text.casefold() in self.words:
            number = self.words[text.casefold()]
            if number is None:
                self.drop(place, f"{dimension} is '{text}', which counts as missing")
            return number
        if text.casefold() in MISSING:
            self.drop(place, f"{dimension} is empty")
            return None
        try:
            return _finite(float(text), dimension, place)
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            self._text.setdefault(dimension, []).append((_pinned(place), text, label))
            return None

    def _settle_text(self) -> None:
        """Text among numbers is a mistake; of a dimension of text throughout, words that were chosen are kept."""
        numeric = set(self._columns["dimension"])
        for dimension, cells in self._text.items():
            if self.rename.get(dimension, dimension) in numeric:
                place, text, _ = cells[0]
                raise DataError(
                    f"{place}: {dimension} is '{text[:60]}', where others are numbers. "
                    f"Correct it, or say what it means with --labels '{text[:60]}=1' (nothing behind = for missing)."
                )
            if not column_roles.named_otherwise(dimension) and _are_chosen(cells):
                self._take_words(dimension, cells)
                continue
            for place, *_ in cells:
                self.drop(place, f"{dimension} is text")

    def _take_words(self, dimension: str, cells: Sequence[tuple[object, str, Label]]) -> None:
        """Answers in words, each as its place among them until the table is made."""
        named = self.rename.get(dimension, dimension)
        classes = self._classes.setdefault(import_request.safe_names([named])[named], [])
        for place, text, label in cells:
            if text not in classes:
                classes.append(text)
            self._take(label, dimension, float(classes.index(text)), place)

    def _nothing(self) -> str:
        why = [f"{reason} ({count})" for reason, count in Counter(entry.reason for entry in self.dropped).items()]
        words = [text for cells in self._text.values() for _, text, _ in cells]
        hint = f" Give words numbers with --labels, as in --labels '{words[0][:40]}=1'." if words else ""
        first = f" First: {self.dropped[0].place}." if self.dropped else ""
        return f"No answer could be read as a rating{': ' + '; '.join(why[:6]) if why else ''}.{first}{hint}"

    def _by_kind(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One kind per annotator; a name that stands for a person and a judge becomes two names."""
        pairs = frame.select("annotator", "kind").unique(maintain_order=True).drop_nulls()
        mixed = pairs.filter(pl.col("annotator").is_duplicated()).get_column("annotator").unique().to_list()
        if mixed:
            self.say(f"Annotators of two kinds were told apart by name: {listed(mixed)}.")
        named = pl.when(pl.col("annotator").is_in(mixed) & pl.col("kind").is_not_null())
        frame = frame.with_columns(
            named.then(pl.format("{} ({})", "annotator", "kind")).otherwise("annotator").alias("annotator")
        )
        # Where some of an annotator's answers say what he is, all do.
        return frame.with_columns(pl.col("kind").drop_nulls().first().over("annotator"))

    def _renamed(self, frame: pl.DataFrame) -> pl.DataFrame:
        dimensions = frame.get_column("dimension").unique(maintain_order=True).to_list()
        safe = import_request.safe_names(dimensions)
        for old, new in safe.items():
            if old != new:
                self.say(f"Dimension '{old}' is called '{new}' in the table, to be told from labels.")
        return frame.with_columns(pl.col("dimension").replace(safe))

    def _once(self, frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
        """One answer in every place."""
        place = [*keys, "dimension"]
        again = frame.filter(pl.struct(place).is_duplicated())
        if not again.height:
            return frame
        if self.repeats == "mean":
            self.say(f"Answers given more than once were averaged ({again.height} answers).")
            return frame.group_by(*place, maintain_order=True).agg(
                pl.col("value").mean(), pl.exclude("value", *place).first()
            )
        if self.repeats == "error":
            self._refuse_contradiction(again, place)
        keep = "first" if self.repeats == "error" else self.repeats
        kept = frame.unique(place, keep="last" if keep == "last" else "first", maintain_order=True)
        reason = "an exact copy" if self.repeats == "error" else f"given again; the {keep} one counts"
        for row in sorted(set(frame.get_column("row")) - set(kept.get_column("row"))):
            self.drop(self._place[row], reason)
        return kept

    def _refuse_contradiction(self, again: pl.DataFrame, place: Sequence[str]) -> None:
        differing = again.filter(pl.col("value").n_unique().over(place) > 1)
        if not differing.height:
            return
        first = differing.row(0, named=True)
        same = differing.filter(pl.all_horizontal(pl.col(name).eq_missing(first[name]) for name in place))
        other = same.filter(pl.col("value") != first["value"]).row(0, named=True)
        who = f"annotator '{first['annotator']}'" if first["annotator"] else "the reference"
        at = f" at {first['time']:g} s" if first["time"] is not None else ""
        raise DataError(
            f"{self._place[first['row']]} and {self._place[other['row']]}: {who} gave {first['dimension']} of "
            f"'{first['item']}'{at} twice ({first['value']:g} and {other['value']:g}). "
            "Say which one counts with --duplicates first, last or mean."
        )


def dropped_lines(dropped: Sequence[Dropped]) -> list[str]:
    """One line per reason, with the first places."""
    places: dict[str, list[object]] = {}
    for entry in dropped:
        places.setdefault(entry.reason, []).append(entry.place)
    lines = []
    for reason, found in places.items():
        named = ", ".join(_shortened([str(place) for place in found[:SHOWN]]))
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        lines.append(f"Dropped {len(found)}: {reason} ({named}{more})")
    return lines


def _shortened(places: Sequence[str]) -> list[str]:
    """`batch.csv row 3`, `row 7`: a file is named once."""
    found, file = [], ""
    for place in places:
        name = place.rsplit(" ", 2)[0]
        found.append(place.removeprefix(f"{name} ") if name == file else place)
        file = name
    return found


def _are_chosen(cells: Sequence[tuple[object, str, Label]]) -> bool:
    """Whether text is words that annotators chose from, as `fuse` recognises them, or those of an answer scale."""
    texts, items, people = zip(*((text, label[0], label[1] or "") for _, text, label in cells), strict=True)
    classes = tuple(dict.fromkeys(texts))
    if len(classes) > 1 and cell_meanings.families_of([cell_meanings.plain_word(one) for one in classes]):
        return True
    codes = [np.unique(column, return_inverse=True)[1] for column in (texts, items, people)]
    return category_columns.are_categories(codes[0], codes[1], codes[2], classes)


def _pinned(place: object) -> object:
    return place.pinned() if isinstance(place, located_json.Node) else place


def _finite(number: float, dimension: str, place: object) -> float:
    if not abs(number) <= label_and_number_columns.LARGEST:
        raise DataError(f"{place}: {dimension} is {number:g}, not a number to compute with. Leave it empty if missing.")
    return number


def _wide(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """A column per dimension; rows by item and annotator as they first came, and by time."""
    order = [pl.col("row").min().over(name).alias(f"{name} order") for name in ("item", "annotator") if name in keys]
    frame = frame.with_columns(order).sort(*[f"{name} order" for name in ("item", "annotator") if name in keys], "row")
    dimensions = frame.sort("row").get_column("dimension").unique(maintain_order=True).to_list()
    wide = frame.pivot(
        on="dimension", index=list(keys), values="value", aggregate_function="first", maintain_order=True
    )
    if "time" in keys:
        trace = pl.col("place").min().over([name for name in keys if name not in ("time", "kind")])
        wide = wide.with_row_index("place").with_columns(trace, pl.col("time").round(9)).sort("place", "time")
    whole = [name for name in dimensions if (wide.get_column(name) % 1 == 0).fill_null(True).all()]
    small = [name for name in whole if (wide.get_column(name).abs() < LARGEST_INTEGER).fill_null(True).all()]
    return wide.select(*keys, *dimensions).with_columns(pl.col(small).cast(pl.Int64))
