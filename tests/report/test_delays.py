"""The time axis in words: every convention has its own, and items have none."""

import pytest

from unisono.evaluate.alerts import said
from unisono.report.summary import delay_words


@pytest.mark.parametrize("convention", ["earliest", "given", "features", "gold", "none"])
def test_every_convention_names_the_mean_delay(convention):
    words = delay_words({"mean_delay": 0.75, "delay_convention": convention, "window": 3.0})
    assert "relative" in words
    assert "0.75 s" in words


def test_averages_say_that_nothing_was_placed():
    notes = {"mean_delay": None, "delay_convention": "none", "window": 0.0}
    assert delay_words(notes) == said("delays", "unmoved")
    aligned = notes | {"delay_convention": "aligned"}
    assert delay_words(aligned).endswith("as late as the median annotator.")
    assert delay_words(aligned | {"delay_given": 1.5}).endswith("less 1.5 s as given.")


def test_items_have_no_delay():
    assert delay_words({}) is None
