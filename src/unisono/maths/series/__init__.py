"""The model of traces: ratings over time, with a delay for every annotator.

params, recordings, parts             what goes in and what comes out, recording by recording, part by part
layout, channels, precision           how frames, gaps and noise become one linear system
estep, chain, covariance, moments     the E-step, and what the M-step needs from it
mstep, rows, noise, dynamics, em      the M-step of filters, noise and truth; one EM iteration
align, delays                         delays: a first guess, the search by likelihood, their intervals
priors                                every constant of the default, with its evidence
outliers                              single frames far outside everything else that an annotator traced
two_scales, independent_frames        traces as levels of recordings and courses inside them; what a frame counts for
frames, strata                        what annotators say of every frame; frames condensed to those that count
row_evidence, tracers                 gain, noise, sign and bias of one annotator given the others; what all say
tracer_search, tracer_climb           rows of all annotators: a search for signs and scales, then steps that only rise
tracer_population                     what annotators have in common, and the objective
common_delays                         one delay per annotator: a search that settles, intervals
tracer_truth, tracer_params           the truth of annotators that are known, and its parameters
leakage, leakage_steps                what annotators put into a dimension of what is true on another; steps that rise
truth_memory                          how slowly it changes, by annotators who were left out
left_out_errors, tracer_spread        its band: what left-out annotators show of courses; what the average may be off by
left_out_ratings                      what predicted ratings are off by, by annotators who were left out
tracer_fit                            the default fit
design                                what one more annotator would tell, and so many of them
tracer_diagnosis                      what is unusual about annotators, as probabilities
default, bands, gauge                 the fit by EM under strong priors, its bands; conventions of both
features, gold, gold_choice           what features and known frames add
"""
