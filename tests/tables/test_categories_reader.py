"""Which columns are taken for categories, what is refused, and that numbers beside them stay what they were."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from unisono.errors import DataError, DataWarning, LeftOutWarning
from unisono.tables.reading.categories_reader import read_answers

MIXED = """item,annotator,valence,topic,comment
c1,a,3,politics,nice one
c1,b,4,politics,
c1,c,4,sports,meh
c2,a,1,sports,bla bla
c2,b,2,sports,good clip
c2,c,1,sports,it was fine
c3,a,5,politics,ok
c3,b,4,art,hm
c3,c,5,politics,no
c4,a,2,art,what
c4,b,2,art,so so
c4,c,3,,x
"""


def read(text: str, **words):
    return read_answers(pl.read_csv(io.StringIO(text)), **words)


def file(tmp_path, text: str):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_that_repeat_are_categories_and_comments_are_not(tmp_path):
    with pytest.warns(LeftOutWarning, match=r"left out 'comment' \(text\)"):
        found = read_answers(file(tmp_path, MIXED))
    assert found.ratings.dimensions == ("valence",)
    assert found.categories.names == ("topic",)
    assert found.categories.recognised
    topic = found.categories["topic"]
    assert topic.classes == ("art", "politics", "sports")
    assert topic.n == 11  # an empty cell is no answer


def test_numbers_beside_categories_are_those_without():
    plain = un.read_ratings(pl.read_csv(io.StringIO(MIXED)), dims="valence")
    np.testing.assert_array_equal(read(MIXED).ratings.value, plain.value)


def rows(**columns):
    """Four items, three annotators, a column of words by a function of both."""
    head = ["item,annotator,v," + ",".join(columns)]
    for m in range(4):
        for k in range(3):
            words = ",".join(str(word(m, k)) for word in columns.values())
            head.append(f"i{m},w{k},{(m + k) % 4},{words}")
    return "\n".join(head)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("genre", lambda m, k: "ab"[m % 2]),  # describes the item
        ("camp", lambda m, k: "ab"[k % 2]),  # describes the person
        ("remark", lambda m, k: "ab"[(m + k) % 2]),  # by its name it is free text
        ("AssignmentStatus", lambda m, k: ("Approved", "Submitted")[(m + k) % 2]),
        ("said", lambda m, k: f"thought {m} {k}"),  # never repeats
        ("own", lambda m, k: f"{k}{'ab'[m % 2]}x"),  # everybody has words of their own
        ("essay", lambda m, k: ("a" * 80, "b" * 80)[(m + k) % 2]),  # sentences
        ("mood", lambda m, k: "calm"),  # one word
    ],
)
def test_other_words_are_left_out_unless_asked_for(name, word):
    with pytest.warns(LeftOutWarning, match=name):
        found = read(rows(**{name: word}))
    assert found.categories is None
    assert found.ratings.dimensions == ("v",)


def test_asking_takes_any_column_also_numbers():
    text = rows(code=lambda m, k: 1 + (m + k) % 3)
    assert read(text).ratings.dimensions == ("v", "code")
    found = read(text, categories=["code"])
    assert found.ratings.dimensions == ("v",)
    assert found.categories["code"].classes == ("1", "2", "3")
    assert not found.categories.recognised
    assert read(text, categories={"sort": "code"}).categories.names == ("sort",)


def test_a_declared_column_may_mix_numbers_and_words():
    found = read(rows(code=lambda m, k: ["1", "2", "other"][(m + k) % 3]), categories="code")
    assert found.categories["code"].classes == ("1", "2", "other")


def test_none_and_named_dimensions_leave_categories_out():
    text = rows(topic=lambda m, k: "ab"[(m + k) % 2])
    assert read(text).categories is not None
    assert read(text, dims=["v"]).categories is None
    with pytest.warns(LeftOutWarning, match="topic"):
        assert read(text, categories="none").categories is None


def test_categories_alone():
    text = "\n".join(",".join(line.split(",")[i] for i in (0, 1, 3)) for line in MIXED.splitlines())
    found = read(text)
    assert found.ratings is None
    assert found.categories.names == ("topic",)


def test_one_row_per_answer():
    lines = ["item,annotator,dimension,value"]
    for m in range(4):
        for k in range(3):
            lines += [f"i{m},w{k},mood,{(m + k) % 5}", f"i{m},w{k},topic,{'ab'[(m + k) % 2]}"]
    found = read("\n".join(lines))
    assert found.ratings.dimensions == ("mood",)
    assert found.categories["topic"].classes == ("a", "b")
    codes = read(
        "\n".join(line.replace("topic,a", "topic,0").replace("topic,b", "topic,1") for line in lines),
        categories=["topic"],
    )
    assert codes.ratings.dimensions == ("mood",)
    assert codes.categories["topic"].classes == ("0", "1")
    alone = read("\n".join([lines[0], *lines[2::2]]))
    assert alone.ratings is None
    with pytest.raises(DataError, match=r"'tpic'.*Did you mean 'topic'"):
        read("\n".join(lines), categories=["tpic"])


def test_unicode_blanks_and_missing_words(tmp_path):
    text = rows(feeling=lambda m, k: ["Ärger", " 悲しみ ", "NA", "naïve"][(m + k) % 4])
    found = read_answers(file(tmp_path, text)).categories["feeling"]
    assert found.classes == ("naïve", "Ärger", "悲しみ")
    assert found.n == 9


def test_spellings_of_one_word_are_pointed_out():
    with pytest.warns(DataWarning, match="the classes 'Art' and 'art' of 'topic' differ in spelling alone"):
        found = read(rows(topic=lambda m, k: ["art", "Art", "sport"][(m + k) % 3]), categories="topic")
    assert found.categories["topic"].classes == ("Art", "art", "sport")


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        (MIXED, "tpic", "has no column 'tpic'.*Did you mean 'topic'"),
        (MIXED, "annotator", "column 'annotator' names the annotator"),
        (MIXED.replace(",b,", ",a,"), "topic", "twice"),
        (rows(topic=lambda m, k: "same"), "topic", "everybody who answered chose 'same'"),
        (rows(topic=lambda m, k: ""), "topic", "nobody answered 'topic'"),
    ],
)
def test_what_cannot_be_is_refused(text, asked, message):
    with pytest.raises(DataError, match=message):
        read(text, categories=asked)


def test_one_annotator_is_refused():
    text = "item,annotator,topic\n" + "".join(f"i{m},w,{'ab'[m % 2]}\n" for m in range(6))
    with pytest.raises(DataError, match="no item has answers to 'topic' by two annotators"):
        read(text, categories="topic")


def test_categories_over_time_are_not_fused():
    text = "recording,time,annotator,v,event\n" + "".join(
        f"film,{t},{who},{t % (3 + k)},{'ab'[t % 2]}\n" for k, who in enumerate("xy") for t in range(10)
    )
    with pytest.warns(LeftOutWarning, match="event"):
        found = read(text)
    assert found.categories is None
    assert found.ratings.is_series
    with pytest.raises(DataError, match="categories over time are not fused"):
        read(text, categories="event")


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_the_kind_of_frame_that_came_in_comes_out(library):
    frame = library.read_csv(io.StringIO(MIXED))
    result = un.fuse(frame, categories=["topic"])
    for table in (result.truth, result.annotators, result.categories, result.confusion):
        assert isinstance(table, library.DataFrame)
    assert list(result.truth["topic"]) == ["politics", "sports", "politics", "art"]
    assert list(result.truth["item"]) == list(un.fuse(frame, categories="none").truth["item"])
    alone = un.fuse(frame[["item", "annotator", "topic"]])
    assert isinstance(alone, un.CategoryFusion)
    assert isinstance(alone.truth, library.DataFrame)
    assert "topic" in repr(alone)


def test_containers_are_fused_too():
    frame = pl.read_csv(io.StringIO(MIXED))
    answers = un.read_categories(frame, "topic")
    beside = un.fuse(un.read_ratings(frame, dims="valence"), categories=answers)
    assert {"valence", "topic"} <= set(beside.truth.columns)
    assert un.fuse(answers).truth.columns == ["item", "topic", "topic_probability"]
    with pytest.raises(DataError, match="Ratings hold numbers alone"):
        un.fuse(un.read_ratings(frame, dims="valence"), categories="topic")
    with pytest.raises(DataError, match="'gold' works on numbers"):
        un.fuse(answers, gold=pl.DataFrame({"item": ["c1"], "valence": [1.0]}))


def test_items_and_annotators_with_categories_alone_have_a_row():
    lines = MIXED.splitlines() + ["c5,d,,art,", "c5,a,,art,"]
    result = un.fuse(pl.read_csv(io.StringIO("\n".join(lines))))
    assert result.truth["item"].to_list() == ["c1", "c2", "c3", "c4", "c5"]
    assert result.truth["topic"].to_list()[-1] == "art"
    assert result.annotators.filter(dimension="topic")["ratings"].sum() == 13


def test_looking_for_categories_never_stands_in_the_way():
    """What is wrong with a table, or unusual, is for the reader of numbers to say."""
    text = MIXED.replace("annotator", "by")
    with pytest.raises(DataError, match="no column that looks like the annotator"):
        read(text)
    assert read(text, annotator="by").categories.names == ("topic",)


def test_words_of_an_answer_scale_and_given_labels_are_numbers():
    text = rows(view=lambda m, k: ["agree", "disagree", "neutral"][(m + k) % 3])
    assert read(text).ratings.dimensions == ("v", "view")
    assert read(text).categories is None
    assert read(text, categories="view").categories["view"].classes == ("agree", "disagree", "neutral")
    colours = rows(light=lambda m, k: ["red", "amber", "green"][(m + k) % 3])
    assert read(colours).categories.names == ("light",)
    assert read(colours, labels={"red": 1, "amber": 2, "green": 3}).categories is None


def test_repetitions_are_settled_as_asked():
    text = MIXED + "c1,a,3,art,again\n"
    with pytest.raises(DataError, match=r"row 0 .*row 12 .*annotator 'a' answered topic of item 'c1' twice"):
        read(text, categories="topic")
    chosen = {policy: read(text, categories="topic", duplicates=policy).categories for policy in ("first", "last")}
    own = {policy: one["topic"].classes[one["topic"].answer[0]] for policy, one in chosen.items()}
    assert own == {"first": "politics", "last": "art"}
    same = read(MIXED + "c1,a,3,politics,nice one\n", categories="topic")
    assert same.categories["topic"].n == 11


def test_items_named_by_two_columns():
    text = rows(topic=lambda m, k: "ab"[(m + k) % 2]).replace("item,", "system,prompt,")
    lines = [text.splitlines()[0], *(f"s{line[1]},{line}" for line in text.splitlines()[1:])]
    result = un.fuse(read("\n".join(lines), item="system,prompt"))
    assert list(result.truth.columns[:3]) == ["item", "system", "prompt"]
    assert "topic" in result.truth.columns
    alone = read("\n".join(lines), item=["system", "prompt"]).categories
    assert un.fuse(alone).truth.columns[:3] == ["item", "system", "prompt"]


def test_a_column_that_stands_for_an_annotator_is_refused_with_the_way_out():
    text = "item,A1,A2,A3\n" + "".join(f"i{m},{m % 3},{m % 2},{(m * 2) % 3}\n" for m in range(6))
    with pytest.raises(
        DataError, match=r"'A1' stands for one annotator, .* are called 'rating'\. Say categories=.rating"
    ):
        read(text, categories="A1", annotators_in_columns="A*")


def test_one_row_per_answer_with_a_scale_in_words_and_categories():
    lines = ["item,annotator,dimension,value"]
    for m in range(4):
        for k in range(3):
            view = ("agree", "disagree", "neutral")[(m + k) % 3]
            lines += [f"i{m},w{k},view,{view}", f"i{m},w{k},topic,{'ab'[(m + k) % 2]}x"]
    found = read("\n".join(lines))
    assert found.categories.names == ("topic",)
    assert found.ratings.dimensions == ("view",)
    assert set(found.ratings.value.ravel()) == {1.0, 2.0, 3.0}
