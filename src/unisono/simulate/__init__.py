"""Ratings drawn from the model, with the truth behind them: of items, and of series."""

from unisono.simulate.items import simulate_global
from unisono.simulate.series import simulate_series
from unisono.simulate.simulation import Simulation

__all__ = ["Simulation", "simulate_global", "simulate_series"]
