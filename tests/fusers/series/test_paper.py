"""The published models where their filters have more freedom than the traces say anything about."""

import numpy as np
import pytest

from trace_world import trace_world
from unisono.errors import ConvergenceWarning, DataError
from unisono.fusers import published_traces as series_paper
from unisono.fusers import series


@pytest.fixture(scope="module")
def short():
    return trace_world(lengths=(60, 50), K=3)


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
def test_a_start_without_a_likelihood_is_not_the_best(short):
    """With a stretch hidden, 50 taps explain 50 frames: from one of these starts the filters have no bounds."""
    fuser = series.PaperIndependent(restarts=3, max_iter=1).fit(short.ratings)
    assert fuser.width_ < 50
    assert np.isfinite(fuser.fuse().mean).all()


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
def test_a_width_the_traces_are_too_short_for_is_not_chosen(short, monkeypatch):
    real = series_paper.log_likelihood

    def log_likelihood(layout, params, structure):
        if structure.W == 50:
            raise np.linalg.LinAlgError("not positive definite")
        return real(layout, params, structure)

    monkeypatch.setattr(series_paper, "log_likelihood", log_likelihood)
    fuser = series.PaperJoint(restarts=1, max_iter=1).fit(short.ratings)
    assert [one.name for one in fuser.report_] == ["5 frames", "10 frames", "20 frames"]


def failing_after(calls, real=series_paper.log_likelihood):
    """A likelihood that exists for so many states."""
    left = iter(range(calls))

    def log_likelihood(*arguments):
        if next(left, None) is None:
            raise np.linalg.LinAlgError("not positive definite")
        return real(*arguments)

    return log_likelihood


def test_no_start_with_a_likelihood_is_bad_data(short, monkeypatch):
    monkeypatch.setattr(series_paper, "log_likelihood", failing_after(0))
    with pytest.raises(DataError, match=r"too little for free filters of 5 frames.*a smaller width"):
        series.PaperJoint(width=5, restarts=2).fit(short.ratings)


def test_a_run_ends_at_the_last_state_that_has_a_likelihood(short, monkeypatch):
    settings = {"width": 5, "restarts": 1, "tol": 0.0, "max_iter": 6}
    with pytest.warns(ConvergenceWarning, match="after 6 iterations"):
        whole = series.PaperJoint(**settings).fit(short.ratings)
    monkeypatch.setattr(series_paper, "log_likelihood", failing_after(3))
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        cut = series.PaperJoint(**settings).fit(short.ratings)
    np.testing.assert_array_equal(cut.trace_.objective, whole.trace_.objective[:3])
