"""Fusers of traces."""
