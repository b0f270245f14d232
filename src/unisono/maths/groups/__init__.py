"""People and judges: annotators in groups who err together (people and language models, crowd and experts, two labs).

group_data                    ratings by group as sparse matrices; the parameters, and the shared error of a group
group_priors                  every constant, with its meaning and its evidence
group_estep, group_mstep      posteriors from sums per item and group; the M-steps and the bound they raise
group_fit                     where EM starts, one step with its recentring, the fit, and what labels choose
group_labels                  what labels teach about groups, and what is left where groups are not believed
judge_tests                   beside the model: the alternative annotator test
"""
