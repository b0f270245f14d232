"""Public names: few, each explained in the sections that numpydoc has, with examples that run."""

import doctest
import inspect
import re

import pytest

import unisono as un

MOST_NAMES = 35
ASKED = [name for name in un.__all__ if inspect.isfunction(getattr(un, name))]
CLASSES = [name for name in un.__all__ if inspect.isclass(getattr(un, name)) and "Error" not in name]


def section(docstring, title):
    """The lines below a title, up to the next one."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", docstring, flags=re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1]


def test_there_are_few_public_names():
    assert len(un.__all__) <= MOST_NAMES
    assert un.__all__ == sorted(un.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


@pytest.mark.parametrize("name", ASKED)
def test_every_parameter_is_explained_and_so_are_result_and_errors(name):
    function = getattr(un, name)
    text = inspect.getdoc(function)
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", section(text, "Parameters"), flags=re.MULTILINE)
    told = [word.lstrip("*") for head in heads for word in head.split(", ")]
    assert told == list(inspect.signature(function).parameters)
    assert section(text, "Returns")
    assert section(text, "Raises")


@pytest.mark.parametrize("name", [*ASKED, *(name for name in CLASSES if "Warning" not in name)])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = getattr(un, name)
    examples = section(inspect.getdoc(thing), "Examples")
    test = doctest.DocTestParser().get_doctest(examples, {}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
