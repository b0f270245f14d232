"""JSON that every reader takes."""

import json

import pytest

from unisono.tables.atomic_files import json_text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_defined_become_null_at_any_depth(number):
    found = json.loads(json_text({"a": [1.5, {"b": (number, "x")}], "c": number}))
    assert found == {"a": [1.5, {"b": [None, "x"]}], "c": None}


def test_letters_stay_letters():
    assert json_text({"é": 1}, indent=1) == '{\n "é": 1\n}'
