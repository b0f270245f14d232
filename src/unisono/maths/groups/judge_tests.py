"""The alternative annotator test (Calderon, Reichart, Dror 2025): may a judge replace a person?

For every person j, on items that j, the judge and at least one more person rated: is the judge nearer to the others
than j is?

    W_i = [j is at least as near] - [judge is at least as near],  p_j: t-test of mean W < eps                  eq. K5
    winning rate = share of people for whom that holds (Benjamini-Yekutieli), the judge passes from 1/2 on    eq. K6

`eps` is what a judge may be worse and still be preferred for its price.

Verdicts rest on what the judge tells of the mean y of people's ratings of an item, beside the best constant answer c:

    r, with the interval of Fisher's z;  gain = cov(x, y) / max(var y - noise, r^2 var y)
    skill = 1 - sum (x - y)^2 / sum (y - c)^2
    skill > 0 beyond chance: t-test of (y - c)^2 n / (n - 1) - (x - y)^2 over items                        eq. K7

Helps: r > 0 beyond chance, so that a line through its answers is better than the best constant. May replace a person:
this, the test, and a correlation with the others of at least 1 - eps that of a person: where people sit at the end of a
scale a constant is near to everybody, and tells nothing. Harmful: r < 0 beyond chance. Useless: else.

A judge that answered n times about an item, mean squares between (B) and within (W) items, a total of N answers:

    consistency = (B - W) / (B + (n0 - 1) W),   n0 = (N - sum n^2 / N) / (items - 1)                       eq. K8

the intraclass correlation of its own answers: what one answer says of another by the same judge.

    M items and K people
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

EPSILON = 0.2  # published: the authors' for experts' ratings
FALSE_DISCOVERIES = 0.05  # convention: rate, of Benjamini and Hochberg
BEYOND = 2.326  # convention: standard errors from which a correlation or a skill is not chance: one in a hundred
LEAST_HELP = 0.1  # convention: correlation below which an annotator of no use is not told from one of next to none
LEAST_SIGNAL = 0.1  # convention: share of the variance of people's means that is truth, at least
FEWEST_ITEMS = 10  # convention: items shared with a person below which nothing is said about the two


class Alternative(NamedTuple):
    """What came out for one judge and one dimension."""

    winning_rate: float  # NaN where no person shares enough items
    advantage: float  # probability that the judge is at least as near to the others as a person is
    people: int  # compared
    items: float  # shared with a person, on average
    likeness: float = float("nan")  # correlation of the judge with the others over that of a person with the others

    @property
    def passes(self) -> bool:
        return bool(self.winning_rate >= 0.5)


def alternative_test(judge: np.ndarray, people: np.ndarray, epsilon: float = EPSILON) -> Alternative:
    """Ratings of a judge (M,) against those of people (M, K), NaN where missing.                    eq. K5, eq. K6"""
    p, advantage, shared, told = [], [], [], []
    rated = np.isfinite(people)
    both = np.isfinite(judge) & (rated.sum(axis=1) > 1)
    for j in range(people.shape[1]):
        use = both & rated[:, j]
        if use.sum() < FEWEST_ITEMS:
            continue
        others = np.delete(people[use], j, axis=1)
        own = _nearness(people[use, j], others)
        theirs = _nearness(judge[use], others)
        W = (own >= theirs).astype(float) - (theirs >= own)
        p.append(_below(W, epsilon))
        advantage.append(float((theirs >= own).mean()))
        shared.append(int(use.sum()))
        mean = np.nanmean(others, axis=1)
        told.append((_correlation(judge[use], mean), _correlation(people[use, j], mean)))
    if not p:
        return Alternative(float("nan"), float("nan"), 0, 0.0)
    rejected = benjamini_yekutieli(np.array(p), FALSE_DISCOVERIES)
    own, person = np.mean(told, axis=0)
    likeness = float(own / person) if person > 0 else float("nan")
    return Alternative(float(rejected.mean()), float(np.mean(advantage)), len(p), float(np.mean(shared)), likeness)


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """0 where one of them is the same everywhere."""
    x, y = x - x.mean(), y - y.mean()
    spread = float(x @ x) * float(y @ y)
    return float(x @ y) / np.sqrt(spread) if spread > 0 else 0.0


def benjamini_yekutieli(p: np.ndarray, rate: float) -> np.ndarray:
    """(n,) which hypotheses are rejected, whatever the dependence of the tests."""
    n = len(p)
    order = np.argsort(p, kind="stable")
    harmonic = np.sum(1 / np.arange(1, n + 1))
    below = np.flatnonzero(p[order] <= np.arange(1, n + 1) * rate / (n * harmonic))
    rejected = np.zeros(n, dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected


def _nearness(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(m,) minus the root mean squared distance to the others."""
    return np.asarray(-np.sqrt(np.nanmean((own[:, None] - others) ** 2, axis=1)))


