"""Response styles of annotators: the evidence for each, and a mixture of spammers and styles by EM.

A style says which dimension's truth the answers follow, and how steeply. With X the truths fused without the annotator
(means of posteriors, so their errors do not bias slopes) and y the answers, both minus their means over the annotator's
items,

    y = X s + noise,   s ~ N(center, diag(width^2)),   noise ~ N(0, t I),   log t ~ N(log typical, spread^2)   eq. Q3

is closed form for every t; t is integrated out numerically around its most probable value. All of it follows from a few
sums per annotator. Truths of other dimensions than the one that is followed may always colour an answer a little;
without that, dimensions that are nearly the same would look mistaken for each other.

An annotator is either a spammer, whose answers follow no truth on any dimension, or somebody who has some style on each
dimension. How common both are is learned from the crowd; imaginary annotators shrink the shares towards the prior.

    p(answers of k) = pi prod_d sum_h u_h p(y_kd | h)  +  (1 - pi) prod_d sum_h w_h p(y_kd | h)            eq. Q4

    K annotators, D dimensions, H styles of one dimension, T values of t
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items import item_priors
from unisono.maths.raters.rater_signal import Sums

NOISE_NODES = np.linspace(-3.5, 3.5, 11)  # numerical: nodes of log t, in its posterior standard deviations
NOISE_SEARCH = 6  # numerical: Newton steps towards the most probable t
ANNOTATORS_AT_ONCE = 1024  # numerical: annotators times dimensions; their arrays stay in the processor's cache
FROM_HERE_PRODUCTS = 16  # numerical: dimensions from which on matrix products win
LARGEST_ARRAY = 1 << 22  # numerical: numbers of one kind that are held of all styles, for the sake of memory
LEAST_STYLE_NOISE = 1e-3  # numerical: least of the residual sum of squares, in units of the typical variance


class StylePrior(NamedTuple):
    """Prior of slopes and noise under one style. A slope of one is what the typical annotator does."""

    center: float = 0.0  # mean of the slope on the truth that is followed
    width: float = 0.0  # its standard deviation between annotators
    leak: float = 0.0  # standard deviation of the slopes on the other truths, around zero
    noise: float = 1.0  # typical variance of the noise, in units of the crowd's


def _follows(scale: float) -> StylePrior:
    """Answers of the usual kind times `scale`: truth, leakage and noise alike.

    Half the slope with all the noise is not a compressed scale but a poor annotator, whom only the number of ratings
    tells from a spammer.
    """
    return StylePrior(scale, item_priors.SLOPE_SD * abs(scale), item_priors.LEAK_SD * abs(scale), scale**2)


STYLE_PRIORS = {
    "usual": _follows(1.0),
    "compressed": _follows(item_priors.SMALL_SCALE),
    "stretched": _follows(item_priors.LARGE_SCALE),
    "flipped": _follows(-1.0),
    "swapped": _follows(1.0),  # on another dimension's truth
    "unrelated": StylePrior(),
    "constant": StylePrior(),
}
# The kinds of style; for one annotator and dimension their probabilities add up to one.
KINDS = tuple(STYLE_PRIORS)
USUAL, COMPRESSED, STRETCHED, FLIPPED, SWAPPED, UNRELATED, CONSTANT = range(len(KINDS))
OWN = np.array([kind in ("usual", "compressed", "stretched", "flipped") for kind in KINDS])  # follow their own truth
FOLLOWING = OWN | (np.arange(len(KINDS)) == SWAPPED)  # follow a truth


class TypicalNoise(NamedTuple):
    """Typical variance of what the truth does not explain, in the answers of one annotator; each (D,)."""

    following: np.ndarray  # of those who follow a truth
    idle: np.ndarray  # of those who follow none: all the variance their answers have


class Evidence(NamedTuple):
    """What the answers say about each style of each annotator. A style is a kind and the truth that it follows."""

    kind: np.ndarray  # (D, H) the kind of each style
    follows: np.ndarray  # (D, H) the dimension whose truth it follows; the own one where it follows none
    loglik: np.ndarray  # (K, D, H) log density of the answers
    slope: np.ndarray  # (K, D, H) posterior mean of the slope on the own dimension's truth
    square: np.ndarray  # (K, D, H) posterior mean of its square
    noise: np.ndarray  # (K, D, H) most probable noise variance


def styles_of(d: int, D: int) -> list[tuple[int, int]]:
    """The styles an annotator may have on dimension d: (kind, dimension of the truth that is followed)."""
    own = [(kind, d) for kind in (USUAL, COMPRESSED, STRETCHED, FLIPPED)]
    return [*own, *((SWAPPED, e) for e in range(D) if e != d), (UNRELATED, d), (CONSTANT, d)]


def style_evidence(sums: Sums, noise: TypicalNoise, same: np.ndarray, effective: np.ndarray) -> Evidence:
    """Evidence of every style; one answer on a dimension counts as `effective` (D,) answers with normal noise.

    `same` (K, D) is the log of how much likelier answers without any variation are from somebody who never varies
    than from somebody who does, -inf where they vary. Apart from that, a constant annotator is an unrelated one.
    """
    K, D = sums.n.shape
    styles = [styles_of(d, D) for d in range(D)]
    kinds, follows = (np.array([[style[i] for style in own] for own in styles]) for i in (0, 1))
    told = slice(0, -1)  # all but the constant annotator, who comes last, right after the unrelated one
    swapped = [h for h in range(kinds.shape[1] - 1) if kinds[0, h] == SWAPPED]
    priors, whose = _prior_columns(kinds[:, told], noise), np.hstack([follows[:, told], follows[:, swapped]])
    priors = _Priors(*(np.hstack([part, part[:, swapped]]) for part in priors))
    priors.center[:, kinds.shape[1] - 1 :] *= -1
    found = np.empty((4, K, D, len(styles[0])))
    at_once = max(min(ANNOTATORS_AT_ONCE // D, LARGEST_ARRAY // (D**2 * len(styles[0]))), 1)
    for start in range(0, K, at_once):
        rows = slice(start, start + at_once)
        some = Sums(*(np.moveaxis(part[rows], 0, -1) for part in sums))
        axes = _axes(some)
        regression = _regression(some, axes, whose, priors)
        parts = _integrated(regression, axes, whose, priors)
        for table, part in zip(found, _either_way(parts, swapped, kinds.shape[1] - 1), strict=True):
            table[rows, :, told] = np.moveaxis(part, -1, 0)
    found[..., -1] = found[..., -2]
    loglik, slope, square, left = found
    loglik *= effective[:, None]
    loglik[..., -1] += same
    return Evidence(kinds, follows, loglik, slope, square, left)


def _either_way(parts: tuple[np.ndarray, ...], swapped: list[int], told: int) -> list[np.ndarray]:
    """Evidence, each (D, told, K), from that with the swapped styles upside down after the others.

    Nothing says which way round the scale of another dimension is, so both are as likely.
    """
    loglik, slope, square, noise = (part[:, :told].copy() for part in parts)
    down = [part[:, told:] for part in parts]
    both = np.logaddexp(loglik[:, swapped], down[0])
    share = np.exp(down[0] - both)
    for part, other in zip((slope, square), down[1:3], strict=True):
        part[:, swapped] += share * (other - part[:, swapped])
    noise[:, swapped] *= (down[3] / noise[:, swapped]) ** share
    loglik[:, swapped] = both - np.log(2)
    return [loglik, slope, square, noise]


class _Priors(NamedTuple):
    """The priors of the styles of every dimension, each (D, H, 1).

    Slopes have the covariance leak^2 I + more e e', e the truth that is followed: what the answers would vary by is a
    matrix that all styles share, and one rank more.
    """

    center: np.ndarray
    weak: np.ndarray  # leak^2
    more: np.ndarray
    typical: np.ndarray  # noise variance


def _prior_columns(kinds: np.ndarray, noise: TypicalNoise) -> _Priors:
    center, width, leak, scale = (np.array(column)[kinds] for column in zip(*STYLE_PRIORS.values(), strict=True))
    usual = np.where(FOLLOWING[kinds], noise.following[:, None], noise.idle[:, None])
    columns = center, leak**2, width**2 - leak**2, usual * scale
    return _Priors(*(column[:, :, None] for column in columns))


class _Axes(NamedTuple):
    """The truths' sums of squares on each dimension's answers, X'X = U diag(stretch) U': the same for every style."""

    U: np.ndarray  # (D, e, i, K)
    stretch: np.ndarray  # (D, i, K)
    lean: np.ndarray  # (D, i, K) U'X'y


def _axes(sums: Sums) -> _Axes:
    """Of sums with annotators last."""
    squares = np.moveaxis(sums.xx, -1, 1)  # (D, K, e, f)
    if (squares == squares[0]).all():
        # Where everybody answers every dimension, the truths behind the answers are the same for all of them.
        stretch, U = (np.broadcast_to(part, (len(squares), *part.shape)) for part in np.linalg.eigh(squares[0]))
    else:
        stretch, U = np.linalg.eigh(squares)
    U = np.ascontiguousarray(np.moveaxis(U, 1, -1))
    stretch = np.ascontiguousarray(np.moveaxis(np.maximum(stretch, 0.0), 1, -1))
    return _Axes(U, stretch, np.einsum("deik,dek->dik", U, sums.xy))


class _Regression(NamedTuple):
    """Answers away from the slope that a style expects, y - center x_e, along the axes. Annotators come last."""

    own: np.ndarray  # (D, H, i, K) the truth that is followed
    lean: np.ndarray  # (D, H, i, K)
    rest: np.ndarray  # (D, H, K) sum of squares
    freedom: np.ndarray  # (D, 1, K) one answer less: it went into the mean
    weights: tuple[np.ndarray, ...]  # three of (D, H, i, K): own lean, own^2 stretch, lean^2
    spread: np.ndarray  # (D, H, i, K) weak stretch

    def explained(self, t: np.ndarray, priors: _Priors) -> np.ndarray:
        """(D, H, K) what slopes other than the center take off the sum of squares if the noise is t (D, H, K)."""
        inverse = t[:, :, None] + self.spread
        np.reciprocal(inverse, out=inverse)
        b, a, along = (np.einsum("dhik,dhik->dhk", inverse, weight) for weight in self.weights)
        return np.asarray(priors.weak * along + t * priors.more * b**2 / (1 + priors.more * a))


def _regression(sums: Sums, axes: _Axes, follows: np.ndarray, priors: _Priors) -> _Regression:
    each = np.arange(len(follows))[:, None]
    own, stretch, center = axes.U[each, follows], axes.stretch[:, None], priors.center
    lean = axes.lean[:, None] - center[:, :, None] * stretch * own
    weights = own * lean, own**2 * stretch, lean**2
    rest = sums.yy[:, None] - center * (2 * sums.xy[each, follows] - center * weights[1].sum(axis=2))
    freedom, spread = np.maximum(sums.n - 1, 0)[:, None], priors.weak[:, :, None] * stretch
    return _Regression(own, lean, np.maximum(rest, 0.0), freedom, weights, spread)


def _likeliest_noise(regression: _Regression, priors: _Priors) -> np.ndarray:
    """(D, H, K) the most probable log t, by Newton steps."""
    middle, precision = np.log(priors.typical), 1 / item_priors.NOISE_SD**2
    least = priors.typical * LEAST_STYLE_NOISE
    log_t = np.broadcast_to(middle, regression.rest.shape)
    for _ in range(NOISE_SEARCH):
        t = np.exp(log_t)
        left = np.maximum(regression.rest - regression.explained(t, priors), 0.0) + least
        # The most probable log t, to first order around the last one.
        step = 0.5 * (left / t - regression.freedom) + precision * (middle - log_t)
        log_t = log_t + np.clip(step / (0.5 * left / t + precision), -1.0, 1.0)
    return log_t


def _integrated(
    regression: _Regression, axes: _Axes, follows: np.ndarray, priors: _Priors
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, mean and mean square of the slope on the own truth, noise variance, each (D, H, K).  eq. Q3"""
    own, lean, rest, freedom, weights, spread = regression
    log_t, precision = _likeliest_noise(regression, priors), 1 / item_priors.NOISE_SD**2
    center, weak, more = (column[:, :, None] for column in priors[:3])  # (D, H, 1, 1)
    scale, freedom = 1 / np.sqrt(freedom / 2 + precision)[:, None], freedom[:, None]  # (D, 1, 1, K)
    grid = log_t[:, :, None] + scale * NOISE_NODES[:, None]  # (D, H, T, K)
    t = np.exp(grid)
    # Without the rank, b = x_e'M^-1 r, a = x_e'M^-1 x_e, r'XX'M^-1 r, and what the slope on the own truth shares with
    # them.
    dims = np.arange(len(t))
    row, stretch = axes.U[dims, dims][:, None], axes.stretch[:, None]  # (D, 1, i, K)
    shared = row * lean, row * stretch * own, np.broadcast_to(row**2 * stretch, own.shape)
    (b, a, along, pull, cross, known), ratio = _along_axes(t, spread, (*weights, *shared))
    rank = more / (1 + more * a)
    log_density = (rest[:, :, None] - weak * along - t * rank * b**2) / t + freedom * (np.log(2 * np.pi) + grid)
    log_density = -0.5 * (log_density + np.log1p(more * a) - np.log(ratio))
    middle = np.log(priors.typical)[:, :, None]
    log_prior = -0.5 * precision * (grid - middle) ** 2 + 0.5 * np.log(precision / (2 * np.pi))
    log_weight = log_density + log_prior + np.log(scale * (NOISE_NODES[1] - NOISE_NODES[0]))
    peak = log_weight.max(axis=2, keepdims=True)
    weight = np.exp(log_weight - peak)
    mass = weight.sum(axis=2, keepdims=True)
    total, weight = (peak + np.log(mass))[:, :, 0], weight / mass
    # The slope on the own truth: prior mean and covariance times what pulls at it.
    itself = (follows == dims[:, None])[:, :, None, None]
    variance = weak + more * itself
    mean = center * itself + variance * (pull - rank * b * cross)
    square = mean**2 + variance - variance**2 * (known - rank * cross**2)
    return total, (weight * mean).sum(axis=2), (weight * square).sum(axis=2), np.exp(log_t)


