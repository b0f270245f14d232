"""Pictures show the numbers of the fusion, on one's own axes or new ones."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import unisono as un
from report_cases import dossier_of_items, summaries
from system_worlds import drawn_scores, score_table
from unisono.errors import DataError


@pytest.fixture(scope="module")
def items():
    return un.fuse(summaries())


@pytest.fixture(scope="module")
def series():
    return un.fuse(un.load_dataset("green_intensity"))


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def line(axes, label):
    return next(one for one in axes.get_lines() if one.get_label() == label)


def test_truth_is_that_of_the_result_and_of_the_report(items):
    axes = un.plot.truth(items, "overall", most=200)
    d = items.fused.dimensions.index("overall")
    shown = line(axes, "estimate, 90 % interval").get_xdata()
    np.testing.assert_allclose(shown, np.sort(items.fused.mean[:, d])[::-1])
    rows = dossier_of_items()["truth"]["rows"]
    np.testing.assert_allclose(np.sort([row["values"][d][0] for row in rows])[::-1], shown)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == items.fused.items[items.fused.mean[:, d].argmax()]


def test_many_items_are_drawn_in_part(items):
    axes = un.plot.truth(items, most=10)
    shown = line(axes, "estimate, 90 % interval").get_xdata()
    assert len(shown) == 10
    assert shown[0] == items.fused.mean[:, 0].max()
    assert shown[-1] == items.fused.mean[:, 0].min()


def test_own_axes_are_drawn_on(items, series):
    _, own = plt.subplots()
    assert un.plot.truth(items, ax=own) is own
    assert un.plot.annotators(items, ax=own) is own
    assert un.plot.objective(items, ax=own) is own
    assert un.plot.traces(series, ax=own) is own


def test_new_figures_are_one_column_wide(items):
    assert un.plot.truth(items).figure.get_size_inches()[0] == pytest.approx(3.4)


@pytest.mark.parametrize("figure", ["reliability", "bias", "gain", "noise", "agreement"])
def test_annotators(items, figure):
    axes = un.plot.annotators(items, figure)
    shown = np.sort(line(axes, "overall").get_xdata())
    d = items.fused.dimensions.index("overall")
    np.testing.assert_allclose(shown, np.sort(getattr(items.described, figure)[:, d]))


def test_matrices_are_the_transforms(items):
    panels = un.plot.matrices(items, ["s01", "s03"])
    k = items.described.annotators.index("s03")
    drawn = panels[1].get_images()[0].get_array()
    np.testing.assert_allclose(drawn, items.described.leakage[k] + np.diag(items.described.gain[k]))
    assert [one.get_text() for one in panels[0].get_yticklabels()] == list(items.described.dimensions)
    assert panels[0].figure.get_supxlabel() == "truth"


def test_traces_and_their_delays(series):
    axes = un.plot.traces(series, "TaskB", "green", seconds=(10, 20))
    T = int(series.fused.length[0])
    np.testing.assert_allclose(line(axes, "estimate, 90 % band").get_ydata(), series.fused.mean[T:, 0])
    assert axes.get_xlim() == (10, 20)
    assert un.plot.annotators(series, "delay").get_xlabel() == "delay, seconds"


def test_filters_hold_gain_and_delay(series):
    axes = un.plot.filters(series)
    weights = np.array([one.get_ydata() for one in axes.get_lines()])
    np.testing.assert_allclose(weights.sum(axis=1), series.described.gain[:, 0], rtol=1e-6)
    shown = axes.get_lines()[0].get_xdata() <= axes.get_xlim()[1]
    assert np.abs(weights[:, ~shown]).max() < 0.01 * np.abs(weights).max()
    assert shown.sum() < len(shown)  # what is empty is not drawn


def test_agreement_is_that_of_the_function(items):
    found = un.agreement(summaries(), draws=50)
    axes = un.plot.agreement(found, ["ICC(A,1)"])
    shown = [float(one.get_xdata()[0]) for one in axes.get_lines()]
    np.testing.assert_allclose(shown, [one.figures["ICC(A,1)"].value for one in found.dimensions])


def test_objective(items):
    np.testing.assert_allclose(un.plot.objective(items).get_lines()[0].get_ydata(), items.fuser.trace_.objective)


def test_what_cannot_be_drawn_is_said(items, series):
    with pytest.raises(DataError, match=r"plot\.traces"):
        un.plot.truth(series)
    with pytest.raises(DataError, match=r"plot\.truth"):
        un.plot.traces(items)
    with pytest.raises(DataError, match="Did you mean 'overall'"):
        un.plot.truth(items, "overal")
    with pytest.raises(DataError, match="no figure 'delay'"):
        un.plot.annotators(items, "delay")
    with pytest.raises(DataError, match="no filters"):
        un.plot.filters(items)
    with pytest.raises(DataError, match="An average"):
        un.plot.objective(un.fuse(summaries(), model="mean"))


def test_ranks_of_systems_are_written_as_large_as_their_names():
    board = un.leaderboard(score_table(drawn_scores(0, (0.0, 1.0, -1.0), prompts=20)), "system", "prompt")
    axes = un.plot.leaderboard(board)
    names = axes.get_yticklabels()
    ranks = next(child for child in axes.child_axes).get_yticklabels()
    assert [one.get_text() for one in names] == ["s1", "s0", "s2"]
    assert [one.get_text() for one in ranks] == ["1", "2", "3"]
    assert {one.get_fontsize() for one in names} == {one.get_fontsize() for one in ranks}
