"""Finished numbers in words: summary, findings about annotators, alerts. Computes nothing."""
