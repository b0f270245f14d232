"""The truth of each rated item without one of its judgements, and what annotators are expected to answer.

Taking a judgement out changes the sums Q, q of its own group alone, so that only that group's part of eq. J5 is made
again.                                                                                                    eq. J22
"""

from __future__ import annotations

import numpy as np

from unisono.maths.groups.data import GroupData
from unisono.maths.groups.estep import coefficients, informed, posteriors, view_moments
from unisono.maths.groups.params import GroupParams
from unisono.maths.items.predictive import Predictive


def left_out_means(
    data: GroupData,
    params: GroupParams,
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    covariates: np.ndarray | None = None,
) -> np.ndarray:
    """(J, D) the truth of each judgement's item as the others give it; judgements as `prepare_groups` got them."""
    means = np.empty_like(value)
    given = coefficients(data, params)
    for block, found in posteriors(data, params):
        low, high = np.searchsorted(item_of, [block.start, block.stop])
        for g, view in enumerate(found.views):
            at = low + np.flatnonzero(data.group[annotator_of[low:high]] == g)
            if not len(at):
                continue
            who, item = annotator_of[at], item_of[at] - block.start
            place = np.searchsorted(view.items, item)
            seen, y = ~np.isnan(value[at]), np.nan_to_num(value[at])
            x = np.ones((len(at), 1)) if covariates is None else np.hstack([np.ones((len(at), 1)), covariates[at]])
            Q = np.maximum(view.Q[place] - seen * given.ff[who], 0.0)
            q = view.q[place] - seen * (given.f[who] * y - np.einsum("ndx,nx->nd", given.fx[who], x))
            _, J, Hq, _ = informed(Q, q, params.t[g], params.S[g])
            A = params.A[g]
            total = found.total[item] + A.T @ (J - view.J[place]) @ A
            h = found.h[item] + (Hq - view.Hq[place]) @ A
            means[at] = np.linalg.solve(total, h[:, :, None])[:, :, 0]
    return means


def predicted_answers(
    data: GroupData, params: GroupParams, item_of: np.ndarray, annotator_of: np.ndarray, covariates: np.ndarray | None
) -> Predictive:
    """Answers (J, D) of annotators to items, from the posterior of what their group sees in them.       eq. J23"""
    mean, variance = np.empty((len(item_of), data.D)), np.empty((len(item_of), data.D))
    group, noise = data.group[annotator_of], params.noise(data.group)
    for block, found in posteriors(data, params):
        inside = (item_of >= block.start) & (item_of < block.stop)
        for g, view in enumerate(found.views):
            c = found.mean @ params.A[g].T + params.t[g]
            spread = np.diagonal(params.A[g] @ found.cov @ params.A[g].T + params.S[g], axis1=1, axis2=2).copy()
            rated, cov, _ = view_moments(view, params, g, found)
            c[view.items], spread[view.items] = rated, np.diagonal(cov, axis1=1, axis2=2)
            at = np.flatnonzero(inside & (group == g))
            who, item = annotator_of[at], item_of[at] - block.start
            ones = np.ones((len(at), 1))
            x = ones if covariates is None else np.hstack([ones, covariates[at]])
            z = np.concatenate([c[item][:, :, None], np.repeat(x[:, None, :], data.D, axis=1)], axis=2)
            rows, rows_cov = params.rows.mean[who], params.rows.cov[who]
            mean[at] = np.einsum("ndi,ndi->nd", rows, z)
            variance[at] = (
                noise[who]
                + (rows[..., 0] ** 2 + rows_cov[..., 0, 0]) * spread[item]
                + np.einsum("ndi,ndij,ndj->nd", z, rows_cov, z, optimize=True)
            )
    return Predictive(mean, variance)
