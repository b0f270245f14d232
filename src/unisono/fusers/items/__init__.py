"""Fusers of ratings of items: the joint model, the independent one, averages; gold, warm starts, annotator table."""
