"""Fusers of traces: the joint model, the independent one, the published ones, averages; held-out stretches."""
