"""Simulated scores: systems answer prompts, annotators score some of the answers."""

import numpy as np
import polars as pl

from unisono.maths.systems.score_design import Scores, codes


def drawn_scores(
    seed, means, prompts=20, people=6, each=3, leniency=0.5, favourites=0.3, prompt=0.5, cell=0.5, noise=0.6, keep=1.0
):
    """Scores of the systems with these means by some people on every prompt; a share `keep` of them is there."""
    rng = np.random.default_rng(seed)
    S = len(means)
    b, f = rng.normal(0, leniency, people), rng.normal(0, favourites, (people, S))
    q, h = rng.normal(0, prompt, prompts), rng.normal(0, cell, (prompts, S))
    who = np.stack([rng.permutation(people)[:each] for _ in range(prompts)])
    p, s, j = (x.ravel() for x in np.meshgrid(range(prompts), range(S), range(each), indexing="ij"))
    k = who[p, j]
    y = np.asarray(means)[s] + q[p] + h[p, s] + b[k] + f[k, s] + rng.normal(0, noise, len(p))
    there = rng.random(len(y)) < keep
    y, s, p, k = (x[there] for x in (y, s, p, k))
    return Scores(y, s, codes(p), codes(p, s), codes(k), S)


def score_table(scores, **more):
    """The same as a table: system, prompt, annotator, quality."""
    columns = {"system": "s", "prompt": "p", "annotator": "h"}
    named = {what: [f"{letter}{code}" for code in getattr(scores, what).tolist()] for what, letter in columns.items()}
    return pl.DataFrame(named | {"quality": scores.y} | more)
