"""Data sets that may not be bundled, fetched from their public origin into the user's cache.

    affective-text    news headlines rated on seven emotions (Snow et al. 2008; SemEval 2007): no licence stated
    recipes           rewritten cooking recipes rated on six dimensions (Stein et al. 2023): CC BY 4.0
    simplifications   simplified sentences rated on three dimensions (ASSET, Alva-Manchego et al. 2020): CC BY-NC 4.0

What is kept are tables made from the download, and the checksums are those of the tables: they are right, or nothing
is kept. Annotators get neutral names (w00, w01, ...).
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unisono.errors import DataError
from unisono.tables.atomic_files import atomic_directory
from unisono.tables.labels import did_you_mean

AFFECTIVE_TEXT_URL = (
    "https://raw.githubusercontent.com/TrentoCrowdAI/crowdsourced-datasets/e6aa3ffb3c3ef85c220d3f2b480b65101950e54a/"
    ".idea/libraries/data-raw/snow2008_mturk_data_with_orig_files_assembled_201904.zip"
)
AFFECTIVE_TEXT_SHA256 = {
    "ratings.csv": "e86b37250dbb61e9885cd0b80777cd65323acd2e0a2c974c9fc571e1d50888a2",
    "reference.csv": "8fb9538c0934f467f1837b82dac3466f63adbb5f7a7511e3f9b8c12e9b1982fb",
    "items.csv": "f7831a102a9c6276dba892543b58e1506f1e048943ad2a75bab3fcb08403af52",
}
AFFECTIVE_TEXT_ABOUT = (
    "Snow, O'Connor, Jurafsky, Ng: Cheap and Fast - But is it Good? (EMNLP 2008); Strapparava, Mihalcea: SemEval-2007 "
    "Task 14. No licence is stated: for your own study, cite both."
)
EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")
WORKER, HEADLINE = "!amt_worker_ids", "orig_id"


def affective_text_tables(archive: bytes) -> dict[str, bytes]:
    """ratings.csv, reference.csv and items.csv from the archive; DataError if it is not that archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as outer:
            inner = outer.read(_member(outer.namelist(), "all_collected_data.tgz"))
            headlines = outer.read(_member(outer.namelist(), "affect.tsv"))
        with tarfile.open(fileobj=io.BytesIO(inner), mode="r:gz") as tar:
            answers = {emotion: _tsv(_extracted(tar, f"{emotion}.standardized.tsv")) for emotion in EMOTIONS}
        return _headline_tables(answers, {row["id"]: row["headline"] for row in _tsv(headlines)})
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, KeyError, UnicodeDecodeError) as error:
        raise DataError(f"The archive of affective-text is not as expected: {error}. Nothing was kept.") from None


def _headline_tables(answers: dict[str, list[dict[str, str]]], headlines: dict[str, str]) -> dict[str, bytes]:
    first = answers[EMOTIONS[0]]
    names = {worker: f"w{i:02d}" for i, worker in enumerate(sorted({row[WORKER] for row in first}))}
    rated: dict[tuple[int, str], dict[str, str]] = {}
    gold: dict[int, dict[str, str]] = {}
    for emotion, rows in answers.items():
        for row in rows:
            item = int(row[HEADLINE])
            rated.setdefault((item, names[row[WORKER]]), {})[emotion] = row["response"]
            gold.setdefault(item, {})[emotion] = row["gold"]
    items = sorted(gold)
    return {
        "ratings.csv": _csv(
            ["item", "annotator", *EMOTIONS], ([str(m), k, *_cells(rated[m, k])] for m, k in sorted(rated))
        ),
        "reference.csv": _csv(["item", *EMOTIONS], ([str(m), *_cells(gold[m])] for m in items)),
        "items.csv": _csv(["item", "text"], ([str(m), headlines[str(m)]] for m in items)),
    }


def _cells(values: dict[str, str]) -> list[str]:
    return [f"{float(values[emotion]):g}" for emotion in EMOTIONS]


def _member(names: Iterable[str], ending: str) -> str:
    for name in names:
        if name.rsplit("/", 1)[-1] == ending:
            return name
    raise KeyError(f"there is no {ending} in it")


def _extracted(tar: tarfile.TarFile, ending: str) -> bytes:
    stream = tar.extractfile(_member(tar.getnames(), ending))
    if stream is None:
        raise KeyError(f"{ending} is not a file")
    return stream.read()


def _tsv(content: bytes) -> list[dict[str, str]]:
    text = io.StringIO(content.decode("utf-8"), newline="")
    return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))


