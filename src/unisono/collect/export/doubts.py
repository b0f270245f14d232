"""What makes it doubtful that a rater did the work: what the server saw, beside what the browser said.

A doubt is a reason to look before paying, and no verdict: a slow line or a broken file can look like it.
"""

from __future__ import annotations

from typing import NamedTuple

from unisono.collect.export.times import Spent

# Seconds. It takes a person longer than this to answer a sight or a sound at all, before any judgement.
FASTEST = 0.2


class Evidence(NamedTuple):
    """What the server knows of how one rater's pages were done."""

    answered: int
    # Said to be broken, though others could answer them or nobody else says so.
    broken_alone: int = 0
    # Attention checks that were got round.
    checks_skipped: int = 0
    # Answered, though their file was never asked for.
    unseen: int = 0
    # How long the pages took.
    time: Spent = Spent()


class Limits(NamedTuple):
    """How much of it is still no doubt."""

    # Percent of the rater's pages.
    most_broken: float = 10.0
    # Percent of the answered pages.
    most_unseen: float = 10.0
    # Percent of the claimed time that the server has to be able to confirm.
    least_confirmed: float = 50.0
    # Percent of pages that may come in one go with others: after an outage, but also from a script.
    most_together: float = 50.0


def doubts(seen: Evidence, limits: Limits) -> list[str]:
    """The doubts about one rater, in words."""
    found = []
    pages = seen.answered + seen.broken_alone
    if 100 * seen.broken_alone > limits.most_broken * pages:
        found.append(f"{seen.broken_alone} of {pages} pages said to be broken, by this rater alone")
    if seen.checks_skipped:
        found.append(f"attention checks got round: {seen.checks_skipped}")
    if 100 * seen.unseen > limits.most_unseen * seen.answered:
        found.append(f"{seen.unseen} of {seen.answered} pages answered unseen: their files were never asked for")
    return found + _about_time(seen.time, limits)


def _about_time(time: Spent, limits: Limits) -> list[str]:
    found = []
    if time.percent is not None and time.percent < limits.least_confirmed:
        found.append(f"claims {time.claimed:.1f} seconds, of which {time.confirmed:.1f} are possible")
    if time.pages > 1 and 100 * time.together > limits.most_together * time.pages:
        found.append(f"{time.together} of {time.pages} pages came in one go with others")
    if time.median is not None and time.median < FASTEST:
        found.append(f"{time.median:.2f} seconds per page, faster than anybody reacts")
    return found
