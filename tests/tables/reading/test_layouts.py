"""A random table comes back the same from whatever layout it is written in."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from awkward_tables import workbook
from unisono.tables.reading.ratings_reader import read_ratings

DIMS = ("calm", "joy")
Cells = dict[tuple[str, str], dict[str, int]]  # (item, annotator) -> dimension -> answer


@st.composite
def tables(draw) -> Cells:
    """Answers from 1 to 5 by some of the annotators to some of the dimensions, of every item and by everybody."""
    items = [f"clip{m}" for m in range(1, 1 + draw(st.integers(2, 4)))]
    people = [f"A{k}" for k in range(1, 1 + draw(st.integers(2, 4)))]
    random = draw(st.randoms(use_true_random=False))
    cells: Cells = {}
    for m, item in enumerate(items):
        for k, who in enumerate(people):
            own = {dim: random.randint(1, 5) for dim in DIMS if random.random() < 0.8}
            if m == 0 or k == 0:
                own |= {dim: random.randint(1, 5) for dim in DIMS}
            if own:
                cells[item, who] = own
    return cells


def names(cells: Cells) -> tuple[list[str], list[str]]:
    return list(dict.fromkeys(item for item, _ in cells)), list(dict.fromkeys(who for _, who in cells))


def records(cells: Cells) -> list[dict]:
    return [
        {"item": item, "annotator": who} | {dim: own.get(dim) for dim in DIMS} for (item, who), own in cells.items()
    ]


def rows_of(found: list[dict]) -> list[list]:
    return [list(found[0]), *(["" if cell is None else cell for cell in row.values()] for row in found)]


def text(rows: list[list], mark: str = ",") -> bytes:
    whole = io.StringIO()
    csv.writer(whole, delimiter=mark).writerows(rows)
    return whole.getvalue().encode()


def long(cells: Cells) -> list[list]:
    return [
        ["item", "annotator", "dimension", "value"],
        *([item, who, dim, x] for (item, who), own in cells.items() for dim, x in own.items()),
    ]


def grid(cells: Cells) -> list[list]:
    items, people = names(cells)
    head = ["item", *(f"{dim}_{who}" for dim in DIMS for who in people)]
    return [head, *([i, *(cells.get((i, w), {}).get(d, "") for d in DIMS for w in people)] for i in items)]


def form(cells: Cells) -> list[list]:
    items, people = names(cells)
    head = ["participant", *(f"{item}_{dim}" for item in items for dim in DIMS)]
    return [head, *([w, *(cells.get((i, w), {}).get(d, "") for i in items for d in DIMS)] for w in people)]


def pivot(cells: Cells) -> list[list]:
    head, *body = grid(cells)
    _, people = names(cells)
    blank = [""] * (len(head) - 1)
    return [
        ["dimension", *(dim for dim in DIMS for _ in people)],
        ["annotator", *(people * len(DIMS))],
        ["item", *blank],
        *body,
    ]


def packed(frame: pl.DataFrame) -> bytes:
    whole = io.BytesIO()
    frame.write_parquet(whole)
    return whole.getvalue()


def with_commas(cells: Cells) -> bytes:
    rows = [[f"{cell},0" if isinstance(cell, int) else cell for cell in row] for row in rows_of(records(cells))]
    return text(rows, ";")


LAYOUTS: dict[str, Callable[[Cells], object]] = {
    "one row per judgement": lambda cells: text(rows_of(records(cells))),
    "one row per number": lambda cells: text(long(cells)),
    "annotators side by side": lambda cells: text(grid(cells)),
    "items side by side": lambda cells: text(form(cells)),
    "a pivot table": lambda cells: text(pivot(cells)),
    "semicolons and decimal commas": with_commas,
    "tabs, packed": lambda cells: gzip.compress(text(rows_of(records(cells)), "\t")),
    "UTF-16": lambda cells: text(rows_of(records(cells))).decode().encode("utf-16"),
    "a workbook": lambda cells: workbook(*rows_of(records(cells))),
    "JSON records": lambda cells: json.dumps(records(cells)).encode(),
    "JSON lines": lambda cells: "\n".join(map(json.dumps, records(cells))).encode(),
    "JSON columns": lambda cells: json.dumps(pl.DataFrame(records(cells)).to_dict(as_series=False)).encode(),
    "Parquet": lambda cells: packed(pl.DataFrame(records(cells))),
    "a data frame of pandas": lambda cells: pd.DataFrame(records(cells)),
    "a pandas pivot": lambda cells: (
        pd.DataFrame(long(cells)[1:], columns=long(cells)[0])
        .pivot_table(index="item", columns=["dimension", "annotator"], values="value")
    ),
    "a list of records": records,
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells=tables())
def test_a_table_comes_back_the_same(tmp_path, layout, cells):
    content = LAYOUTS[layout](cells)
    source = content
    if isinstance(content, bytes):
        source = tmp_path / "table"
        source.write_bytes(content)
    found = read_ratings(source, dims=DIMS, scale=(1, 5))
    plain = read_ratings(pl.DataFrame(records(cells)), dims=DIMS, scale=(1, 5))
    assert (found.items, found.annotators, found.dimensions) == (plain.items, plain.annotators, plain.dimensions)
    assert found.data_hash == plain.data_hash


def test_there_are_ten_layouts_and_more():
    assert len(LAYOUTS) >= 10
