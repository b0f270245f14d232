"""Every constant of the default for items: what it means, and what it rests on.

Units are those of standardised ratings: each dimension has pooled mean 0 and standard deviation 1. "Imaginary" items,
judgements, annotators and answers are prior counts: a prior worth that many observations. The evidence:

    [D]           measured; figures in docs/decisions/0005-default-for-items.md
    [A]           measured; figures in docs/annotators.md
    convention    a round number that was chosen once and never compared with others on record
    floor         keeps a computation away from zero or infinity; results do not depend on its size where ratings say
                  anything

Numerical limits (tolerances, numbers of iterations, least variances, folds) stay beside the computations that need
them, and say that they are numerical.
"""

from __future__ import annotations

from typing import NamedTuple

# ---- Prior counts that several parts have in common

# [D] Four counts of 5 to 20 for four purposes: the same results.
IMAGINARY_ITEMS = 20.0  # behind spread and correlation of truths, in the model, in its estimate and in the diagnosis

# ---- Annotators, truths and errors of the variational model (eq. B1, B2, B5, B6, B13)


class Priors(NamedTuple):
    """How far annotators may stray from "answers the truth"; counts are imaginary coefficients, answers, items."""

    # [D] Variance of gains between annotators: estimated freely, three studies lost to the mean instead of none.
    gain_variance: float = 0.02  # sd .14 of F_kdd around its expectation
    leak_variance: float = 0.01  # convention: the same for leakage, sd .1, where the structure allows it
    estimated: bool = False  # [D] whether both are estimated: with known truths, where annotators mix dimensions
    bias_annotators: float = 5.0  # convention: imaginary annotators behind the target of the biases' covariance
    noise_numbers: float = 8.0  # convention: imaginary answers per annotator and dimension at the pool's noise
    # [D] None: Pearson +.008 over the mean on six studies; a third of the judgements +.034, as many +.039.
    noise_share: float = 0.5  # imaginary judgements with uncorrelated errors, as a share of the real ones
    latent_items: float = IMAGINARY_ITEMS  # behind the target of Sigma
    # [D] kappa: F_kdd is expected at r_k^(kappa / 2): who uses little of the scale has small gains and small errors.
    gain_follows_noise: float = 0.5


# ---- Shares of the ratings' variance by moments (eq. B11, Q1)

# [D] Five limits of their own for truth, bias and error: the same results.
LEAST_SHARE = 0.02  # floor of every share: of truths, of biases, of errors, of what annotators have in common

# ---- Estimation


# ---- Ends of the scale: no estimate beyond them; read as "at least this much" (eq. B14) only where asked for


# ---- The scale of the estimate (eq. B15)

# [D] The scale of a panel of six brought CCC from .662 to .694; ten instead of six is a convention.
PANEL = 10.0  # annotators whose mean answer has the variance that the estimate is given

# ---- Intervals (eq. B9, B16); coverage .87 to .93 on every set of docs/accuracy.md

LEAST_FREEDOM = 4.0  # floor of the degrees of freedom of Student's t, where judgements are hardly more than truths
LEAST_INTERVAL_RATIO = 1.0  # convention: left-out errors widen intervals and never narrow them

# ---- Known truths (eq. G17, B10, B17)

LEVEL_TRUTHS = 4.0  # convention: imaginary known truths that agree with the level of the ratings ...
SCALE_TRUTHS = 10.0  # ... and with their scale; variances of few truths are less sure than their means
CLEARLY_BETTER = 3.5  # convention: standard errors; a few known items often favour the wrong way by two or three

# ---- Annotators known from an earlier fit


# ---- Signal that annotators share (eq. Q1, Q2)

SIGNAL_BELIEF = 0.9  # convention: probability, before looking, that people who rate the same things share anything
CLEAR_ERRORS = 2.0  # convention: standard errors above zero from which a shared signal is clear

# ---- Styles: what an annotator's answers may make of the truth (eq. Q3)


class StylePrior(NamedTuple):
    """Prior of slopes and noise under one style. A slope of one is what the typical annotator does."""

    center: float = 0.0  # mean of the slope on the truth that is followed
    width: float = 0.0  # its standard deviation between annotators
    leak: float = 0.0  # standard deviation of the slopes on the other truths, around zero
    noise: float = 1.0  # typical variance of the noise, in units of the crowd's
    spread: float = 0.7  # sd of its logarithm between annotators


# Widths are conventions; together they give the areas under the curve and the calibration in [A]. A smaller scale is
# smaller for truth, leakage and noise alike. Half the slope with all the noise is not a compressed scale but a poor
# annotator, whom only the number of ratings tells from a spammer.
STYLE_PRIORS = {
    "usual": StylePrior(1.0, 0.3, 0.2),
    "compressed": StylePrior(0.35, 0.12, 0.07, noise=0.15),  # .1 to .6 of the typical
    "stretched": StylePrior(1.9, 0.3, 0.4, noise=3.0),
    "flipped": StylePrior(-1.0, 0.35, 0.2),
    "swapped": StylePrior(1.0, 0.3, 0.2),  # on another dimension's truth
    "unrelated": StylePrior(spread=0.8),
    "constant": StylePrior(spread=0.8),
}
NOISE_ANNOTATORS = 3.0  # convention: imaginary annotators with the noise assumed at the start

# ---- How common styles are (eq. Q4)

SPAMMER_COUNTS = (3.0, 17.0)  # convention: imaginary spammers and others; probabilities stay cautious, see [A]
STYLE_COUNTS = {  # convention: imaginary styles of those who are no spammers
    "usual": 6.0,
    "compressed": 1.0,
    "stretched": 0.5,
    "flipped": 0.3,
    "swapped": 0.3,
    "unrelated": 0.4,
    "constant": 0.2,
}
SPAMMER_STYLES = {"unrelated": 0.8, "constant": 0.2}  # convention: what a spammer's dimensions look like
MIXTURE_STEPS = 2  # convention: where ratings say much, two suffice; where they say little, more would only drift

# ---- Diagnosis (eq. Q5 to Q7)

LEAST_SLOPE = 0.3  # floor of the crowd's average slope: with less, most annotators carry nothing
MOST_SIGNAL = 2.0  # ceiling of the truth's variance; spammers may be quieter than the truth
LEAST_OWN_NOISE = 0.05  # floor: share of the residual variance that is the annotator's, however uncertain the truth is
# [A] Answers that are mostly zero: without the allowance for kurtosis, 13 swaps would be claimed on snow2008.
LEAST_EFFECTIVE = 0.2  # floor of that allowance, so that one wild value does not silence everybody
OFFSET_ANSWERS = 4.0  # convention: imaginary answers without offset; noise has about four times the offsets' variance

# ---- Gain priors from the diagnosis (eq. B18, B20)
# [D] Crowds with 30 % spammers and 10 % flipped annotators: CCC .815 to .894, with tighter gains .917 (.921 without
# the planted). None of the numbers below was varied by itself.

SPAMMER_GAIN = 0.3  # convention: gain expected of a certain spammer; real ones are rarely deaf to the truth altogether
SPAMMER_THRESHOLD = 0.2  # convention: probability of a spammer from which it counts; about that nobody can rule out
# [D] Together with eq. B21, the worst of the sets with few items went from -.042 to -.021 CCC below the mean.
DOUBTED_ANSWERS = 2.0  # imaginary answers that speak for an annotator
LEAST_AVERAGE_GAIN = 0.3  # floor of the crowd's gain that its shared variance is divided by
