"""The experiments' own parts at small sizes: designs, folds, matrices, correlations; and no look at test labels."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from unisono.errors import DataError
from unisono.maths.metrics import Switch, ccc, pearson
from unisono.paper import (
    experiment_correlations,
    experiment_dependency,
    experiment_items_real,
    experiment_items_synthetic,
    experiment_series_real,
    experiment_series_synthetic,
    paper_protocol,
)
from unisono.paper.experiment_claims import Settings
from unisono.paper.experiment_data import Traced, cut
from unisono.paper.experiment_runs import EXPERIMENTS, find_experiments
from unisono.paper.paper_protocol import (
    INDEPENDENT,
    JOINT,
    PROTOCOL,
    average_matrices,
    compared,
    gathered,
    matrices_of,
    moments,
    race,
    race_fold,
    random_fold,
    scores_of,
    switched_folds,
)
from unisono.paper.simulation import simulate_items, simulate_series
from unisono.tables.item_table import ItemTable
from unisono.tables.media.media_features import best_method, text_features, tfidf_components


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("quick", [True, False])
def test_units_have_names_of_their_own_and_seeds(name, quick, monkeypatch, tmp_path):
    monkeypatch.setenv("UNISONO_CACHE", str(tmp_path))
    monkeypatch.delenv("UNISONO_DATA", raising=False)
    units = find_experiments(name)[0].units(Settings(quick=quick))
    assert len({unit.key for unit in units}) == len(units)
    assert all("seed" in unit.settings for unit in units)


def test_everybody_rates_equally_many_items():
    world = experiment_dependency.shared_world(0.5, 0, 0, 30, 6)
    assert (np.bincount(world.ratings.annotator_of, minlength=30) == 6).all()
    assert (np.bincount(world.ratings.item_of, minlength=30) == 6).all()


def test_matrices_follow_the_dimensions_that_were_put_right():
    rng = np.random.default_rng(0)
    F, scale, truth = rng.normal(size=(3, 2, 2)), np.array([2.0, 5.0]), rng.normal(size=2)
    switch = Switch(np.array([1, 0]), np.array([1.0, -1.0]))
    fuser = SimpleNamespace(scaling_=SimpleNamespace(scale=scale), parameters=lambda: SimpleNamespace(F=F))
    found = matrices_of(SimpleNamespace(fuser=fuser, pick=SimpleNamespace(switch=switch)))
    # The same ratings from the truth as it is shown, in the user's units, as inside the model.
    np.testing.assert_allclose(found @ (scale * switch.apply(truth[None])[0]), scale * (F @ truth))


@pytest.mark.slow
def test_average_matrices_of_people_who_do_not_mix_are_diagonal():
    world = experiment_dependency.shared_world(0.0, 0, 0, 30, 8)
    found = average_matrices(world.ratings, world.truth, model=JOINT, features=None, folds=3, seed=0)
    F = np.mean(found["F"], axis=0)
    assert np.abs(F[[0, 1], [1, 0]]).max() < 0.2
    assert np.diag(F).min() > 0.5


def test_errors_of_matrices():
    assert experiment_dependency.error(np.full((2, 2), 0.5), 1.0) == 0.5
    assert experiment_dependency.scaled_error(np.full((2, 2), 0.5), 1.0) == pytest.approx(0)


@pytest.mark.slow
def test_a_race_tells_scores_folds_and_tests_both_ways_round(monkeypatch):
    world = simulate_items(items=30, annotators=5, features=0, seed=0)
    monkeypatch.setattr(paper_protocol, "PROTOCOL", (JOINT, INDEPENDENT))
    monkeypatch.setattr(paper_protocol, "FOLDS", 3)
    found = race(world.ratings, world.truth, features=None, seed=0)
    one = compared([found], JOINT, INDEPENDENT, "dim1", "ccc")[0]
    other = compared([found], INDEPENDENT, JOINT, "dim1", "ccc")[0]
    scores = [found["scores"][model]["dim1"]["ccc"] for model in (JOINT, INDEPENDENT)]
    assert one["difference"] == pytest.approx(scores[0] - scores[1])
    assert other["difference"] == pytest.approx(-one["difference"])
    assert one["share"] + other["share"] == pytest.approx(1)
    assert switched_folds([found], INDEPENDENT) == (0, 3)


def test_scores_from_moments_equal_scores_of_frames_end_to_end():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    y = 0.5 * x + rng.normal(size=50) + 1
    found = scores_of([moments(x[:20], y[:20]), moments(x[20:], y[20:])])
    assert found["ccc"] == pytest.approx(ccc(x, y))
    assert found["pearson"] == pytest.approx(pearson(x, y))


def test_folds_are_compared_by_a_paired_t_test():
    rng = np.random.default_rng(1)
    folds = {
        model: [
            {
                "moments": {"d": moments(rng.normal(size=9), rng.normal(size=9))},
                "scores": {"d": {"ccc": c, "pearson": c}},
            }
            for c in scores
        ]
        for model, scores in (("a", [0.5, 0.6, 0.7]), ("b", [0.4, 0.45, 0.7]))
    }
    row = gathered(folds)["differences"][0]
    assert row["p"] == pytest.approx(stats.ttest_rel([0.5, 0.6, 0.7], [0.4, 0.45, 0.7]).pvalue)
    assert row["better"] is None


def test_choosing_on_recordings_never_touches_the_test_labels():
    world = simulate_series(recordings=5, frames=16, annotators=3, features=0, window=3, seed=0)
    part = random_fold(world.truth.items, 0, 0)
    changed = world.truth.value.copy()
    tested = np.repeat([item in part.test for item in world.truth.items], world.truth.length)
    changed[tested] = np.random.default_rng(0).normal(size=changed[tested].shape)
    nonsense = ItemTable.from_rows(
        changed,
        items=world.truth.items,
        columns=world.truth.columns,
        length=world.truth.length,
        clock=world.truth.clock,
    )
    honest, blind = (
        race_fold(Traced(world.ratings, truth, None), part, model=JOINT, restarts=1)
        for truth in (world.truth, nonsense)
    )
    assert honest["chosen"] == blind["chosen"]
    # n, sum and sum of squares of the predictions
    assert [honest["moments"]["dim1"][i] for i in (0, 1, 3)] == [blind["moments"]["dim1"][i] for i in (0, 1, 3)]
    assert honest["scores"] != blind["scores"]


def test_cutting_keeps_every_frame_in_its_place():
    world = simulate_series(recordings=2, frames=31, annotators=3, features=2, window=3, rate=5.0, seed=0)
    pieces = cut(Traced(world.ratings, world.truth, world.features), 3)
    assert pieces.ratings.items[:3] == ("recording1/1", "recording1/2", "recording1/3")
    np.testing.assert_array_equal(pieces.reference.value, world.truth.value)
    for item in range(2):
        for annotator in range(3):
            own = [j for j in range(pieces.ratings.J) if pieces.ratings.annotator_of[j] == annotator]
            mine = [j for j in own if pieces.ratings.item_of[j] // 3 == item]
            joined = np.concatenate([pieces.ratings.judgement(j) for j in mine])
            whole = next(
                j
                for j in range(world.ratings.J)
                if world.ratings.annotator_of[j] == annotator and world.ratings.item_of[j] == item
            )
            np.testing.assert_array_equal(joined, world.ratings.judgement(whole))
    np.testing.assert_allclose(np.diff(pieces.ratings.clock.start[:3]), pieces.ratings.length[:2] / 5.0)


def test_observers_of_the_film_are_on_one_side_only():
    traced = experiment_series_real.split_observers(0, 300.0)
    assert len(np.unique(traced.ratings.annotator_of)) == 5
    assert traced.reference.M == traced.ratings.M == 1
    assert abs(int(traced.ratings.length[0]) - 300) < 25
    everyone = experiment_series_real.split_observers(1, 300.0)
    assert set(np.unique(traced.ratings.annotator_of)) != set(np.unique(everyone.ratings.annotator_of))


def test_sentence_embeddings_know_which_words_are_related():
    texts = ["Bombing kills many soldiers", "Attack leaves troops dead", "Girl wins the singing contest"]
    found = text_features(texts, best_method())
    assert found.shape == (3, 256)
    near, far = found[0] @ found[1], max(found[0] @ found[2], found[1] @ found[2])
    assert near > far + 0.1
    np.testing.assert_allclose((found**2).sum(axis=1), 1, atol=1e-4)


@pytest.mark.slow
def test_embeddings_leave_the_log_as_it_was():
    program = (
        "import logging; from unisono.tables.media.media_features import best_method, text_features;"
        "text_features(['a headline'], best_method()); root = logging.getLogger(); print(root.level, root.handlers)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == f"{logging.WARNING} []\n"
    assert found.stderr == ""


def test_tfidf_components_keep_all_inner_products():
    texts = ["a storm hits the coast", "the coast after a storm", "markets rise", "Markets, markets fall"]
    found = tfidf_components(texts, 10)
    gram = found @ found.T
    np.testing.assert_allclose(np.diag(gram), 1)
    idf = {word: np.log(5 / (1 + n)) + 1 for word, n in (("rise", 1), ("markets", 2), ("fall", 1))}
    third = np.array([idf["markets"], idf["rise"], 0])
    fourth = np.array([(1 + np.log(2)) * idf["markets"], 0, idf["fall"]])
    expected = third @ fourth / np.linalg.norm(third) / np.linalg.norm(fourth)
    assert gram[2, 3] == pytest.approx(expected)
    assert gram[0, 2] == pytest.approx(0, abs=1e-12)
    assert tfidf_components(texts, 2).shape == (4, 2)


def test_heterogeneity_is_seen_where_annotators_differ_and_not_where_they_do_not():
    rng = np.random.default_rng(0)
    who, group = np.repeat(np.arange(4), 100), np.tile(np.arange(100), 4)
    x = rng.normal(size=400)
    alike = np.stack([x, x + rng.normal(size=400)], axis=1)
    sign = np.where(who < 2, 1, -1)
    apart = np.stack([x, sign * x + rng.normal(size=400)], axis=1)
    assert experiment_correlations.heterogeneity(alike, group, who) > 0.05
    assert experiment_correlations.heterogeneity(apart, group, who) < 1e-6


def test_headlines_of_ones_own_are_read_like_any_table(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("item;text\n007;markets rise\n8;a storm, again\n")
    found = experiment_items_real.headline_features(tmp_path, "TF-IDF, 50 components")
    assert found.items == ("007", "8")
    path.write_text("item,text\n1,markets rise\n1,a storm\n")
    with pytest.raises(DataError, match=r"items\.csv row 2 and row 3 both describe item '1'"):
        experiment_items_real.headline_features(tmp_path, "TF-IDF, 50 components")


def test_without_the_headlines_their_claims_cannot_be_tested():
    chapter = experiment_items_real.report(Settings(), {})
    assert {claim.verdict for claim in chapter.claims} == {"cannot be tested"}
    assert "datasets fetch affective-text" in chapter.claims[0].reason


@pytest.mark.slow
def test_a_chapter_is_told_from_small_units():
    settings = Settings(quick=True)
    one = {
        many: experiment_items_synthetic.run_set(noise=0.3, features=2 if many else 0, seed=0, items=12)
        for many in (True, False)
    }
    results = {unit.key: one[unit.settings["features"] > 0] for unit in experiment_items_synthetic.units(settings)}
    chapter = experiment_items_synthetic.report(settings, results)
    others = chapter.tables[-1]
    named = ["our default", *experiment_items_synthetic.OTHERS.values()]
    assert [row[0].split(", ")[0] for row in others.rows[: len(named)]] == named
    scores = next(iter(results.values()))["unaided"]["scores"]["types"]
    assert {d: set(own) for d, own in scores.items()} == {"dim1": {"ccc", "pearson"}, "dim2": {"ccc", "pearson"}}
    assert all(cell for row in others.rows for cell in row)
    assert len(chapter.claims) == 5
    assert all(claim.measured != "–" and claim.direction for claim in chapter.claims)
    difference = [one[True]["scores"][model]["dim1"]["ccc"] for model in (JOINT, INDEPENDENT)]
    found = chapter.claims[0]
    assert f"{difference[0]:.3f} against {difference[1]:.3f}" in found.measured
    assert found.direction.split()[0] in {"joint", "independent"}
    assert set(chapter.summary["features 0, noise 0.3"]) == set(PROTOCOL)


def test_series_units_are_one_per_model_and_fold():
    units = experiment_series_synthetic.units(Settings(quick=True))
    assert len(units) == 2 * len(PROTOCOL) * 5
