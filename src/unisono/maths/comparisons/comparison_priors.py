"""Every constant of the model of comparisons: what it means, and what it rests on.

Units are logits of the average competent annotator. "Imaginary" annotators and items are prior counts. `convention`: a
round number that was chosen once and not compared with others on record; `[D]`: measured, in docs/comparisons.md.
"""

from __future__ import annotations

# ---- Annotators: usual ones, spammers, and those who answer the wrong way round (eq. V3)

CLASS_GAINS = (1.0, 0.0, -1.0)  # what a unit of truth is to each
SPAMMER_SD = 0.05  # convention: of spammers' gains around 0
CLASS_COUNTS = (19.0, 0.8, 0.2)  # convention: imaginary annotators of every class
USUAL_SD = 0.3  # convention: of gains, and of order effects, that so many imaginary annotators speak for:
SPREAD_ANNOTATORS = 2.0
LEVEL_ANNOTATORS = 5.0  # convention: imaginary annotators without an order effect, on average
FEWEST_CLASSED = 3  # numerical: of two annotators who differ, nothing says which one is the spammer

# ---- Thresholds of ties (eq. V1)

TIE_SD = 0.5  # convention: of the logarithm of thresholds between annotators
TIE_MEDIAN = 0.5  # convention: the median threshold that one imaginary annotator speaks for ...
TIE_MEDIAN_SD = 1.0  # ... and the sd of the logarithm of the median around it

# ---- Answers at random (eq. V14)

SLIP_SD = 1.0  # convention: of the log odds of a slip between annotators
SLIP_MEDIAN = 0.02  # convention: the median share of answers at random that one imaginary annotator speaks for ...
SLIP_MEDIAN_SD = 1.0  # ... and the sd of its log odds

# ---- Strengths

STEP_SD = 1.0  # convention: of logarithms of distances between thresholds of strengths, around equal ones

# ---- Copies

COPY_EQUAL = 0.97  # convention: share of equal answers of two who copy
COPY_ODDS = 1e-4  # convention: of two annotators being copies, before their answers are seen
FEWEST_MET = 10  # numerical: pairs that both answered, below which nothing is said

# ---- Truths (eq. V2)

TRUTH_ITEMS = 2.0  # convention: imaginary items of variance 1 behind the covariance of the truths
GOLD_ERROR = 0.3  # convention: of known truths, in their spreads, that so many imaginary ones speak for:
GOLD_ITEMS = 2.0

# ---- The way there

LARGEST_DENSE = 300  # numerical: unknowns of a component whose covariance is inverted at every step
LARGEST_JOINT = 1200  # numerical: unknowns whose joint covariance is reported, and kept with a fit
LARGEST_CORRECTION = 2e7  # numerical: products of annotators' items
NODES = 9  # numerical: of Gauss-Hermite quadrature over a difference
