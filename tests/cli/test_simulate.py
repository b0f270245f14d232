"""`unisono simulate` as a user meets it."""

from command_line import unisono_here


def test_help_shows_both_kinds(tmp_path):
    shown = unisono_here("simulate", "--help", cwd=tmp_path).stdout
    assert "items" in shown
    assert "series" in shown
