"""An interrupted run leaves no half file."""

import pytest

from unisono.tables.atomic_files import atomic_directory, atomic_path


def interrupted_file(target):
    with atomic_path(target) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def interrupted_folder(target):
    with atomic_directory(target) as folder:
        (folder / "truth.csv").write_text("half")
        raise KeyboardInterrupt


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "truth.csv"
    with pytest.raises(KeyboardInterrupt):
        interrupted_file(target)
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
    with pytest.raises(KeyboardInterrupt):
        interrupted_folder(target)
    assert (target / "truth.csv").read_text() == "before"
    with atomic_directory(target) as folder:
        (folder / "truth.csv").write_text("after")
        (folder / "fit").mkdir()
        (folder / "fit" / "fit.json").write_text("{}")
    assert (target / "truth.csv").read_text() == "after"
    assert (target / "notes.txt").read_text() == "mine"
    assert (target / "fit" / "fit.json").read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
