"""Ratings and comparisons drawn from the models, with the truth they were drawn from: of items, of pairs, of traces.

The defaults of items are the paper's synthetic experiment: 100 items, 10 annotators who all rate everything, 2
dimensions, 500 features, elements of F_k from U(0, 1), truth from U(-1, 1). The paper does not give its noise; .3 is
ours. Those of traces: 18 recordings of 350 frames, 6 annotators, 2 dimensions, 500 features that walk at random; the
truth is a random linear map of them, scaled to 0..1; filters have elements from U(0, 1), and before the first frame the
truth is zero. The paper gives neither its noise nor the width of the true filters: sd .2 to .8 of each annotator's own
signal, and 10 frames, are ours. `realistic` draws one smooth delay per annotator, a gain, a little leakage between the
dimensions, a bias, and a truth that was there before the first frame.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.tables import Clock, ItemTable, Ratings
from unisono.tables.comparisons import LEFT, RIGHT, TIE, Comparisons


class Simulation(NamedTuple):
    """Ratings, what they were made from, and the annotators who gave them."""

    ratings: Ratings
    features: ItemTable
    truth: ItemTable
    annotators: dict[str, Any]  # plain values for JSON


TransformLaw = Literal["uniform", "identity", "near-identity", "shared"]


def simulate_items(
    *,
    items: int = 100,
    annotators: int = 10,
    dimensions: int = 2,
    features: int = 500,
    ratings_per_item: int | None = None,
    noise: float = 0.3,
    transform: TransformLaw = "uniform",
    spread: float = 0.3,
    bias: float = 0.0,
    missing: float = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draws ratings of items from the paper's model, with the truth behind them.

    Parameters
    ----------
    items, annotators, dimensions, features : int
        How many.
    ratings_per_item : int, optional
        All annotators by default.
    noise : float
        Sd of the errors.
    transform : {"uniform", "identity", "near-identity", "shared"}
        Law of the annotators' matrices.
    spread : float
        Sd of near-identity matrices around the identity, or the off-diagonal value of the shared one.
    bias : float
        Sd of offsets.
    missing : float
        Share of the numbers that are lost.
    seed : int
        Decides everything.

    Returns
    -------
    Simulation
        `.ratings`, `.features`, `.truth`, `.annotators`.

    Raises
    ------
    DataError
        More ratings per item than annotators.

    Examples
    --------
    >>> import unisono as un
    >>> un.simulate_items(items=20, annotators=4).truth.value.shape
    (20, 2)
    """
    per_item = annotators if ratings_per_item is None else ratings_per_item
    if not 1 <= per_item <= annotators:
        raise DataError(f"{per_item} ratings per item need at least as many annotators; there are {annotators}.")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((items, features))
    truth = rng.uniform(-1, 1, size=(items, dimensions))
    F = _matrices(transform, annotators, dimensions, spread, rng)
    b = bias * rng.standard_normal((annotators, dimensions))
    who = _assign(items, annotators, per_item, rng)
    item_of = np.repeat(np.arange(items), per_item)
    annotator_of = who.reshape(-1)
    y = np.einsum("nij,nj->ni", F[annotator_of], truth[item_of]) + b[annotator_of]
    y += noise * rng.standard_normal(y.shape)
    y[rng.random(y.shape) < missing] = np.nan
    described = [{"F": F[k].tolist(), "bias": b[k].tolist(), "noise_sd": noise} for k in range(annotators)]
    return labelled(y, (item_of, annotator_of), X, truth, described)


