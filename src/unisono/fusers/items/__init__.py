"""Fusers of ratings of items: the joint model, the independent one, averages; gold, warm starts, the annotator table."""
