"""Other packages and published methods on comparisons: probabilities of left among decided answers of others.

    Bradley-Terry, Crowd-BT   own code at the highest posterior; Chen et al. (2013) have a probability to be honest
    order                     Bradley-Terry with one order effect, as arenas do
    Thurstone                 normal instead of logistic, with a prior, as pwcmp has it (Perez-Ortiz and Mantiuk 2017)
    choix ILSR, MM, MAP, EP   maximum likelihood twice, highest posterior, expectation propagation
    ASAP                      expectation propagation of a probit model (choix), as Mikhailiuk et al. (2020) have it
    evalica BT, Newman, Elo   Newman has ties
    crowd-kit                 NoisyBradleyTerry, 20 steps
    TrueSkill, openskill      answer after answer, in random order

    arena-rank                Bradley-Terry, ties as half a win of each

Where a package is not installed its methods are left out: `pip install 'unisono[bench]'`. arena-rank 0.1.1 asks for
NumPy 2.3.3 and runs with later ones: `pip install --no-deps arena-rank jax==0.8.1 jaxlib==0.8.1 optax jaxtyping`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, ndtr

from unisono.tables.comparisons import LEFT, TIE, Comparisons

RIDGE = 0.1  # of scores, as in choix
HONEST = (10.0, 1.0)  # Crowd-BT's prior on how often annotators say what they see
MOST_ONLINE = 20_000  # answers that methods which take one after another are given
Peer = Callable[[Comparisons, Comparisons], np.ndarray]  # (n,) probabilities of left in the second from the first


def crowd_bt(seen: Comparisons, unseen: Comparisons, annotators: bool = True) -> np.ndarray:
    """Scores of items and honesty of annotators, at the highest posterior; without `annotators` Bradley-Terry."""
    x, M = _fitted(seen, annotators), len(seen.items)
    p = expit(x[unseen.left] - x[unseen.right])
    eta = expit(x[M:])[unseen.annotator_of] if annotators else 1.0
    return np.asarray(eta * p + (1 - eta) * (1 - p))


def bradley_terry(seen: Comparisons) -> np.ndarray:
    """(M,) scores."""
    return _fitted(seen, False)[: len(seen.items)]


def _fitted(seen: Comparisons, annotators: bool) -> np.ndarray:
    """(M + K,) scores, and log odds of honesty."""
    M, K, sign = len(seen.items), len(seen.annotators), np.where(seen.answer == LEFT, 1.0, -1.0)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        s, logit = x[:M], x[M:]
        eta = expit(logit) if annotators else np.ones(K)
        p, e = expit(sign * (s[seen.left] - s[seen.right])), eta[seen.annotator_of]
        q = np.maximum(e * p + (1 - e) * (1 - p), 1e-12)
        slope = -(2 * e - 1) * p * (1 - p) / q * sign
        at = np.bincount(seen.left, slope, M) - np.bincount(seen.right, slope, M) + RIDGE * s
        honest = np.bincount(seen.annotator_of, -(2 * p - 1) / q, K) * eta * (1 - eta)
        honest -= HONEST[0] * (1 - eta) - HONEST[1] * eta
        prior = HONEST[0] * np.log(expit(logit)) + HONEST[1] * np.log(expit(-logit))
        value = -np.log(q).sum() + RIDGE / 2 * (s @ s) - (prior.sum() if annotators else 0.0)
        return float(value), np.concatenate([at, honest if annotators else np.zeros(K)])

    return np.asarray(minimize(cost, np.append(np.zeros(M), np.full(K, 2.3)), jac=True, method="L-BFGS-B").x)


def ordered(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    """Bradley-Terry with an order effect that all annotators share."""
    M, sign = len(seen.items), np.where(seen.answer == LEFT, 1.0, -1.0)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        d = sign * (x[seen.left] - x[seen.right] + x[M])
        slope = -sign * expit(-d)
        at = np.bincount(seen.left, slope, M) - np.bincount(seen.right, slope, M) + RIDGE * x[:M]
        return float(np.logaddexp(0, -d).sum() + RIDGE / 2 * (x[:M] @ x[:M])), np.append(at, slope.sum())

    x = minimize(cost, np.zeros(M + 1), jac=True, method="L-BFGS-B").x
    return np.asarray(expit(x[unseen.left] - x[unseen.right] + x[M]))


def thurstone(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    """Thurstone's case V with a normal prior on scores."""
    M, sign = len(seen.items), np.where(seen.answer == LEFT, 1.0, -1.0)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        d = sign * (x[seen.left] - x[seen.right])
        log_p = log_ndtr(d)
        slope = -sign * np.exp(-0.5 * d * d - 0.5 * np.log(2 * np.pi) - log_p)
        at = np.bincount(seen.left, slope, M) - np.bincount(seen.right, slope, M)
        return float(-log_p.sum() + 0.25 * (x @ x)), at + 0.5 * x

    x = minimize(cost, np.zeros(M), jac=True, method="L-BFGS-B").x
    return np.asarray(ndtr(x[unseen.left] - x[unseen.right]))


def won(seen: Comparisons) -> list[tuple[int, int]]:
    """Winner and loser of every answer."""
    left = seen.answer == LEFT
    pairs = np.where(left, seen.left, seen.right), np.where(left, seen.right, seen.left)
    return list(zip(*(side.tolist() for side in pairs), strict=True))


