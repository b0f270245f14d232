"""Error messages about tables: one function per mistake, each with the place, the finding and the way out.

A place reads `ratings.csv row 18`: rows are counted as an editor counts the lines of the file, the header being row 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from unisono.errors import DataError, NoNumbersError
from unisono.tables.item_table import LeftOut
from unisono.tables.labels import did_you_mean, listed, nearest

LARGEST = 1e100  # beyond this a square, and so a variance, overflows


def empty_file(name: str) -> DataError:
    return DataError(f"{name} is empty. Expected a header and one row per rating.")


def header_only(name: str) -> DataError:
    return DataError(f"{name} has a header but no rows.")


def not_a_table(name: str, finding: str, remedy: str = "Save it as CSV, XLSX, JSON or Parquet.") -> DataError:
    return DataError(f"{name} is not a table that can be read: {finding}. {remedy}")


def not_utf8(name: str, row: int, byte: int) -> DataError:
    return DataError(f"{name} row {row}: byte 0x{byte:02x} is not UTF-8. Save the file with UTF-8 encoding.")


def needs_extra(name: str, finding: str, extra: str, otherwise: str) -> DataError:
    return DataError(f"{name} {finding}, which needs one more package: pip install 'unisono[{extra}]'; or {otherwise}.")


def several_tables(name: str, what: str, inside: Sequence[str], wanted: str | None) -> DataError:
    close = nearest(wanted, inside) if wanted is not None else None
    lost = "" if wanted is None else f" There is no '{wanted}'."
    return DataError(
        f"{name} holds {len(inside)} {what}: {listed(inside, 8)}.{lost} Say --sheet '{close or inside[0]}'."
    )


def no_such_sheet(name: str, wanted: str, sheets: Sequence[str]) -> DataError:
    close = nearest(wanted, sheets)
    hint = f" Did you mean --sheet '{close}'?" if close else ""
    return DataError(f"{name} has no sheet '{wanted}'; it has {listed(sheets, 12)}.{hint}")


def nested(place: str, column: str) -> DataError:
    return DataError(
        f"{place}: '{column}' holds a list or an object, not a cell. "
        "`unisono import json` reads nested JSON: say where things are with --records, --item and --annotator."
    )


def no_record(place: str, kind: str) -> DataError:
    what = {"list": "a list", "str": "a text", "NoneType": "null", "bool": "true or false"}.get(kind, "a number")
    return DataError(f'{place} is {what} where a record is expected, such as {{"item": "clip1", "rating": 3}}.')


def wrong_cell_count(name: str, row: int, cells: int, expected: int) -> DataError:
    few = "few" if cells < expected else "many"
    hint = "Leave a cell empty to mark a missing value" if cells < expected else "Quote text that holds the separator"
    return DataError(
        f"{name} row {row} has too {few} cells: {cells} where the header has {expected}. {hint}, "
        "and look for an unmatched quotation mark."
    )


def open_quote(name: str, row: int) -> DataError:
    return DataError(f"{name} row {row}: a quotation mark is opened and never closed.")


def stray_quotes(name: str, row: int) -> DataError:
    return DataError(
        f"{name}: from row {row} on the quotation marks do not match. "
        "Quote whole cells, and double the quotation marks inside them."
    )


def repeated_header(name: str, column: str, first: int, second: int) -> DataError:
    return DataError(f"{name} row 1: columns {first} and {second} are both called '{column}'. Rename one of them.")


def no_such_column(name: str, wanted: str, columns: Sequence[str]) -> DataError:
    hint = did_you_mean(wanted, columns)
    return DataError(f"{name} has no column '{wanted}'; it has {listed(columns, 12)}.{hint}")


def no_match(name: str, pattern: str, columns: Sequence[str]) -> DataError:
    return DataError(f"{name} has no column like '{pattern}'; it has {listed(columns, 12)}.")


def bad_pattern(name: str, pattern: str, option: str, role: str) -> DataError:
    return DataError(
        f"{name}: '{pattern}' does not say which part of a column's name is the {role}. "
        f"Say for example {option} '{{dimension}}_{{{role}}}', or {option} 'A*' if every column is one."
    )


def column_named_twice(name: str, column: str, dimensions: Sequence[str]) -> DataError:
    return DataError(f"{name}: column '{column}' cannot be {listed(dimensions)} at once. Name one column for each.")


def no_role_column(
    name: str,
    role: str,
    columns: Sequence[str],
    example: str | None = None,
    option: str = "",
    pattern: str | None = None,
) -> DataError:
    """`example` are options that would do, `pattern` what the option for columns side by side would take."""
    such = f", for example {example}" if example else ""
    side = f" If columns stand for {role}s, say {option} '{pattern}'." if pattern else ""
    return DataError(
        f"{name} has no column that looks like the {role}; it has {listed(columns, 12)}. "
        f"Say which one it is with --{role} COLUMN ({role}=... in Python){such}.{side}"
    )


def comparisons(name: str, columns: Sequence[str]) -> DataError:
    return DataError(
        f"{name} compares or ranks items ({listed(columns)}) instead of rating one in a row. "
        "Comparisons are no ratings: give them with --comparisons FILE (comparisons=... in Python)."
    )


def ranks(name: str, column: str) -> DataError:
    return DataError(
        f"{name}: '{column}' holds ranks, every number once for each annotator, which say more and less than ratings. "
        f"To take them for ratings nevertheless, say --dim {shlex.quote(column)}."
    )


def half_long(name: str, role: str, columns: Sequence[str]) -> DataError:
    what = "names the dimension" if role == "dimension" else "holds the value"
    return DataError(
        f"{name}: no column looks like the one that {what}; it has {listed(columns, 12)}. Say --{role} COLUMN."
    )


def no_numbers(name: str, aside: Sequence[LeftOut], words: Mapping[str, Sequence[str]]) -> DataError:
    if not aside:
        return NoNumbersError(f"{name} has no column of numbers besides its labels. Expected one column per dimension.")
    numeric = [one.column for one in aside if one.numeric]
    remedy = "Expected one column of numbers per dimension."
    if numeric:
        remedy = f"If '{numeric[0]}' is one, say --dim {shlex.quote(numeric[0])}."
    elif words:
        column, known = next(iter(words.items()))
        remedy = f"If '{column}' is one, say what its words mean: {labels_for(known)}."
    return NoNumbersError(f"{name} has no column that looks like a rating: {left_out(aside)}. {remedy}")


def left_out(aside: Sequence[LeftOut], most: int = 8) -> str:
    """Columns and why they are no ratings: `'age' (by its name it is an age) and 'note' (text)`."""
    shown = [f"'{one.column}' ({one.why})" for one in aside[:most]]
    if len(aside) > most:
        shown.append(f"{len(aside) - most} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def text_in_numbers(place: str, column: str, cell: str) -> DataError:
    shown = _short(cell)
    return DataError(
        f"{place}: {column} is '{shown}'. Leave the cell empty if the rating is missing, "
        f'or say what it means: --labels "{shown}=" for missing, --labels "{shown}=3" for a number.'
    )


def thousands(place: str, column: str, cell: str) -> DataError:
    point, plain = cell.replace(",", "."), cell.replace(",", "")
    return DataError(
        f"{place}: {column} is '{cell}', which may be {point} or {plain}. Write numbers without such commas."
    )


def number_in_text(place: str, column: str, cell: str) -> DataError:
    return DataError(
        f"{place}: {column} is '{_short(cell)}', but most rows hold text there. "
        "Leave that column out by naming the others with --dim (dims=... or columns=... in Python)."
    )


def only_text(place: str, column: str, cell: str, words: Sequence[str]) -> DataError:
    meaning = f", or say what its words mean: {labels_for(words)}" if words else ""
    return DataError(
        f"{place}: {column} is '{_short(cell)}'. The column holds text throughout; name one with numbers{meaning}."
    )


def labels_for(words: Sequence[str], most: int = 7) -> str:
    """The option that gives words their numbers, to be copied and corrected."""
    pairs = ", ".join(f"{_short(word)}={number}" for number, word in enumerate(words[:most], 1))
    return f'--labels "{pairs}{", ..." if len(words) > most else ""}"'


def no_values(name: str, column: str) -> DataError:
    return DataError(f"{name}: column '{column}' is empty in every row.")


def infinite(place: str, column: str, cell: str) -> DataError:
    return DataError(f"{place}: {column} is '{cell}', not a finite number. Leave the cell empty if it is missing.")


def too_large(place: str, column: str, cell: str) -> DataError:
    return DataError(
        f"{place}: {column} is {cell}, too large to square. Use another unit, or leave the cell empty if it is missing."
    )


def looks_missing(
    place: str,
    column: str,
    cell: str,
    seen: tuple[int, tuple[float, float]],
    others: Sequence[str],
    codes: str,
    scale: str,
) -> DataError:
    """`seen` is how many answers are such codes, and from where to where all others reach."""
    count, (low, high) = seen
    many = f"{count} answers are" if count > 1 else "it is"
    also = f", and likewise in {listed(others)}" if others else ""
    return DataError(
        f"{place}: {column} is {cell}, where all others are from {low:g} to {high:g} ({many} such a number{also}). "
        f"If it means missing, say --missing {codes}; if it is an answer, say --scale {scale}."
    )


def outside_scale(place: str, column: str, cell: float, scale: str) -> DataError:
    return DataError(
        f"{place}: {column} is {cell:g}, outside the scale {scale}. "
        "Correct the cell, leave it empty if the rating is missing, or give another scale (--scale)."
    )


def empty_label(place: str, role: str, column: str) -> DataError:
    return DataError(f"{place}: {column} is empty. Every row needs a name for its {role}.")


def empty_kind(place: str, annotator: str) -> DataError:
    return DataError(
        f"{place}: kind is empty, in all rows of annotator '{annotator}'. Say what the annotator is, as in other rows, "
        "or leave the column out."
    )


def empty_cell(place: str, column: str) -> DataError:
    return DataError(f"{place}: {column} is empty. Every row needs a number here.")


def rated_twice(
    first: str, second: str, annotator: str, item: str, column: str, apart: Sequence[str] = (), value: str | None = None
) -> DataError:
    """`apart` are columns that tell such rows apart, `value` the only one with numbers."""
    what = f"{first} and {second}: annotator '{annotator}' rated item '{item}' twice."
    if not apart:
        return DataError(f"{what} {_keep_one(column)}")
    long = (
        f" If '{apart[0]}' names what was rated, say --dimension {shlex.quote(apart[0])} --value {shlex.quote(value)}."
        if value
        else ""
    )
    part = "is part" if len(apart) == 1 else "are parts"
    return DataError(
        f"{what}{long} If {listed(apart)} {part} of the item, say --item {shlex.quote(','.join((column, *apart)))}."
    )


def answered_twice(first: str, second: str, annotator: str, item: str, dimension: str, column: str) -> DataError:
    return DataError(
        f"{first} and {second}: annotator '{annotator}' rated {dimension} of item '{item}' twice. {_keep_one(column)}"
    )


def _keep_one(column: str) -> str:
    ways = "--duplicates first, last or mean"
    return f"Say which one counts with {ways}, or what else makes an item: --item {shlex.quote(column)},COLUMN."


def item_twice(first: str, second: str, item: str) -> DataError:
    return DataError(
        f"{first} and {second} both describe item '{item}'. Keep one row per item, or say --duplicates mean."
    )


def time_twice(first: str, second: str, who: str, time: float) -> DataError:
    return DataError(
        f"{first} and {second}: {who} has two rows at time {time:g}. "
        "Keep one row for each time, or say --duplicates mean."
    )


def no_time(place: str, column: str, cell: str) -> DataError:
    return DataError(
        f"{place}: {column} is '{_short(cell)}', which is no time. Write seconds, h:mm:ss as in 0:01:23.5, or moments "
        "as in 2024-05-01T10:00:00. If the column is no time, call it otherwise."
    )


def unit_of_clock(name: str, column: str, unit: str) -> DataError:
    return DataError(f"{name}: {column} holds clock times or dates, so it is not in {unit}. Leave out --time-unit.")


def mixed_units(name: str, who: str, step: float, usual: float) -> DataError:
    return DataError(
        f"{name}: {who} has steps of {step:g} s where {usual:g} s are usual. Put all times into one unit (--time-unit)."
    )


def leap(name: str, who: str, step: float, usual: float) -> DataError:
    return DataError(
        f"{name}: in the trace of {who} time leaps by {step:g} s among steps of {usual:g} s, "
        "as if units were mixed. Put all times into one unit, or give the parts different names."
    )


def join_places(first: str, second: str, name: str) -> tuple[str, str]:
    """`ratings.csv row 3` and `row 7`: the file is named once."""
    return first, second.removeprefix(f"{name} ")


def _short(cell: str, most: int = 40) -> str:
    shown = cell.strip()
    return shown if len(shown) <= most else shown[: most - 1] + "…"