def _below(W: np.ndarray, epsilon: float) -> float:
    """One-sided p of a t-test that the mean is below epsilon."""
    n, spread = len(W), W.std(ddof=1)
    if spread == 0:
        return 0.0 if W.mean() < epsilon else 1.0
    return float(special.stdtr(n - 1, (W.mean() - epsilon) / (spread / np.sqrt(n))))


class Beside(NamedTuple):
    """A judge's answers beside the mean of people's."""

    items: int  # with both
    correlation: float
    low: float  # of the 98 % interval, whose ends decide
    high: float
    gain: float  # change of the answer per unit of truth, other dimensions left aside
    leniency: float  # answer less people's, on average
    skill: float  # share of the squared error of the best constant that is avoided by the answers as they are
    skilled: bool  # beyond chance


def beside_people(judge: np.ndarray, people: np.ndarray) -> Beside:
    """Answers (M,) of a judge beside those of people (M, K), NaN where missing.                         eq. K7"""
    count = np.isfinite(people).sum(axis=1)
    use = np.isfinite(judge) & (count > 0)
    n = int(use.sum())
    if n < FEWEST_ITEMS:
        nan = float("nan")
        return Beside(n, nan, nan, nan, nan, nan, nan, False)
    x, y = judge[use], np.nanmean(people[use], axis=1)
    noise = _noise_of_means(people[use], count[use])
    spread, own = float(np.var(y)), float(np.var(x))
    together = float(np.mean((x - x.mean()) * (y - y.mean())))
    r = together / np.sqrt(spread * own) if spread > 0 and own > 0 else 0.0
    reach = BEYOND / np.sqrt(max(n - 3, 1))
    low, high = np.tanh(np.arctanh(np.clip(r, -0.999999, 0.999999)) + np.array([-reach, reach]))
    signal = max(spread - noise, LEAST_SIGNAL * spread, r * r * spread)  # nobody foretells more of y than is truth
    better = (y - y.mean()) ** 2 * n / (n - 1) - (x - y) ** 2
    skill = 1 - float(np.mean((x - y) ** 2)) / spread if spread > 0 else float("nan")
    skilled = bool(better.mean() > BEYOND * better.std(ddof=1) / np.sqrt(n))
    gain = together / signal if signal > 0 else float("nan")
    return Beside(n, r, float(low), float(high), gain, float(np.mean(x - y)), skill, skilled)


def _noise_of_means(people: np.ndarray, count: np.ndarray) -> float:
    """Variance of the mean of people's ratings around the truth, from how they differ on an item."""
    several = count > 1
    if not several.any():
        return 0.0
    within = np.nansum((people - np.nanmean(people, axis=1, keepdims=True))[several] ** 2) / (count[several] - 1).sum()
    return float(within * np.mean(1 / count))


def own_consistency(answers: np.ndarray) -> tuple[float, float]:
    """Consistency with itself, and sd of an answer around the judge's mean; answers (M, n), NaN where missing. eq. K8

    NaN where nothing was answered twice, and consistency where all answers are the same.
    """
    count = np.isfinite(answers).sum(axis=1)
    answers, n = answers[count > 0], count[count > 0]
    within = int((n - 1).sum())
    if within == 0 or len(n) < 2:
        return float("nan"), float("nan")
    mean = np.nansum(answers, axis=1) / n
    middle = float(np.sum(n * mean) / n.sum())
    W = float(np.nansum((answers - mean[:, None]) ** 2) / within)
    B = float(np.sum(n * (mean - middle) ** 2) / (len(n) - 1))
    n0 = (n.sum() - np.sum(n**2) / n.sum()) / (len(n) - 1)
    total = B + (n0 - 1) * W
    return (B - W) / total if total > 0 else float("nan"), float(np.sqrt(W))


VERDICTS = REPLACES, HELPS, USELESS, HARMFUL = "may replace a person", "helps", "useless", "harmful"


def verdict(found: Beside, test: Alternative, epsilon: float = EPSILON) -> str:
    """What to do with a judge on a dimension."""
    if found.items < FEWEST_ITEMS:
        return f"{USELESS}: only {found.items} items with people, nothing can be told"
    if found.high < 0:
        return f"{HARMFUL}: rates against people"
    if found.low <= 0 or found.correlation < LEAST_HELP:
        return f"{USELESS}: no better than a constant answer"
    if test.passes and test.likeness >= 1 - epsilon:
        return REPLACES
    return HELPS if found.skilled else f"{HELPS}, once its level and gain are corrected"


def short_verdict(said: str) -> str:
    """The verdict without what follows."""
    return next(one for one in VERDICTS if said.startswith(one))


def change_probability(first: float, n: int, second: float, m: int) -> float:
    """p of two correlations, of n and m items, being the same, by Fisher's z."""
    z = np.arctanh(np.clip([first, second], -0.999999, 0.999999))
    sd = np.sqrt(1 / max(n - 3, 1) + 1 / max(m - 3, 1))
    return float(2 * special.ndtr(-abs(z[0] - z[1]) / sd))
