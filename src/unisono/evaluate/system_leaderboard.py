"""Leaderboards: which system is best, which differences are real, and what ranks systems may have.

Means of systems come from a mixed model of scores by system, prompt and annotator (`maths.systems`): by people, by
judges alone, or measured without annotators. Where people rated some outputs and judges more, people define the means
and judges make them more precise: their mean score x is a covariate, and

    theta_s = mu_s + lambda mean_s(x),   Cov = (1, m) Cov(mu, lambda) (1, m)' + lambda^2 Cov(mean_s(x))    eq. L9

with mean_s(x) over all outputs of the system (prediction-powered). Judges whose lambda is not clearly above zero count
in part only, `lambda` below zero not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.evaluate.leaderboard_results import Board, Leaderboard
from unisono.maths.systems import mixed_model, system_priors, system_statements
from unisono.maths.systems.score_design import ANNOTATORS, CELLS, FAVOURITES, OUTPUTS, PROMPTS, Scores, codes
from unisono.maths.systems.system_statements import Means, Statements
from unisono.tables.annotator_kinds import divide
from unisono.tables.labels import counted, did_you_mean, listed
from unisono.tables.reading.scores_of_systems import SystemScores

OVERALL = "overall"
# What is random unless a word says that these very ones are meant.
FIXED = {
    "prompts": (PROMPTS, CELLS, OUTPUTS),
    **dict.fromkeys(("people", "judges", "annotators"), (ANNOTATORS, FAVOURITES)),
}


def measure_leaderboard(
    scores: SystemScores,
    *,
    reference_kind: str | None = None,
    weights: Mapping[str, float] | None = None,
    these: str | Sequence[str] = (),
    level: float = system_priors.LEVEL,
    seed: int = 0,
) -> Leaderboard:
    """Means of the systems on every dimension, and all that can be said of them at once."""
    ratings = scores.ratings
    if ratings.is_series:
        raise DataError(f"{ratings.source}: leaderboards are of ratings of items, and these are traces.")
    if len(scores.systems) < 2:
        raise DataError(f"{ratings.source}: there is one system, {listed(scores.systems)}: nothing to compare.")
    division = divide(ratings, reference_kind)
    counts = division.group[ratings.annotator_of] == 0
    value, dimensions, limits = _with_overall(scores, weights)
    words, fixed = fixed_components(these)
    beside = division.reference and not counts.all()
    predicted = _judged(scores, value, counts) if beside else None
    boards = tuple(
        _board(scores, name, value[:, d], counts, fixed, None if predicted is None else predicted[:, d])
        for d, name in enumerate(dimensions)
    )
    alike = system_statements.dimension_correlation([board.influence for board in boards])
    said = system_statements.statements([board.means for board in boards], alike, level, np.random.default_rng(seed))
    whose = _whose(scores, division.names, counts, division.reference)
    notes = (*_notes(boards, scores, said), *_said_fixed(words, scores), *_cut(boards, limits))
    confounded = not scores.paired or any(pair[2] > system_priors.MOSTLY for board in boards for pair in board.apart)
    named = ratings.source, scores.systems, dimensions
    return Leaderboard(*named, boards, said, limits, level, whose, notes, confounded, ratings.frame_kind)


def _with_overall(
    scores: SystemScores, weights: Mapping[str, float] | None
) -> tuple[np.ndarray, tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
    """Numbers (J, D), their names and the ends of their scales; with weights, a weighted mean of all besides."""
    ratings = scores.ratings
    value, names = ratings.value, ratings.dimensions
    low, high = ratings.scale.low, ratings.scale.high
    if weights is None:
        return value, names, (low, high)
    for name, weight in weights.items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise SettingsError(f"weights: there is no dimension '{name}'.{hint} There are: {listed(names)}.")
        if not (np.isfinite(weight) and weight > 0):
            raise SettingsError(f"weights: '{name}' has the weight {weight}; give positive numbers.")
    at = [names.index(name) for name in weights]
    share = np.array(list(weights.values())) / sum(weights.values())
    whole = value[:, at] @ share
    ends = tuple(np.append(end, float(end[at] @ share)) for end in (low, high))
    return np.column_stack([value, whole]), (*names, OVERALL), (ends[0], ends[1])


def fixed_components(these: str | Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words, and the components that they say are meant as they are."""
    given = these.split(",") if isinstance(these, str) else these
    words = [word.strip() for word in given if word.strip()]
    for word in words:
        if word not in FIXED:
            raise SettingsError(f"these: '{word}' is none of {', '.join(FIXED)}.")
    return words, tuple(name for word in words for name in FIXED[word])


