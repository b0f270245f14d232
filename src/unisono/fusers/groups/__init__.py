"""Fusers of ratings by several kinds of annotators: grouped, choice, units, covariates, table, saved."""
