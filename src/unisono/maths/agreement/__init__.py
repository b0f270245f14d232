"""Inter-rater reliability, before any model. Imports NumPy and SciPy alone; knows no labels.

agreement_bootstrap        ratings of one dimension in standard units; drawing blocks of units again, and intervals
intraclass_reliability     variance components, intraclass correlations, G(q,k), SEM, how many raters the mean needs
multivariate_agreement     all dimensions together
chance_corrected           Krippendorff's alpha (interval, ordinal, nominal), Gwet's AC1 and AC2
rater_agreement            each rater against the others and every two raters; severity, infit and outfit

A unit is an item, or a frame of a recording. Every figure with an interval is a function of sums over units, so that a
bootstrap weighs sums instead of computing anything again.
"""
