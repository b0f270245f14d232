"""Agreement of comparisons: alpha with sides aligned, circular triads and Kendall's zeta, against counting by hand."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here as run
from comparison_cases import world
from unisono.maths.comparisons.circular_triads import circular_triads


def counted_by_hand(won):
    """Circular and closed triads of a set of (above, below), three items after three."""
    items = sorted({item for pair in won for item in pair})
    circular = closed = 0
    for three in itertools.combinations(items, 3):
        pairs = list(itertools.combinations(three, 2))
        if all(pair in won or pair[::-1] in won for pair in pairs):
            closed += 1
            wins = [sum((one, other) in won for other in three) for one in three]
            circular += wins == [1, 1, 1]
    return circular, closed


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_circular_triads_are_those_of_counting(share):
    rng = np.random.default_rng(0)
    for n in (3, 4, 6, 7):
        pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < share]
        won = {pair if rng.random() < 0.6 else pair[::-1] for pair in pairs}
        if not won:
            continue
        found = circular_triads(*np.array(sorted(won)).T)
        assert (found.circular, found.closed) == counted_by_hand(won)
        if len(won) == n * (n - 1) // 2:
            wins = np.bincount([above for above, _ in won], minlength=n)
            by_wins = n * (n - 1) * (n - 2) / 6 - (wins * (wins - 1) / 2).sum()
            most = (n**3 - (n if n % 2 else 4 * n)) / 24
            np.testing.assert_allclose(found.zeta, 1 - by_wins / most)
        else:
            assert np.isnan(found.zeta)


def test_the_ends_of_zeta():
    order = np.array(list(itertools.combinations(range(5), 2)))
    assert circular_triads(*order.T).zeta == 1
    assert circular_triads(np.array([0, 1, 2]), np.array([1, 2, 0])).zeta == 0
    again = circular_triads(
        np.array([0, 1, 2, 2, 0, 0]), np.array([1, 2, 0, 0, 2, 2])
    )  # the last pair: once either way
    assert again.closed == 0


def table(w, swap=False):
    d = w.data
    words = ["right", "tie", "left"] if swap else ["left", "tie", "right"]
    left, right = (d.right, d.left) if swap else (d.left, d.right)
    columns = {"annotator": [f"k{k}" for k in d.who], "left": left.tolist(), "right": right.tolist()}
    return pl.DataFrame(columns | {"q": [words[a] for a in d.answer]})


def test_alpha_does_not_know_sides():
    w = world(M=12, K=10, N=800)
    one, other = (un.agreement(comparisons=table(w, swap), draws=100) for swap in (False, True))
    np.testing.assert_allclose(one.columns()["alpha"], other.columns()["alpha"], rtol=1e-12)
    rows = table(w).to_dicts()
    by_pair, turned = {}, {"left": "right", "right": "left", "tie": "tie"}
    for row in rows:
        pair = tuple(sorted((row["left"], row["right"])))
        by_pair.setdefault(pair, []).append(row["q"] if pair[0] == row["left"] else turned[row["q"]])
    kept = [answers for answers in by_pair.values() if len(answers) > 1]
    n = sum(map(len, kept))
    apart = sum(sum(a != b for i, a in enumerate(x) for j, b in enumerate(x) if i != j) / (len(x) - 1) for x in kept)
    each = [sum(x.count(word) for x in kept) for word in ("left", "tie", "right")]
    expected = (n * n - sum(c * c for c in each)) / (n - 1)
    np.testing.assert_allclose(one.columns()["alpha"], [1 - apart / expected], rtol=1e-10)


def test_who_contradicts_themselves_is_named():
    w = world(M=12, K=10, N=3000, ties=False)
    found = un.agreement(comparisons=table(w), draws=50)
    spammers = {f"k{k}" for k in np.flatnonzero(w.kind == 1)}
    assert spammers <= set(found.intransitive)
    assert len(found.intransitive) <= len(spammers) + 1
    people = pl.DataFrame(found.annotator_columns())
    asked = people.filter(pl.col("annotator").is_in(list(spammers)))["same_answer_again"].mean()
    assert abs(asked - 0.5) < 0.1
    assert people["same_answer_again"].mean() > asked + 0.03


def test_on_the_command_line(tmp_path):
    path = tmp_path / "pairs.csv"
    table(world(M=8, K=6, N=300)).write_csv(path)
    found = run("agreement", "--comparisons", path, "--bootstrap", "50")
    assert found.returncode == 0, found.stderr
    assert "alpha" in found.stdout
    data = json.loads(run("agreement", "--comparisons", path, "--bootstrap", "50", "--json").stdout)
    assert data["dimensions"][0]["answers"] == 300
    assert len(data["annotators"]) == 6
    assert run("agreement").returncode == 2
