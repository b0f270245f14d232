"""Progress is silent at first and then says where it is."""

import contextlib
import io
import re

import polars as pl
import pytest

from command_line import unisono_here
from trace_world import trace_world
from unisono.cli import terminal
from unisono.tables.exporting.result_folder import rating_columns


def test_silent_below_a_second_then_a_line(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with terminal.estimation_progress("Estimating") as on_step:
        on_step(0, -5.0)
        now[0] += 0.9
        on_step(1, -4.0)
        assert capsys.readouterr().err == ""
        now[0] += 0.2
        on_step(2, -3.0)
        on_step(3, -2.0)
        assert capsys.readouterr().err == "Estimating: iteration 3, objective -3\n"
        now[0] += 11
        on_step(4, -1.0)
        assert "iteration 5" in capsys.readouterr().err


def test_tasks_outside_a_terminal_get_a_line_now_and_then(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with terminal.task_progress("Comparing") as on_task:
        now[0] += 5
        on_task(1, 3)
        assert capsys.readouterr().err == ""
        now[0] += 6
        on_task(2, 3)
        on_task(3, 3)
        found = capsys.readouterr()
        assert found.err == "Comparing: 2 of 3\n"
        assert found.out == ""


def test_many_tasks_of_a_fit_are_counted_and_the_present_one_is_told(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with terminal.estimation_progress("Estimating") as display:
        display.task(0, 80)
        assert capsys.readouterr().err == ""
        now[0] += 1.1
        display.task(17, 80)
        display.task(18, 80)
        assert capsys.readouterr().err == "Estimating: 17 of 80\n"
        now[0] += 10
        display(4, -3.0)
        assert capsys.readouterr().err == "Estimating: 18 of 80, iteration 5, objective -3\n"
        now[0] += 10
        display.phase("delays", 12, 18)
        assert capsys.readouterr().err == "Estimating: 18 of 80, delays 12 of 18\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    """Everything is shown as it comes."""
    for name in ("SILENT_FOR", "REDRAWN_EVERY", "LINE_EVERY"):
        monkeypatch.setattr(terminal, name, -1.0)


@pytest.mark.usefixtures("at_once")
def test_a_terminal_shows_one_moving_line_and_wipes_it():
    with contextlib.redirect_stderr(Terminal()) as screen, terminal.estimation_progress("Estimating") as display:
        display(0, -5.0)
        display.phase("delays", 12, 18)
    first, second, blank = screen.getvalue().strip("\r").split("\r")
    assert first == "Estimating: iteration 1, objective -5"
    assert second.rstrip() == "Estimating: delays 12 of 18"
    assert len(second) == len(blank) == len(first)  # nothing of a longer line stays behind
    assert not blank.strip()


@pytest.mark.usefixtures("at_once")
def test_a_terminal_shows_a_bar_with_the_time_that_is_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with contextlib.redirect_stderr(Terminal()) as screen, terminal.estimation_progress("Estimating") as display:
        display.task(17, 80)
        display.phase("delays", 12, 18)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    last = [line for line in re.split(r"[\r\n]+", shown) if line.strip()][-1]
    assert last.startswith("Estimating ")
    assert last.rstrip().endswith("delays 12 of 18")
    assert "17/80" in last
    assert "-:--:--" in last  # one task more and it is a time


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "paper-independent", "--width", "5", "--restarts", "3"], [f"{n} of 6" for n in range(1, 7)]),
        (["--model", "paper-joint", "--width", "5", "--restarts", "3"], ["1 of 3", "2 of 3", "3 of 3"]),
    ],
)
def test_fuse_counts_all_starts_under_one_total(tmp_path, words, expected):
    ratings = trace_world(lengths=(60, 50), K=3).ratings
    pl.DataFrame(rating_columns(ratings)).fill_nan(None).write_csv(tmp_path / "ratings.csv")
    done = unisono_here("fuse", "ratings.csv", *words, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"^Estimating: (\d+ of \d+)$", done.stderr, flags=re.MULTILINE)
    assert counts == ["0" + expected[0][1:], *expected]
    assert "agreement of annotators 1 of 1" in done.stderr  # both recordings are one part


@pytest.mark.usefixtures("at_once")
def test_fuse_tells_of_the_search_for_delays(tmp_path):
    ratings = trace_world(lengths=(60, 50), K=3).ratings
    pl.DataFrame(rating_columns(ratings)).fill_nan(None).write_csv(tmp_path / "ratings.csv")
    done = unisono_here("fuse", "ratings.csv", "--out", "out", cwd=tmp_path)
    assert "Estimating: iteration 1, objective" in done.stderr
    assert "Estimating: delays 3 of " in done.stderr
