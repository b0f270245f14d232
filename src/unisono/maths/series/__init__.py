"""The model of traces: ratings over time, with a delay for every annotator.

params, recordings                    what goes in and what comes out, recording by recording
layout, channels, precision           how frames, gaps and noise become one linear system
estep, chain, covariance, moments     the E-step, and what the M-step needs from it
mstep, rows, noise, dynamics, em      the M-step of filters, noise and truth; one EM iteration
align, delays                         delays: a first guess, the search by likelihood, their intervals
default, bands, gauge                 the default fit, its bands and its conventions
features, gold, gold_choice           what features and known frames add
"""
