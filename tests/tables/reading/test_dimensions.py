"""Whatever the table: a dimension varies within items and within annotators, or it was asked for.

Tables are drawn in every shape, with columns that rate, that describe the item or the person, that count rows or never
change, written as numbers, with decimal commas or in words. What varies is judged here by plain dictionaries.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command_line import unisono_here
from unisono.tables.reading.column_roles import FEW_ROWS

KINDS = ("rating", "of the item", "of the person", "constant", "counter", "row")
NAMES = (
    "valence",
    "joy",
    "wave",
    "group",
    "words",
    "coupleID",
    "age",
    "score_2",
    "n_seen",
    "joy_sd",
    "year",
    "quality",
)
WORDS = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")


@st.composite
def tables(draw):
    """Items by annotators, and numbers (name -> item, annotator -> number) with the way they are written."""
    items, raters = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    random = draw(st.randoms(use_true_random=False))
    pairs = [(m, k) for m in range(items) for k in range(raters) if (m, k) < (1, 2) or random.random() < 0.9]
    columns, written = {}, {}
    for name in names:
        kind = draw(st.sampled_from(KINDS))
        by = {
            "rating": lambda m, k, n: random.randint(1, 5),
            "of the item": lambda m, k, n: 1 + m % 5,
            "of the person": lambda m, k, n: 1 + k,
            "constant": lambda m, k, n: 3,
            "counter": lambda m, k, n: 1 + m,
            "row": lambda m, k, n: 1 + n % 5,
        }[kind]
        columns[name] = {pair: by(*pair, n) for n, pair in enumerate(pairs)}
        written[name] = draw(st.sampled_from(["number", "comma", "word", "gaps"]))
        if written[name] == "gaps":
            columns[name] = {pair: value for pair, value in columns[name].items() if random.random() < 0.8}
    return pairs, columns, written


def as_text(table, shape: str) -> str:
    pairs, columns, written = table

    def cell(name, pair):
        value = columns[name].get(pair)
        form = {"number": str, "gaps": str, "comma": lambda v: f"{v},5", "word": lambda v: WORDS[v - 1]}[written[name]]
        return "" if value is None else form(value)

    if shape == "tidy":
        rows = [["item", "annotator", *columns]]
        rows += [[f"m{m}", f"A{k}", *(cell(name, (m, k)) for name in columns)] for m, k in pairs]
    elif shape == "long":
        rows = [["item", "annotator", "dimension", "value"]]
        rows += [[f"m{m}", f"A{k}", name, cell(name, (m, k))] for m, k in pairs for name in columns]
    else:
        people = sorted({k for _, k in pairs})
        rows = [["item", *(f"{name}_A{k}" for name in columns for k in people)]]
        for m in sorted({m for m, _ in pairs}):
            rows.append([f"m{m}", *(cell(name, (m, k)) for name in columns for k in people)])
    text = io.StringIO()
    text.writelines(";".join(row) + "\n" for row in rows)
    return text.getvalue()


def varies(numbers: dict[tuple[int, int], int], side: int) -> bool:
    """Whether a group has two numbers, or too few rows lie beside the first of each group to tell."""
    groups = defaultdict(list)
    for pair, value in numbers.items():
        groups[pair[side]].append(value)
    beside = sum(len(group) - 1 for group in groups.values())
    return beside < FEW_ROWS or any(len(set(group)) > 1 for group in groups.values())


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(["tidy", "long", "wide"]), st.data())
def test_a_dimension_varies_or_was_asked_for(tmp_path, table, shape, data):
    _, columns, _ = table
    asked = data.draw(st.lists(st.sampled_from(sorted(columns)), max_size=2, unique=True))
    (tmp_path / "r.csv").write_text(as_text(table, shape))
    say = [word for name in asked for word in ("--dim", name)]
    done = unisono_here("check", "r.csv", "--json", *say, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 3:
        assert done.stderr.startswith("Error: r.csv")
        return
    found = [row["name"] for row in json.loads(done.stdout)["dimensions"]]
    assert found
    for name in found:
        assert name in asked or (varies(columns[name], 0) and varies(columns[name], 1)), (name, as_text(table, shape))
    if asked:
        assert found == asked
