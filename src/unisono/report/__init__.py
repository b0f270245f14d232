"""Finished numbers in words: summary, findings about annotators, alerts, agreement. Computes nothing."""
