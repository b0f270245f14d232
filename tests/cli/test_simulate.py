"""`unisono simulate` as a user meets it."""

from command_line import unisono_here

SMALL = ("--items", "6", "--annotators", "3", "--features", "0")


def test_the_earlier_word_for_items_draws_the_same_with_a_note(tmp_path):
    today = unisono_here("simulate", "items", *SMALL, "--out", "today", cwd=tmp_path)
    earlier = unisono_here("simulate", "global", *SMALL, "--out", "earlier", cwd=tmp_path)
    assert (today.returncode, earlier.returncode) == (0, 0)
    assert "Deprecated" not in today.stderr
    assert earlier.stderr.startswith("Deprecated: 'simulate global' is now called 'simulate items'.\n")
    for name in ("ratings.csv", "truth.csv", "annotators.json"):
        assert (tmp_path / "today" / name).read_bytes() == (tmp_path / "earlier" / name).read_bytes()


def test_help_shows_only_the_word_of_today(tmp_path):
    shown = unisono_here("simulate", "--help", cwd=tmp_path).stdout
    assert "items" in shown
    assert "global" not in shown.lower()
