"""Ratings drawn from the model, with the truth behind them: of items, and of series."""

from unisono.simulate.items import simulate_items
from unisono.simulate.series import simulate_series
from unisono.simulate.simulation import Simulation

__all__ = ["Simulation", "simulate_items", "simulate_series"]
