"""How far annotators agree, before any model. Imports NumPy and SciPy alone; knows no labels.

coded                  ratings of one dimension end to end, without gaps, in standard units
bootstrap              drawing blocks of units again, and the intervals that follow
variance_components    units, raters and the rest, by Henderson's first method
icc                    intraclass correlations, G(q,k) and SEM from variance components
enough                 raters that the mean needs, from the reliability of a single one
alpha                  Krippendorff's alpha, interval and ordinal
nominal                alpha and AC1 of categories
chance_corrected       Gwet's AC2
multivariate           all dimensions together
pairs                  CCC, Pearson and kappa of every two raters
others                 each rater against the others: correlation, CCC, equal and neighbouring answers
fit_statistics         severity, infit and outfit of each rater
estimate               reliability of an estimate that states its error

A unit is an item, or a frame of a recording. Every figure with an interval is a function of sums over units, so that a
bootstrap weighs sums instead of computing anything again.
"""
