"""Labels of items, annotators and dimensions: their canonical order, near misses and lists for messages.

Labels are strings everywhere. Their order is canonical (numbers inside a label count as numbers, so that `clip2` comes
before `clip10`), because sums over items then run in the same order whatever the order of the rows was. `Introduction`
is what `repr` and a notebook show of an object. Imports the standard library alone, so that everything may use it.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_DIGITS = re.compile("0*([0-9]+)")


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels in canonical order; their own text decides between `1` and `01`.

    For the order, a run of digits becomes a zero, its length and its digits, so that it stands where digits stand among
    other characters, and a longer number is a larger one.
    """
    return tuple(sorted(sorted(set(labels)), key=lambda label: _DIGITS.sub(_number_key, label)))


def as_number(text: str, *, comma: bool = False) -> float | None:
    """The number that a text is, if it is one; with `comma` also as a decimal point."""
    try:
        return float(text.replace(",", ".") if comma else text)
    except ValueError:
        return None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, if any is close."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that follows a sentence on a name that there is not; nothing where no known one is close."""
    close = nearest(name, known)
    return f" Did you mean '{close}'?" if close else ""


def meant_among(name: str, known: Sequence[str], what: str) -> str:
    """The same; where no known one is close, those that there are."""
    close = nearest(name, known)
    return f"Did you mean '{close}'?" if close else f"The {what} are {listed(known)}."


def listed(labels: Sequence[str], most: int = 5, of: int | None = None) -> str:
    """Labels for a message: `'a', 'b' and 7 more`; `of` how many, where not all are given."""
    shown = [f"'{label}'" for label in labels[:most]]
    rest = (len(labels) if of is None else of) - len(shown)
    if rest:
        return ", ".join(shown) + f" and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def digest_of(labels: Iterable[Sequence[str]], columns: Iterable[bytes]) -> str:
    """SHA-256 of lists of labels and of the bytes of columns."""
    digest = hashlib.sha256()
    for names in labels:
        digest.update("\x1f".join(names).encode() + b"\x1e")
    for column in columns:
        digest.update(column)
    return digest.hexdigest()


def _number_key(found: re.Match[str]) -> str:
    digits = found.group(1)
    return f"0{chr(min(len(digits), 0x10FFFF))}{digits}"


MOST_ROWS = 8  # with title, header and hint an introduction stays under 15 lines


@dataclass(frozen=True)
class Introduction:
    """What `repr` and a notebook show of an object."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    hint: str = ""

    @classmethod
    def of(
        cls, title: str, header: Sequence[str] = (), rows: Sequence[Sequence[str]] = (), hint: str = ""
    ) -> Introduction:
        """Only the first rows of a long table, with a line that says how many more there are."""
        shown = [tuple(row) for row in rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            shown.append((f"... and {len(rows) - MOST_ROWS} more", *[""] * (len(header) - 1)))
        return cls(title, tuple(header), tuple(shown), hint)

    def text(self) -> str:
        """Names to the left, figures to the right."""
        lines = [self.title]
        table = [self.header, *self.rows] if self.header else list(self.rows)
        if table:
            width = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
            lines += ["  " + "  ".join(_aligned(row, width)).rstrip() for row in table]
        return "\n".join([*lines, self.hint] if self.hint else lines)

    def html(self) -> str:
        """One small table; every text is escaped."""
        parts = [f"<div><strong>{escape(self.title)}</strong>"]
        if self.rows:
            head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
            body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if self.hint:
            parts.append(f"<small>{escape(self.hint)}</small>")
        return "".join(parts) + "</div>"


class Introduced:
    """Something that shows itself by an introduction."""

    def _introduction(self) -> Introduction:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()


def counted(n: int, what: str, many: str | None = None) -> str:
    """'1 item', '2 items', '12,000 items'."""
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def _aligned(row: Sequence[str], width: Sequence[int]) -> list[str]:
    return [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width, strict=True))]


def rows_of(columns: Mapping[str, Any], chosen: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """A table of plain values, one dict per row; those of the `chosen` rows alone, in that order."""
    place = None if chosen is None else [int(row) for row in chosen]
    shown = [column if place is None else [column[row] for row in place] for column in columns.values()]
    plain = ([one.tolist() if hasattr(one, "tolist") else one for one in column] for column in shown)
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]
