"""Units are done once and kept; an interrupted run goes on with the same results; nothing stale is used."""

import json
from pathlib import Path

import numpy as np
import pytest

from unisono.paper import experiment_runs
from unisono.paper.experiment_claims import Chapter, ClaimPart, Experiment, Picture, Settings, Unit, judge
from unisono.paper.experiment_page import Bar, score_bars

pytestmark = pytest.mark.slow

CALLS: list[int] = []
INTERRUPT_AT: list[int] = []


def draw(seed, n):
    if seed in INTERRUPT_AT:
        raise KeyboardInterrupt
    CALLS.append(seed)
    return {"mean": float(np.random.default_rng(seed).normal(size=n).mean()), "undefined": float("nan")}


def units(settings):
    return [Unit(f"set{s}", draw, {"seed": settings.seed + s, "n": 10 if settings.quick else 20}) for s in range(4)]


def report(settings, results):
    mean = float(np.mean([result["mean"] for result in results.values()]))
    bars = {metric: {"paper-joint": {"dim1": Bar(abs(mean))}} for metric in ("ccc", "pearson")}
    return Chapter(
        lead=("A mean.",),
        tables=(),
        pictures=(Picture("mean", "The mean.", lambda: score_bars(bars)),),
        claims=(judge("The mean is small.", "nowhere", "below 1", [ClaimPart("mean", f"{mean:.3f}", abs(mean) < 1)]),),
        summary={"mean": mean},
    )


TOY = Experiment("toy", "A toy", "Sec. 0", units, report)


@pytest.fixture(autouse=True)
def fresh():
    CALLS.clear()
    INTERRUPT_AT.clear()


def reproduced(out: Path, settings: Settings | None = None, **words) -> dict:
    experiment_runs.reproduce([TOY], out, settings, **words)
    return json.loads((out / "results.json").read_text())


def test_an_interrupted_run_goes_on_and_ends_with_the_same_files(tmp_path):
    whole = reproduced(tmp_path / "whole")
    CALLS.clear()
    INTERRUPT_AT.append(2)
    with pytest.raises(KeyboardInterrupt):
        reproduced(tmp_path / "broken")
    assert CALLS == [0, 1]
    assert not (tmp_path / "broken" / "results.json").exists()
    INTERRUPT_AT.clear()
    CALLS.clear()
    assert reproduced(tmp_path / "broken") == whole
    assert CALLS == [2, 3]
    for name in ("results.json", "index.html", "figures/mean.png"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()


@pytest.mark.slow
def test_experiments_that_were_finished_before_stay_on_the_page(tmp_path):
    second = Experiment("second", "Another toy", "Sec. 1", units, report)
    reproduced(tmp_path)
    CALLS.clear()
    found = experiment_runs.reproduce([second], tmp_path, others=[TOY, second])
    assert CALLS == [0, 1, 2, 3]
    assert [one.experiment.name for one in found] == ["toy", "second"]
    assert set(json.loads((tmp_path / "results.json").read_text())["experiments"]) == {"toy", "second"}
    # With other settings nothing of it is finished, and nothing is run that was not asked for.
    CALLS.clear()
    assert [
        one.experiment.name for one in experiment_runs.reproduce([second], tmp_path, Settings(seed=9), others=[TOY])
    ] == ["second"]
    assert CALLS == [9, 10, 11, 12]


def test_what_is_done_is_not_done_again(tmp_path):
    first = reproduced(tmp_path)
    CALLS.clear()
    assert reproduced(tmp_path) == first
    assert CALLS == []


@pytest.mark.parametrize("changed", [Settings(quick=True), Settings(seed=7)])
def test_other_settings_are_other_units(tmp_path, changed):
    first = reproduced(tmp_path)
    CALLS.clear()
    second = reproduced(tmp_path, changed)
    assert len(CALLS) == 4
    assert first["experiments"]["toy"]["summary"] != second["experiments"]["toy"]["summary"]
    CALLS.clear()
    assert reproduced(tmp_path) == first
    assert CALLS == []


def test_a_quick_run_judges_nothing_and_says_which_way_it_points(tmp_path):
    (claim,) = reproduced(tmp_path)["experiments"]["toy"]["claims"]
    assert claim["verdict"] == "holds"
    (claim,) = reproduced(tmp_path, Settings(quick=True))["experiments"]["toy"]["claims"]
    assert (claim["verdict"], claim["direction"]) == ("too small to judge", "as the paper says")
    page = (tmp_path / "index.html").read_text()
    assert "~ too small to judge" in page
    assert "as the paper says" in page
    assert "✗ does not hold: 0" in page


def test_an_experiment_that_is_the_same_quick_or_not_is_judged(tmp_path):
    same = Experiment("toy", "A toy", "Sec. 0", lambda settings: units(Settings()), report)
    (found,) = experiment_runs.reproduce([same], tmp_path, Settings(quick=True))
    assert [claim.verdict for claim in found.chapter.claims] == ["holds"]


def test_a_torn_result_is_computed_again(tmp_path):
    first = reproduced(tmp_path)
    path = experiment_runs.unit_path(tmp_path, "toy", units(Settings())[1])
    path.write_text(path.read_text()[:20])
    CALLS.clear()
    assert reproduced(tmp_path) == first
    assert CALLS == [1]


@pytest.mark.slow
def test_processes_find_what_one_finds(tmp_path):
    told = []
    two = reproduced(tmp_path / "two", jobs=2, on_task=lambda *at: told.append(at))
    assert reproduced(tmp_path / "one") == two
    assert told == [(done, 4) for done in range(5)]


def test_results_hold_every_number_with_its_seed_and_no_nan(tmp_path):
    found = reproduced(tmp_path)["experiments"]["toy"]["units"]
    assert [unit["settings"]["seed"] for unit in found] == [0, 1, 2, 3]
    assert all(unit["result"]["undefined"] is None for unit in found)
    assert len({unit["result"]["mean"] for unit in found}) == 4


def test_progress_counts_what_was_there_before(tmp_path):
    reproduced(tmp_path)
    seen = []
    reproduced(tmp_path, on_task=lambda done, total: seen.append((done, total)))
    assert seen == [(4, 4)]
