"""The model of comparisons: which of two items has more, or a tie. In the order in which data flow:

comparison_data        answers as arrays: unknowns, distinct pairs, connected components, factors
comparison_solver      the coupled truths: exact by component, or conjugate gradients with variances by item
comparison_state       what is known before, the posteriors, where both begin; annotators of earlier fits
comparison_em          lower bound, one step: truths, annotators, thresholds, hyperparameters, unit
comparison_posterior   what is reported: truths with the covariance of their errors, probabilities of answers
comparison_priors      every constant of the model, with its meaning and its evidence
"""
