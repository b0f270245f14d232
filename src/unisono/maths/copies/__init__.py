"""Duplicate annotators: annotators whose answers agree more than chance allows.

copy_meetings    which annotators may have answered alike, found with bounded work per rating
answer_chances   how probable an answer is without a copy; answers that repeat in blocks
copy_pairs       the probability that two annotators are one opinion
copy_sets        sets of duplicates, merged and weighted as one
trace_copies     the same of traces: pairs who draw alike what nobody else draws
"""
