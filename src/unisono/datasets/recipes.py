"""Rewritten cooking recipes rated on six dimensions (Stein et al. 2023): one tab-separated table, a row per rating.

An item is a recipe under one of several ways to rewrite it (`recipeid|condition`); participants keep their numbers.
"""

from __future__ import annotations

import csv
import io
import re

from unisono.errors import DataError

RECIPES_URL = (
    "https://raw.githubusercontent.com/interactive-cookbook/recipe-generation/2baf50f28b93e1700292ff1cb0aec5f799a1fc44/"
    "crowd-sourcing-evaluation/cleaned_data_anonymized.csv"
)
RECIPES_SHA256 = {"ratings.csv": "8f3997368c41e5852ad39c858f79b0469192ccb17a1543b70b34ceb127ba6818"}
RECIPES_ABOUT = (
    "Stein et al. 2023, in the repository interactive-cookbook/recipe-generation, which is under Apache-2.0 (code) and "
    "CC BY 4.0: name it."
)
DIMENSIONS = ("grammar", "fluency", "verbosity", "structure", "success", "overall")


def recipes_tables(content: bytes) -> dict[str, bytes]:
    """ratings.csv from the table of the repository; DataError if it is not that table."""
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), delimiter="\t"))
        rated = sorted(
            [f"{row['recipeid']}|{row['condition']}", f"w{_number(row['participant']):03d}", *_answers(row)]
            for row in rows
        )
    except (KeyError, ValueError, csv.Error) as error:  # UnicodeDecodeError is a ValueError
        raise DataError(f"The table of recipes is not as expected: {error}. Nothing was kept.") from None
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["item", "annotator", *DIMENSIONS])
    writer.writerows(rated)
    return {"ratings.csv": stream.getvalue().encode()}


def _answers(row: dict[str, str]) -> list[str]:
    return [row[dimension] for dimension in DIMENSIONS]


def _number(participant: str) -> int:
    found = re.fullmatch(r"participant_(\d+)", participant)
    if found is None:
        raise ValueError(f"the participant is {participant!r}")
    return int(found[1])
