"""Pictures of a fusion for papers: every function draws on axes of matplotlib, yours or its own, and returns them.

    import unisono as un
    axes = un.plot.truth(un.fuse("ratings.csv"), "valence")
    axes.figure.savefig("truth.pdf")

    truth        estimates of items with their intervals, beside the plain mean
    traces       all traces of a recording, the estimate with its band
    annotators   a figure of every annotator: reliability, bias, gain, noise, agreement or delay
    matrices     what every annotator does to the truth, as heat maps
    filters      how every annotator follows the truth in time
    agreement    figures of agreement with their intervals
    objective    the objective from iteration to iteration

Figures are one column wide (3.4 inches) with 8 point letters. matplotlib is needed: pip install "unisono[plot]".
"""

from unisono.plot.fits import agreement, objective
from unisono.plot.people import annotators, filters, matrices
from unisono.plot.truths import traces, truth

__all__ = ["agreement", "annotators", "filters", "matrices", "objective", "traces", "truth"]
