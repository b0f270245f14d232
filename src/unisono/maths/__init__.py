"""Pure functions on arrays: the models and their algebra. Imports NumPy and SciPy alone; knows no labels.

linalg       small and banded matrices, chains, filters; knows no model
items        the model of ratings of items
raters       what kind of annotator each is, and the gain priors that follow; builds on items
series       the model of traces over time
agreement    agreement between annotators before any model

Beside the rooms lies what both models share: the EM loop, metrics, significance, label switching.
"""
