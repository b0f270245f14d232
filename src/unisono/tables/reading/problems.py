"""Error messages about tables that several readers need, each with the place, the finding and the way out.

A place reads `ratings.csv row 18`: rows are counted as an editor counts the lines of the file, the header being row 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from unisono.errors import DataError, NoNumbersError
from unisono.tables import item_table, labels


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


def no_such_column(name: str, wanted: str, columns: Sequence[str]) -> DataError:
    hint = labels.did_you_mean(wanted, columns)
    return DataError(f"{name} has no column '{wanted}'; it has {labels.listed(columns, 12)}.{hint}")


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
        f"{name} has no column that looks like the {role}; it has {labels.listed(columns, 12)}. "
        f"Say which one it is with --{role} COLUMN ({role}=... in Python){such}.{side}"
    )


def no_numbers(name: str, aside: Sequence[item_table.LeftOut], words: Mapping[str, Sequence[str]]) -> DataError:
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


def left_out(aside: Sequence[item_table.LeftOut], most: int = 8) -> str:
    """Columns and why they are no ratings: `'age' (by its name it is an age) and 'note' (text)`."""
    shown = [f"'{one.column}' ({one.why})" for one in aside[:most]]
    if len(aside) > most:
        shown.append(f"{len(aside) - most} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def labels_for(words: Sequence[str], most: int = 7) -> str:
    """The option that gives words their numbers, to be copied and corrected."""
    pairs = ", ".join(f"{shortened(word)}={number}" for number, word in enumerate(words[:most], 1))
    return f'--labels "{pairs}{", ..." if len(words) > most else ""}"'


def empty_label(place: str, role: str, column: str) -> DataError:
    return DataError(f"{place}: {column} is empty. Every row needs a name for its {role}.")


def item_twice(first: str, second: str, item: str) -> DataError:
    return DataError(f"{first} and {second} both describe item '{item}'. Keep one row each, or say --duplicates mean.")


def join_places(first: str, second: str, name: str) -> tuple[str, str]:
    """`ratings.csv row 3` and `row 7`: the file is named once."""
    return first, second.removeprefix(f"{name} ")


def shortened(cell: str, most: int = 40) -> str:
    shown = cell.strip()
    return shown if len(shown) <= most else shown[: most - 1] + "…"
