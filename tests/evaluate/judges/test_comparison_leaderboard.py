"""Leaderboards from comparisons: order, errors that prompts and annotators share, what is refused."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.maths.systems.compared_strengths import Answers, compared_means, strengths

DIFFERENCES = ["dimension", "first", "second", "difference", "low", "high", "clear"]


def votes(seed, means, prompts=30, people=6, each=2, own=0.8, favourites=0.4):
    """Every pair of systems on every prompt by some people; outputs of a prompt and tastes of people differ."""
    rng, S = np.random.default_rng(seed), len(means)
    h, f = rng.normal(0, own, (prompts, S)), rng.normal(0, favourites, (people, S))
    rows = []
    for p in range(prompts):
        for a, b in zip(*np.triu_indices(S, 1), strict=True):
            for k in rng.choice(people, each, replace=False):
                l, r = (a, b) if rng.random() < 0.5 else (b, a)
                d = means[l] + h[p, l] + f[k, l] - means[r] - h[p, r] - f[k, r]
                said = "left" if rng.random() < 1 / (1 + np.exp(-d)) else "right"
                rows.append((f"h{k}", f"q{p}", f"s{l}", f"s{r}", said))
    return pl.DataFrame(rows, schema=["annotator", "question", "left", "right", "better"], orient="row")


@pytest.fixture(scope="module")
def table():
    return votes(0, (0.0, 2.0, -2.0, 0.0))


@pytest.fixture(scope="module")
def board(table):
    return un.leaderboard(table, prompt="question")


def test_systems_are_ranked_by_comparisons(board, table, tmp_path):
    assert board.systems["system"].to_list()[0] == "s1"
    assert board.systems["system"].to_list()[-1] == "s2"
    assert board.systems["mean"].sum() == pytest.approx(0, abs=1e-9)
    assert board.differences.columns == DIFFERENCES
    clear = {(row["first"], row["second"]): row["clear"] for row in board.differences.iter_rows(named=True)}
    assert clear == {pair: pair != ("s0", "s3") for pair in clear}
    assert board.systems["rank_low"].to_list() == [1, 2, 2, 4]
    folder = board.save(tmp_path / "board")
    assert (folder / "report.html").read_text().count('r="3.6"') == 4
    assert "360 comparisons by 6 annotators" in board.summary()
    assert set(board.variances["source"]) == {"annotators", "prompts"}
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=1)
    np.testing.assert_allclose(
        un.leaderboard(shuffled, prompt="question").differences["low"], board.differences["low"], rtol=1e-6
    )


def test_strengths_are_those_of_a_logistic_regression(table):
    sm = pytest.importorskip("statsmodels.api")
    pairs = un.read_comparisons(table)
    X = np.zeros((pairs.n, 4))
    X[np.arange(pairs.n), pairs.left], X[np.arange(pairs.n), pairs.right] = 1, -1
    X[:, 0] = 1  # the effect of the side in place of the first system
    y = (pairs.answer == 0).astype(float)
    fit = sm.GLM(y, X, family=sm.families.Binomial()).fit()
    answers = Answers(pairs.left, pairs.right, y, 4, True)
    found, spread = compared_means(answers, {})[0], np.sqrt(strengths(answers).dispersion)
    assert 0.9 < spread < 1.1
    gap = fit.params[1:] - fit.params[1:].mean()
    ours = found.mean[1:] - found.mean[1:].mean()
    np.testing.assert_allclose(ours, gap, atol=0.01)
    pair = np.array([0.0, 1, -1, 0])
    assert np.sqrt(pair @ found.cov @ pair) == pytest.approx(spread * fit.t_test(pair).sd[0, 0], rel=0.01)


@pytest.mark.parametrize(("own", "favourites"), [(1.0, 0.0), (0.0, 0.8)])
def test_errors_that_answers_share_are_found(own, favourites):
    """The variance claimed is that of estimates over tables, by prompts and by annotators."""
    squares, claimed, wrong = [], [], 0
    for seed in range(25):
        drawn = votes(seed, np.zeros(4), prompts=25, people=8, own=own, favourites=favourites)
        found = un.leaderboard(drawn, prompt="question" if own else None)
        squares.append(np.mean(found.boards[0].means.mean ** 2))
        claimed.append(np.trace(found.boards[0].means.cov) / 4)
        wrong += bool(found.said.clear.any())
    assert 0.6 < np.mean(squares) / np.mean(claimed) < 1.5
    assert wrong <= 6


def test_few_prompts_and_people_make_intervals_wider(table, board):
    """The more of the chance is shared by prompts or people, the wider; words take it out again."""
    alone = un.leaderboard(table)
    half = [(one.differences["high"] - one.differences["low"]).mean() for one in (alone, board)]
    assert half[0] < half[1]
    these = un.leaderboard(table, prompt="question", these="prompts,people")
    assert (these.differences["high"] - these.differences["low"]).mean() < half[0]


def test_a_fusion_of_comparisons_has_a_leaderboard(table):
    found = un.fuse(comparisons=table).leaderboard(these="people")
    assert found.differences.equals(un.leaderboard(table, these="people").differences)


def test_one_judge_and_no_prompt(table):
    one = table.with_columns(annotator=pl.lit("gpt-4"))
    found = un.leaderboard(one)
    assert found.differences["clear"].sum() == 5
    assert "these annotators" in found.notes[0]


def test_outputs_belong_to_systems(table, board):
    outputs = table.with_columns(pl.col("left") + "/" + pl.col("question"), pl.col("right") + "/" + pl.col("question"))
    pairs = un.read_comparisons(outputs)
    found = un.leaderboard(pairs, by={item: item.split("/")[0] for item in pairs.items})
    plain = un.leaderboard(table)
    np.testing.assert_allclose(found.differences["difference"], plain.differences["difference"], atol=1e-6)
    with pytest.raises(un.DataError, match="has no system"):
        un.leaderboard(pairs, by={pairs.items[0]: "s0"})


def test_what_cannot_be_ranked_is_refused(table):
    apart = pl.concat([table.head(3).with_columns(left=pl.lit("a"), right=pl.lit("b")), table.filter(left="s0")])
    with pytest.raises(un.DataError, match="no chain of comparisons connects 'a' and 'b' with 's"):
        un.leaderboard(apart)
    with pytest.raises(un.DataError, match="no column 'topic'"):
        un.leaderboard(table, prompt="topic")
    with pytest.raises(un.DataError, match="question is empty"):
        un.leaderboard(
            table.with_columns(question=pl.when(pl.int_range(pl.len()) == 2).then(pl.lit("")).otherwise("question")),
            prompt="question",
        )
    with pytest.raises(un.DataError, match="'weights' cannot be used with comparisons"):
        un.leaderboard(table, weights={"better": 1.0})
    with pytest.raises(un.DataError, match=r"named \(by\) the table has to hold comparisons"):
        un.leaderboard(pl.DataFrame({"item": ["a", "b"], "score": [1.0, 2.0]}))
    with pytest.raises(un.DataError, match="give a mapping from items to systems"):
        un.leaderboard(un.read_comparisons(table), by="left")
