"""The expected log density of ratings and truth: what the M-step of traces climbs, term by term."""

import numpy as np

from unisono.maths.series.trace_em import deviations, row_vector


def expected_log_density(layout, moments, params):
    """E log p(y, a) from the moments of the E-step, for white noise."""
    total = 0.0
    for c, (k, d, _) in enumerate(layout.channels.channel):
        x, variance = row_vector(params, k, d), params.N[k, d, d]
        square = moments.yy[c, c] - 2.0 * moments.c[c] @ x + x @ moments.S[c] @ x
        total -= 0.5 * (square / variance + moments.n[c] * np.log(2.0 * np.pi * variance))
    around = deviations(moments, layout.features, params.mu, params.theta).quasi(params.phi)
    D, recordings = len(params.mu), sum(len(group.recording) for group in layout.groups)
    total -= 0.5 * np.trace(np.linalg.solve(params.sigma, around))
    total -= 0.5 * moments.frames * (np.linalg.slogdet(params.sigma)[1] + D * np.log(2.0 * np.pi))
    return total + 0.5 * recordings * D * np.log1p(-(params.phi**2))
