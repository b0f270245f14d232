"""Annotators whose answers bend: functions of the truth, not the truth alone. Up to three dimensions together.

    truth    a_m ~ N(0, Sigma)
    answer   y_nd = B_kd phi(a_m) + eta,   eta ~ N(0, v_kd)                                                  eq. C1
             phi(a) = [1, a_1 .. a_D, squares, products of two, absolute values]

Priors: B_kd ~ N(own slope 1, all else 0; diag omega_d), omega of what bends learned, so that a crowd that does not bend
keeps the linear model; slopes on other dimensions are held near 0, or truths turn into opinions of single annotators;
log v_kd with the density of an InverseGamma(nu/2, nu tau_d / 2); Sigma ~ imaginary items.
q(a) q(B), all q(a_m) = N(m_m, V_m) and q(B_kd) normal. What an item's answers say of its truth is

    f_m(a) = h_m'phi(a) - 1/2 phi(a)'A_m phi(a),   A_m = sum E[B B'] / v,   h_m = sum y E[B] / v,             eq. C2

and its part of the bound E_q f_m - KL(q || p), the expectation by Gauss-Hermite quadrature at m + V^(1/2) u, with the
symmetric root so that the order of dimensions does not matter. Natural-gradient steps

    V^-1 <- Sigma^-1 - E[Hessian f],   m <- m + V (E[gradient f] - Sigma^-1 m),                              eq. C3

with both expectations from f at the nodes alone (Stein), go as far as the bound does not fall. Rows, noise, Sigma and
omega are then where the same bound, by the same nodes, is highest (eq. C4). A bend that all annotators share cannot be
told from the scale of the truth: the estimate is what the average annotator would answer, mean_k B_k phi(a).   eq. C5
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from unisono.maths.items.item_params import LOG_2PI
from unisono.maths.published.published_answers import LEAST_VARIANCE, Answers, Truths, spread_of

MOST_TOGETHER = 3  # numerical: dimensions; nodes are a power of them
NODES = {1: 15, 2: 7, 3: 4}  # numerical: of Gauss-Hermite quadrature, per dimension
ANSWERS = 8.0  # convention: nu
ITEMS = 20.0  # convention: imaginary items behind Sigma
OFFSET_VARIANCE, SLOPE_VARIANCE, LEAK_VARIANCE = 0.25, 0.02, 1e-3  # convention: of offsets, own and other slopes
BEND_START, BEND_TARGET, BEND_ANNOTATORS = 0.05, 1e-3, 4.0  # convention: omega at first, and where it is drawn to
HALVINGS = 8  # numerical: of a step that would lower the bound
SETTLED, MOST_STEPS = 1e-10, 200  # numerical: of the posterior of one item


class CurvedParams(NamedTuple):
    """The model; the last annotator is nobody who was fitted."""

    B: np.ndarray  # (K + 1, D, P) means of rows
    cov: np.ndarray  # (K + 1, D, P, P)
    noise: np.ndarray  # (K + 1, D) v; of the last annotator tau, the variance of answers within items
    Sigma: np.ndarray  # (D, D)
    omega: np.ndarray  # (D, P) prior variances of rows


class CurvedState(NamedTuple):
    """One point of the climb."""

    mean: np.ndarray  # (M, D)
    V: np.ndarray  # (M, D, D)
    params: CurvedParams
    target: np.ndarray  # (D, D) covariance of imaginary items


class _Evidence(NamedTuple):
    """f_m of every item, and what does not depend on its truth."""

    A: np.ndarray  # (M, P, P)
    h: np.ndarray  # (M, P)
    constant: np.ndarray  # (M,)


def functions(a: np.ndarray) -> np.ndarray:
    """(..., P) phi of truths (..., D)."""
    pairs = [a[..., i] * a[..., j] for i, j in combinations(range(a.shape[-1]), 2)]
    columns = [np.ones(a.shape[:-1]), *np.moveaxis(a, -1, 0), *np.moveaxis(a * a, -1, 0), *pairs]
    return np.stack([*columns, *np.moveaxis(np.abs(a), -1, 0)], axis=-1)


def names_of(dimensions: tuple[str, ...]) -> list[str]:
    """What stands in phi, in words."""
    pairs = [f"{one} * {other}" for one, other in combinations(dimensions, 2)]
    return ["1", *dimensions, *(f"{d}^2" for d in dimensions), *pairs, *(f"|{d}|" for d in dimensions)]


@cache
def nodes(D: int) -> tuple[np.ndarray, np.ndarray]:
    """(Q, D) and (Q,) nodes and weights for a standard normal."""
    u, w = np.polynomial.hermite_e.hermegauss(NODES[D])
    grid = np.array(list(product(u, repeat=D)))
    return grid, np.array([np.prod(own) for own in product(w / w.sum(), repeat=D)])


def starts(answers: Answers) -> list[CurvedState]:
    """Means of the items, drawn to zero; annotators who answer the truth, and may bend it."""
    (_, D), M, K = answers.y.shape, answers.M, answers.K
    mean, V, between, within = np.zeros((M, D)), np.zeros((M, D, D)), np.zeros(D), np.zeros(D)
    for d in range(D):
        y, item, _ = answers.of([d]).single()
        found = spread_of(y, item, M)
        V[:, d, d] = 1 / (1 / found.between + found.answers / found.within)
        mean[:, d] = V[:, d, d] * found.answers / found.within * found.mean
        between[d], within[d] = found.between, found.within
    own = _own(D)
    omega = _held(np.full(own.shape, BEND_START))
    B = np.tile(own.astype(float), (K + 1, 1, 1))
    cov = np.tile((omega / 4)[:, :, None] * np.eye(omega.shape[1]), (K + 1, 1, 1, 1))
    params = CurvedParams(B, cov, np.tile(within, (K + 1, 1)), np.diag(between), omega)
    return [CurvedState(mean, V, params, np.diag(between))]


def learned(answers: Answers, state: CurvedState) -> CurvedParams:
    """What a fit keeps of the last state."""
    return state.params


def _own(D: int) -> np.ndarray:
    """(D, P) true where an answer meets the truth of its own dimension."""
    P = functions(np.zeros(D)).shape[-1]
    return np.asarray(np.arange(P) == np.arange(1, D + 1)[:, None])


def _held(omega: np.ndarray) -> np.ndarray:
    """Prior variances (D, P) with those in place that are not learned."""
    found, D = omega.copy(), len(omega)
    found[:, 0], found[:, 1 : D + 1] = OFFSET_VARIANCE, LEAK_VARIANCE
    found[_own(D)] = SLOPE_VARIANCE
    return found


def step(answers: Answers, state: CurvedState) -> tuple[CurvedState, float]:
    """One step of the climb, and the bound at the state it is given.                                      eq. C4"""
    evidence = _evidence(answers, state.params)
    before = _items_bound(evidence, state.mean, state.V, state.params.Sigma)
    bound = float((before + evidence.constant).sum()) + _prior_bound(state)
    mean, V, _ = _better(evidence, state.mean, state.V, state.params.Sigma, before)
    moments = _moments(mean, V)
    params = _rows_and_noise(answers, moments, state.params)
    squares = np.einsum("mi,mj->ij", mean, mean) + V.sum(axis=0)
    Sigma = (squares + ITEMS * state.target) / (answers.M + ITEMS)
    own = _own(len(Sigma))
    away = (params.B[:-1] ** 2 + np.einsum("kdpp->kdp", params.cov[:-1])).sum(axis=0)
    bend = _held((away + BEND_ANNOTATORS * BEND_TARGET) / (answers.K + BEND_ANNOTATORS))
    lone = own.astype(float), bend[:, :, None] * np.eye(bend.shape[1])
    B, cov = params.B.copy(), params.cov.copy()
    B[-1], cov[-1] = lone
    return state._replace(mean=mean, V=V, params=CurvedParams(B, cov, params.noise, Sigma, bend)), bound


def _evidence(answers: Answers, params: CurvedParams) -> _Evidence:
    """eq. C2"""
    (_, D), M, P = answers.y.shape, answers.M, params.B.shape[2]
    A, h, constant = np.zeros((M, P * P)), np.zeros((M, P)), np.zeros(M)
    for d in range(D):
        y, item, who = answers.of([d]).single()
        B, weight = params.B[:, d], 1 / params.noise[:, d]
        quadratic = (B[:, :, None] * B[:, None, :] + params.cov[:, d]) * weight[:, None, None]
        A += _by(item, who, np.ones(len(y)), (M, len(B))) @ quadratic.reshape(len(B), -1)
        h += _by(item, who, y, (M, len(B))) @ (weight[:, None] * B)
        constant -= 0.5 * np.bincount(item, LOG_2PI - np.log(weight[who]) + y**2 * weight[who], minlength=M)
    return _Evidence(A.reshape(M, P, P), h, constant)


def _by(row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((value, (row, column)), shape=shape)


def _root(V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric roots (M, D, D) and log determinants (M,)."""
    size, turn = np.linalg.eigh(V)
    size = np.maximum(size, np.finfo(float).tiny)
    return (turn * np.sqrt(size)[:, None, :]) @ np.swapaxes(turn, 1, 2), np.log(size).sum(axis=1)


