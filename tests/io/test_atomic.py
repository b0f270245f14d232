"""An interrupted run leaves no half file."""

import pytest

from unisono.io.atomic import atomic_directory, atomic_path


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "truth.csv"
    with pytest.raises(KeyboardInterrupt), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert list(target.parent.iterdir()) == []
    with atomic_path(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(target.parent.iterdir()) == [target]


def test_a_folder_is_filled_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "truth.csv").write_text("before")
    (target / "notes.txt").write_text("mine")
    with pytest.raises(KeyboardInterrupt), atomic_directory(target) as folder:
        (folder / "truth.csv").write_text("half")
        raise KeyboardInterrupt
    assert (target / "truth.csv").read_text() == "before"
    with atomic_directory(target) as folder:
        (folder / "truth.csv").write_text("after")
        (folder / "fit").mkdir()
        (folder / "fit" / "fit.json").write_text("{}")
    assert (target / "truth.csv").read_text() == "after"
    assert (target / "notes.txt").read_text() == "mine"
    assert (target / "fit" / "fit.json").read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
