"""Means of systems in a mixed model, what can be said of all their differences at once, and of their ranks.

score_design       which random effects a design can tell apart
mixed_model        REML of crossed and nested random effects: scores by system, prompt and annotator
compared_strengths strengths from comparisons, with errors that prompts and annotators share
system_statements  simultaneous intervals, rank sets, probabilities of being best
system_priors      what was chosen, with its evidence
"""
