"""Kinds of annotators by patterns, and their division into groups."""

import numpy as np
import pytest

import unisono as un
from unisono.tables.annotator_kinds import divide, kinds_of, looks_like_model, with_kinds
from unisono.tables.ratings import Ratings


def rated_by(names, kinds=None):
    K = len(names)
    value = np.arange(2.0 * K).reshape(-1, 1)
    labels = {"items": ("a", "b"), "annotators": names, "dimensions": ("x",)}
    return Ratings.from_judgements(value, np.repeat([0, 1], K), np.tile(np.arange(K), 2), **labels, kinds=kinds)


def test_kinds_by_patterns():
    ratings = rated_by(("ann", "bob", "gpt-4o", "llama3"))
    assert with_kinds(ratings) is ratings
    assert with_kinds(ratings, {"judge": "gpt-*,llama*"}).kinds == ("human", "human", "judge", "judge")
    assert with_kinds(ratings, humans="?nn, bob").kinds == ("human", "human", "judge", "judge")
    named = with_kinds(ratings, {"expert": ["ann"], "judge": ["gpt*", "llama*"]}).kinds
    assert named == ("expert", "human", "judge", "judge")


def test_a_pattern_that_fits_nobody_is_refused():
    with pytest.raises(un.DataError, match=r"no annotator fits 'gemini\*'.*'ann' and 'gpt'"):
        with_kinds(rated_by(("ann", "gpt")), {"judge": "gpt,gemini*"})


def test_an_annotator_of_two_kinds_is_refused():
    with pytest.raises(un.DataError, match="'gpt' is of the kinds 'judge' and 'code'"):
        with_kinds(rated_by(("ann", "gpt")), {"judge": "gpt", "code": "g*"})


@pytest.mark.parametrize(
    ("name", "model"),
    [
        *(
            (name, True)
            for name in ("gpt-4o", "openai/gpt-4", "Claude 3", "claude", "meta-llama/Llama-3", "gemini_pro")
        ),
        *((name, True) for name in ("o3-mini", "Mistral-7B_p1", "ChatGPT", "deepseek-r1", "phi-3")),
        *((name, False) for name in ("ann", "worker7", "e1", "A1B2C3", "Claudette", "phil", "o1x", "Lamar", "expert3")),
    ],
)
def test_names_of_models(name, model):
    assert looks_like_model(name) == model


def test_people_are_the_reference():
    division = divide(rated_by(("ann", "gpt", "x"), ("Humans", "judge", "code")), None)
    assert division.names == ("Humans", "code", "judge")
    assert division.group.tolist() == [0, 2, 1]
    assert division.reference
    assert division.machines == (False, True, True)


def test_the_reference_can_be_named():
    ratings = rated_by(("a", "b"), ("lab-1", "lab-2"))
    assert divide(ratings, "lab-2").names == ("lab-2", "lab-1")
    with pytest.raises(un.DataError, match=r"'lab-1' and 'lab-2'.*reference_kind='lab-1'"):
        divide(ratings, None)
    with pytest.raises(un.DataError, match=r"reference kind 'lab-3'.*Did you mean 'lab-"):
        divide(ratings, "lab-3")
    with pytest.raises(un.DataError, match="no kinds are given"):
        divide(rated_by(("a", "b")), "lab-3")


@pytest.mark.parametrize(("kinds", "machine"), [(None, False), (("human", "human"), False), (("llm", "code"), True)])
def test_without_people_beside_judges_there_is_one_group(kinds, machine):
    division = divide(rated_by(("a", "b"), kinds), None)
    assert not division.reference
    assert division.group.tolist() == [0, 0]
    assert division.machines == (machine,)


def test_kinds_stay_with_the_annotators():
    ratings = rated_by(("ann", "gpt"), ("human", "judge"))
    assert ratings.select_items(["a"]).kinds == ("human", "judge")
    assert kinds_of(ratings) == ("human", "judge")
    assert ratings.data_hash != rated_by(("ann", "gpt")).data_hash
    with pytest.raises(un.DataError, match="1 kinds for 2 annotators"):
        rated_by(("ann", "gpt"), ("human",))
