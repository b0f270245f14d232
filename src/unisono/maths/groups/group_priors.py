"""Every constant of the model of groups: what it means, and what it rests on.

Units are those of standardised ratings: the mean of the reference is 0, the standard deviation within groups 1.
"Imaginary" items, answers and annotators are prior counts, as in `maths.items.item_priors`. The evidence:

    [J]           measured; figures in docs/judges.md
    convention    a round number that was chosen once and never compared with others on record
    floor         keeps a computation away from zero or infinity
"""

from __future__ import annotations

from typing import NamedTuple


class GroupPriors(NamedTuple):
    """How far annotators may stray from their group, and groups from the reference; precisions are 1/variance."""

    gain: float = 30.0  # start of the precision of f_kd around 1
    bias: float = 10.0  # start of the precision of b_kd around 0
    effect: float = 20.0  # start of the precision of a covariate's effect around the group's
    gain_limits: tuple[float, float] = (15.0, 100.0)
    bias_limits: tuple[float, float] = (0.5, 1000.0)
    effect_limits: tuple[float, float] = (2.0, 1000.0)
    gain_guess: float = 0.05  # convention: variance that the estimated precision is drawn to
    bias_guess: float = 0.1
    effect_guess: float = 0.05
    guess_coefficients: float = 2.0  # convention: imaginary coefficients behind each guess
    group_effects: float = 1.0  # convention: imaginary annotators without effect behind a group's mean effect
    noise_answers: float = 15.0  # imaginary answers per annotator and dimension with the group's noise
    noise_limits: tuple[float, float] = (0.25, 20.0)  # of r_k
    pool_answers: float = 5.0  # imaginary answers with the noise of the start, behind s_gd
    latent_items: float = (
        7.0  # [J] imaginary items behind the target of Sigma; 5 were worse for prompts, 10 for lesions
    )
    # [J] 5 made intervals of nine dimensions too wide (.99), 10 those of judges who share .6 of errors too narrow.
    shared_items: float = 8.0  # imaginary items with the assumed shared error


class KindPrior(NamedTuple):
    """What is expected of a group beside the reference."""

    shared: float  # share of an annotator's error variance that the group has in common
    tried: tuple[float, ...]  # such shares that labels choose among, from the most: with less EM takes longer
    map_items: float  # imaginary items on which the group sees the truth as it is: A = I
    level_items: float  # imaginary items on which it has the level of the reference: t = 0


# [J] Error correlations of language models as judges are .28 to .42. Their gain and level are their own.
JUDGES = KindPrior(shared=0.4, tried=(0.65, 0.4, 0.1, 0.03), map_items=5.0, level_items=0.1)
# [J] People are like people: on soundscapes rated by two groups the error is .27 instead of .43, the plain mean's .28.
PEOPLE = KindPrior(shared=0.1, tried=(0.4, 0.1, 0.05, 0.02), map_items=20.0, level_items=30.0)
REFERENCE = KindPrior(shared=0.0, tried=(0.0,) * 4, map_items=0.0, level_items=0.0)  # sees the truth by definition
FIRM_LEVEL = 1.0  # imaginary items with the level of the reference from which a level is held, not looked for
MANY_LABELS = 500  # convention: labelled items from which the imaginary ones with an expected share hardly count

# Start
NOISE_START_LIMITS = (0.05, 1.5)  # of the noise variance by moments
# [J] Variances of single dimensions by ten labels were up to four times too small: lesions held .86 of .90, now .88.
ALIKE_ANSWERS = 10.0  # degrees of freedom that the mean over dimensions counts for in the noise of each
ALIKE_ITEMS = 10.0  # labelled items that it counts for in the truth's variance on each
LEAST_SHARE = 1e-3  # floor of the expected share where the shared error is estimated: from 0 it could not move
LEAST_BETWEEN = 0.05  # floor of the truth's variance by moments
POOLED_ITEMS = 10.0  # convention: labelled items that the variance over all groups is worth
VARIANCE_FLOOR = 1e-6  # floor of every variance

# Estimation
TOLERANCE = 5e-4  # change of any truth that stops EM
COMPARED_AT = 5.0  # times the tolerance at which fits with several expectations are compared
MAX_ITERATIONS = (
    2000  # with few labels EM needs 60 to 300 steps, up to 1000 where little error is expected to be shared
)

# Intervals
LEAST_FREEDOM = 4.0  # floor of the degrees of freedom of Student's t, where labels are hardly more than coefficients
# [J] Labels choose what is expected, so that it is worth in proportion to them: with six labels intervals stay wide.
EXPECTED_EVIDENCE = 3.0  # imaginary items with the expected shared error count for so many times the labels at most

SAME_PEOPLE = 0.95  # convention: share of the items, or of answers, from which the same people rated every item

# Belief in the other groups (eq. J21)
# [J] Annotators whose items were shuffled: -.3 to .14; as they are: .25 to 1.2, and .2 to 1.5 with 10 labels.
NO_R2 = 0.1  # share of what is truth in labels, foretold without them, up to which the groups are not believed at all
CLEAR_R2 = 0.2  # such a share from which they are
# [J] From 10 on, one draw of ten noisy labels in five silenced good judges: error .64 of stories instead of .61.
CLEAR_LABELS = 15  # labelled items from which that share is believed itself
CLEAR_NUMBERS = (
    30  # [J] their labels on all dimensions, likewise: ten on one dimension told good judges from none badly
)
