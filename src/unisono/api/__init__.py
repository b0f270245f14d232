"""The front door in Python: every question in one call. Sits above everything; the command line calls nothing else.

fusion             from ratings to a result: the truth, the annotators, the fitted model
category_fusion    the same for categories, alone or beside numbers
rating_questions   ratings before any fit: check, agreement, compare, cross_validate
score_and_judges   results against a reference, and judges beside people
study_planning     how many ratings are enough, what to rate next, how good ratings are so far
input_output       what all calls take (objects, paths, data frames) and what all results write
"""

from unisono.api.fusion import Fusion, fuse, load
from unisono.api.input_output import on_clock
from unisono.api.rating_questions import agreement, check, compare, cross_validate
from unisono.api.score_and_judges import judges, leaderboard, score
from unisono.api.study_planning import next_ratings, plan

__all__ = [
    "Fusion",
    "agreement",
    "check",
    "compare",
    "cross_validate",
    "fuse",
    "judges",
    "leaderboard",
    "load",
    "next_ratings",
    "on_clock",
    "plan",
    "score",
]
