"""Who is to be paid: finished raters, each with a verdict and the reason for it, as the lists that platforms take.

Prolific   approve.csv: one participant a line; reject.csv; bonus.csv: participant,amount
MTurk      approve.csv, reject.csv: AssignmentId,Approve,Reject as its results page takes them; bonus.csv
others     the rater's label, name and completion code

look.csv, for all alike, holds those who broke no rule and yet are neither approved nor rejected: the server has reason
to doubt what their browsers said.

The lists are proposals: nothing is sent anywhere.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from unisono.collect.export.answers import answers, label
from unisono.collect.export.doubts import Limits, doubts
from unisono.collect.export.raters import Standing, plain, standings
from unisono.collect.store import reading
from unisono.collect.store.arrivals import replaced
from unisono.collect.studies import StudyFolder
from unisono.tables.atomic_files import atomic_directory


class Rules(NamedTuple):
    """What is good enough; None for no rule."""

    most_failed: int | None = None
    least_seconds: float | None = None
    most_spammer: float = 0.9
    limits: Limits = Limits()
    # Paid in addition to those whose distance from the references is no larger, in percent of the scale.
    bonus: float = 0.0
    bonus_error: float | None = None


class Verdict(NamedTuple):
    """What one finished rater gets. `reason` is empty for those who are approved.

    Who breaks a rule is rejected. A doubt alone is neither: somebody has to look first.
    """

    annotator: str
    outside: str
    session: str
    code: str
    reason: str
    bonus: float
    is_doubtful: bool = False


def verdicts(connection: Connection, folder: StudyFolder, rules: Rules, spammers: dict[str, float]) -> list[Verdict]:
    """All who have finished. `spammers` holds the probability of being one, where a fit has told."""
    gone = replaced(connection)
    # Who came under an identifier that was another's cannot be paid by it.
    people = {label(row.id): row for row in reading.rater_rows(connection) if row.id not in gone}
    found = []
    for standing in standings(connection, folder, answers(connection)):
        if standing.state == "finished" and standing.annotator in people:
            row = people[standing.annotator]
            against = _against(standing, rules, spammers.get(standing.annotator, 0.0))
            doubtful = doubts(standing.evidence, rules.limits)
            reason = "; ".join(against + doubtful)
            known = (standing.annotator, plain(row.outside or ""), plain(row.session), standing.completion_code)
            bonus = 0.0 if reason else _bonus(standing, rules)
            found.append(Verdict(*known, reason, bonus, bool(doubtful and not against)))
    return found


def write_lists(found: Sequence[Verdict], source: str, out: Path) -> list[Path]:
    """approve.csv, reject.csv and bonus.csv as the platform wants them, and look.csv; the files written."""
    good = [one for one in found if not one.reason]
    bad = [one for one in found if one.reason and not one.is_doubtful]
    paid = [one for one in good if one.bonus > 0]
    look = [["annotator", "name", "session", "completion_code", "reason"]]
    look += [[v.annotator, v.outside, v.session, v.code, v.reason] for v in found if v.is_doubtful]
    tables = (*_tables(source, good, bad, paid), look)
    with atomic_directory(out) as place:
        for name, rows in zip(_NAMES, tables, strict=True):
            with (place / name).open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows(rows)
    for name in _NAMES:
        (out / name).chmod(0o600)
    return [out / name for name in _NAMES]


_NAMES = ("approve.csv", "reject.csv", "bonus.csv", "look.csv")
Table = list[list[str]]


def _tables(source: str, good: list[Verdict], bad: list[Verdict], paid: list[Verdict]) -> tuple[Table, Table, Table]:
    if source == "prolific":
        reject = [["participant_id", "session_id", "reason"], *([v.outside, v.session, v.reason] for v in bad)]
        return [[v.outside] for v in good], reject, [[v.outside, _amount(v)] for v in paid]
    if source == "mturk":
        head = ["AssignmentId", "WorkerId", "Approve", "Reject"]
        approve = [head, *([v.session, v.outside, "x", ""] for v in good)]
        reject = [head, *([v.session, v.outside, "", v.reason] for v in bad)]
        bonus = [["WorkerId", "AssignmentId", "BonusAmount", "Reason"]]
        return approve, reject, bonus + [[v.outside, v.session, _amount(v), "Careful ratings"] for v in paid]
    head = ["annotator", "name", "completion_code"]
    known = {v.annotator: [v.annotator, v.outside, v.code] for v in (*good, *bad)}
    return (
        [head, *(known[v.annotator] for v in good)],
        [[*head, "reason"], *([*known[v.annotator], v.reason] for v in bad)],
        [[*head, "amount"], *([*known[v.annotator], _amount(v)] for v in paid)],
    )


def _against(standing: Standing, rules: Rules, spammer: float) -> list[str]:
    """The rules that the rater breaks."""
    reasons = ["excluded by the researcher"] if standing.excluded else []
    failed = standing.checks_failed + standing.evidence.checks_skipped
    if rules.most_failed is not None and failed > rules.most_failed:
        reasons.append(f"{failed} of {standing.checks_passed + failed} attention checks failed")
    # As far as the server can confirm them, and of traces as well: what a browser claims is no time spent.
    seconds = standing.evidence.time.median
    if rules.least_seconds is not None and seconds is not None and seconds < rules.least_seconds:
        reasons.append(f"too fast: {seconds:.3g} seconds per item, {rules.least_seconds:g} are needed to look at one")
    if spammer > rules.most_spammer:
        reasons.append(f"answers follow nobody else's (probability {spammer:.2f})")
    return reasons


def _bonus(standing: Standing, rules: Rules) -> float:
    if rules.bonus_error is None:
        return rules.bonus
    error = standing.reference_error
    return rules.bonus if error is not None and error <= rules.bonus_error else 0.0


def _amount(verdict: Verdict) -> str:
    return f"{verdict.bonus:.2f}"
