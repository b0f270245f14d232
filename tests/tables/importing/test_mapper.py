"""The mapper of JSON: paths, shapes of records, and where things are when they are wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.errors import DataError
from unisono.tables.importing.import_kinds import import_files
from unisono.tables.importing.import_request import Request
from unisono.tables.importing.imported_answers import Answers
from unisono.tables.importing.json_mapper import only, parse_path, select
from unisono.tables.importing.located_json import JsonText, Node, offset_of

pytestmark = pytest.mark.slow

DOCUMENT = {
    "run": "r1",
    "states": [
        {"id": 7, "by": {"gpt": {"fluency": {"score": 4}}, "claude": {"fluency": {"score": 5}}}, "a.b": [10, 20]},
        {"id": 8, "by": {"gpt": {"fluency": {"score": 1}}}, "a.b": []},
    ],
}


def node(value=DOCUMENT):
    return Node(value, JsonText("doc.json", json.dumps(value, indent=1)))


def values(path, start=None):
    return [found.value for found in select(start or node(), parse_path(path))]


def test_paths_lead_where_they_say():
    assert values("run") == ["r1"]
    assert values("states[].id") == [7, 8]
    assert values("states[1].id") == [8]
    assert values('states[]."a.b"[]') == [10, 20]
    assert values("states[0].by.*.fluency.score") == [4, 5]
    assert values("states[0].nothing.here") == [None]
    assert only(node(), parse_path("=judge")).value == "judge"


def test_records_know_what_encloses_them():
    judge = list(select(node(), parse_path("states[].by.*")))[1]
    assert values("@", judge) == ["claude"]
    assert values("^.id", judge) == [7]
    assert values("^@", judge) == [0]
    assert values("^^.run", judge) == ["r1"]
    assert values("$.run", judge) == ["r1"]
    with pytest.raises(DataError, match=r"doc\.json line \d+: '\^\^\^\.run' goes up further"):
        values("^^^.run", judge)


@pytest.mark.parametrize("text", ["a..b", "a]b", "a[x]", "[", "a b^c", "*x"])
def test_a_path_that_makes_no_sense_is_an_error(text):
    with pytest.raises(ValueError, match="is not a path"):
        parse_path(text)


def test_a_step_into_the_wrong_type_names_file_line_and_value():
    with pytest.raises(DataError, match=r"doc\.json line 2: run is 'r1', not an object"):
        values("run.name")
    with pytest.raises(DataError, match=r"doc\.json line 2: run is 'r1', not a list"):
        values("run[]")


def read(tmp_path, text, **words):
    file = tmp_path / "in.json"
    file.write_text(text, encoding="utf-8")
    answers = Answers(repeats=words.pop("repeats", None))
    return import_files("json", [str(file)], answers, Request(**words)).frame


def test_long_records(tmp_path):
    rows = [{"i": i, "who": w, "what": d, "n": 10 * i + len(d)} for i in (1, 2) for w in "xy" for d in ("v", "aa")]
    table = read(tmp_path, json.dumps(rows), item="i", annotator="who", dimension="what", value="n", kind="=human")
    assert table.rows() == [(str(i), w, "human", 10 * i + 1, 10 * i + 2) for i in (1, 2) for w in "xy"]
    assert table.columns == ["item", "annotator", "kind", "v", "aa"]


def test_nested_by_annotator(tmp_path):
    words = {"item": "^.id", "annotator": "@", "kind": "=judge", "dims": (("fluency", "fluency.score"),)}
    table = read(tmp_path, json.dumps(DOCUMENT), records="states[].by.*", **words)
    assert table.rows() == [("7", "gpt", "judge", 4), ("7", "claude", "judge", 5), ("8", "gpt", "judge", 1)]


def test_parallel_lists(tmp_path):
    rows = [{"id": 1, "v": [3, 4], "who": ["x", "y"]}, {"id": 2, "v": [5, None], "who": ["x", "y"]}]
    table = read(tmp_path, json.dumps(rows), item="id", annotator="who[]", dims=(("valence", "v[]"),))
    assert table.rows() == [("1", "x", 3), ("1", "y", 4), ("2", "x", 5)]
    rows[1]["v"] = [5]
    with pytest.raises(DataError, match=r"in\.json line 1: valence has 1 values for 2 annotators"):
        read(tmp_path, json.dumps(rows), item="id", annotator="who[]", dims=(("valence", "v[]"),))


def test_times_make_traces(tmp_path):
    rows = "".join(json.dumps({"f": "film", "w": w, "t": t, "v": t}) + "\n" for w in "xy" for t in (500, 0))
    table = read(tmp_path, rows, item="f", annotator="w", time="t", time_unit="ms", dims=(("v", "v"),))
    assert table.columns == ["item", "annotator", "time", "v"]
    assert table.get_column("time").to_list() == [0, 0.5, 0, 0.5]


def test_two_answers_in_one_place(tmp_path):
    rows = "\n".join(json.dumps({"i": 1, "w": "x", "v": v}) for v in (1, 1, 4))
    words = {"item": "i", "annotator": "w", "dims": (("v", "v"),)}
    with pytest.raises(DataError, match=r"in\.json line 1 and in\.json line 3: annotator 'x' gave v of '1' twice"):
        read(tmp_path, rows, **words)
    for repeats, value in (("first", 1), ("last", 4), ("mean", 2)):
        assert read(tmp_path, rows, repeats=repeats, **words).rows() == [("1", "x", value)]


def test_names_that_readers_would_take_for_labels_are_changed(tmp_path):
    rows = [{"i": 1, "w": "x", "v": 1}]
    dims = (("file", "v"), ("a.time", "v"), ("kind", "v"), ("score", "v"))
    table = read(tmp_path, json.dumps(rows), item="i", annotator="w", dims=dims)
    assert table.columns[2:] == ["file_rating", "a_time", "kind_rating", "score"]


TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3)),
    lambda inside: st.one_of(st.lists(inside, max_size=3), st.dictionaries(st.text(max_size=3), inside, max_size=3)),
    max_leaves=12,
)


def leaves(tree, path=()):
    yield path, tree
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, part in inside:
        yield from leaves(part, (*path, step))


@given(TREES, st.sampled_from([None, 1, 3]), st.booleans())
@settings(max_examples=200, derandomize=True)
def test_every_value_is_found_where_it_stands(tree, indent, ascii_only):
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii_only)
    for path, value in leaves(tree):
        assert json.JSONDecoder().raw_decode(text, offset_of(text, path))[0] == value


LABELS = st.text("abc é,\"'\n;", min_size=1, max_size=4).filter(lambda text: text.strip())
NUMBERS = st.one_of(st.integers(-100, 100), st.floats(-1e9, 1e9), st.booleans())


@given(st.dictionaries(st.tuples(LABELS.map(str.strip), LABELS.map(str.strip)), NUMBERS, min_size=1, max_size=12))
@settings(max_examples=100, derandomize=True)
def test_whatever_the_shape_the_mapper_finds_the_same_table(tmp_path_factory, ratings):
    folder = tmp_path_factory.mktemp("json")
    long = [{"i": i, "w": w, "d": "v", "n": n} for (i, w), n in ratings.items()]
    nested: dict[str, dict[str, object]] = {}
    for (i, w), n in ratings.items():
        nested.setdefault(i, {})[w] = n
    lists = [{"i": i, "w": list(by), "n": list(by.values())} for i, by in nested.items()]
    ways = [
        (json.dumps(long, indent=1), {"item": "i", "annotator": "w", "dimension": "d", "value": "n"}),
        ("\n".join(map(json.dumps, long)), {"item": "i", "annotator": "w", "dims": (("v", "n"),)}),
        (json.dumps(nested), {"records": "*.*", "item": "^@", "annotator": "@", "dims": (("v", ""),)}),
        (json.dumps(lists), {"item": "i", "annotator": "w[]", "dims": (("v", "n[]"),)}),
    ]
    expected = {(i, w): float(n) for (i, w), n in ratings.items()}
    for text, words in ways:
        table = read(folder, text, **words)
        assert {(row["item"], row["annotator"]): float(row["v"]) for row in table.to_dicts()} == expected
