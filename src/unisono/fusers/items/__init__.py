"""Fusers of ratings of items."""
