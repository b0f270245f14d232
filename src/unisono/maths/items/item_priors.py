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

# [D] Four counts of 5 to 20 for as many purposes had the same results.
IMAGINARY_ITEMS = 20.0  # behind spread and correlation of truths: in the model, its estimate, the diagnosis, with gold
IMAGINARY_ANNOTATORS = 5.0  # convention: behind the spread of biases, and behind the typical noise of the diagnosis
IMAGINARY_ANSWERS = (
    4.0  # convention: behind no offset, of an annotator or of gold; noise has about four times the variance
)

# convention: degrees of freedom of Student's t of biases, as many as imaginary answers stand behind a noise scale
BIAS_FREEDOM = 8.0

# ---- Annotators, truths and errors of the variational model (eq. B1, B2, B5, B6, B13)


class Priors(NamedTuple):
    """How far annotators may stray from "answers the truth"; counts are imaginary coefficients, answers, items."""

    # [D] Variance of gains between annotators: estimated freely, three studies lost to the mean instead of none.
    gain_variance: float = 0.02  # sd .14 of F_kdd around its expectation, where annotators are many
    leak_variance: float = 0.01  # convention: the same for leakage, sd .1, where the structure allows it
    estimated: bool = False  # [D] whether both are estimated: with known truths, where annotators mix dimensions
    bias_annotators: float = IMAGINARY_ANNOTATORS  # behind the target of the biases' covariance
    bias_freedom: float = BIAS_FREEDOM
    noise_numbers: float = BIAS_FREEDOM  # convention: imaginary answers per annotator and dimension at the pool's noise
    # [D] None: Pearson +.008 over the mean on six studies; a third of the judgements +.034, as many +.039.
    noise_share: float = 0.5  # imaginary judgements with uncorrelated errors, as a share of the real ones
    latent_items: float = IMAGINARY_ITEMS  # behind the target of Sigma
    # [D] F_kdd is expected at r_k^(1/2): who uses little of the scale has small gains and small errors.
    gain_follows_noise: bool = True


MANY_JUDGEMENTS = 5000.0  # convention: real ones from which on imaginary ones become hardly more

# ---- Shares of the ratings' variance by moments (eq. B11, Q1)

# [D] Five limits for truth, bias and error by themselves had the same results.
LEAST_SHARE = 0.02  # floor of every share: of truths, of biases, of errors, of what annotators have in common

# ---- The scale of the estimate (eq. B15)

# [D] The scale of a panel of six brought CCC from .662 to .694; ten instead of six is a convention.
END_MARGIN = 0.1  # convention: standard deviations of the ratings beside an end, where stretched estimates are squeezed
PANEL = 10.0  # annotators whose mean answer has the variance that the estimate is given

# ---- Slips and unclear items (eq. B35)

# [D] Of the variance of items' log spread that levels explain; .3 to .8 where scales have ends.
LEVEL_SHARE = 0.1

# ---- Intervals (eq. B9, B16); coverage .87 to .93 on every set of docs/accuracy.md

LEVEL_ANNOTATORS = IMAGINARY_ANNOTATORS  # behind the error of the level; one is lost to the level itself
GAINS_WIDER = 2.5  # [A] variance of gains between annotators over the prior's, narrow for the sake of the truth
NOISE_BEHIND = 2.0  # [A] degrees of freedom that the pool adds to what is known of somebody's noise

# ---- Known truths (eq. G17, B10, B17, B32)

CLEARLY_BETTER = 3.5  # convention: standard errors; a few known items often favour the wrong way by two or three
# Convention: nats by which annotators who mix explain ratings better, from which known truths need not show it clearly;
# log odds of 5 are called very strong. Crowds who mix everything have a hundred, those who hardly do up to 8.
MIXING_EVIDENCE = 5.0

# ---- Signal that annotators share (eq. Q1, Q2)

SIGNAL_BELIEF = 0.9  # convention: probability, before looking, that people who rate the same things share anything
CLEAR_ERRORS = 2.0  # convention: a shared signal is clear if it is above so many deviations of what chance would show

# ---- Styles: what an annotator's answers may make of the truth (eq. Q3, Q4)
# [A] Areas under the curve and calibration. [D] Widths and shares of its own for every style had the same
# results.

SLOPE_SD = 0.3  # convention: of usual slopes on the truth between annotators, around 1
LEAK_SD = 0.2  # convention: of the slopes on other dimensions' truths, around 0
NOISE_SD = 0.7  # convention: of the logarithm of the noise variance between annotators
SMALL_SCALE = 0.35  # convention: compressed answers: the truth, leakage and noise of usual ones times this ...
LARGE_SCALE = 2.0  # ... and stretched ones
SPAMMER_COUNTS = (3.0, 17.0)  # convention: imaginary spammers and others; probabilities stay cautious, see [A]
CONSTANT_SPAMMERS = 0.2  # [D] share of spammers' dimensions with one answer throughout; none or half: fewer are right
STYLE_COUNTS = (7.0, 0.3)  # convention: of those who are no spammers, imaginary usual ones, and of every other style

# ---- Gain priors from the diagnosis (eq. B18, B20)
# [D] Crowds with 30 % spammers and 10 % flipped annotators: CCC .815 without, .919 with them.

# [D] Without it, studies whose annotators answer little (recipes, truth_dims, webnlg2020_en) lose .003 to .005 Pearson.
DOUBTED_JUDGEMENTS = 2.0  # imaginary judgements that speak for an annotator under suspicion
SPAMMER_GAIN = 0.3  # gain expected of a certain spammer, who is rarely deaf altogether; a crowd has no less on average
