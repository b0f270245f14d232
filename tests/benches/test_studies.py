"""The benchmark over studies: draws hide their target, its noise is taken out, and a run that stopped goes on."""

import csv
import json

import numpy as np
import pytest

from benchmarks import studies
from benchmarks.accuracy_page import cells
from benchmarks.studies import all_fits, asked_for, kept, measure, one_case
from benchmarks.studies_page import gains, made_of, model_table, published_table, study_table, votes, write_studies
from benchmarks.study_cases import StudyCase, Target, draw_case, study_cases, within_items
from benchmarks.study_measures import measures
from benchmarks.study_models import MODELS, PUBLISHED, applies, fuser_of
from item_cases import ratings_of
from study_folders import folder_of
from unisono.errors import DataError


def test_a_draw_is_the_same_each_time_and_never_holds_its_target(tmp_path):
    folder, truth = folder_of(tmp_path)
    cases = study_cases(folder, 2)
    assert [tuple(case) for case in cases] == [
        ("split", 0, 0),
        ("split", 0, 1),
        ("split", 3, 0),
        ("split", 3, 1),
        ("with_reference", 0, 0),
        ("with_reference", 3, 0),
        ("with_reference", 3, 1),
    ]
    ratings, target = draw_case(folder, cases[0])
    again, same = draw_case(folder, cases[0])
    np.testing.assert_array_equal(again.value, ratings.value)
    np.testing.assert_array_equal(same.value, target.value)
    assert len(np.unique(ratings.annotator_of)) == 4
    full = 8 * 30
    left = full - ratings.J
    assert left == 4 * 30
    np.testing.assert_allclose(target.noise, np.tile(target.noise[0], (30, 1)))
    thinned, _ = draw_case(folder, cases[2])
    assert (np.bincount(thinned.item_of) == 3).all()
    ratings, target = draw_case(folder, cases[4])
    assert len(np.unique(ratings.annotator_of)) == 8
    at = [int(item[1:]) for item in ratings.items]
    np.testing.assert_allclose(target.value[:, ratings.dimensions.index("joy")], truth[at, 0])
    assert np.isnan(target.value[:, ratings.dimensions.index("calm")]).all()
    assert target.comparable


def test_the_variance_within_items_counts_degrees_of_freedom():
    value = np.array([[1.0], [3.0], [2.0], [2.0], [5.0]])
    ratings = ratings_of(value, np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0]))
    assert within_items(ratings)[0] == pytest.approx(2.0 / 2)


def test_noise_of_the_target_is_taken_out():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(20_000, 1))
    blurred = truth + 0.8 * rng.normal(size=truth.shape)
    target = Target(blurred, np.full(truth.shape, 0.64), comparable=True)
    estimate = truth + 0.3 * rng.normal(size=truth.shape)
    half = 1.6449 * 0.3
    found = measures(estimate, estimate - half, estimate + half, target)
    assert found["error"] == pytest.approx(0.09 / 1.64, abs=0.01)
    assert found["ccc"] == pytest.approx(2 / 2.09, abs=0.01)
    assert found["cover"] == pytest.approx(0.9, abs=0.01)
    assert found["pearson"] == pytest.approx(1 / np.sqrt(1.09 * 1.64), abs=0.01)
    elsewhere = measures(estimate, estimate, estimate, target._replace(comparable=False))
    assert elsewhere["ccc"] is None
    assert elsewhere["pearson"] == found["pearson"]