def choix_peer(how: str) -> Peer:
    def fitted(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
        import choix

        M, data = len(seen.items), won(seen)
        if how == "ILSR":
            x = choix.ilsr_pairwise(M, data, alpha=0.01)
        elif how == "MAP":
            x = choix.opt_pairwise(M, data, alpha=RIDGE)
        elif how == "MM":
            x = choix.mm_pairwise(M, data, alpha=0.01)
        else:
            mean, cov = choix.ep_pairwise(M, data, alpha=RIDGE, model=how)
            i, j = unseen.left, unseen.right
            apart, spread = mean[i] - mean[j], cov[i, i] + cov[j, j] - 2 * cov[i, j]
            normal = ndtr(apart / np.sqrt(1 + spread))
            return np.asarray(normal if how == "probit" else expit(apart / np.sqrt(1 + np.pi * spread / 8)))
        return np.asarray(expit(x[unseen.left] - x[unseen.right]))

    return fitted


def evalica_peer(how: str) -> Peer:
    def fitted(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
        import evalica

        side = {LEFT: evalica.Winner.X, TIE: evalica.Winner.Draw}
        winners = [side.get(int(a), evalica.Winner.Y) for a in seen.answer]
        found = getattr(evalica, how)(seen.left.tolist(), seen.right.tolist(), winners).scores
        score = found.reindex(range(len(seen.items))).fillna(found.mean()).to_numpy()
        one, other = score[unseen.left], score[unseen.right]
        return np.asarray(1 / (1 + 10 ** ((other - one) / 400)) if how == "elo" else one / (one + other))

    return fitted


def crowd_kit(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    import pandas as pd
    from crowdkit.aggregation import NoisyBradleyTerry

    won = np.where(seen.answer == LEFT, seen.left, seen.right)
    columns = {"worker": seen.annotator_of, "left": seen.left, "right": seen.right, "label": won}
    model = NoisyBradleyTerry(n_iter=20).fit(pd.DataFrame(columns))
    score = model.scores_.reindex(range(len(seen.items))).fillna(model.scores_.mean()).to_numpy()
    with np.errstate(divide="ignore"):
        return np.asarray(score[unseen.left] / np.maximum(score[unseen.left] + score[unseen.right], 1e-12))


def trueskill_peer(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    import trueskill

    world = trueskill.TrueSkill(draw_probability=0.0)
    rating = [world.create_rating() for _ in seen.items]
    for winner, loser in _in_turn(seen):
        rating[winner], rating[loser] = trueskill.rate_1vs1(rating[winner], rating[loser], env=world)
    mu, sigma = (np.array([getattr(one, name) for one in rating]) for name in ("mu", "sigma"))
    i, j = unseen.left, unseen.right
    return np.asarray(ndtr((mu[i] - mu[j]) / np.sqrt(2 * world.beta**2 + sigma[i] ** 2 + sigma[j] ** 2)))


def openskill_peer(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    from openskill.models import BradleyTerryFull

    model = BradleyTerryFull()
    rating = [model.rating() for _ in seen.items]
    for winner, loser in _in_turn(seen):
        [[rating[winner]], [rating[loser]]] = model.rate([[rating[winner]], [rating[loser]]])
    pairs = zip(unseen.left.tolist(), unseen.right.tolist(), strict=True)
    return np.array([model.predict_win([[rating[i]], [rating[j]]])[0] for i, j in pairs])


def arena_rank(seen: Comparisons, unseen: Comparisons) -> np.ndarray:
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    names = np.array(["model_a", "tie", "model_b"])
    frame = pd.DataFrame({"model_a": seen.left, "model_b": seen.right, "winner": names[seen.answer]})
    data = PairDataset.from_pandas(frame)
    fitted = BradleyTerry(n_competitors=len(data.competitors))
    fitted.fit(data)
    score = np.full(len(seen.items), 0.0)
    score[np.array(data.competitors)] = np.asarray(fitted.params["ratings"])
    return np.asarray(expit(score[unseen.left] - score[unseen.right]))


def _in_turn(seen: Comparisons) -> Iterator[tuple[int, int]]:
    pairs = won(seen)
    for n in np.random.default_rng(0).permutation(len(pairs))[:MOST_ONLINE]:
        yield pairs[n]


def peers() -> Iterator[tuple[str, Peer]]:
    yield "Bradley-Terry", lambda seen, unseen: crowd_bt(seen, unseen, annotators=False)
    yield "Crowd-BT", crowd_bt
    yield "order", ordered
    yield "Thurstone", thurstone
    if importlib.util.find_spec("choix"):
        names = {"choix EP": "logit", "ASAP": "probit"} | {f"choix {how}": how for how in ("ILSR", "MM", "MAP")}
        yield from ((name, choix_peer(how)) for name, how in names.items())
    if importlib.util.find_spec("evalica"):
        names = {"evalica BT": "bradley_terry", "evalica Newman": "newman", "evalica Elo": "elo"}
        yield from ((name, evalica_peer(how)) for name, how in names.items())
    if importlib.util.find_spec("crowdkit"):
        yield "crowd-kit", crowd_kit
    if importlib.util.find_spec("trueskill"):
        yield "TrueSkill", trueskill_peer
    if importlib.util.find_spec("openskill"):
        yield "openskill", openskill_peer
    if importlib.util.find_spec("arena_rank"):
        yield "arena-rank", arena_rank
