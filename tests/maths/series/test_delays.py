"""One delay moved, all else held: the likelihood from what was kept equals the likelihood made afresh."""

import numpy as np
import pytest

from series_cases import Case, delayed_params, make_data, structure_of
from unisono.maths.series.delay_search import DelayTrials, refine_lags, with_lag
from unisono.maths.series.trace_data import Priors
from unisono.maths.series.trace_estep import log_likelihood
from unisono.maths.series.trace_layout import make_layout

CASES = [
    Case(D=2, W=6, lengths=(31, 20), phi=0.9, missing="dims"),
    Case(D=1, W=6, lengths=(25, 25, 14), phi=0.9, missing="annotator"),  # some did not rate some recordings
    Case(D=3, W=4, lengths=(18,), phi=0.5, missing="run"),
    Case(D=2, W=6, lengths=(31, 31), phi=0.9, missing="frames", start="zero"),
    Case(D=2, W=5, lengths=(30, 12), phi=0.8, missing="frames", P=2),
    Case(D=2, W=5, lengths=(30,), phi=0.8, missing="dims", autocorrelated=True),
]


def setting(case):
    data, structure = make_data(case), structure_of(case, transform="delay")
    return delayed_params(case), structure, make_layout(data, structure)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_trials_equal_likelihoods_made_afresh(case):
    params, structure, layout = setting(case)
    trials = DelayTrials(layout, params, structure)
    np.testing.assert_allclose(trials.here.value, log_likelihood(layout, params, structure), rtol=1e-12)
    moves = np.random.default_rng(6).permutation([(k, d) for k in range(case.K) for d in range(case.D)] * 2)
    for k, d in moves.tolist():
        for lag in (0.0, case.W - 1.0, 1.0, 1.6):
            expected = log_likelihood(layout, with_lag(params, k, d, lag), structure)
            trial = trials.at(k, d, lag)
            np.testing.assert_allclose(trial.value, expected, rtol=1e-10)
        trials.accept(trials.at(k, d, 2.0))  # go on from another place
        params = with_lag(params, k, d, 2.0)
        np.testing.assert_array_equal(trials.here.params.F, params.F)
        np.testing.assert_allclose(trials.here.value, log_likelihood(layout, params, structure), rtol=1e-10)


def test_asking_changes_nothing():
    params, structure, layout = setting(CASES[0])
    trials = DelayTrials(layout, params, structure)
    before = trials.here.value
    first = trials.at(1, 0, 3.0).value
    trials.at(0, 1, 2.0)
    assert trials.here.value == before
    assert trials.at(1, 0, 3.0).value == first
    np.testing.assert_array_equal(trials.here.params.lag, params.lag)


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[4]], ids=str)
def test_the_search_ends_where_no_neighbour_is_likelier(case):
    params, structure, layout = setting(case)
    priors = Priors(log_lag=-0.1 * np.arange(case.W) ** 2.0, kappa=0.5)

    def objective(at):
        return log_likelihood(layout, at, structure) + priors.log_lag[at.lag.astype(int)].sum() / priors.kappa

    found = refine_lags(layout, params, structure, priors, sweeps=50)
    best = objective(found)
    assert best > objective(params)
    rated = {q[:2] for q in layout.channels.channel}
    for k, d in rated:
        for lag in (found.lag[k, d] - 1, found.lag[k, d] + 1):
            if 0 <= lag < case.W:
                assert objective(with_lag(found, k, d, lag)) <= best + 1e-9