def _matrices(law: TransformLaw, K: int, D: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """(K, D, D) annotator matrices."""
    eye = np.tile(np.eye(D), (K, 1, 1))
    if law == "uniform":
        return rng.uniform(0, 1, size=(K, D, D))
    if law == "near-identity":
        return np.asarray(eye + spread * rng.standard_normal((K, D, D)))
    return np.asarray(eye + spread * (1 - eye)) if law == "shared" else eye


def _assign(M: int, K: int, per_item: int, rng: np.random.Generator) -> np.ndarray:
    """(M, per_item) annotators of each item, sorted; everyone when all are asked."""
    if per_item == K:
        return np.tile(np.arange(K), (M, 1))
    return np.sort(np.argpartition(rng.random((M, K)), per_item, axis=1)[:, :per_item], axis=1)


def labelled(
    y: np.ndarray,
    of: tuple[np.ndarray, np.ndarray],
    X: np.ndarray,
    truth: np.ndarray,
    annotators: list[dict[str, Any]],
    rate: float | None = None,
) -> Simulation:
    """Answers y (S, D) with labels, `of` these items and annotators (J,), beside features X and truth of all items.

    These are (M, P) and (M, D), or (M, T, ...) of recordings with so many frames per second.
    """
    M, thing = len(truth), "item" if rate is None else "recording"
    names: dict[str, Any] = {"items": tuple(f"{thing}{m + 1}" for m in range(M))}
    if rate is not None:
        names |= {"length": np.full(M, truth.shape[1]), "clock": Clock(rate, np.zeros(M))}
    people = tuple(f"annotator{k + 1}" for k in range(len(annotators)))
    dimensions = tuple(f"dim{d + 1}" for d in range(truth.shape[-1]))
    ratings = Ratings.from_judgements(y, *of, annotators=people, dimensions=dimensions, source="simulation", **names)

    def table(value: np.ndarray, columns: tuple[str, ...], source: str) -> ItemTable:
        rows = value.reshape(int(np.prod(value.shape[:-1])), value.shape[-1])
        return ItemTable.from_rows(rows, columns=columns, source=source, **names)

    features = table(X, tuple(f"x{p + 1}" for p in range(X.shape[-1])), "simulated features")
    known = table(truth, dimensions, "simulated truth")
    return Simulation(ratings, features, known, dict(zip(people, annotators, strict=True)))


HOLD = (2, 4)  # frames: the paper's features hold still for two to four frames ...
MOVE = (2, 4)  # ... and then move on in a straight line, for as long
GAP = 20  # frames that a stretch without ratings lasts on average


def held_walks(T: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """(T, n) random walks without drift that all hold and move at the same times."""
    most = T // (HOLD[0] + MOVE[0]) + 2
    hold = rng.integers(HOLD[0], HOLD[1] + 1, most)
    move = rng.integers(MOVE[0], MOVE[1] + 1, most)
    begin = np.cumsum(hold + move) - hold - move  # a level is taken from begin to begin + hold - 1
    level = np.cumsum(rng.standard_normal((most, n)), axis=0)
    knot = np.stack([begin, begin + hold - 1], axis=1).ravel()
    height = np.repeat(level, 2, axis=0)
    right = np.clip(np.searchsorted(knot, np.arange(T), side="right"), 1, len(knot) - 1)
    share = (np.arange(T) - knot[right - 1]) / (knot[right] - knot[right - 1])
    return np.asarray(height[right - 1] + share[:, None] * (height[right] - height[right - 1]))


def bump(centre: float, W: int) -> np.ndarray:
    """(W,) smooth kernel around a delay in frames; its sum is 1."""
    width = max(W / 10.0, 0.5)
    weight = np.exp(-0.5 * ((np.arange(W) - centre) / width) ** 2)
    return np.asarray(weight / weight.sum())


def lasting_noise(shape: tuple[int, ...], rho: float, rng: np.random.Generator) -> np.ndarray:
    """Standard normal noise, AR(1) along the axis before the last."""
    noise = rng.standard_normal(shape)
    fresh = np.sqrt(1.0 - rho**2)
    for t in range(1, shape[-2]):
        noise[..., t, :] = rho * noise[..., t - 1, :] + fresh * noise[..., t, :]
    return noise


def gaps(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> np.ndarray:
    """Bool, true on stretches along the last axis that make up about `share` of it."""
    if share <= 0.0:
        return np.zeros(shape, dtype=bool)
    stay = 1.0 - 1.0 / GAP
    enter = min(share * (1.0 - stay) / max(1.0 - share, 1e-12), 1.0)
    lost = np.empty(shape, dtype=bool)
    lost[..., 0] = rng.random(shape[:-1]) < share
    for t in range(1, shape[-1]):
        lost[..., t] = rng.random(shape[:-1]) < np.where(lost[..., t - 1], stay, enter)
    return lost


NOISE = (0.4, 1.6)  # an annotator's noise, in the noise asked for
GAIN = (0.6, 1.4)  # realistic annotators: total gain,
LEAK = 0.2  # sd of the leakage of one dimension into another,
DELAY = (0.2, 0.6)  # centre of the kernel, in windows,
BIAS = 0.3  # and sd of the bias, in standard deviations of the truth


class _People(NamedTuple):
    F: np.ndarray  # (K, W, D, D) filters, lag 0 first; row = rated dimension
    b: np.ndarray  # (K, D)
    delay: np.ndarray  # (K, D) frames, NaN where the filter is no delay


def simulate_series(
    *,
    recordings: int = 18,
    frames: int = 350,
    annotators: int = 6,
    dimensions: int = 2,
    features: int = 500,
    window: int = 10,
    rate: float = 5.0,
    noise: float = 0.5,
    realistic: bool = False,
    correlation: float = 0.0,
    autocorrelation: float = 0.0,
    spammers: int = 0,
    missing: float = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draws traces from the paper's model, with the truth behind them.

    Parameters
    ----------
    recordings, frames, annotators, dimensions, features : int
        How many.
    window : int
        Frames that the true filters span.
    rate : float
        Frames per second.
    noise : float
        Sd of the errors, in sds of the annotator's signal, on average.
    realistic : bool
        Whether annotators have a smooth delay, a gain, leakage and a bias instead of free filters.
    correlation : float
        Of the true dimensions.
    autocorrelation : float
        Of neighbouring errors.
    spammers : int
        How many annotators, from the first, trace a random walk of their own.
    missing : float
        Share of the frames that are lost, in stretches.
    seed : int
        Decides everything.

    Returns
    -------
    Simulation
        `.ratings`, `.features`, `.truth`, `.annotators`.

    Raises
    ------
    DataError
        Nobody traces honestly, or a correlation of 1.

    Examples
    --------
    >>> import unisono as un
    >>> un.simulate_series(recordings=2, frames=50, annotators=3, features=2).truth.value.shape
    (100, 2)
    """
    if not 0 <= spammers < annotators:
        raise DataError(f"{spammers} spammers among {annotators} annotators: at least one must rate honestly.")
    if not (-1.0 < correlation < 1.0 and 0.0 <= autocorrelation < 1.0):
        raise DataError(f"Correlation {correlation} and autocorrelation {autocorrelation} must lie below 1.")
    rng = np.random.default_rng(seed)
    before = window - 1 if realistic else 0
    X, truth = _truth(recordings, before + frames, dimensions, features, correlation, rng)
    size = truth.std(axis=(0, 1))
    people = _realistic(annotators, window, size, rng) if realistic else _uniform(annotators, window, dimensions, rng)
    seen = _filtered(truth, people.F)[:, :, before:]  # (K, M, T, D)
    sd = noise * rng.uniform(*NOISE, annotators)[:, None] * seen.std(axis=(1, 2))  # (K, D)
    y = seen + people.b[:, None, None] + sd[:, None, None] * lasting_noise(seen.shape, autocorrelation, rng)
    for k in range(spammers):
        y[k] = _own_walks(seen[k], rng)
    y[gaps(y.shape[:3], missing, rng)] = np.nan
    described = [
        {
            "F": people.F[k].tolist(),
            "bias": people.b[k].tolist(),
            "noise_sd": sd[k].tolist(),
            "delay_seconds": None if np.isnan(people.delay[k]).any() else (people.delay[k] / rate).tolist(),
            "spammer": k < spammers,
        }
        for k in range(annotators)
    ]
    of = np.repeat(np.arange(recordings), annotators), np.tile(np.arange(annotators), recordings)
    traces = np.moveaxis(y, 0, 1).reshape(-1, dimensions)
    return labelled(traces, of, X[:, before:], truth[:, before:], described, rate)


def _truth(
    M: int, T: int, D: int, P: int, correlation: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Features (M, T, P) and truth (M, T, D), every dimension of it between 0 and 1."""
    walks = np.stack([held_walks(T, P or D, rng) for _ in range(M)])
    mix = np.linalg.cholesky(np.full((D, D), correlation) + (1.0 - correlation) * np.eye(D))
    truth = walks @ ((rng.standard_normal((P, D)) if P else np.eye(D)) @ mix.T)
    low, high = truth.min(axis=(0, 1)), truth.max(axis=(0, 1))
    return (walks if P else walks[:, :, :0]), (truth - low) / (high - low)


def _uniform(K: int, W: int, D: int, rng: np.random.Generator) -> _People:
    """The paper's: every tap from U(0, 1), no bias."""
    return _People(rng.uniform(0, 1, (K, W, D, D)), np.zeros((K, D)), np.full((K, D), np.nan))


def _realistic(K: int, W: int, size: np.ndarray, rng: np.random.Generator) -> _People:
    """Gain, leakage and bias around one smooth delay per annotator and dimension. size: (D,) sd of the truth."""
    D = len(size)
    delay = rng.uniform(*DELAY, (K, D)) * (W - 1)
    total = LEAK * rng.standard_normal((K, D, D))
    total[:, np.arange(D), np.arange(D)] = rng.uniform(*GAIN, (K, D))
    F = np.zeros((K, W, D, D))
    for k, d in np.ndindex(K, D):
        F[k, :, d] = np.outer(bump(float(delay[k, d]), W), total[k, d])
    return _People(F, BIAS * size * rng.standard_normal((K, D)), delay)


def _filtered(truth: np.ndarray, F: np.ndarray) -> np.ndarray:
    """(K, M, T, D) what every annotator sees; before the first frame there is nothing."""
    T = truth.shape[1]
    out = np.zeros((len(F), *truth.shape))
    for w in range(min(F.shape[1], T)):
        out[:, :, w:] += np.einsum("kdp,mtp->kmtd", F[:, w], truth[:, : T - w])
    return out


def _own_walks(seen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(M, T, D) walks that have nothing to do with the recordings, as wide as an honest trace."""
    M, T, D = seen.shape
    walks = np.stack([held_walks(T, D, rng) for _ in range(M)])
    centred = (walks - walks.mean(axis=(0, 1))) / walks.std(axis=(0, 1))
    return np.asarray(centred * seen.std(axis=(0, 1)) + seen.mean(axis=(0, 1)))


SPREAD_OF_TIES = 0.4  # of the logarithm of thresholds between annotators


class SimulatedComparisons(NamedTuple):
    """Comparisons, what they were made from, and the annotators who gave them."""

    comparisons: Comparisons
    truth: ItemTable  # in logits of the average of those who are neither spammers nor upside down
    annotators: dict[str, Any]  # plain values for JSON


def simulate_comparisons(
    *,
    items: int = 100,
    annotators: int = 30,
    dimensions: int = 1,
    comparisons: int = 4000,
    spammers: int = 3,
    flipped: int = 0,
    gains: float = 0.3,
    order: float = 0.3,
    ties: float = 0.4,
    seed: int = 0,
) -> SimulatedComparisons:
    """Draws pairs and answers: truths from N(0, 1), gains around 1 and order effects around 0.

    `spammers` answer by chance, `flipped` annotators upside down; `gains` and `order` are standard deviations, `ties`
    is the median threshold of ties (0: none).
    """
    if items < 2 or spammers + flipped >= annotators:
        raise SettingsError(
            "Simulated comparisons need two items, and annotators who are neither spammers nor flipped."
        )
    rng = np.random.default_rng(seed)
    gain, shuffled = rng.normal(1, gains, annotators), rng.permutation(annotators)
    usual = shuffled[spammers + flipped :]
    gain /= gain[usual].mean()
    gain[shuffled[:spammers]] = 0.0
    gain[shuffled[spammers : spammers + flipped]] *= -1
    side, truth = rng.normal(0, order, annotators), rng.normal(size=(items, dimensions))
    tau = ties * np.exp(rng.normal(0, SPREAD_OF_TIES, annotators))
    left, who, dim = (rng.integers(0, n, comparisons) for n in (items, annotators, dimensions))
    right = (left + rng.integers(1, items, comparisons)) % items
    delta, u = gain[who] * (truth[left, dim] - truth[right, dim]) + side[who], rng.random(comparisons)
    above, below = 1 / (1 + np.exp(tau[who] - delta)), 1 / (1 + np.exp(tau[who] + delta))
    answer = np.where(u < above, LEFT, np.where(u < above + below, RIGHT, TIE))
    labels = [f"i{m + 1}" for m in range(items)], [f"a{k + 1}" for k in range(annotators)]
    names = tuple(f"d{d + 1}" for d in range(dimensions))
    table = Comparisons.from_answers(
        (left, right, who, dim, answer, np.arange(comparisons)), (*labels, names), source="simulated comparisons"
    )
    known_truth = ItemTable.from_rows(truth, items=labels[0], columns=names, source="simulated truth")
    known = {"gain": gain.tolist(), "order": side.tolist(), "tie_threshold": tau.tolist()}
    return SimulatedComparisons(table, known_truth, {"annotator": labels[1], **known})
