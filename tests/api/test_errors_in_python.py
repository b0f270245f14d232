"""In Python, messages name keyword arguments; in the shell the same ones name options."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import unisono as un
from command_line import unisono_here
from unisono.errors import in_python, in_shell

FRAME = [{"item": m, "annotator": k, "v": (m + k) % 5} for m in range(6) for k in range(3)]


@pytest.mark.parametrize(
    ("shell", "python"),
    [
        ("say --missing -99; if it is one, say --scale -99:4.", 'say missing=-99; if it is one, say scale="-99:4".'),
        ("Say --item COLUMN (item=... in Python), as in --item a,b.", 'Say item=COLUMN, as in item="a,b".'),
        ("say --annotator who --dimension trait.", 'say annotator="who", dimension="trait".'),
        ("--dim v or --dim v=w", 'dims=["v"] or dims={"v": "w"}'),
        ("; --labels codes them otherwise.", "; labels codes them otherwise."),
        ('--labels "n/a=" for missing', 'labels="n/a=" for missing'),
        ("obey them with --gold-anyway (gold_anyway=True).", "obey them with gold_anyway=True."),
        ("or give another scale (--scale).", "or give another scale (scale)."),
        ("--duplicates first, last or mean", 'duplicates="first", last or mean'),
        ("Leave out --time-unit.", "Leave out time_unit."),
        ("--kind judge='gpt,...' or --humans PATTERN.", 'kinds={"judge": "gpt,..."} or humans=PATTERN.'),
        ("a--b and -- stay", "a--b and -- stay"),
    ],
)
def test_options_become_keywords(shell, python):
    assert in_python(shell) == python


def test_errors_and_warnings_speak_python_and_keep_what_the_shell_says():
    with pytest.raises(un.DataError) as caught:
        un.read_ratings([{"clip": 1, "anna": 3, "ben": 4}, {"clip": 2, "anna": 1, "ben": 5}])
    assert 'say annotators_in_columns="anna,ben"' in str(caught.value)
    assert "--" not in str(caught.value)
    assert "--annotators-in-columns 'anna,ben'" in in_shell(caught.value)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        un.read_ratings([row | {"note": f"text {i}"} for i, row in enumerate(FRAME)])
    assert "dims=[NAME]" in str(told[0].message)


def test_a_list_of_records_and_columns_of_lists_are_tables():
    columns = {name: [row[name] for row in FRAME] for name in FRAME[0]}
    one, other = un.fuse(FRAME, model="mean").truth, un.fuse(columns, model="mean").truth
    assert one.equals(other)
    assert one.get_column("item").to_list() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(un.DataError, match="records record 2: v is 'x'"):
        un.fuse([FRAME[0], FRAME[1] | {"v": "x"}, *FRAME[2:]])


@pytest.mark.parametrize("seed", [float("nan"), 1.5, "x", -1])
def test_seeds_that_are_none_are_refused(seed):
    with pytest.raises(un.SettingsError, match=r"seed=.*: give a whole number from 0 on"):
        un.fuse(FRAME, seed=seed)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: un.fuse(FRAME, max_iter=0), "max_iter=0: give a whole number from 1 on"),
        (lambda: un.fuse(FRAME, tol=-1), "tol=-1: give a relative change from 0 on"),
        (lambda: un.fuse(FRAME, tol=float("nan")), "tol=nan: give a relative change from 0 on"),
        (lambda: un.fuse(FRAME, panel=0), "panel=0: give a number of annotators above 0"),
        (lambda: un.fuse(FRAME, model="groups", shared=1), "shared=1: give a share of the error from 0"),
        (lambda: un.agreement(FRAME, level=1), "level=1: give a share between 0 and 1"),
        (lambda: un.agreement(FRAME, draws=-1), "draws=-1: give a whole number from 0 on"),
        (lambda: un.compare(FRAME, folds=1), "folds=1: give a whole number from 2 on"),
        (lambda: un.compare(FRAME, models=["mean"], jobs=1.5), "jobs=1.5: give the number of processes"),
        (lambda: un.cross_validate(FRAME, FRAME, seed=1.5), "seed=1.5: give a whole number from 0 on"),
        (lambda: un.leaderboard(FRAME, "item", level=0), "level=0: give a share between 0 and 1"),
        (lambda: un.judges(FRAME, epsilon=2), "epsilon=2: give a difference from 0 to 1"),
        (lambda: un.plan(FRAME, most=0), "most=0: give a whole number from 1 on"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_before_anything_is_computed(ask, words):
    with pytest.raises(un.SettingsError) as caught:
        ask()
    assert words in str(caught.value)


def test_results_speak_python_and_commands_of_options(tmp_path):
    """Typing errors, delays by convention, words that were taken for categories."""
    typed = [{"item": f"i{m}", "annotator": f"a{k}", "v": 1 + (m + k % 2) // 3} for m in range(12) for k in range(4)]
    typed[-1]["v"] = 44
    wave = [
        {"recording": "r", "time": n / 2, "annotator": f"a{k}", "v": (n % 9) / 9 + k / 99}
        for n in range(60)
        for k in range(3)
    ]
    worded = [row | {"v": "blue" if (row["item"] + row["annotator"]) % 2 else "red"} for row in FRAME]
    for rows, python, shell in (
        (typed, "say where the scale ends (scale)", "say where the scale ends (--scale)"),
        (wave, "Set the mean reaction time with lag=SECONDS.", "with --lag SECONDS."),
        (worded, 'categories="none" leaves them out', "--categories none leaves them out"),
    ):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            result = un.fuse(rows)
        said = result.summary()
        assert python in said
        assert "--" not in said
        assert not any("--" in alert.message for alert in getattr(result, "alerts", ()))
        pl.DataFrame(rows).write_csv(tmp_path / "r.csv")
        told = unisono_here("fuse", "r.csv", cwd=tmp_path).stderr
        assert shell in told
        # Nothing is said twice, in other words either.
        assert told.count("44") <= 1
