"""Immutable, validated containers. Imports NumPy and SciPy alone; knows neither files nor models."""

from unisono.data.clock import Clock
from unisono.data.items import ItemTable
from unisono.data.ratings import Ratings

__all__ = ["Clock", "ItemTable", "Ratings"]
