"""Comparisons drawn from the model (eq. V1), with the truth and the annotators behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.errors import SettingsError
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons
from unisono.tables.item_table import ItemTable

SPREAD_OF_TIES = 0.4  # of the logarithm of thresholds between annotators


class SimulatedComparisons(NamedTuple):
    """Comparisons, what they were made from, and the annotators who gave them."""

    comparisons: Comparisons
    truth: ItemTable  # in logits of the average of those who are neither spammers nor upside down
    annotators: dict[str, Any]  # plain values for JSON


def simulate_comparisons(
    *,
    items: int = 100,
    annotators: int = 30,
    dimensions: int = 1,
    comparisons: int = 4000,
    spammers: int = 3,
    flipped: int = 0,
    gains: float = 0.3,
    order: float = 0.3,
    ties: float = 0.4,
    seed: int = 0,
) -> SimulatedComparisons:
    """Draws pairs and answers: truths from N(0, 1), gains around 1 and order effects around 0.

    `spammers` answer by chance, `flipped` annotators upside down; `gains` and `order` are standard deviations, `ties`
    is the median threshold of ties (0: none).
    """
    if items < 2 or spammers + flipped >= annotators:
        raise SettingsError(
            "Simulated comparisons need two items, and annotators who are neither spammers nor flipped."
        )
    rng = np.random.default_rng(seed)
    gain, shuffled = rng.normal(1, gains, annotators), rng.permutation(annotators)
    usual = shuffled[spammers + flipped :]
    gain /= gain[usual].mean()
    gain[shuffled[:spammers]] = 0.0
    gain[shuffled[spammers : spammers + flipped]] *= -1
    side, truth = rng.normal(0, order, annotators), rng.normal(size=(items, dimensions))
    tau = ties * np.exp(rng.normal(0, SPREAD_OF_TIES, annotators))
    left, who, dim = (rng.integers(0, n, comparisons) for n in (items, annotators, dimensions))
    right = (left + rng.integers(1, items, comparisons)) % items
    delta, u = gain[who] * (truth[left, dim] - truth[right, dim]) + side[who], rng.random(comparisons)
    above, below = 1 / (1 + np.exp(tau[who] - delta)), 1 / (1 + np.exp(tau[who] + delta))
    answer = np.where(u < above, LEFT, np.where(u < above + below, RIGHT, TIE))
    labels = [f"i{m + 1}" for m in range(items)], [f"a{k + 1}" for k in range(annotators)]
    names = tuple(f"d{d + 1}" for d in range(dimensions))
    table = Comparisons.from_answers(
        (left, right, who, dim, answer, np.arange(comparisons)), (*labels, names), source="simulated comparisons"
    )
    known_truth = ItemTable.from_rows(truth, items=labels[0], columns=names, source="simulated truth")
    known = {"gain": gain.tolist(), "order": side.tolist(), "tie_threshold": tau.tolist()}
    return SimulatedComparisons(table, known_truth, {"annotator": labels[1], **known})
