"""Warnings: nobody's filters are touched, and what one thread keeps to itself is said in all others."""

import threading
import warnings
from pathlib import Path

import pytest

import unisono as un
from unisono.errors import ConvergenceWarning, DataWarning, LeftOutWarning, taken, warn

SOURCE = Path(un.__file__).parent


def test_no_filter_of_the_process_is_touched():
    names = ("simplefilter", "filterwarnings", "catch_warnings", "showwarning")
    found = [(path.name, name) for path in SOURCE.rglob("*.py") for name in names if name in path.read_text()]
    assert found == []


def test_warnings_of_a_kind_are_taken_inside_and_said_outside():
    with taken(DataWarning) as outer, taken(ConvergenceWarning) as inner:
        warn("left out", LeftOutWarning)
        warn("too early", ConvergenceWarning)
    assert (outer, inner) == ([("left out", LeftOutWarning)], [("too early", ConvergenceWarning)])
    with pytest.warns(LeftOutWarning, match="again"), taken(ConvergenceWarning):
        warn("again", LeftOutWarning)


def test_what_one_thread_takes_another_one_says():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with taken(DataWarning):
            other = threading.Thread(target=warn, args=("from elsewhere", DataWarning))
            other.start()
            other.join()
    assert [str(one.message) for one in said] == ["from elsewhere"]


def test_a_warning_points_at_who_called():
    with pytest.warns(DataWarning) as said:
        warn("here", DataWarning)
    assert Path(said[0].filename) == Path(__file__)
