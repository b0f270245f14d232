"""Kinds of annotators: people and judges (language models), crowd and experts, two laboratories.

    ratings = with_kinds(ratings, {"judge": "gpt-*,llama*"})
    division = divide(ratings, None)

Errors of annotators of one kind are correlated, so that models treat them as a group. One kind, the reference, defines
what a dimension means.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.tables.labels import did_you_mean, listed
from unisono.tables.ratings import Ratings

HUMAN, JUDGE = "human", "judge"
# Kinds that define a dimension unless the user says otherwise; the first one that is there.
PEOPLE_WORDS = ("human", "expert", "person", "people", "crowd", "worker", "annotator", "participant", "student")
MACHINE_WORDS = ("judge", "llm", "llmjudge", "model", "ai", "code", "machine", "bot", "auto", "automatic", "metric")
_MODEL_NAMES = re.compile(
    r"(?:^|[/:_\s-])(?:chat)?(?:gpt|claude|llama|gemini|gemma|mistral|mixtral|ministral|qwen|qwq|deepseek|grok|vicuna|"
    r"command-?r|palm|phi-?\d|falcon|zephyr|nemotron|kimi|glm|o[134](?=$|-mini|-preview|-pro)|llm|prometheus)(?![a-z])"
)


class Division(NamedTuple):
    """Annotators in groups; with a reference, it is the first of them."""

    names: tuple[str, ...]  # G kinds
    group: np.ndarray  # (K,) group of each annotator
    reference: bool  # whether the first group defines the truth
    machines: tuple[bool, ...]  # whether each is a group of judges rather than people


def looks_like_model(name: str) -> bool:
    """Whether an annotator of this name is a language model, not a person."""
    return bool(_MODEL_NAMES.search(name.lower()))


def is_machine(kind: str) -> bool:
    """Whether a kind of this name is one of judges rather than people."""
    return _plain(kind) in MACHINE_WORDS or looks_like_model(kind)


def with_kinds(
    ratings: Ratings, kinds: Mapping[str, str | Sequence[str]] | None = None, humans: str | Sequence[str] | None = None
) -> Ratings:
    """The ratings with kinds of annotators by patterns of their names; `*` and `?` stand for anything.

    `kinds` gives patterns for each kind; who fits none is a human. `humans` gives patterns for people; who fits none,
    and none of `kinds`, is a judge. Without either the ratings stay as they are.
    """
    wanted = {kind: _patterns(texts) for kind, texts in (kinds or {}).items()}
    if humans is not None:
        wanted[HUMAN] = [*wanted.get(HUMAN, []), *_patterns(humans)]
    if not wanted:
        return ratings
    rest = JUDGE if humans is not None else HUMAN
    for kind, patterns in wanted.items():
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in ratings.annotators):
                raise DataError(
                    f"{ratings.source}: no annotator fits '{pattern}', given for the kind '{kind}'. "
                    f"Annotators are {listed(ratings.annotators)}."
                )
    return replace(ratings, kinds=tuple(_kind_of(name, wanted, rest, ratings.source) for name in ratings.annotators))


def kinds_of(ratings: Ratings) -> tuple[str, ...]:
    """The kinds that annotators are of, in canonical order."""
    return () if ratings.kinds is None else tuple(sorted(set(ratings.kinds), key=str.casefold))


def divide(ratings: Ratings, reference: str | None) -> Division:
    """Annotators in groups by their kind, the reference first.

    `reference` is the kind that defines the truth; by default people. Ratings by judges alone, or of annotators whose
    kinds nobody named, are one group without a reference.
    """
    names = kinds_of(ratings)
    first = reference_kind(names, reference, ratings.source)
    if first is None:
        name = names[0] if len(names) == 1 else "+".join(names) if names else "annotators"
        machine = all(is_machine(kind) for kind in names) if names else False
        return Division((name,), np.zeros(ratings.K, dtype=np.int64), False, (machine,))
    assert ratings.kinds is not None
    ordered = (first, *(name for name in names if name != first))
    place = {name: g for g, name in enumerate(ordered)}
    group = np.array([place[kind] for kind in ratings.kinds], dtype=np.int64)
    return Division(ordered, group, len(ordered) > 1, tuple(is_machine(name) for name in ordered))


def reference_kind(names: Sequence[str], wanted: str | None, source: str) -> str | None:
    """The kind that defines what a dimension means; None where nobody can be."""
    if wanted is not None:
        if wanted not in names:
            hint = did_you_mean(wanted, names)
            there = f"kinds are {listed(list(names))}" if names else "no kinds are given (a column 'kind', or --kind)"
            raise DataError(f"{source}: no annotator is of the reference kind '{wanted}'; {there}.{hint}")
        return wanted
    for word in PEOPLE_WORDS:
        for name in names:
            if _plain(name) == word:
                return name
    if len(names) < 2 or all(is_machine(name) for name in names):
        return None
    raise DataError(
        f"{source}: annotators are of the kinds {listed(list(names))}. Say which defines what a dimension means: "
        f"--reference-kind {shlex.quote(names[0])} (reference_kind='{names[0]}' in Python)."
    )


def _kind_of(name: str, wanted: Mapping[str, Sequence[str]], rest: str, source: str) -> str:
    fitting = [kind for kind, patterns in wanted.items() if any(fnmatchcase(name, p) for p in patterns)]
    if len(fitting) > 1:
        raise two_kinds(source, name, fitting)
    return fitting[0] if fitting else rest


def two_kinds(source: str, annotator: str, kinds: Sequence[str]) -> DataError:
    return DataError(
        f"{source}: annotator '{annotator}' is of the kinds {listed(list(kinds))}. An annotator is of one kind: "
        "give two names, or correct the kind."
    )


def _patterns(texts: str | Sequence[str]) -> list[str]:
    each = [texts] if isinstance(texts, str) else list(texts)
    return [part.strip() for text in each for part in text.split(",") if part.strip()]


def _plain(kind: str) -> str:
    plain = re.sub(r"[\W_]+", "", kind.lower())
    return plain[:-1] if plain.endswith("s") and plain[:-1] in (*PEOPLE_WORDS, *MACHINE_WORDS) else plain
