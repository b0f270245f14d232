"""Do intervals of the means of systems hold, whatever judges do? `python -m benchmarks.judges_systems [--draws 500]`

Three systems answer 60 prompts each, five judges rate everything, one of three people rates 15 answers of each system.
Judges are good, useless (they see nothing of the truth), or biased against one system by 1.5. Printed: how often 90 %
intervals of the three means and of a difference hold, and errors of the powered mean, of labels alone, of the model.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import unisono as un
from unisono.evaluate.system_leaderboard import LEVEL, leaderboard
from unisono.maths.groups.judge_tests import difference
from unisono.maths.items.item_estimates import half_width

PROMPTS, LABELS, JUDGES, PEOPLE = 60, 15, 5, 3
MEANS = np.array([0.0, 0.3, -0.2])
WORLDS = {"good judges": (0.8, 0.0), "useless judges": (0.0, 0.0), "biased against one": (0.8, -1.5)}


def drawn(seed: int, gain: float, bias: float) -> tuple[un.Ratings, dict[str, str], dict[str, str]]:
    """Ratings, the system and the prompt of every item."""
    rng = np.random.default_rng(seed)
    S = len(MEANS)
    M = PROMPTS * S
    prompt, system = np.repeat(np.arange(PROMPTS), S), np.tile(np.arange(S), PROMPTS)
    truth = MEANS[system] + 0.6 * rng.normal(size=PROMPTS)[prompt] + 0.8 * rng.normal(size=M)
    view = gain * truth + 0.5 + 0.5 * rng.normal(size=M) + bias * (system == 1)
    judged = [view + 0.3 * rng.normal() + 0.7 * rng.normal(size=M) for _ in range(JUDGES)]
    labelled = np.concatenate([rng.permutation(PROMPTS)[:LABELS] * S + s for s in range(S)])
    value = np.concatenate([*judged, truth[labelled] + 0.6 * rng.normal(size=len(labelled))])
    item = np.concatenate([np.tile(np.arange(M), JUDGES), labelled])
    who = np.concatenate([np.repeat(PEOPLE + np.arange(JUDGES), M), rng.integers(0, PEOPLE, len(labelled))])
    items = [f"i{m:04d}" for m in range(M)]
    names = [f"h{k}" for k in range(PEOPLE)] + [f"g{k}" for k in range(JUDGES)]
    kinds = ["human"] * PEOPLE + ["judge"] * JUDGES
    labels = {"items": items, "annotators": names, "dimensions": ["quality"], "kinds": kinds, "scale": "none"}
    ratings = un.Ratings.from_judgements(value[:, None], item, who, **labels)
    of = (
        {name: f"{word}{code}" for name, code in zip(items, codes, strict=True)}
        for word, codes in (("s", system), ("p", prompt))
    )
    return ratings, *of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    for name, world in WORLDS.items():
        inside, errors = [], []
        for seed in range(draws):
            ratings, system_of, prompt_of = drawn(seed, *world)
            board = leaderboard(ratings, un.items.Groups(tol=5e-3).fit(ratings), system_of, prompt_of)
            found = board.found[0]
            half = np.array([half_width(LEVEL, nu) for nu in found.freedom]) * np.sqrt(np.diagonal(found.cov))
            gap = difference(found, 1, 2)
            reach = half_width(LEVEL, gap.freedom) * gap.sd
            inside.append([*(np.abs(found.mean - MEANS) <= half), abs(gap.mean - MEANS[1] + MEANS[2]) <= reach])
            means = found.mean, found.labels_mean, board.model_mean[:, 0]
            errors.append([np.mean((mean - MEANS) ** 2) for mean in means])
        print(
            name,
            "cover",
            np.mean(inside, axis=0).round(3),
            "error",
            np.sqrt(np.mean(errors, axis=0)).round(3),
            flush=True,
        )


if __name__ == "__main__":
    main()
