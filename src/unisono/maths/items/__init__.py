"""The model of ratings of items: one number per annotator, item and dimension. In the order in which data flow:

item_data, item_params       ratings by item and by annotator profile; parameters, structure words, coordinates
bayes_start                  levels of annotators, variance components, targets of the priors, the starting state
item_estep, censored_estep, censored_answers   posteriors of the truths; answers at the ends of the scale
annotator_rows, item_variances   M-steps: gains, biases and classes of annotators; noise and truth covariances
bayes_bound, bayes_em        state, variational lower bound and its coordinates; one step of variational EM, the default
item_estimates               from posteriors to estimates, predictions, intervals, and advice
item_priors                  every constant of the default, with its meaning and its evidence

Beside the default: likelihood_em (maximum likelihood as published), item_gold (known truths).
"""
