"""Annotators whose answers agree more than chance allows.

meetings    which annotators may have answered alike
chance      how probable an answer is without a copy
pairs       the probability that two annotators are one opinion
opinions    sets of copies, and their answers as one voice
repeats     answers that repeat in blocks
"""
