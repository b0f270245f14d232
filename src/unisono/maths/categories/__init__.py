"""Answers that are categories: words without order. Imports NumPy and SciPy alone; knows no labels.

votes       votes per item, confusion of annotators, agreement of each with the others
tempering   how far class probabilities are trusted, from answers that were held out
scores      class probabilities against a reference: accuracy, macro F1, log loss, calibration

Symbols: n answers, M items, K annotators, C classes; p probability of a class, theta confusion.
"""
