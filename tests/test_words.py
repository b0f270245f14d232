"""One list of words of structure: settings, command line, messages and docs all know the same ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from unisono.fusers import make_fuser
from unisono.maths import structure_words

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", structure_words.ITEM_WORDS)
def test_the_command_line_offers_every_word(name):
    from unisono.cli.setting_table import MODEL

    setting = next(one for one in MODEL if one.name == name)
    assert tuple(setting.values.choices) == structure_words.ITEM_WORDS[name]


@pytest.mark.parametrize("name", structure_words.ITEM_WORDS)
def test_settings_take_every_word_and_name_them_to_who_misspells(name):
    known = structure_words.ITEM_WORDS[name]
    with pytest.raises(ValueError, match=re.escape(f"choose one of {', '.join(known)}.")):
        make_fuser("joint", **{name: "nonsense"}).check_settings()
    for word in known:
        make_fuser("joint", **{name: word}).check_settings()


@pytest.mark.parametrize("name", [name for name in structure_words.ITEM_WORDS if name != "estimate"])
def test_the_page_of_the_family_lists_every_word(name):
    row = next(line for line in (DOCS / "maths.md").read_text().splitlines() if line.startswith(f"| {name}"))
    assert all(re.search(rf"\b{word}\b", row) for word in structure_words.ITEM_WORDS[name]), row


def test_words_load_nothing_heavy():
    code = "import sys, unisono.maths.structure_words; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