def _judged(scores: SystemScores, value: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(M, D) mean of the judges' answers in units of their own, NaN where no judge answered."""
    ratings = scores.ratings
    item, who = ratings.item_of[~counts], ratings.annotator_of[~counts]
    found = np.full((ratings.M, value.shape[1]), np.nan)
    for d in range(value.shape[1]):
        own = value[~counts, d]
        seen = ~np.isnan(own)
        z = _standardised(own[seen], who[seen], ratings.K)
        known = ~np.isnan(z)
        count = np.bincount(item[seen][known], minlength=ratings.M)
        total = np.bincount(item[seen][known], z[known], minlength=ratings.M)
        found[count > 0, d] = total[count > 0] / count[count > 0]
    return found


def _standardised(y: np.ndarray, who: np.ndarray, K: int) -> np.ndarray:
    """Answers in standard deviations of whoever gave them; NaN for those who always answer the same."""
    n = np.maximum(np.bincount(who, minlength=K), 1)
    mean = np.bincount(who, y, minlength=K) / n
    spread = np.sqrt(np.bincount(who, (y - mean[who]) ** 2, minlength=K) / n)
    return np.where(spread[who] > 0, (y - mean[who]) / np.where(spread > 0, spread, 1.0)[who], np.nan)


def _board(
    scores: SystemScores,
    name: str,
    y: np.ndarray,
    counts: np.ndarray,
    fixed: Sequence[str],
    predicted: np.ndarray | None,
) -> Board:
    """One dimension: the mixed model of the scores that count, with the judges' as a covariate."""
    ratings, S = scores.ratings, len(scores.systems)
    rows = np.flatnonzero(counts & ~np.isnan(y))
    item = ratings.item_of[rows]
    present, system = np.unique(scores.system[item], return_inverse=True)
    if len(present) < 2 or len(rows) < system_priors.FEWEST_SCORES:
        raise DataError(
            f"{ratings.source}: {counted(len(rows), 'score')} of {counted(len(present), 'system')} on '{name}' "
            "make no leaderboard. Leave the dimension out (--dim), or score more outputs."
        )
    annotator = np.unique(ratings.annotator_of[rows], return_inverse=True)[1]
    prompt = np.unique(scores.prompt[item], return_inverse=True)[1]
    found = Scores(y[rows], system.reshape(-1), prompt, codes(item), annotator, len(present))
    alone = mixed_model.mixed_means(found)
    fit, help_ = alone, float("nan")
    means = system_statements.pooled_means(alone, len(present), fixed)
    if predicted is not None:
        powered = _powered(scores, found, item, predicted, present, fixed, alone, means)
        fit, means, help_ = powered
    apart = _apart(found, means, present)
    seen = np.bincount(scores.system[item], minlength=S)
    influence = np.zeros((int(scores.prompt.max()) + 1, S))
    influence[np.ix_(np.unique(scores.prompt[item]), present)] = fit.influence[:, : len(present)]
    variances = dict(zip(fit.names, fit.theta.tolist(), strict=True))
    sizes = int(prompt.max()) + 1, int(annotator.max()) + 1
    return Board(name, _whole(means, present, S), influence, variances, seen, help_, apart, *sizes)


def _whole(means: Means, present: np.ndarray, S: int) -> Means:
    """With the systems that nobody scored: their means are not known."""
    if len(present) == S:
        return means
    mean, at = np.full(S, np.nan), np.ix_(present, present)
    mean[present] = means.mean

    def whole(V: np.ndarray) -> np.ndarray:
        out = np.zeros((*V.shape[:-2], S, S))
        out[..., at[0], at[1]] = V
        return out

    sources = tuple(source._replace(part=whole(source.part)) for source in means.sources)
    return Means(mean, whole(means.cov), whole(means.by_people), sources)


def _powered(
    scores: SystemScores,
    found: Scores,
    item: np.ndarray,
    predicted: np.ndarray,
    present: np.ndarray,
    fixed: Sequence[str],
    alone: mixed_model.MixedFit,
    labels: Means,
) -> tuple[mixed_model.MixedFit, Means, float]:
    """Means of the labels, made more precise by what judges say of all outputs.                       eq. L9"""
    S = len(present)
    known = np.flatnonzero(~np.isnan(predicted) & np.isin(scores.system, present))
    if len(np.unique(scores.system[known])) < S:
        return alone, labels, 0.0
    system = np.searchsorted(present, scores.system[known])
    prompt = np.unique(scores.prompt[known], return_inverse=True)[1]
    every = Scores(predicted[known], system, prompt, codes(known), np.zeros(len(known), dtype=np.int64), S)
    overall = mixed_model.mixed_means(every)
    judged = np.where(np.isnan(predicted[item]), overall.mean[found.system], predicted[item])
    if _within_spread(judged, found.system) == 0:
        return alone, labels, 0.0
    fit = mixed_model.mixed_means(found, judged[:, None])
    slope, error = float(fit.mean[S]), float(np.sqrt(fit.cov[S, S]))
    belief = float(np.clip(1 - system_priors.CLEAR_HELP * (error / slope) ** 2, 0.0, 1.0)) if slope > 0 else 0.0
    L = np.hstack([np.eye(S), overall.mean[:S, None]])
    moved = fit._replace(
        mean=L @ fit.mean, part=np.einsum("sf,cfg,tg->cst", L, fit.part, L), influence=fit.influence @ L.T
    )
    own = system_statements.pooled_means(moved, S, fixed)
    theirs = system_statements.pooled_means(overall, S, fixed)
    sources = (*own.sources, *(one._replace(part=slope**2 * one.part) for one in theirs.sources))
    powered = Means(own.mean, own.cov + slope**2 * theirs.cov, own.by_people, sources)
    mixed = powered.mixed(belief, labels)
    gained = 1 - float(np.trace(mixed.cov) / np.trace(labels.cov)) if np.trace(labels.cov) > 0 else 0.0
    return (moved if belief > 0 else alone), mixed, gained


def _within_spread(x: np.ndarray, system: np.ndarray) -> float:
    n = np.maximum(np.bincount(system), 1)
    return float(np.ptp(x - (np.bincount(system, x) / n)[system]))


def _apart(found: Scores, means: Means, present: np.ndarray) -> tuple[tuple[int, int, float], ...]:
    """Pairs of systems that share no annotator, with the share of their difference's variance that is who rated."""
    K = int(found.annotator.max()) + 1
    if K < 2:
        return ()
    seen = np.zeros((found.S, K))
    seen[found.system, found.annotator] = 1
    pairs = []
    for a, b in np.argwhere(np.triu(seen @ seen.T == 0, 1)):
        total, people = (V[a, a] + V[b, b] - 2 * V[a, b] for V in (means.cov, means.by_people))
        share = float(people / total) if total > 0 else 0.0
        pairs.append((int(present[a]), int(present[b]), share))
    return tuple(pairs)


def _whose(scores: SystemScores, kinds: Sequence[str], counts: np.ndarray, reference: bool) -> str:
    """Whose scores these are."""
    ratings = scores.ratings
    n = counted(int(np.count_nonzero(counts)), "score")
    if not scores.annotated:
        return f"{n} without annotators"
    who = len(np.unique(ratings.annotator_of[counts]))
    kind = kinds[0] if ratings.kinds is not None else "annotator"
    whole = f"{n} by {counted(who, 'annotator')}" + (f" of the kind '{kind}'" if ratings.kinds is not None else "")
    if not reference or counts.all():
        return whole
    others = len(np.unique(ratings.annotator_of[~counts]))
    return f"{whole}, made more precise by {counted(others, 'judge')} ({', '.join(kinds[1:])})"


def _notes(boards: Sequence[Board], scores: SystemScores, said: Statements) -> list[str]:
    """What the design cannot tell apart, and what would mend it."""
    found = []
    if not scores.paired:
        found.append(
            "No prompt has outputs of two systems: differences of systems include differences of their prompts."
        )
    for board in boards:
        far = [pair for pair in board.apart if pair[2] > system_priors.MOSTLY]
        if far:
            a, b, share = max(far, key=lambda pair: pair[2])
            more = f" (and {len(far) - 1} more pairs)" if len(far) > 1 else ""
            found.append(
                f"{board.name}: '{scores.systems[a]}' and '{scores.systems[b]}'{more} share no annotator, so that "
                f"{share:.0%} of the variance of their difference is who rated them: they are confounded. Let some "
                "annotators rate outputs of both."
            )
        none = [scores.systems[s] for s in np.flatnonzero(board.scores == 0)]
        if none:
            found.append(f"{board.name}: nobody whose scores count rated {listed(none)}; their means are not known.")
        if np.isfinite(board.help):
            found.append(_helped(board))
    return found


def _helped(board: Board) -> str:
    if board.help <= 0:
        return f"{board.name}: judges add nothing to people's labels."
    return f"{board.name}: judges take {board.help:.0%} of the variance of the means away."


def _said_fixed(words: Sequence[str], scores: SystemScores) -> list[str]:
    """What the intervals are about."""
    prompts = "these prompts" if "prompts" in words else "other prompts of the kind"
    whom = "these annotators" if {"people", "judges", "annotators"} & set(words) else "other annotators of the kind"
    return [f"Intervals hold for {prompts}{f' and {whom}' if scores.annotated else ''}."]


def _cut(boards: Sequence[Board], limits: tuple[np.ndarray, np.ndarray]) -> list[str]:
    some = any(np.isfinite(limits[0])) or any(np.isfinite(limits[1]))
    return ["Means and their intervals are cut at the ends of the scale; differences are not."] if some else []
