"""Pure functions on arrays: the models and their algebra. Imports NumPy and SciPy alone; knows no labels."""
