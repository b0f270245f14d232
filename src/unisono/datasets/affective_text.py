"""News headlines rated on seven emotions by paid workers (Snow et al. 2008), with the experts of SemEval 2007.

The archive holds `all_collected_data.tgz` with one `<emotion>.standardized.tsv` each (worker, headline, response and
gold) and `affect_emotion/affect.tsv` with the headlines. No licence is stated, so the data are fetched, not bundled.
Workers become w00, w01, ... in the order of their identifiers, which are nobody's business.
"""

from __future__ import annotations

import csv
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable

from unisono.errors import DataError

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
WORKER, ITEM = "!amt_worker_ids", "orig_id"


def affective_text_tables(archive: bytes) -> dict[str, bytes]:
    """ratings.csv, reference.csv and items.csv from the archive; DataError if it is not that archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as outer:
            inner = outer.read(_member(outer.namelist(), "all_collected_data.tgz"))
            headlines = outer.read(_member(outer.namelist(), "affect.tsv"))
        with tarfile.open(fileobj=io.BytesIO(inner), mode="r:gz") as tar:
            answers = {emotion: _tsv(_extracted(tar, f"{emotion}.standardized.tsv")) for emotion in EMOTIONS}
        return _tables(answers, {row["id"]: row["headline"] for row in _tsv(headlines)})
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, KeyError, UnicodeDecodeError) as error:
        raise DataError(f"The archive of affective-text is not as expected: {error}. Nothing was kept.") from None


def _tables(answers: dict[str, list[dict[str, str]]], headlines: dict[str, str]) -> dict[str, bytes]:
    first = answers[EMOTIONS[0]]
    names = {worker: f"w{i:02d}" for i, worker in enumerate(sorted({row[WORKER] for row in first}))}
    rated: dict[tuple[int, str], dict[str, str]] = {}
    gold: dict[int, dict[str, str]] = {}
    for emotion, rows in answers.items():
        for row in rows:
            item = int(row[ITEM])
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
    return list(
        csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    )


def _csv(header: list[str], rows: Iterable[list[str]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue().encode()
