"""How objects introduce themselves: a title, a small table and a hint, as text and as HTML for notebooks.

Imports the standard library alone, so that everything may use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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


def counted(n: int, what: str, many: str | None = None) -> str:
    """'1 item', '2 items', '12,000 items'."""
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def _aligned(row: Sequence[str], width: Sequence[int]) -> list[str]:
    return [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width, strict=True))]
