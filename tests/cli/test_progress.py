"""Progress is silent at first and then says where it is."""

from unisono.cli import progress


def test_silent_below_a_second_then_a_line(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.estimation_progress("Estimating") as on_step:
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
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.task_progress("Comparing") as on_task:
        now[0] += 5
        on_task(1, 3)
        assert capsys.readouterr().err == ""
        now[0] += 6
        on_task(2, 3)
        on_task(3, 3)
        found = capsys.readouterr()
        assert found.err == "Comparing: 2 of 3\n"
        assert found.out == ""
