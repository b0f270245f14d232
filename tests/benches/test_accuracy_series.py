"""The accuracy benchmark of traces: draws are what they say, lags are found, tables hold the figures."""

import numpy as np
import pytest

from benchmarks import accuracy_series
from benchmarks.accuracy_page import fill_page
from benchmarks.accuracy_series_page import PAGE, tables
from benchmarks.accuracy_series_sets import best_lag, film, frame_means, green, halves, lagged


def test_a_late_series_is_found_late_and_recordings_are_not_mixed():
    rng = np.random.default_rng(0)
    length = np.array([60, 90])
    truth = np.concatenate([np.cumsum(rng.standard_normal(T)) for T in length])
    late = np.concatenate([np.r_[np.zeros(3), part[:-3]] for part in np.split(truth, [60])])
    assert best_lag(late, truth, length, 5) == (3, pytest.approx(1.0))
    assert best_lag(truth, late, length, 5)[0] == -3
    moved, target = lagged(late, truth, length, 3)
    assert len(moved) == len(truth) - 6
    np.testing.assert_array_equal(moved, target)


def test_the_fused_and_the_target_share_no_annotator():
    ratings, target = halves("forrest", 1, None)
    assert (ratings.K, ratings.J, len(target)) == (4, 4, 7085)
    everybody = film()
    others = [name for name in everybody.annotators if name not in ratings.annotators]
    keep = np.isin(everybody.annotator_of, [everybody.annotators.index(name) for name in others])
    np.testing.assert_array_equal(target, frame_means(everybody.select_judgements(keep)))


def test_green_comes_with_its_truth_and_features():
    ratings, truth, features = green("B")
    assert ratings.K == 10
    assert truth.shape == (1780, 1)
    assert features.columns == ("delta_intensity",)
    assert not np.isnan(truth).any()


def some_results():
    def figures(r):
        return {"pearson": r, "ccc": r - 0.1, "best": r, "lag": 0.5, "inside": 0.8, "inside_raw": 0.5}

    rows = []
    for seed, gap in enumerate((0.01, 0.03)):
        scores = {"auto": 0.9 + gap, "mean": 0.9}
        rows.append({"part": "realistic", "name": "white", "seed": seed, "scores": scores, "coverage": 0.9})
        ways = {"coverage": 0.9, "shown": 0.8, "stretches": 0.89, "strangers": 0.87}
        rows.append({"part": "crowds", "name": "alike", "seed": seed, "scores": scores, **ways})
        both = {model: [r, r] for model, r in scores.items()}
        rows.append({"part": "halves", "name": "forrest", "seed": seed, "scores": both})
        rows.append({"part": "fours", "name": "forrest", "seed": seed, "scores": both, "who": [seed, 2]})
        for study, share in (("tense_music", 0.88 + gap), ("green_intensity", 0.8)):
            truth = [share - 0.2, *[share] * 3, 0.94, 0.95]
            held = {"truth": truth, "by_recording": {"a": share, "b": share - 0.1}}
            rows.append(
                {
                    "part": "studies",
                    "name": study,
                    "seed": seed,
                    "known": study == "green_intensity",
                    "votes": {"mean": 0.9, "auto": 0.9 + gap},
                    "bands": {**held, "stretches": 0.91, "strangers": 0.86},
                }
            )
    single = {"mean": [0.5, 0.6], "plain": [0.5, 0.6], "gold": [0.95, 0.97], "gold_width": [0.96, 0.98]}
    rows.append({"part": "paper", "name": "10", "seed": 0, "published": [0.1, 0.8], "run_on": [0.2, 0.9], **single})
    for task in "AB":
        scores = {"auto": figures(0.9), "mean": figures(0.8)}
        rows.append({"part": "green", "name": task, "seed": 0, "scores": scores, "published": {"old": [0.85, 0.75]}})
    for seed, r in enumerate((0.8, 0.9)):
        every = {"auto": {"r": r, "error": 0.5}, "dpcca": {"r": r - 0.1, "error": 0.6}}
        every = {model: {**own, "cover": r, "seconds": 1.5} for model, own in every.items()}
        rows += [{"part": "models", "name": name, "seed": seed, "found": every} for name in ("tense_music", "alike")]
    rows = [{"code": "this", "seconds": 6.0, **row} for row in rows]
    return {"seeds": 2, "missing": ["ceap"], "rows": rows}


def test_tables_hold_the_figures():
    found = tables(some_results())
    assert "| white | .9200 | .9000 | .90 ± .00 |" in found["realistic"]
    assert "| white | +0.0200 (p 0.3) |" in found["tests"]
    assert ".10 to .80, mean .45" in found["paper"]
    assert ".20 to .90, mean .55" in found["paper"]
    assert ".950 / .970 (least .95)" in found["paper"]
    assert "| auto | .900 / .800 | .900 (0.5 s) | 0.80 / 0.50 |" in found["green"]
    assert "published: old" in found["green"]
    assert "+0.0200 / +0.0200" in found["halves"]
    assert "ceap" in found["setup"]
    assert "of one processor." in found["setup"]
    assert "| tense_music | tension | .900 | **.920** | +.020 ± .010 |" in found["studies"]
    assert "| tense_music | left-out annotators | .70 | .90 ± .01 (.05) | .90 (0.5) | .91 | .86 |" in found["bands"]
    assert "| green_intensity | known signal | .60 | .80 ± .00 (.05) | .80 (0.5) |" in found["bands"]
    assert "| alike | simulated truth | .80 | .90 ± .00 |  | .89 | .87 |" in found["bands"]
    assert "| alike | .920 | .900 |" in found["crowds"]
    assert "| auto | **.850** / .50 / .85 | **.850** / .50 / .85 | .850 | 1.5 |" in found["models"]
    assert "| dpcca | .750 / .60 / .85 | .750 / .60 / .85 | .750 | 1.5 |" in found["models"]
    assert "| dimension 1 | +.020 | 2 of 2 | +.010 to +.030 |" in found["fours"]


def test_what_older_code_measured_is_said():
    found = some_results()
    found["rows"][0]["code"] = "former"
    assert "measured with 2 versions of the code" in tables(found)["setup"]


def test_a_draw_is_not_measured_twice(tmp_path, monkeypatch):
    asked = []

    def some_case(part, name, seed):
        asked.append(seed)
        return {"part": part, "name": name, "seed": seed, "code": accuracy_series.code_digest(), "seconds": 1.0}

    monkeypatch.setattr(accuracy_series, "one_case", some_case)
    out = tmp_path / "figures.jsonl"
    draws = [("green", "A", seed) for seed in range(5)]
    out.write_text('{"part": "green", "name": "A", "seed": 4, "code": "former"}\n')
    accuracy_series.measure(draws[:3], 1, out)
    accuracy_series.measure(draws, 1, out)
    assert asked == [0, 1, 2, 3, 4]
    assert [row["seed"] for row in accuracy_series.kept(draws, out)] == [0, 1, 2, 3, 4]
    assert {row["code"] for row in accuracy_series.kept(draws, out)} == {accuracy_series.code_digest()}


def test_the_page_has_a_place_for_every_table(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    fill_page(tables(some_results()), copy, "benchmarks.accuracy_series")
    assert "published: old" in (tmp_path / "tables" / "page-green.csv").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_case_scores_every_model():
    row = accuracy_series.one_case("green", "B", 0)
    assert row["scores"]["auto"]["pearson"] > row["scores"]["mean"]["pearson"] > 0.9
    assert row["scores"]["auto"]["ccc"] > row["scores"]["mean"]["ccc"]
    assert 0.5 < row["scores"]["auto"]["inside"] < 1
