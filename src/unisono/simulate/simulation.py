"""What a simulation hands back, whatever was simulated."""

from __future__ import annotations

from typing import Any, NamedTuple

from unisono.data import ItemTable, Ratings


class Simulation(NamedTuple):
    """Ratings, what they were made from, and the annotators who gave them."""

    ratings: Ratings
    features: ItemTable
    truth: ItemTable
    annotators: dict[str, Any]  # plain values for JSON
