"""Pictures that check a fit show the numbers they say, and would show it if the fit were wrong."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import unisono as un
from tools.draw_plot_examples import EXAMPLES, moods, summaries, traces
from unisono.errors import DataError


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn(axes, label):
    return next(one for one in axes.get_lines() if one.get_label() == label)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_plot_has_an_example_a_column_wide(name, tmp_path):
    figure = EXAMPLES[name]().figure
    assert figure.get_size_inches()[0] <= 3.6
    figure.savefig(tmp_path / "it.png", dpi=110)
    picture = plt.imread(tmp_path / "it.png")
    assert 0.01 < (picture[..., :3].min(axis=2) < 0.9).mean() < 0.6  # neither empty nor a blot
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert edge[:, :3].min() > 0.9  # nothing is cut off


def test_every_plot_has_an_example_and_nothing_else():
    assert set(EXAMPLES) == set(un.plot.__all__)


def test_bland_altman_has_the_limits_of_agreement():
    result = summaries()
    axes = un.plot.bland_altman(result, "s01", "s03", "overall")
    table = un.load_dataset("squality")
    frame = pd.DataFrame(
        {"item": table.item_of, "who": np.array(table.annotators)[table.annotator_of], "v": table.value[:, 2]}
    ).pivot(index="item", columns="who", values="v")
    apart = (frame["s01"] - frame["s03"]).dropna()
    shown = sorted(float(one.get_ydata()[0]) for one in axes.get_lines()[1:])
    wanted = [apart.mean() - 1.96 * apart.std(), apart.mean(), apart.mean() + 1.96 * apart.std()]
    np.testing.assert_allclose(shown, wanted)
    assert "estimate less mean" in un.plot.bland_altman(result).get_ylabel()
    with pytest.raises(DataError, match="two annotators"):
        un.plot.bland_altman(result, "s01")


def crowd(gain_of_last=1.0, drift=0.0, bent=False, seed=0):
    """Answers of six to 150 items in the order in which they were given; the last may become more lenient."""
    rng = np.random.default_rng(seed)
    true = rng.normal(0, 1, 150)
    rows = []
    for k in range(6):
        last = k == 5
        noise = rng.normal(0, 0.4, 150)
        own = true * (gain_of_last if last else 1) + drift * last * np.linspace(-1, 1, 150)
        own = own + 0.6 * (true**2 - 1) * (bent and k < 3)
        rows += [{"item": f"i{m:03}", "annotator": f"p{k}", "v": own[m] + noise[m]} for m in range(150)]
    return un.fuse(pd.DataFrame(rows), seed=0)


def test_calibration_is_on_the_line_for_ratings_of_the_model_and_held_out():
    axes = un.plot.calibration(crowd())
    points = axes.containers[0].lines[0]
    x, y = points.get_xdata(), points.get_ydata()
    assert len(x) == 10
    assert np.polyfit(x, y, 1)[0] == pytest.approx(1, abs=0.06)
    assert np.abs(x - y).max() < 0.25
    with pytest.raises(DataError, match="compare"):
        un.plot.calibration(traces())


def test_residuals_are_flat_for_the_model_and_bent_where_annotators_bend():
    flat, bent = (drawn(un.plot.residuals(crowd(bent=one)), "mean").get_ydata() for one in (False, True))
    assert np.abs(flat).max() < 0.15
    assert np.abs(bent).max() > 1.5 * np.abs(flat).max()


def test_drift_names_who_drifts_first_and_needs_an_order():
    result = crowd(drift=1.0)
    order = [f"i{m:03}" for m in range(150)]
    first = un.plot.drift(result, order=order).get_lines()[0]
    assert first.get_label() == "p5"
    assert first.get_ydata()[-1] - first.get_ydata()[0] > 1.2
    backwards = un.plot.drift(result, order={item: -float(i) for i, item in enumerate(order)}).get_lines()[0]
    np.testing.assert_allclose(backwards.get_ydata(), first.get_ydata()[::-1], atol=0.6)
    with pytest.raises(DataError, match="order="):
        un.plot.drift(result)


def test_overlap_joins_those_who_rated_the_same():
    axes = un.plot.overlap(traces())  # ten on either recording, nobody on both
    assert len(axes.get_lines()) == 2 * 45
    assert {text.get_text() for text in axes.texts} == set(traces().ratings.annotators)
    assert "5 of 20 annotators" in un.plot.overlap(traces(), most=5).get_title()


def inside(axes):
    """The share of classes whose bar ends in the model's band."""
    bars = np.array([bar.get_height() for bar in axes.patches])
    band = np.array([segment[:, 1] for segment in axes.collections[0].get_segments()])
    return np.mean((bars >= band[:, 0] - 1e-9) & (bars <= band[:, 1] + 1e-9)), bars


def test_the_posterior_check_holds_for_the_model_and_fails_for_answers_it_does_not_make():
    held, bars = inside(un.plot.posterior_check(crowd()))
    assert bars.sum() == 900
    assert held > 0.6
    lost, _ = inside(un.plot.posterior_check(summaries(), "overall"))  # many answers are multiples of ten, or the ends
    assert lost < held


def test_confusion_is_that_of_confusion_csv():
    shown = un.plot.confusion(moods(), "mood", "p3").get_images()[0].get_array()
    table = moods().chosen.fused.confusion_columns()
    own = [p for who, p in zip(table["annotator"], table["probability"], strict=True) if who == "p3"]
    np.testing.assert_allclose(np.ravel(shown), own, atol=1e-6)
    everybody = un.plot.confusion(moods()).get_images()[0].get_array()
    np.testing.assert_allclose(everybody.sum(axis=1), 1)
    with pytest.raises(DataError, match="no categories"):
        un.plot.confusion(summaries())


def test_chosen_items_are_those_of_the_picture_and_what_is_left_out_is_said():
    items = summaries().fused.items[3:7]
    axes = un.plot.truth(summaries(), items=items)
    assert {label.get_text() for label in axes.get_yticklabels()} == set(items)
    with pytest.raises(DataError, match="no item 'nothing'"):
        un.plot.truth(summaries(), items=["nothing"])
    panels = un.plot.matrices(summaries(), most=2)
    assert "2 of 4 annotators" in panels[0].figure.get_suptitle()
    assert any("per unit of truth" in one.get_ylabel() for one in panels[0].figure.axes)