def _at_nodes(evidence: _Evidence, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
    """(M, Q) f at the nodes of every item."""
    phi = functions(mean[:, None] + nodes(mean.shape[1])[0] @ root)
    return np.asarray(np.einsum("mqp,mp->mq", phi, evidence.h) - 0.5 * ((phi @ evidence.A) * phi).sum(axis=2))


def _divergence(mean: np.ndarray, V: np.ndarray, logdet: np.ndarray, Sigma: np.ndarray) -> np.ndarray:
    """(M,) KL of N(mean, V) from N(0, Sigma)."""
    inverse = np.linalg.inv(Sigma)
    inside = np.einsum("mij,ij->m", V, inverse) + np.einsum("mi,ij,mj->m", mean, inverse, mean)
    return np.asarray(0.5 * (inside - len(Sigma) + np.linalg.slogdet(Sigma)[1] - logdet))


def _items_bound(evidence: _Evidence, mean: np.ndarray, V: np.ndarray, Sigma: np.ndarray) -> np.ndarray:
    root, logdet = _root(V)
    return np.asarray(_at_nodes(evidence, mean, root) @ nodes(len(Sigma))[1] - _divergence(mean, V, logdet, Sigma))


def _better(
    evidence: _Evidence, mean: np.ndarray, V: np.ndarray, Sigma: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posteriors one step on, each as far as its own bound does not fall, and these bounds.               eq. C3"""
    u, w = nodes(len(Sigma))
    root, _ = _root(V)
    f = _at_nodes(evidence, mean, root)
    back, precision = np.linalg.inv(root), np.linalg.inv(Sigma)
    # Without the level of f, which cancels in exact sums alone.
    f = (f - (f @ w)[:, None]) * w
    gradient = np.einsum("mij,mj->mi", back, f @ u) - mean @ precision
    outer = u[:, :, None] * u[:, None, :] - np.eye(u.shape[1])
    hessian = back @ np.einsum("mq,qij->mij", f, outer) @ back
    now = np.linalg.inv(V)
    wanted = precision - hessian
    size, turn = np.linalg.eigh(wanted)
    least = float(np.linalg.eigvalsh(precision)[0])
    wanted = (turn * np.maximum(size, least)[:, None, :]) @ np.swapaxes(turn, 1, 2)
    found, found_V, reached = mean.copy(), V.copy(), before.copy()
    open_, share = np.arange(len(mean)), 1.0
    for _ in range(HALVINGS):
        tried_V = np.linalg.inv((1 - share) * now[open_] + share * wanted[open_])
        tried_V = (tried_V + np.swapaxes(tried_V, 1, 2)) / 2
        tried = mean[open_] + share * np.einsum("mij,mj->mi", tried_V, gradient[open_])
        value = _items_bound(_Evidence(*(part[open_] for part in evidence)), tried, tried_V, Sigma)
        good = value >= before[open_]
        at = open_[good]
        found[at], found_V[at], reached[at] = tried[good], tried_V[good], value[good]
        open_, share = open_[~good], share / 2
        if not len(open_):
            break
    return found, found_V, reached


def _moments(mean: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, P) E[phi] and (M, P, P) E[phi phi'] by the nodes."""
    u, w = nodes(mean.shape[1])
    phi = functions(mean[:, None] + u @ _root(V)[0])
    return np.einsum("mqp,q->mp", phi, w), np.swapaxes(phi * w[:, None], 1, 2) @ phi


def _rows_and_noise(answers: Answers, moments: tuple[np.ndarray, np.ndarray], params: CurvedParams) -> CurvedParams:
    phi, square = moments
    M, P, K = answers.M, phi.shape[1], answers.K
    B, cov, noise = params.B.copy(), params.cov.copy(), params.noise.copy()
    own = _own(len(params.Sigma)).astype(float)
    for d in range(len(own)):
        y, item, who = answers.of([d]).single()
        count = np.bincount(who, minlength=K).astype(float)
        S = (_by(who, item, np.ones(len(y)), (K, M)) @ square.reshape(M, -1)).reshape(K, P, P)
        Sy, Syy = _by(who, item, y, (K, M)) @ phi, np.bincount(who, y * y, minlength=K)
        v, tie = noise[:-1, d], 1 / params.omega[d]
        cov[:-1, d] = np.linalg.inv(S / v[:, None, None] + np.diag(tie))
        B[:-1, d] = np.einsum("kpq,kq->kp", cov[:-1, d], Sy / v[:, None] + tie * own[d])
        outer = B[:-1, d, :, None] * B[:-1, d, None, :] + cov[:-1, d]
        left = Syy - 2 * (B[:-1, d] * Sy).sum(axis=1) + np.einsum("kpq,kpq->k", S, outer)
        v = np.maximum((ANSWERS * noise[-1, d] + np.maximum(left, 0.0)) / (ANSWERS + count), LEAST_VARIANCE)
        noise[:-1, d] = v
    return params._replace(B=B, cov=cov, noise=noise)


def _prior_bound(state: CurvedState) -> float:
    """Everything in the bound but the items."""
    B, cov, noise, Sigma, omega = state.params
    own = _own(len(Sigma)).astype(float)
    away = ((B[:-1] - own) ** 2 + np.einsum("kdpp->kdp", cov[:-1])) / omega
    rows = 0.5 * (1 + np.linalg.slogdet(cov[:-1])[1].sum() - (away + np.log(omega)).sum()) + 0.5 * (away.size - 1)
    v, tau = noise[:-1], noise[-1]
    noises = ANSWERS / 2 * (np.log(tau / v) - tau / v).sum()
    latent = -0.5 * ITEMS * (np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.solve(Sigma, state.target)))
    bends = -0.5 * BEND_ANNOTATORS * (np.log(omega) + BEND_TARGET / omega).sum()
    return float(rows + noises + latent + bends)


def truths(answers: Answers, params: CurvedParams) -> Truths:
    """What the average annotator would answer, each item settled by itself; densities are bounds.         eq. C5"""
    mean, V, reached, evidence = _settled(answers, params)
    phi, square = _moments(mean, V)
    usual = params.B[:-1].mean(axis=0)
    found = phi @ usual.T
    second = np.einsum("dp,mpq,eq->mde", usual, square, usual)
    return Truths(found, second - found[:, :, None] * found[:, None, :], reached + evidence.constant)


def _settled(answers: Answers, params: CurvedParams) -> tuple[np.ndarray, np.ndarray, np.ndarray, _Evidence]:
    evidence = _evidence(answers, params)
    Sigma = params.Sigma
    mean, V = _around(evidence, Sigma)
    reached = _items_bound(evidence, mean, V, Sigma)
    open_ = np.arange(answers.M)
    for _ in range(MOST_STEPS):
        if not len(open_):
            break
        some = _Evidence(*(part[open_] for part in evidence))
        mean[open_], V[open_], value = _better(some, mean[open_], V[open_], Sigma, reached[open_])
        still = value - reached[open_] > SETTLED * (1 + np.abs(value))
        reached[open_] = value
        open_ = open_[still]
    return mean, V, reached, evidence


def _around(evidence: _Evidence, Sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A start that has seen every side of the prior: moments of the posterior on the prior's nodes."""
    u, w = nodes(len(Sigma))
    M, D = len(evidence.h), len(Sigma)
    root = np.tile(_root(Sigma[None])[0], (M, 1, 1))
    log = _at_nodes(evidence, np.zeros((M, D)), root) + np.log(w)
    share = np.exp(log - logsumexp(log, axis=1, keepdims=True))
    at = u @ root[0]
    mean = share @ at
    away = at - mean[:, None]
    return mean, np.einsum("mq,mqi,mqj->mij", share, away, away) + Sigma / 4


def answers_to(
    answers: Answers, params: CurvedParams, item: np.ndarray, annotator: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(J, D) means and variances of answers by these annotators to these items."""
    mean, V, _, _ = _settled(answers, params)
    phi, square = _moments(mean, V)
    center, variance = np.zeros((len(item), mean.shape[1])), np.zeros((len(item), mean.shape[1]))
    for d in range(mean.shape[1]):
        B = params.B[annotator, d]
        center[:, d] = (phi[item] * B).sum(axis=1)
        second = (np.einsum("jpq,jq->jp", square[item], B) * B).sum(axis=1)
        unsure = np.einsum("jpq,jpq->j", square[item], params.cov[annotator, d])
        variance[:, d] = np.maximum(second - center[:, d] ** 2, 0.0) + unsure + params.noise[annotator, d]
    return center, variance


def rows(params: CurvedParams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slopes (K + 1, D, D) on what the average annotator answers, offsets and noise (K + 1, D), bends among it."""
    u, w = nodes(len(params.Sigma))
    answer = np.einsum("qp,kdp->qkd", functions(u @ _root(params.Sigma[None])[0][0]), params.B)
    level, usual = np.einsum("q,qkd->kd", w, answer), answer[:, :-1].mean(axis=1)
    away = usual - w @ usual
    inverse = np.linalg.inv(np.einsum("q,qi,qj->ij", w, away, away) + LEAST_VARIANCE * np.eye(away.shape[1]))
    slope = np.einsum("q,qkd,qi->kdi", w, answer - level, away @ inverse)
    left = answer - level - np.einsum("kdi,qi->qkd", slope, away)
    offset = level - np.einsum("kdi,i->kd", slope, w @ usual)
    return slope, offset, params.noise + np.einsum("q,qkd->kd", w, left**2)
