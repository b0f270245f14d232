"""What makes it doubtful that a rater did the work: what the server saw, beside what the browser said.

A doubt is a reason to look before paying, and no verdict: a slow line or a broken file can look like it.
"""

from __future__ import annotations

from typing import NamedTuple


class Evidence(NamedTuple):
    """What the server knows of how one rater's pages were done."""

    answered: int
    # Said to be broken, though others could answer them or nobody else says so.
    broken_alone: int = 0
    # Attention checks that were got round.
    checks_skipped: int = 0


class Limits(NamedTuple):
    """How much of it is still no doubt."""

    # Percent of the rater's pages.
    most_broken: float = 10.0


def doubts(seen: Evidence, limits: Limits) -> list[str]:
    """The doubts about one rater, in words."""
    found = []
    pages = seen.answered + seen.broken_alone
    if 100 * seen.broken_alone > limits.most_broken * pages:
        found.append(f"{seen.broken_alone} of {pages} pages said to be broken, by this rater alone")
    if seen.checks_skipped:
        found.append(f"attention checks got round: {seen.checks_skipped}")
    return found
