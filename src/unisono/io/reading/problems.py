"""What is said about bad tables: one function per mistake, each with the place, the finding and the way out.

A place reads `ratings.csv row 18`: rows are counted as an editor counts the lines of the file, the header being row 1.
Imports labels and errors alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from unisono.data.labels import listed, nearest
from unisono.data.reading import LeftOut
from unisono.errors import DataError

LARGEST = 1e100  # beyond this a square, and so a variance, overflows


def empty_file(name: str) -> DataError:
    return DataError(f"{name} is empty. Expected a header and one row per rating.")


def header_only(name: str) -> DataError:
    return DataError(f"{name} has a header but no rows.")


def not_a_table(name: str, finding: str, remedy: str = "Save it as CSV, TSV or Parquet.") -> DataError:
    return DataError(f"{name} is not a table that can be read: {finding}. {remedy}")


def not_utf8(name: str, row: int, byte: int) -> DataError:
    return DataError(f"{name} row {row}: byte 0x{byte:02x} is not UTF-8. Save the file with UTF-8 encoding.")


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
    close = nearest(wanted, columns)
    hint = f" Did you mean '{close}'?" if close else ""
    return DataError(f"{name} has no column '{wanted}'; it has {listed(columns, 12)}.{hint}")


def column_named_twice(name: str, column: str, dimensions: Sequence[str]) -> DataError:
    return DataError(f"{name}: column '{column}' cannot be {listed(dimensions)} at once. Name one column for each.")


def no_role_column(name: str, role: str, columns: Sequence[str]) -> DataError:
    return DataError(
        f"{name} has no column that looks like the {role}; it has {listed(columns, 12)}. "
        f"Say which one it is with --{role} COLUMN ({role}=... in Python)."
    )


def no_numbers(name: str, aside: Sequence[LeftOut]) -> DataError:
    if not aside:
        return DataError(f"{name} has no column of numbers besides its labels. Expected one column per dimension.")
    numeric = [one.column for one in aside if one.numeric]
    remedy = (
        f"If '{numeric[0]}' is one, say --dim {numeric[0]}."
        if numeric
        else "Expected one column of numbers per dimension."
    )
    return DataError(f"{name} has no column that looks like a rating: {left_out(aside)}. {remedy}")


def left_out(aside: Sequence[LeftOut], most: int = 8) -> str:
    """Columns and why they are no ratings: `'age' (by its name it is an age) and 'note' (text)`."""
    shown = [f"'{one.column}' ({one.why})" for one in aside[:most]]
    if len(aside) > most:
        shown.append(f"{len(aside) - most} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def text_in_numbers(place: str, column: str, cell: str) -> DataError:
    return DataError(f"{place}: {column} is '{_short(cell)}'. Leave the cell empty if the rating is missing.")


def number_in_text(place: str, column: str, cell: str) -> DataError:
    return DataError(
        f"{place}: {column} is '{_short(cell)}', but most rows hold text there. "
        "Leave that column out by naming the others with --dim (dims=... or columns=... in Python)."
    )


def only_text(place: str, column: str, cell: str) -> DataError:
    return DataError(f"{place}: {column} is '{_short(cell)}'. The column holds text throughout; name one with numbers.")


def no_values(name: str, column: str) -> DataError:
    return DataError(f"{name}: column '{column}' is empty in every row.")


def infinite(place: str, column: str, cell: str) -> DataError:
    return DataError(f"{place}: {column} is '{cell}', not a finite number. Leave the cell empty if it is missing.")


def too_large(place: str, column: str, cell: str) -> DataError:
    return DataError(
        f"{place}: {column} is {cell}, too large to square. Use another unit, or leave the cell empty if it is missing."
    )


def outside_scale(place: str, column: str, cell: float, scale: str) -> DataError:
    return DataError(
        f"{place}: {column} is {cell:g}, outside the scale {scale}. "
        "Correct the cell, leave it empty if the rating is missing, or give another scale (--scale)."
    )


def empty_label(place: str, role: str, column: str) -> DataError:
    return DataError(f"{place}: {column} is empty. Every row needs a name for its {role}.")


def empty_cell(place: str, column: str) -> DataError:
    return DataError(f"{place}: {column} is empty. Every row needs a number here.")


def rated_twice(first: str, second: str, annotator: str, item: str) -> DataError:
    return DataError(
        f"{first} and {second}: annotator '{annotator}' rated item '{item}' twice. "
        "Keep one of the two, or give the repetitions different item names."
    )


def answered_twice(first: str, second: str, annotator: str, item: str, dimension: str) -> DataError:
    return DataError(
        f"{first} and {second}: annotator '{annotator}' rated {dimension} of item '{item}' twice. "
        "Keep one of the two, or give the repetitions different item names."
    )


def item_twice(first: str, second: str, item: str) -> DataError:
    return DataError(f"{first} and {second} both describe item '{item}'. Keep one row per item.")


def time_twice(first: str, second: str, who: str, time: float) -> DataError:
    return DataError(f"{first} and {second}: {who} has two rows at time {time:g}. Keep one row for each time.")


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
