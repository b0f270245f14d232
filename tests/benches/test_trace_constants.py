"""Other constants of the default for traces: they reach every fit, come back, and a study is left out of its choice."""

import numpy as np
import pytest

import unisono as un
from benchmarks import trace_constants
from benchmarks.accuracy_page import fill_page
from benchmarks.accuracy_series_page import PAGE
from benchmarks.trace_constants import SETTINGS, VALUES, constants, draws
from benchmarks.trace_constants_page import DEFAULT, choices, other_models, tables, votes_by_setting
from unisono.maths.series import trace_priors


@pytest.fixture(scope="module")
def traces():
    """Leakage, a reversed hand, a spammer, delays and one who is exact: something for every constant to act on."""
    world = un.simulate_series(recordings=3, frames=250, features=0, realistic=True, spammers=1, seed=1)
    value = world.ratings.value.copy()
    who = np.repeat(world.ratings.annotator_of, world.ratings.length[world.ratings.item_of])
    value[who == 3] *= -1.0
    value[who == 0] = world.truth.value
    return world.ratings.with_value(value)


def numbers_of(traces):
    """Truths and bands of both dimensions, and of one by itself: its band has the prior of delays though none moves."""
    both, alone = (un.fuse(some).fused for some in (traces, traces.select_dimensions(traces.dimensions[:1])))
    return np.concatenate([values.ravel() for one in (both, alone) for values in (one.mean, one.sd)])


def test_every_constant_reaches_the_fit_and_leaves_no_trace(traces):
    before = {name: getattr(trace_priors, name) for name in VALUES}
    usual = numbers_of(traces)
    for name, values in VALUES.items():
        assert min(values) < before[name] < max(values)
        with constants((name, values[0])):
            assert getattr(trace_priors, name) == values[0]
            assert np.abs(numbers_of(traces) - usual).max() > 1e-12, name
    np.testing.assert_array_equal(numbers_of(traces), usual)
    with pytest.raises(ZeroDivisionError), constants(("MEMORY", 7.0)):
        raise ZeroDivisionError
    assert {name: getattr(trace_priors, name) for name in VALUES} == before


def some_rows():
    """Two seeds of three studies; `good` is better on b and c, `lucky` on a alone, `unseen` says nothing of c."""
    gain = {"good": {"a": -0.01, "b": 0.02, "c": 0.02}, "lucky": {"a": 0.09, "b": 0.0, "c": 0.0}}
    gain |= {DEFAULT: {}, "unseen": {"a": 0.0, "b": 0.01, "c": None}, "in part": {"a": 0.5, "b": 0.5, "c": 0.5}}
    rows = []
    for setting, more in gain.items():
        for study, vote in (("a", 0.5), ("b", 0.6), ("c", 0.7)):
            for seed in range(1 if setting == "in part" else 2):
                by = more.get(study, 0.0)
                votes = {} if by is None else {"auto": vote + by + 0.1 * seed + 0.01 * seed * (setting == "good")}
                if setting == DEFAULT:
                    votes |= {"mean": vote - 0.1, "ewe": vote - 0.05}
                rows.append({"part": setting, "name": study, "seed": seed, "votes": votes})
    return rows


def test_a_study_has_no_say_in_its_own_choice():
    found = votes_by_setting(some_rows())
    assert set(found) == {DEFAULT, "good", "lucky", "unseen"}  # not what was measured in part
    np.testing.assert_array_equal(found["unseen"]["c"], found[DEFAULT]["c"])
    chosen = choices(found, other_models(some_rows()))
    assert [chosen[study].setting for study in "abc"] == ["good", "lucky", "lucky"]
    assert chosen["a"].vote == pytest.approx(0.545)
    assert chosen["a"].over_best == pytest.approx(0.545 - 0.45)
    assert chosen["a"].over_mean == pytest.approx(0.545 - 0.4)


def test_tables_hold_changes_with_their_errors():
    shown = tables(some_rows())
    assert "| setting | average | a | b | c |" in shown["constants"]
    assert "| good | +.0150 ± .0029 | -.0050 ± .0050 | +.0250 ± .0050 | +.0250 ± .0050 |" in shown["constants"]
    assert "| unseen | +.0033 ± .0000 |  | +.0100 ± .0000 |  |" in shown["constants"]
    assert "| a | .550 | good | .545 | +.095 | +.145 |" in shown["without"]
    assert "| average | .650 |  | .648 | +.098 | +.148 |" in shown["without"]


def test_the_page_has_a_place_for_both_tables(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    fill_page(tables(some_rows()), copy, "benchmarks.trace_constants")
    assert "\naverage,.650," in (tmp_path / "tables" / "page-without.csv").read_text(encoding="utf-8")


def test_a_draw_has_all_settings_and_leakage_needs_two_dimensions(tmp_path, monkeypatch, traces):
    todo = draws(["films"], 2)
    assert len(todo) == 2 * len(SETTINGS)
    assert {study for _, study, _ in todo} == {"films"}
    asked = []

    def some_votes(draw, models):
        asked.append((draw.fused.D, models, trace_priors.LEAKAGE_SD))
        return dict.fromkeys(models, 0.5)

    class Draw:
        fused = traces

    class Narrow:
        fused = traces.select_dimensions(traces.dimensions[:1])

    monkeypatch.setattr(trace_constants, "votes", some_votes)
    for kind, expected in ((Draw, [(2, ("auto",), 0.2)]), (Narrow, [])):
        monkeypatch.setattr(trace_constants, "_draw", lambda study, seed, kind=kind: kind)
        asked.clear()
        row = trace_constants.one_case("LEAKAGE_SD 0.2", "films", 0)
        assert asked == expected
        assert row["votes"] == ({"auto": 0.5} if expected else {})
    trace_constants.one_case(DEFAULT, "films", 0)
    assert asked[-1][1] == trace_constants.VOTERS
