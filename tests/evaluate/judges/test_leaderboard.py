"""Leaderboards through `un.leaderboard`: people, judges, both, and scores that nobody gave."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from system_worlds import drawn_scores, score_table
from unisono.evaluate import system_leaderboard

SYSTEMS = ["dimension", "system", "mean", "low", "high", "rank_low", "rank_high", "best"]
DIFFERENCES = ["dimension", "first", "second", "difference", "low", "high", "clear"]
MEANS = (0.0, 1.0, -1.0, 0.05)


@pytest.fixture(scope="module")
def table():
    return score_table(drawn_scores(2, MEANS, prompts=40, favourites=0.1))


@pytest.fixture(scope="module")
def board(table):
    return un.leaderboard(table, by="system", prompt="prompt")


def test_tables_are_what_the_interface_says(board):
    assert board.systems.columns == SYSTEMS
    assert board.differences.columns == DIFFERENCES
    assert board.systems["system"].to_list()[0] == "s1"
    assert board.systems["system"].to_list()[-1] == "s2"
    assert board.differences.height == 6
    first = board.differences.row(0, named=True)
    assert (first["first"], first["second"]) == ("s0", "s1")
    assert first["difference"] == pytest.approx(-1.0, abs=0.5)
    assert board.differences["clear"].to_list() == [True, True, False, True, True, True]
    assert ((board.differences["low"] > 0) | (board.differences["high"] < 0) == board.differences["clear"]).all()
    assert board.systems["rank_low"].to_list() == [1, 2, 2, 4]
    assert board.systems["best"].sum() == pytest.approx(1)


def test_it_introduces_itself_and_is_saved(board, tmp_path):
    assert "<table>" in board._repr_html_()
    assert "Leaderboard of 4 systems: 480 scores by 6 annotators" in repr(board)
    text = board.summary()
    assert "5 of 6 differences clear." in text
    assert "Cannot be told apart: 's3' and 's0'." in text or "'s0' and 's3'" in text
    assert "Intervals hold for other prompts of the kind and other annotators of the kind." in text
    folder = board.save(tmp_path / "board")
    assert pl.read_csv(folder / "systems.csv").columns == SYSTEMS
    assert pl.read_csv(folder / "differences.csv").columns == DIFFERENCES
    assert (folder / "summary.txt").read_text() == text
    assert board.save(folder) == folder
    needed = board.needed
    assert needed.columns == ["dimension", "prompts", "annotators", "smallest", "half_width"]
    here = needed.filter((pl.col("prompts") == 40) & (pl.col("annotators") == 6))
    assert f"probability of 0.8: {here['smallest'][0]:.2g}" in text
    assert here["half_width"][0] == pytest.approx((board.differences["high"] - board.differences["low"]).median() / 2)
    most = needed.filter((pl.col("prompts") == 160) & (pl.col("annotators") == 24))
    assert most["smallest"][0] == pytest.approx(here["smallest"][0] / 2)
    assert needed.group_by("annotators").agg(pl.col("smallest").diff().max())["smallest"].max() < 0


def test_order_of_rows_names_and_kinds_of_frames_do_not_matter(table, board):
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=1)
    pd.testing.assert_frame_equal(
        un.leaderboard(pd.DataFrame(shuffled.to_dict(as_series=False)), "system", "prompt").systems,
        pd.DataFrame(board.systems.to_dict(as_series=False)),
    )
    other = table.with_columns(quality=10 * pl.col("quality") + 3)
    found = un.leaderboard(other, "system", "prompt").differences
    np.testing.assert_allclose(found["difference"], 10 * board.differences["difference"], rtol=1e-4)
    assert found["clear"].to_list() == board.differences["clear"].to_list()


def test_leniency_is_taken_out():
    """Each system is scored mostly by people of its own; some rate all."""
    rng = np.random.default_rng(1)
    rows, leniency = [], rng.normal(0, 2, 8)
    for p in range(40):
        for s in range(4):
            for k in {2 * s, 2 * s + 1, int(rng.integers(8))}:
                rows.append((f"p{p}", f"s{s}", f"h{k}", leniency[k] + rng.normal(0, 0.3)))
    frame = pl.DataFrame(rows, schema=["prompt", "system", "annotator", "quality"], orient="row")
    found = un.leaderboard(frame, "system", "prompt").differences
    plain = frame.group_by("system").agg(pl.col("quality").mean()).sort("system")["quality"].to_numpy()
    assert np.ptp(plain) > 1
    assert found["difference"].abs().max() < 0.4
    assert not found["clear"].any()


def test_systems_of_different_people_are_confounded_and_it_is_said():
    rng = np.random.default_rng(0)
    rows = [(f"p{p}", f"s{s}", f"h{s}", 0.8 * s + rng.normal(0, 0.3)) for p in range(30) for s in range(3)]
    alone = pl.DataFrame(rows, schema=["prompt", "system", "annotator", "quality"], orient="row")
    found = un.leaderboard(alone, "system", "prompt")
    assert not found.differences["clear"].any()
    assert any("'s0' and 's1' (and 2 more pairs) share no annotator" in note for note in found.notes)
    fixed = un.leaderboard(alone, "system", "prompt", these="people")
    assert fixed.differences["clear"].all()
    assert not any("share no annotator" in note for note in fixed.notes)


def test_unpaired_systems_are_told():
    rng = np.random.default_rng(0)
    rows = [(f"i{i}", f"s{i % 3}", f"h{k}", rng.normal()) for i in range(30) for k in range(3)]
    frame = pl.DataFrame(rows, schema=["item", "system", "annotator", "quality"], orient="row")
    assert any("No prompt has outputs of two systems" in note for note in un.leaderboard(frame, "system").notes)


def test_scores_that_nobody_gave():
    rng = np.random.default_rng(0)
    hard = rng.random(200)
    rows = [(f"i{i}", f"s{s}", bool(rng.random() < hard[i] * (0.5 + 0.2 * s))) for i in range(200) for s in range(3)]
    frame = pl.DataFrame(rows, schema=["instance", "system", "passed"], orient="row")
    found = un.leaderboard(frame, by="system", prompt="instance")
    share = frame.group_by("system").agg(pl.col("passed").mean()).sort("passed", descending=True)
    np.testing.assert_allclose(found.systems["mean"], share["passed"])
    assert found.whose == "600 scores without annotators"
    assert (found.systems["low"] >= 0).all()
    words = frame.with_columns(passed=pl.when("passed").then(pl.lit("pass")).otherwise(pl.lit("fail")))
    assert un.leaderboard(words, by="system", prompt="instance").systems.equals(found.systems)
    wide = np.array([x for *_, x in rows]).reshape(200, 3).astype(float)
    gap = wide[:, 0] - wide[:, 2]
    half = found.differences["high"][1] - found.differences["difference"][1]
    assert 1.5 * gap.std() / np.sqrt(200) < half < 2.5 * gap.std() / np.sqrt(200)
    twice = pl.concat([frame, frame.with_columns(passed=~pl.col("passed"))])
    np.testing.assert_allclose(un.leaderboard(twice, by="system", prompt="instance").systems["mean"], 0.5)


@pytest.mark.parametrize(("gap", "clear"), [(0.0, False), (0.05, True)])
def test_scores_without_noise_differ_by_what_they_differ(gap, clear):
    """Every prompt shows the same difference, or systems fail on the same prompts; another dimension is as it was."""
    level = np.array([0.2, 0.2, 0.5, 0.5, 0.2, 0.2, 0.5, 0.5])
    passed = [0.0, 1, 0, 1, 1, 0, 1, 0]
    frame = pl.DataFrame(
        {"system": ["a"] * 4 + ["b"] * 4, "prompt": list("wxyz") * 2, "level": level + gap * np.repeat([0, 1], 4)}
    ).with_columns(passed=pl.Series(passed))
    found = un.leaderboard(frame, "system", "prompt")
    table = found.differences.to_dicts()
    assert table[0]["difference"] == pytest.approx(-gap, abs=1e-7)
    assert [row["clear"] for row in table] == [clear, False]
    assert table[0]["high"] - table[0]["low"] < 0.001
    assert 1 < table[1]["high"] < 2
    assert (found.systems["high"] - found.systems["low"]).max() <= 1


def judged(seed, gain, labels=40, prompts=60, bias=0.0):
    """People on some outputs of three systems, five judges on all."""
    rng = np.random.default_rng(seed)
    rows = []
    chosen = set(map(tuple, np.argwhere(rng.permuted(np.arange(prompts * 3)).reshape(prompts, 3) < labels).tolist()))
    lenient = rng.normal(0, 0.3, 8)
    for p in range(prompts):
        q = 0.6 * rng.normal()
        for s in range(3):
            truth = 0.3 * s + q + 0.8 * rng.normal()
            view = gain * truth + 0.3 * rng.normal() + bias * (s == 1)
            if (p, s) in chosen:
                k = int(rng.integers(3))
                rows.append((f"p{p}", f"s{s}", f"h{k}", "human", truth + lenient[k] + 0.4 * rng.normal()))
            rows += [(f"p{p}", f"s{s}", f"j{k}", "judge", view + lenient[3 + k] + 0.5 * rng.normal()) for k in range(5)]
    return pl.DataFrame(rows, schema=["prompt", "system", "annotator", "kind", "quality"], orient="row")


def errors(frame):
    people = frame.filter(pl.col("kind") == "human").drop("kind")
    true = np.array([0.0, 0.3, 0.6]) - 0.3

    def away(found):
        mean = found.systems.sort("system")["mean"].to_numpy()
        return np.mean((mean - mean.mean() - true) ** 2)

    both = un.leaderboard(frame, "system", "prompt")
    return away(both), away(un.leaderboard(people, "system", "prompt")), both


def test_judges_make_means_more_precise_and_useless_ones_do_no_harm():
    for gain, bias, most in ((1.0, 0.0, 0.75), (1.0, -2.0, 0.75), (0.0, 0.0, 1.1)):
        found = [errors(judged(seed, gain, bias=bias)) for seed in range(25)]
        both, alone = np.mean([one[:2] for one in found], axis=0)
        assert both < most * alone, (gain, bias)
    assert "made more precise by 5 judges (judge)" in found[0][2].whose
    assert any("judges" in note for note in found[0][2].notes)


def test_judges_alone_are_annotators(table):
    frame = table.with_columns(annotator=pl.col("annotator").str.replace("h", "gpt-"))
    assert un.leaderboard(frame, "system", "prompt").differences["clear"].sum() == 5


def test_weights_make_an_overall_mean(table):
    frame = table.with_columns(style=pl.col("quality") * 2)
    found = un.leaderboard(frame, "system", "prompt", weights={"quality": 3, "style": 1})
    mean = dict(
        zip(zip(found.systems["dimension"], found.systems["system"], strict=True), found.systems["mean"], strict=True)
    )
    assert mean["overall", "s1"] == pytest.approx(1.25 * mean["quality", "s1"], rel=1e-6)
    with pytest.raises(un.SettingsError, match=r"no dimension 'stile'.*Did you mean 'style'"):
        un.leaderboard(frame, "system", "prompt", weights={"stile": 1})


def test_means_stay_on_the_scale():
    rng = np.random.default_rng(0)
    rows = [
        (f"p{p}", f"s{s}", f"h{k}", 5 if rng.random() < 0.97 - 0.5 * (s == 2) else 4)
        for p in range(20)
        for s in range(3)
        for k in range(3)
    ]
    frame = pl.DataFrame(rows, schema=["prompt", "system", "annotator", "quality"], orient="row")
    found = un.leaderboard(frame, "system", "prompt", scale=(1, 5))
    assert found.systems["high"].max() <= 5
    assert any("cut at the ends" in note for note in found.notes)


def test_systems_without_labels_are_unknown_not_last(table):
    frame = judged(0, 1.0).filter(~((pl.col("system") == "s2") & (pl.col("kind") == "human")))
    found = un.leaderboard(frame, "system", "prompt")
    row = found.systems.filter(pl.col("system") == "s2").row(0, named=True)
    assert np.isnan(row["mean"])
    assert (row["rank_low"], row["rank_high"]) == (1, 3)
    assert any("nobody whose scores count rated 's2'" in note for note in found.notes)


def test_a_fusion_has_a_leaderboard(table, board, tmp_path):
    frame = table.with_columns(item=pl.concat_str("prompt", "system", separator="-"))
    frame.write_csv(tmp_path / "scores.csv")
    for source, more in (
        (frame, {}),
        (tmp_path / "scores.csv", {}),
        (frame.drop("item"), {"item": ["prompt", "system"]}),
    ):
        found = un.fuse(source, **more).leaderboard(by="system", prompt="prompt")
        np.testing.assert_allclose(found.systems["mean"], board.systems["mean"], rtol=1e-6)
    with pytest.raises(un.DataError, match="give items="):
        un.fuse(un.read_ratings(frame)).leaderboard(by="system")


def test_what_is_missing_is_asked_for(table):
    with pytest.raises(un.DataError, match="no column 'model'"):
        un.leaderboard(table, by="model", prompt="prompt")
    with pytest.raises(un.DataError, match="no column names what was scored"):
        un.leaderboard(table.drop("prompt"), by="system")
    empty = table.with_columns(system=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("")).otherwise("system"))
    with pytest.raises(un.DataError, match=r"row 3 .*the column 'system' is empty"):
        un.leaderboard(empty, by="system", prompt="prompt")
    with pytest.raises(un.DataError, match="one system"):
        un.leaderboard(table.filter(pl.col("system") == "s1"), by="system", prompt="prompt")
    with pytest.raises(un.SettingsError, match="'raters' is none of prompts"):
        un.leaderboard(table, by="system", prompt="prompt", these="raters")


def test_groups_that_cannot_be_told_apart_are_largest_ones(board):
    assert all(len(group) >= 1 for group in board.tied(0))
    assert {name for group in board.tied(0) for name in group} == set(board.names)
    assert system_leaderboard.OVERALL not in board.dimensions


def test_where_every_item_has_the_same_people_means_are_their_averages():
    """Whatever judges say, and of every set of items."""
    frame = rated_by_all(0)
    people = frame.filter(pl.col("kind") == "human")
    expected = dict(people.group_by("system").agg(pl.col("quality").mean()).iter_rows())
    for table in (frame, people):
        found = un.leaderboard(table, "system", "prompt").systems
        for system, mean in zip(found["system"], found["mean"], strict=True):
            assert mean == pytest.approx(expected[system], abs=1e-6)


@pytest.mark.parametrize("model", [name for name in un.MODELS if un.MODELS[name].fuser is not None])
def test_after_any_fusion_means_are_averages_of_people_not_of_estimates(model):
    """Estimates of items are drawn to the mean of all; averages over sets of items must not be."""
    people = rated_by_all(0).filter(pl.col("kind") == "human").drop("kind")
    people = people.with_columns(style=pl.col("quality") ** 2, item=pl.concat_str("prompt", "system"))
    found = un.fuse(people, model=model, dims=["quality", "style"]).leaderboard(by="system", prompt="prompt").systems
    expected = people.group_by("system").agg(pl.col("quality", "style").mean())
    for row in expected.iter_rows(named=True):
        own = found.filter(pl.col("system") == row["system"])
        mean = dict(zip(own["dimension"], own["mean"], strict=True))
        assert (mean["quality"], mean["style"]) == pytest.approx((row["quality"], row["style"]), abs=1e-6)


def rated_by_all(seed):
    """Three people and two judges, who hate the second system, on every output."""
    rng = np.random.default_rng(seed)
    rows = []
    for p in range(40):
        for s in range(3):
            truth = rng.normal(0.3 * s, 0.7)
            rows += [(f"p{p}", f"s{s}", f"h{k}", "human", truth + rng.normal(0.2 * k, 0.5)) for k in range(3)]
            rows += [(f"p{p}", f"s{s}", f"j{k}", "judge", truth - 2 * (s == 1) + rng.normal(0, 0.4)) for k in range(2)]
    return pl.DataFrame(rows, schema=["prompt", "system", "annotator", "kind", "quality"], orient="row")


def test_more_prompts_and_people_would_show_less(board):
    (line,) = [line for line in board.conclusions(0) if line.startswith("Smallest difference")]
    first, prompts, both = (
        float(line.split(word)[1].split()[0].strip(",.;"))
        for word in ("0.8: ", "would make it ", "annotators as well ")
    )
    assert first > prompts >= both
    assert both == pytest.approx(first / 2, rel=0.05)


def test_a_picture_has_a_dot_an_interval_and_ranks(board):
    pytest.importorskip("matplotlib")
    axes = un.plot.leaderboard(board)
    assert [label.get_text() for label in axes.get_yticklabels()] == board.systems["system"].to_list()
    assert "quality (mean, 90% interval)" in axes.get_xlabel()
    (ranks,) = axes.child_axes
    words = [*axes.get_yticklabels(), *ranks.get_yticklabels(), axes.xaxis.label, ranks.yaxis.label]
    assert len({word.get_fontsize() for word in words}) == 1
    with pytest.raises(un.DataError, match="no dimension 'qualty'"):
        un.plot.leaderboard(board, "qualty")


def test_means_variances_and_errors_are_those_of_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api")
    table = score_table(drawn_scores(4, (0.0, 0.5, -0.5), prompts=12, people=5, each=5, favourites=0.5)).to_pandas()
    table = table.assign(all=1, ps=table.prompt + table.system, ks=table.annotator + table.system)
    parts = {name: f"0 + C({name})" for name in ("annotator", "ks", "prompt", "ps")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.mixedlm("quality ~ 0 + C(system)", table, groups="all", re_formula="0", vc_formula=parts).fit()
    board = un.leaderboard(table, "system", "prompt", dims=["quality"])
    means = board.boards[0].means
    np.testing.assert_allclose(means.mean, fit.fe_params, atol=1e-6)
    found = board.boards[0].variances
    names = ["annotators", "annotators by systems", "prompts", "systems by prompts", "noise"]
    np.testing.assert_allclose([found[name] for name in names], [*fit.vcomp, fit.scale], atol=2e-3)
    gap = np.array([1.0, -1, 0])
    assert gap @ means.cov @ gap == pytest.approx(gap @ fit.cov_params().to_numpy()[:3, :3] @ gap, rel=0.15)
