"""Simplified sentences rated for fluency, meaning and simplicity by 15 workers each (ASSET, Alva-Manchego et al. 2020).

One table, a row per number: sentence, aspect, worker and rating. Its licence forbids commercial use, so the data are
fetched, not bundled. Texts stay at the origin.
"""

from __future__ import annotations

import csv
import io

from unisono.errors import DataError

SIMPLIFICATIONS_URL = (
    "https://raw.githubusercontent.com/facebookresearch/asset/9d659040d0d8942dbc4cd65cf357563b43fd9ab4/"
    "human_ratings/human_ratings.csv"
)
SIMPLIFICATIONS_SHA256 = {"ratings.csv": "2cee14336d8892f0efadc11770d556c69761fdd2af426e26e72bbb63c865b4e6"}
SIMPLIFICATIONS_ABOUT = (
    "Alva-Manchego, Martin, Bordes, Scarton, Sagot, Specia: ASSET: A Dataset for Tuning and Evaluation of Sentence "
    "Simplification Models (ACL 2020). CC BY-NC 4.0: cite it, no commercial use."
)
ASPECTS = ("fluency", "meaning", "simplicity")


def simplifications_tables(content: bytes) -> dict[str, bytes]:
    """ratings.csv from the table of the repository; DataError if it is not that table."""
    rated: dict[tuple[int, int], dict[str, str]] = {}
    try:
        for row in csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")):
            cell = int(row["original_sentence_id"]), int(row["worker_id"])
            rated.setdefault(cell, {})[row["aspect"]] = str(float(row["rating"]))
        rows = [[*cell, *(answers[aspect] for aspect in ASPECTS)] for cell, answers in sorted(rated.items())]
    except (KeyError, TypeError, ValueError, csv.Error) as error:  # UnicodeDecodeError is a ValueError
        raise DataError(f"The table of simplifications is not as expected: {error}. Nothing was kept.") from None
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["item", "annotator", *ASPECTS])
    writer.writerows(rows)
    return {"ratings.csv": stream.getvalue().encode()}
