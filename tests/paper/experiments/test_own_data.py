"""Tables of the reader's own: exports of the collection tool, a corpus of traces; other files are other units."""

import numpy as np
import polars as pl
import pytest

from unisono.paper import experiment_items_artificial, experiment_series_artificial, experiment_series_real
from unisono.paper.experiment_claims import Settings
from unisono.paper.experiment_runs import fingerprint
from unisono.tables.exporting.result_folder import item_columns, rating_columns


def write(folder, ratings, **tables):
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rating_columns(ratings)).write_csv(folder / "ratings.csv")
    for name, table in tables.items():
        pl.DataFrame(item_columns(table)).write_csv(folder / f"{name}.csv")


@pytest.fixture
def export(tmp_path):
    """What `unisono collect export` writes for colours in two regimes."""
    for regime in ("saturation", "brightness"):
        task = experiment_items_artificial.simulate_regime(regime, 0, 20, 8)
        shown = task.ratings.select_items(list(task.truth.items))
        write(tmp_path / regime, shown, truth=task.truth, features=task.features)
    return tmp_path


def test_an_export_of_colours_is_raced_regime_by_regime(export, monkeypatch):
    seen = []
    monkeypatch.setattr(experiment_items_artificial, "race", lambda *given, **words: seen.append((given, words)) or {})
    units = experiment_items_artificial.units(Settings(data={"items-artificial": export}))
    assert {unit.settings["regime"] for unit in units} == {"saturation", "brightness"}
    found = units[0].work(**units[0].settings)
    (ratings, truth), words = seen[0]
    assert ratings.dimensions == ("saturation", "brightness")
    assert truth.columns == ("saturation",)
    assert words["features"].columns == ("red", "green", "blue")
    assert len(found["effect"]) == 8
    assert np.mean(found["effect"]) > 0


def test_claims_about_people_are_tested_on_people(export, monkeypatch):
    ahead = {"first": "paper-joint", "second": "paper-independent", "better": "paper-joint"}
    rows = [
        ahead | {"dimension": d, "metric": m, "difference": 0.1, "share": 0.99}
        for d in ("saturation", "brightness")
        for m in ("ccc", "pearson")
    ]

    def raced(ratings, truth, **words):
        (d,) = truth.columns
        scores = {model: {d: {"ccc": 0.5, "pearson": 0.5}} for model in experiment_items_artificial.PROTOCOL}
        return {"scores": scores, "differences": [row for row in rows if row["dimension"] == d]}

    monkeypatch.setattr(experiment_items_artificial, "race", raced)
    settings = Settings(data={"items-artificial": export})
    results = {unit.key: unit.work(**unit.settings) for unit in experiment_items_artificial.units(settings)}
    verdicts = [claim.verdict for claim in experiment_items_artificial.report(settings, results).claims]
    # joint is ahead in everything; people were made to see brightness rise with saturation and nothing the other way
    assert verdicts[:3] == ["holds", "does not hold", "holds"]


def test_other_files_are_other_units(export):
    settings = Settings(data={"items-artificial": export})
    before = fingerprint("x", experiment_items_artificial.units(settings)[0])
    path = export / "brightness" / "ratings.csv"
    path.write_text(path.read_text() + "\n")
    assert fingerprint("x", experiment_items_artificial.units(settings)[0]) != before


def test_an_export_of_videos_is_put_on_the_experiments_clock(tmp_path, monkeypatch):
    traced = experiment_series_artificial.simulate_traces(0, 2, 20.0, 3)
    hundred = traced.ratings.with_value(traced.ratings.value * 100)
    truth = experiment_series_artificial._scaled(traced.reference, 0.01)
    write(tmp_path, hundred, truth=truth, features=traced.features)
    seen = []
    monkeypatch.setattr(experiment_series_artificial, "race_fold", lambda *given, **_: seen.append(given) or {})
    unit = experiment_series_artificial.units(Settings(data={"series-artificial": tmp_path}))[0]
    unit.work(**unit.settings)
    found = seen[0][0]
    assert found.ratings.clock.rate == experiment_series_artificial.RATE
    assert found.ratings.M == 2 * experiment_series_artificial.PIECES  # too few videos for five folds: cut into pieces
    np.testing.assert_allclose(found.ratings.value.mean(), traced.ratings.value.mean(), atol=0.01)
    np.testing.assert_allclose(found.reference.value, traced.reference.value, atol=1e-4)


def test_splits_of_the_film_have_seeds_of_their_own():
    found = experiment_series_real.units(Settings(seed=3))
    assert {unit.settings["seed"] for unit in found} == {3, 4}


@pytest.mark.parametrize("featured", [True, False])
def test_a_corpus_of_traces_may_have_features(tmp_path, monkeypatch, featured):
    traced = experiment_series_artificial.simulate_traces(0, 5, 10.0, 3)
    write(tmp_path, traced.ratings, reference=traced.reference, **({"features": traced.features} if featured else {}))
    seen = []
    monkeypatch.setattr(experiment_series_real, "race_fold", lambda *given, **_: seen.append(given) or {})
    unit = experiment_series_real.units(Settings(data={"series-real": tmp_path}))[0]
    unit.work(**unit.settings)
    found = seen[0][0]
    assert found.ratings.M == 5
    assert (found.features is not None) is featured
    np.testing.assert_allclose(found.reference.value, traced.reference.value)
