"""The library's front door: every question in one call. Sits above everything; the command line calls nothing else.

fusion       from ratings to a result: the truth, the annotators, the fitted model
looking      ratings from outside: check, agreement, compare, cross_validate
scoring      results against a reference: score
advice       from a finished fit: how many ratings are enough, what to rate next
judging      judges beside people
quality      ratings that are still coming in
saving       what every result can do with files
tables       what all of them take: objects, paths or data frames
"""

from unisono.api.advice import next_ratings, plan
from unisono.api.fusion import Fusion, fuse, load
from unisono.api.judging import judges
from unisono.api.looking import agreement, check, compare, cross_validate
from unisono.api.scoring import score
from unisono.api.tables import on_clock

__all__ = [
    "Fusion",
    "agreement",
    "check",
    "compare",
    "cross_validate",
    "fuse",
    "judges",
    "load",
    "next_ratings",
    "on_clock",
    "plan",
    "score",
]
