"""Texts as features: sentence embeddings where the extra `text` is installed, else TF-IDF reduced by an SVD."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from unisono.tables.media.media_features import missing_library

PACKAGE = "wordllama"
EMBEDDINGS = "WordLlama, 256 dimensions"
COMPONENTS = 50  # of the fallback; half of the hundred headlines
WORDS = re.compile(r"[^\W_]+")


def best_method() -> str:
    """What `text_features` will use, in words; part of a unit's settings, because it decides the result."""
    return EMBEDDINGS if find_spec(PACKAGE) else f"TF-IDF, {COMPONENTS} components"


def text_features(texts: Sequence[str], method: str) -> np.ndarray:
    """(N, P) features by the method that `best_method` named."""
    return sentence_embeddings(texts) if method == EMBEDDINGS else tfidf_components(texts, COMPONENTS)


def tfidf_components(texts: Sequence[str], components: int) -> np.ndarray:
    """(N, P) left singular vectors, times singular values, of the TF-IDF matrix with rows of length one.

    Term frequency is 1 + log(count), the inverse document frequency log((1 + N) / (1 + n)) + 1.
    """
    counts = [Counter(word.lower() for word in WORDS.findall(text)) for text in texts]
    vocabulary = {word: i for i, word in enumerate(sorted(set().union(*counts)))}
    matrix = np.zeros((len(texts), len(vocabulary)))
    for row, words in enumerate(counts):
        for word, count in words.items():
            matrix[row, vocabulary[word]] = 1 + np.log(count)
    seen = (matrix > 0).sum(axis=0)
    matrix *= np.log((1 + len(texts)) / (1 + seen)) + 1
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(float).tiny)
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    kept = min(components, int((s > 1e-10 * s[0]).sum()))
    # The sign of a singular vector is arbitrary; the largest entry is made positive, so that it is the same everywhere.
    sign = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    return np.asarray((u * sign * s)[:, :kept])


def sentence_embeddings(texts: Sequence[str]) -> np.ndarray:
    """(N, 256) average of the vectors of a text's tokens, of length one; needs the extra `text`."""
    with _root_logger_kept():
        import wordllama

    # Weights and tokenizer lie in the package, but only the weights are looked for there: hence the cache folder.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    # Six digits: the rest depends on the order in which a processor adds.
    return np.asarray(model.embed(list(texts), norm=True), dtype=np.float64).round(6)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """The package sets the root logger to tell everything, of every package, when it is imported."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def embedding_names(size: int) -> tuple[str, ...]:
    """What the numbers of an embedding are called."""
    return tuple(f"embedding_{i + 1}" for i in range(size))


def require_embeddings() -> None:
    """An error that names the extra, unless it is there."""
    if not find_spec(PACKAGE):
        raise missing_library(PACKAGE, "text")
