"""Looking at ratings and results from outside. Above fusers, below the command line.

overview             what `unisono check` prints
quality              a study in progress: agreement, ratings still needed, who stands out, the truth so far
agreement            how far annotators agree, with intervals
scoring              a fused truth against a reference
compare              every model on the same held-out ratings
judges               judges beside people: each of them, the panel, means of systems
protocol             cross-validation as in the paper
splits               every random split of ratings, annotators or items
"""