def test_a_run_that_stopped_goes_on_and_fills_the_page(tmp_path, monkeypatch):
    folder, _ = folder_of(tmp_path)
    out = tmp_path / "studies.jsonl"
    fits = [fit for fit in all_fits(folder, ["mean", "auto"], 1) if fit[0].study == "split"]
    measure(folder, fits, 1, out)
    lines = out.read_text().splitlines()
    assert len(lines) == 4
    out.write_text("\n".join(lines[:3]) + "\n")

    def again(*_):
        asked.append(_)
        return json.loads(lines[3])

    asked: list = []
    monkeypatch.setattr(studies, "one_case", again)
    measure(folder, fits, 1, out)
    assert len(asked) == 1
    rows = kept(out)
    assert len(rows) == 4
    above = votes(rows, "auto", "pearson")["split"] - votes(rows, "mean", "pearson")["split"]
    assert gains(rows, "auto", "pearson")["split"] == pytest.approx(above)
    page = tmp_path / "page.md"
    places = ("made-of", "studies", "models", "published")
    page.write_text("".join(f"<!-- {name} -->\n<!-- end {name} -->\n" for name in places))
    write_studies(asked_for(rows, fits), 6, page)
    assert "1 studies, 2 draws, 1 seeds; 4 of 6 fits" in page.read_text()
    assert asked_for(rows, fits[:1]) == [row for row in rows if (row["model"], row["per_item"]) == ("mean", 0)]
    for name, table in (
        ("studies", study_table(rows)),
        ("models", model_table(rows)),
        ("published", published_table(rows)),
    ):
        with (tmp_path / "tables" / f"page-{name}.csv").open(encoding="utf-8") as file:
            assert list(csv.reader(file)) == cells(table)
    assert "| split |" in study_table(rows)
    monkeypatch.setattr(studies, "code_digest", lambda: "other")
    assert kept(out) == []


def test_models_are_held_against_the_default_on_the_studies_that_both_have():
    def row(study, model, pearson, ccc):
        return {
            "study": study, "per_item": 0, "seed": 0, "model": model, "pearson": pearson, "ccc": ccc, "error": 1.0,
            "cover": 0.9, "seconds": 0.25,
        }  # fmt: skip

    rows = [row(s, "mean", 0.5, 0.5) for s in "ab"]
    rows += [row("a", "auto", 0.6, 0.7), row("b", "auto", 0.9, 0.9), row("a", "other", 0.55, 0.75)]
    default, other = model_table(rows).splitlines()[2:]
    assert default.endswith("| +.000, +.000 | 0.25 |")
    assert other.startswith("| other | 1 | +.050 |")
    assert other.endswith("| -.050, +.050 | 0.25 |")


def test_settings_of_the_default_have_names():
    assert not fuser_of("auto+numbers").censored
    assert fuser_of("auto+leakage").structure().transform == "full"
    assert fuser_of("median").kind == "median"


def test_every_model_runs_where_it_has_anything_to_say():
    rng = np.random.default_rng(2)
    where = np.arange(240)

    def study(value):
        return ratings_of(value, where // 2, where % 2)

    sliders, kinds = rng.normal(size=(240, 2)), rng.integers(1, 6, size=(240, 2)).astype(float)
    both = np.column_stack([sliders[:, 0], kinds[:, 1]])
    found = {
        name: {model for model in MODELS if applies(model, study(value))}
        for name, value in {"sliders": sliders, "kinds": kinds, "both": both, "one": kinds[:, :1]}.items()
    }
    everywhere = {"mean", "auto", *PUBLISHED}
    assert found["sliders"] == everywhere | {"independent", "auto+leakage"}
    assert found["kinds"] == everywhere | {"independent", "auto+leakage", "auto+numbers"}
    assert found["both"] == everywhere | {"independent", "auto+leakage", "auto+numbers"}
    assert found["one"] == everywhere | {"auto+numbers"}
    assert applies("median", study(sliders))


def test_a_draw_that_cannot_be_fused_is_told_and_the_run_goes_on(tmp_path, monkeypatch):
    def refuse(model):
        if model == "median":
            raise DataError("No median of these.")
        return fuser_of(model)

    monkeypatch.setattr(studies, "fuser_of", refuse)
    folder, _ = folder_of(tmp_path)
    row = one_case(folder, StudyCase("split", 0, 0), "median")
    assert row["problem"] == "No median of these."
    assert row["pearson"] is None
    done = [one_case(folder, StudyCase("split", 0, 0), "mean"), row]
    assert "Could not be fitted: median on split." in made_of(done, 2)
    assert "| median |" not in model_table(done)
