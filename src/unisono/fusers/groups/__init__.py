"""Fusers of ratings by several kinds of annotators: grouped, units, table, saved."""
