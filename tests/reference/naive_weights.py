"""Precisions of judgements and items, judgement by judgement: every judgement has an annotator of its own, whose noise
is that of the real one over the judgement's precision."""

from __future__ import annotations

import numpy as np

from reference.naive_items import item_posterior


def weighted_posterior(F, b, N, mean, Sigma, judgements, weights):
    """E[a], Cov[a] of one item whose judgements (annotator, ratings with NaN) have these precisions."""
    own = [(n, ratings) for n, (_, ratings) in enumerate(judgements)]
    who = [k for k, _ in judgements]
    noise = [N[k] / w for k, w in zip(who, weights, strict=True)]
    return item_posterior(F[who], b[who], np.array(noise), mean, Sigma, own)[:2]


def squared_distance(F, b, N, mean, cov, ratings):
    """E[r' N^-1 r] of one judgement's answered dimensions, r = ratings - F a - b."""
    seen = np.flatnonzero(~np.isnan(ratings))
    if not len(seen):
        return 0.0
    W = np.linalg.inv(N[np.ix_(seen, seen)])
    r = ratings[seen] - F[seen] @ mean - b[seen]
    return float(r @ W @ r + np.trace(F[seen].T @ W @ F[seen] @ cov))


def reweighed(F, b, N, means, Sigma, y, judgement, item, nu, kappa):
    """New precisions of judgements (lists by item) and of items, from those that there are."""
    squares, answers = [], []
    for m, judgements in enumerate(y):
        weights = [u * item[m] for u in judgement[m]]
        mean, cov = weighted_posterior(F, b, N, means[m], Sigma, judgements, weights)
        squares.append([squared_distance(F[k], b[k], N[k], mean, cov, ratings) for k, ratings in judgements])
        answers.append([np.count_nonzero(~np.isnan(ratings)) for _, ratings in judgements])
    new = [[(nu + d) / (nu + item[m] * s) for d, s in zip(answers[m], squares[m], strict=True)] for m in range(len(y))]
    of_items = [
        (kappa + sum(answers[m])) / (kappa + sum(u * s for u, s in zip(new[m], squares[m], strict=True)))
        for m in range(len(y))
    ]
    return new, np.array(of_items)