def _csv(header: list[str], rows: Iterable[Sequence[object]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue().encode()


RECIPES_URL = (
    "https://raw.githubusercontent.com/interactive-cookbook/recipe-generation/2baf50f28b93e1700292ff1cb0aec5f799a1fc44/"
    "crowd-sourcing-evaluation/cleaned_data_anonymized.csv"
)
RECIPES_SHA256 = {"ratings.csv": "8f3997368c41e5852ad39c858f79b0469192ccb17a1543b70b34ceb127ba6818"}
RECIPES_ABOUT = (
    "Stein et al. 2023, in the repository interactive-cookbook/recipe-generation, which is under Apache-2.0 (code) and "
    "CC BY 4.0: name it."
)
RECIPE_DIMENSIONS = ("grammar", "fluency", "verbosity", "structure", "success", "overall")


def recipes_tables(content: bytes) -> dict[str, bytes]:
    """ratings.csv from the table of the repository; DataError if it is not that table."""
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), delimiter="\t"))
        labels = [[f"{row['recipeid']}|{row['condition']}", _participant(row["participant"])] for row in rows]
        answers = [[row[dimension] for dimension in RECIPE_DIMENSIONS] for row in rows]
        rated = sorted(name + own for name, own in zip(labels, answers, strict=True))
    except (KeyError, ValueError, csv.Error) as error:  # UnicodeDecodeError is a ValueError
        raise DataError(f"The table of recipes is not as expected: {error}. Nothing was kept.") from None
    return {"ratings.csv": _csv(["item", "annotator", *RECIPE_DIMENSIONS], rated)}


def _participant(participant: str) -> str:
    found = re.fullmatch(r"participant_(\d+)", participant)
    if found is None:
        raise ValueError(f"the participant is {participant!r}")
    return f"w{int(found[1]):03d}"


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
    return {"ratings.csv": _csv(["item", "annotator", *ASPECTS], rows)}


TIMEOUT = 60.0  # seconds without an answer
LARGEST = 200_000_000  # bytes; what is longer is not what was asked for


class Origin(NamedTuple):
    """Where a data set is, how its archive becomes tables, and what the tables are known to be."""

    url: str
    convert: Callable[[bytes], dict[str, bytes]]  # archive -> name and content of every table
    sha256: Mapping[str, str]  # of every table
    about: str  # who made it, and under which terms


ORIGINS = {
    "affective-text": Origin(AFFECTIVE_TEXT_URL, affective_text_tables, AFFECTIVE_TEXT_SHA256, AFFECTIVE_TEXT_ABOUT),
    "recipes": Origin(RECIPES_URL, recipes_tables, RECIPES_SHA256, RECIPES_ABOUT),
    "simplifications": Origin(
        SIMPLIFICATIONS_URL, simplifications_tables, SIMPLIFICATIONS_SHA256, SIMPLIFICATIONS_ABOUT
    ),
}


def cache_folder() -> Path:
    """Where fetched data live: UNISONO_CACHE, or the user's cache folder."""
    given = os.environ.get("UNISONO_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unisono"


def cached(name: str) -> Path | None:
    """The folder of a data set that was fetched before."""
    folder = cache_folder() / name
    return folder if all((folder / table).is_file() for table in ORIGINS[name].sha256) else None


def fetch(name: str, origin: Origin | None = None) -> Path:
    """Downloads a data set unless it is there; the folder of its tables. DataError if it is not what it should be."""
    source = origin or _origin(name)
    folder = cache_folder() / name
    if all(_sum_of(folder / table) == known for table, known in source.sha256.items()):
        return folder
    tables = source.convert(_download(source.url))
    for table, known in source.sha256.items():
        found = hashlib.sha256(tables.get(table, b"")).hexdigest()
        if found != known:
            raise DataError(
                f"{source.url} is not the data set '{name}' as it is known: {table} has the checksum {found[:12]}… "
                f"instead of {known[:12]}…. Nothing was kept. If you have a copy, point --data at its folder."
            )
    with atomic_directory(folder) as place:
        for table, content in tables.items():
            (place / table).write_bytes(content)
    return folder


def _origin(name: str) -> Origin:
    if name not in ORIGINS:
        hint = did_you_mean(name, ORIGINS)
        raise DataError(f"There is no data set '{name}' to fetch.{hint} There is: {', '.join(ORIGINS)}.")
    return ORIGINS[name]


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            content: bytes = answer.read(LARGEST + 1)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise DataError(
            f"{url} cannot be read ({getattr(error, 'reason', error)}). Try again when you are online, or point --data "
            "at a folder that holds a copy."
        ) from None
    if len(content) > LARGEST:
        raise DataError(f"{url} is larger than {LARGEST} bytes, so it is not what was expected.")
    return content


def _sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
