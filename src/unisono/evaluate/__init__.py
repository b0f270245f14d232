"""Looking at ratings and results from outside: overviews, scores, comparisons. Above fusers, below the command line."""
