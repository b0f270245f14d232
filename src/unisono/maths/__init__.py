"""Pure functions on arrays: the models and their algebra. Imports NumPy and SciPy alone; knows no labels.

linalg       many small matrices, block tridiagonal matrices, causal filters; knows no model
items        the model of ratings of items: joint factor model with annotator gains, biases and noise
raters       spammers, response styles and the signal that annotators share, before any model is fitted
groups       people and judges: groups of annotators whose errors are correlated within the group
series       the model of traces: state-space smoothing with a gain, a delay and a noise variance per annotator
copies       duplicate annotators: pairs and sets whose answers agree more than chance allows
agreement    inter-rater reliability before any model: variance components, ICC, alpha, AC1 and AC2

Beside the rooms lies what all of them share: words of structure, the EM loop, sums by group, values of ratings,
metrics and significance, the slope of known truths, and votes on categories.
"""
