"""The model of ratings of items: one number per annotator, item and dimension.

data, params, structure, state           what goes in, what is estimated, which member of the family
priors                                   every constant of the default, with its meaning and its evidence
estep, rows, noise, latent, predictor    the E-step, and the M-steps of annotators, noise, truth and features
ml, vb, start, bound                     maximum likelihood as published; variational Bayes, the default, and its bound
levels, components, targets              levels of annotators and units; variance components; targets of priors
anchor, gauge, gold                      coordinates of the truth, known truths
ends, behind                             ends of the scale: answers there, and the numbers behind them in the E-step
leave_out                                truths without the judgement that is held against them
rescale, predictive, design              from posteriors to estimates, predictions, corrected intervals, advice
"""
