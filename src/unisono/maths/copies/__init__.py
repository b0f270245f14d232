"""Annotators whose answers agree more than chance allows.

meetings    which annotators may have answered alike
chance      how probable an answer is without a copy
pairs       the probability that two annotators are one opinion
voices      the answers of a set of copies as one voice
opinions    sets of copies
traces      the same of traces: pairs who draw alike what nobody else draws
repeats     answers that repeat in blocks
"""
