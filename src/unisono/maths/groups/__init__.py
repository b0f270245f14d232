"""The model of annotators in groups who err together: people and judges, crowd and experts, two labs.

data, params                  what goes in; what is estimated, and the shared error of a group
priors                        every constant, with its meaning and its evidence
estep, mstep, bound           posteriors from sums per item and group; the M-steps; the objective they raise
start, fit                    where EM starts, one step with its recentring, the whole fit
labels, shares, alone         what labels teach about groups, and what few leave open; which fit they speak for; what
                              is left of the truth where groups are not believed
effective, effects            what a panel is worth; how well effects of covariates on a group are known
"""
