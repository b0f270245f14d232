"""What a study exports, as tests read it."""

from __future__ import annotations

import csv
from pathlib import Path

from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import StudyFolder


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def exported(folder: StudyFolder, out: Path, url: str = "") -> Path:
    database = Database(url or folder.database_url)
    export_study(folder, database, out)
    database.close()
    return out