def _along_axes(t: np.ndarray, spread: np.ndarray, weights: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the axes i of weights (D, H, i, K) over t + spread_i (D, H, i, K), for each of them, and the product of
    t / (t + spread_i), for noise t (D, H, T, K)."""
    sums, ratio = np.zeros((len(weights), *t.shape)), np.ones(t.shape)
    if len(t) < FROM_HERE_PRODUCTS:
        for i in range(spread.shape[2]):
            inverse = 1 / (t + spread[:, :, None, i])
            for part, weight in zip(sums, weights, strict=True):
                part += inverse * weight[:, :, None, i]
            ratio *= t * inverse
        return sums, ratio
    for d, noise in enumerate(np.moveaxis(t, -1, 1)[..., None]):  # (K, H, T, 1)
        inverse = 1 / (noise + np.moveaxis(spread[d], -1, 0)[:, :, None])  # (K, H, T, i)
        columns = np.stack([np.moveaxis(weight[d], -1, 0) for weight in weights], axis=-1)
        sums[:, d] = np.moveaxis(inverse @ columns, (0, -1), (-1, 0))
        ratio[d] = np.moveaxis(np.prod(np.multiply(inverse, noise, out=inverse), axis=-1), 0, -1)
    return sums, ratio


def typical_noise(
    evidence: Evidence, probability: np.ndarray, answered: np.ndarray, start: TypicalNoise
) -> TypicalNoise:
    """The geometric mean noise of those who follow a truth and of those who do not; `start` counts as a few of each."""
    weight = probability * answered[:, :, None]
    scale = np.array([prior.noise for prior in STYLE_PRIORS.values()])[evidence.kind]
    log_noise = np.log(evidence.noise / scale)

    def mean(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
        own = weight * counts
        total = (own * log_noise).sum(axis=(0, 2)) + item_priors.IMAGINARY_ANNOTATORS * np.log(before)
        return np.asarray(np.exp(total / (own.sum(axis=(0, 2)) + item_priors.IMAGINARY_ANNOTATORS)))

    return TypicalNoise(mean(FOLLOWING[evidence.kind], start.following), mean(evidence.kind == UNRELATED, start.idle))


MIXTURE_STEPS = 2  # numerical: of EM over the shares; five give the same results

_KINDS = np.arange(len(KINDS))
_STYLES = np.where(_KINDS == USUAL, *item_priors.STYLE_COUNTS)
_OF_SPAMMERS = (_KINDS == UNRELATED) * (1 - item_priors.CONSTANT_SPAMMERS) + (
    _KINDS == CONSTANT
) * item_priors.CONSTANT_SPAMMERS  # u of eq. Q4


class Membership(NamedTuple):
    """Posterior probabilities of the mixture."""

    spammer: np.ndarray  # (K,) no dimension follows any truth
    style: np.ndarray  # (K, D, H) of each style of a dimension; they add up to one


def prior_membership(evidence: Evidence, answered: np.ndarray) -> Membership:
    """Prior memberships: those of annotators without answers."""
    nothing = evidence._replace(loglik=np.zeros_like(evidence.loglik))
    return _membership(nothing, _as_spammer(nothing), answered, *_prior())


def fit_mixture(evidence: Evidence, answered: np.ndarray) -> Membership:
    """EM over how common styles are; `answered` (K, D) says which dimensions an annotator answered at all."""
    pi, w = _prior()
    as_spammer = _as_spammer(evidence)
    for _ in range(MIXTURE_STEPS):
        spam, style = _responsibilities(evidence, as_spammer, pi, w)
        rated = answered.any(axis=1)
        pi = float(
            (item_priors.SPAMMER_COUNTS[0] + spam[rated].sum()) / (sum(item_priors.SPAMMER_COUNTS) + rated.sum())
        )
        found = ((1 - spam)[:, None, None] * style * answered[:, :, None]).sum(axis=0)
        evidence = _without_swaps_of_most(evidence, found)
        counts = np.zeros((len(found), len(KINDS)))
        np.add.at(counts, (np.arange(len(found))[:, None], evidence.kind), found)
        w = _shares(counts)
    return _membership(evidence, as_spammer, answered, pi, w)


def _shares(counts: np.ndarray) -> np.ndarray:
    """(D, kinds) shares of styles from expected annotators (D, kinds); of idle ones dimension by dimension."""
    common = _STYLES + counts.sum(axis=0)
    common /= common.sum()
    own = _STYLES.sum() * common + counts
    own /= own.sum(axis=1, keepdims=True)
    idle = np.where(np.isin(_KINDS, (UNRELATED, CONSTANT)), own, 0.0)
    others = np.where(idle > 0, 0.0, common)
    left = 1 - idle.sum(axis=1, keepdims=True)
    return np.asarray(idle + others / others.sum(axis=1, keepdims=True) * left)


def _without_swaps_of_most(evidence: Evidence, found: np.ndarray) -> Evidence:
    """A dimension is what most annotators mean by it: they cannot all mistake it for another.

    Where dimensions go together closely, the truth of one of them may come to be the view of a few; what the others
    do then is no mistake, and nothing is said of it. found: (D, H) expected annotators of every style.
    """
    own = (found * OWN[evidence.kind]).sum(axis=1)
    ruled_out = (evidence.kind == SWAPPED) & (found >= own[:, None])
    return evidence._replace(loglik=np.where(ruled_out, -np.inf, evidence.loglik))


def _prior() -> tuple[float, np.ndarray]:
    return item_priors.SPAMMER_COUNTS[0] / sum(item_priors.SPAMMER_COUNTS), _STYLES / _STYLES.sum()


def _log_weights(evidence: Evidence, w: np.ndarray) -> np.ndarray:
    """(D, H) log weight of every style, whose kinds have the weights w (D, kinds), or (kinds,) on all dimensions.

    The other dimensions share the weight of being mistaken for.
    """
    others = max(len(evidence.kind) - 1, 1)
    weight = np.take_along_axis(np.broadcast_to(w, (len(evidence.kind), len(KINDS))), evidence.kind, axis=1)
    usable = np.where(evidence.kind == SWAPPED, weight / others, weight)
    with np.errstate(divide="ignore"):
        # With one dimension nothing can be swapped, and the weight goes to the other styles.
        return np.asarray(np.log(usable / usable.sum(axis=1, keepdims=True)))


class _AsSpammer(NamedTuple):
    """The spammers' side of eq. Q4, which no share of styles changes."""

    loglik: np.ndarray  # (K, D) of the answers
    style: np.ndarray  # (K, D, H) probability of each style


def _as_spammer(evidence: Evidence) -> _AsSpammer:
    spamming = evidence.loglik + _log_weights(evidence, _OF_SPAMMERS)
    loglik = _log_sum(spamming)
    return _AsSpammer(loglik, np.exp(spamming - loglik[:, :, None]))


def _responsibilities(
    evidence: Evidence, as_spammer: _AsSpammer, pi: float, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probability (K,) of the spammers' side of eq. Q4, and of each style (K, D, H) on the other side."""
    engaged = evidence.loglik + _log_weights(evidence, w)
    per_dimension = _log_sum(engaged)
    log_odds = np.log(pi / (1 - pi)) + (as_spammer.loglik - per_dimension).sum(axis=1)
    spam = np.exp(-np.logaddexp(0.0, -log_odds))
    return spam, np.exp(engaged - per_dimension[:, :, None])


def _log_sum(terms: np.ndarray) -> np.ndarray:
    """(K, D) log of the sum of exp(terms) over styles; some term of each is finite."""
    peak = terms.max(axis=2)
    return np.asarray(peak + np.log(np.exp(terms - peak[:, :, None]).sum(axis=2)))


def _membership(
    evidence: Evidence, as_spammer: _AsSpammer, answered: np.ndarray, pi: float, w: np.ndarray
) -> Membership:
    spam, style = _responsibilities(evidence, as_spammer, pi, w)
    empty = ~FOLLOWING[evidence.kind]
    nothing = np.where(answered, (style * empty).sum(axis=2), 1.0).prod(axis=1)
    # Somebody who happens to follow no truth on any answered dimension is a spammer by another way.
    nothing = np.where(answered.any(axis=1), nothing, 0.0)
    both = spam[:, None, None] * as_spammer.style + (1 - spam)[:, None, None] * style
    return Membership(spam + (1 - spam) * nothing, both)
